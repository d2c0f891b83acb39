// Elements without a framework: h('button', { class: 'x', on: { click } }, 'Text', child).

/** @import { Attributes, Child } from '../types' */

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes] what is null, undefined or false is left out; `on` holds listeners
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, { on = {}, dataset = {}, ...attributes } = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name in element && ['value', 'checked', 'disabled'].includes(name)) Object.assign(element, { [name]: value });
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  for (const [type, listener] of Object.entries(on)) {
    element.addEventListener(type, /** @type {EventListener} */ (listener));
  }
  // Text that has a direction of its own is data: a browser that translates the page must leave it as it is.
  if (attributes.dir === 'auto') element.translate = false;
  Object.assign(element.dataset, dataset);
  element.append(...present(children));
  return element;
}

/**
 * What each element shows, as JSON.
 *
 * @type {WeakMap<Element, string>}
 */
const drawn = new WeakMap();

/**
 * Draws only what has changed: a second drawing of the same would take the focus away, and be read out again.
 *
 * @param {HTMLElement} element
 * @param {unknown} view plain values that say what is shown
 * @param {() => Child} draw
 */
export function redraw(element, view, draw) {
  const seen = JSON.stringify(view) ?? '';
  if (drawn.get(element) === seen) return;
  drawn.set(element, seen);
  const held = document.activeElement,
    inside = element !== held && element.contains(held);
  replace(element, draw());
  if (!inside) return;
  const controls = [...element.querySelectorAll('button, input, select, textarea')];
  const again = controls.find((each) => called(each) === called(held));
  if (again instanceof HTMLElement) again.focus({ preventScroll: true });
}

/** @param {Element | null} control */
const called = (control) =>
  (control instanceof HTMLElement ? control.dataset.key : null) ??
  control?.getAttribute('aria-label') ??
  control?.textContent;

/**
 * The rows of a list, each one kept as long as its key is there: the focus stays on it, and a press that began on it
 * becomes a click.
 *
 * @template Item
 * @template {HTMLElement} Row
 * @param {HTMLElement} list
 * @param {readonly Item[]} items
 * @param {object} how
 * @param {(item: Item, at: number) => string | number} how.key
 * @param {(item: Item, at: number) => Row} how.make
 * @param {(row: Row, item: Item, at: number) => void} how.updateRow
 */
export function keyed(list, items, { key, make, updateRow }) {
  const held = document.activeElement,
    children = /** @type {Row[]} */ ([...list.children]);
  const before = new Map(children.map((row) => [row.dataset.key, row]));
  const rows = items.map((item, at) => {
    const name = String(key(item, at)),
      row = before.get(name) ?? make(item, at);
    row.dataset.key = name;
    updateRow(row, item, at);
    return row;
  });
  const kept = new Set(rows);
  for (const row of children) if (!kept.has(row)) row.remove();
  let place = list.firstElementChild; // not children[at]: after an insertion, the browser counts them anew
  for (const row of rows) {
    if (row === place) place = place.nextElementSibling;
    else list.insertBefore(row, place);
  }
  if (held instanceof HTMLElement && held !== document.activeElement && list.contains(held)) {
    held.focus({ preventScroll: true });
  }
}

/**
 * @param {Element} element
 * @param {...Child} children
 */
export function replace(element, ...children) {
  element.replaceChildren(...present(children));
}

/**
 * Conditions may stand among the children: what is missing or false is left out.
 *
 * @param {readonly Child[]} children
 * @returns {(Node | string)[]}
 */
function present(children) {
  return children.flatMap((child) => {
    if (Array.isArray(child)) return present(child);
    return child instanceof Node || (typeof child === 'string' && child) ? [child] : [];
  });
}
