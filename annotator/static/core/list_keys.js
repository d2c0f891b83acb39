// Arrow keys walk through the rows of a list.

const STEPS = new Map([
  ['ArrowDown', 1],
  ['ArrowUp', -1],
]);

/**
 * How many rows further a key leads; 0: it is no key of lists.
 *
 * @param {KeyboardEvent} event
 */
export const stepOf = (event) => (event.altKey ? 0 : (STEPS.get(event.key) ?? 0));

/**
 * Listens to keydown of the list itself.
 *
 * @param {KeyboardEvent} event
 * @param {string} selector its rows
 */
export function walk(event, selector) {
  const step = stepOf(event),
    list = event.currentTarget;
  if (!step || !(list instanceof HTMLElement)) return;
  const rows = /** @type {HTMLElement[]} */ ([...list.querySelectorAll(selector)]);
  const next = rows[rows.findIndex((row) => row.contains(document.activeElement)) + step];
  if (!next) return;
  event.preventDefault();
  event.stopPropagation();
  next.focus();
}
