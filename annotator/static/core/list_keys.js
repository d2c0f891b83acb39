// Arrow keys walk through the rows of a list.

const STEPS = new Map([
  ['ArrowDown', 1],
  ['ArrowUp', -1],
]);

/**
 * Listens to keydown of the list itself.
 *
 * @param {KeyboardEvent} event
 * @param {string} selector its rows
 */
export function walk(event, selector) {
  const step = STEPS.get(event.key),
    list = event.currentTarget;
  if (!step || event.altKey || !(list instanceof HTMLElement)) return;
  const rows = /** @type {HTMLElement[]} */ ([...list.querySelectorAll(selector)]);
  const next = rows[rows.findIndex((row) => row.contains(document.activeElement)) + step];
  if (!next) return;
  event.preventDefault();
  event.stopPropagation();
  next.focus();
}
