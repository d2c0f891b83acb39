// When the person has last done something in this window.

const AWAY = 60_000; // milliseconds without input after which the page counts as left alone
const ACTS = ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart'];

let actedAt = Date.now(); // opening the page is an act

/** Whether the person has done nothing here for a minute. */
export const isAway = () => Date.now() - actedAt > AWAY;

/**
 * Watches for input.
 *
 * @param {EventTarget} target
 * @param {() => void} acted called at each input
 */
export function watchInput(target, acted) {
  const note = () => {
    actedAt = Date.now();
    acted();
  };
  for (const type of ACTS) target.addEventListener(type, note, { capture: true, passive: true });
}
