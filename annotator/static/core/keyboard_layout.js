// Where keys lie on the keyboard, for layouts on which a sign of the keymap cannot be typed as it is written.

/** The key of a sign where it lies on an American keyboard. @type {Readonly<Record<string, string>>} */
const PLACES = {
  ...Object.fromEntries([...'abcdefghijklmnopqrstuvwxyz'].map((letter) => [letter, `Key${letter.toUpperCase()}`])),
  ...Object.fromEntries([...'0123456789'].map((digit) => [digit, `Digit${digit}`])),
  '[': 'BracketLeft',
  ']': 'BracketRight',
};
const SIGNS = new Map(Object.entries(PLACES).map(([sign, place]) => [place, sign]));
const TYPED = /^[a-z0-9[\]]$/; // what the layout types by itself means itself

/** What each key types on this keyboard, where the browser tells it. @type {ReadonlyMap<string, string>} */
let layout = new Map();

/**
 * The sign of the keymap at the place of a key that types something else: Cyrillic letters, the upper row of a French
 * keyboard, letters with accents where others have brackets. Undefined where the key types a sign of its own.
 *
 * @param {{ key: string, code?: string, shiftKey: boolean }} event
 * @returns {string | undefined}
 */
export function signAtPlace({ key, code = '', shiftKey }) {
  const sign = SIGNS.get(code);
  if (sign === undefined || TYPED.test(key.toLowerCase()) || [...key].length !== 1) return undefined;
  // With Shift the upper row types signs everywhere, and the brackets are others.
  if (shiftKey && !code.startsWith('Key')) return undefined;
  // Signs at the places of letters belong to layouts that type letters elsewhere.
  if (!code.startsWith('Digit') && !/\p{L}/u.test(key)) return undefined;
  return sign;
}

/**
 * What stands on the key that a sign of the keymap is reached by: itself, or what the layout types at its place.
 *
 * @param {string} sign
 */
export function signOnKey(sign) {
  if (!(sign in PLACES) || [...layout.values()].includes(sign)) return sign;
  return layout.get(PLACES[sign]) ?? sign;
}

/**
 * Takes the layout of the keyboard.
 *
 * @param {ReadonlyMap<string, string>} map code of a key -> what it types
 */
export const useLayout = (map) => void (layout = map);

/** Asks the browser for the layout; only Chromium tells it, and only a page over HTTPS or of this machine. */
export async function learnLayout() {
  try {
    // @ts-expect-error navigator.keyboard is not a standard yet
    const map = await navigator.keyboard?.getLayoutMap();
    if (map) useLayout(new Map(map));
  } catch {
    // a frame that may not ask keeps the signs as they are written
  }
}

/**
 * Keeps keys that belong to an input method from everybody: Enter and arrows choose and confirm what is being composed.
 * Safari says so by the number 229 alone.
 *
 * @param {Pick<EventTarget, 'addEventListener'>} target
 */
export function keepComposing(target) {
  target.addEventListener(
    'keydown',
    (event) => {
      const { isComposing, keyCode } = /** @type {KeyboardEvent} */ (event);
      if (isComposing || keyCode === 229) event.stopImmediatePropagation();
    },
    { capture: true },
  );
}
