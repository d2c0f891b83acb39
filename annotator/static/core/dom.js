// Elements without a framework: h('button', { class: 'x', on: { click } }, 'Text', child).

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'on') for (const [type, listener] of Object.entries(value)) element.addEventListener(type, listener);
    else if (name === 'dataset') Object.assign(element.dataset, value);
    else if (name in element && (name === 'value' || name === 'checked' || name === 'disabled')) element[name] = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...present(children));
  return element;
}

// Draws only what has changed: a second drawing of the same would take the focus away, and be read out again.
export function redraw(element, view, draw) {
  const seen = JSON.stringify(view);
  if (element.drawn === seen) return;
  element.drawn = seen;
  const held = document.activeElement,
    inside = element !== held && element.contains(held);
  replace(element, draw());
  if (inside)
    [...element.querySelectorAll('button, input, select, textarea')]
      .find((each) => called(each) === called(held))
      ?.focus({ preventScroll: true });
}

const called = (control) => control.dataset.key ?? control.getAttribute('aria-label') ?? control.textContent;

// The rows of a list, each one kept as long as its key is there: the focus stays on it, and a press that began on it becomes a click.
// key(item, at), make(item, at) -> row, dress(row, item, at)
export function keyed(list, items, { key, make, dress }) {
  const held = document.activeElement,
    before = new Map([...list.children].map((row) => [row.dataset.key, row]));
  const rows = items.map((item, at) => {
    const name = String(key(item, at)),
      row = before.get(name) ?? make(item, at);
    row.dataset.key = name;
    dress(row, item, at);
    return row;
  });
  const kept = new Set(rows);
  for (const row of [...list.children]) if (!kept.has(row)) row.remove();
  rows.forEach((row, at) => list.children[at] !== row && list.insertBefore(row, list.children[at] ?? null));
  if (held !== document.activeElement && list.contains(held)) held.focus({ preventScroll: true });
}

export function replace(element, ...children) {
  element.replaceChildren(...present(children));
}

// Conditions may stand among the children: what is missing or false is left out.
const present = (children) =>
  children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false && child !== '');

// Tells a person's way of writing a number of things: count(1, 'page') -> "1 page".
export function count(number, noun) {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

// A moment as people say it, the shorter the nearer: "14:03", "12 Mar, 14:03", "12 Mar 2025, 14:03".
export function moment(when) {
  const at = new Date(when),
    now = new Date();
  const day = {
    day: 'numeric',
    month: 'short',
    ...(at.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' }),
  };
  return at.toLocaleString('en-GB', {
    ...(at.toDateString() === now.toDateString() ? {} : day),
    hour: '2-digit',
    minute: '2-digit',
  });
}

// Sentences of the server tell the time of day in UTC ("14:03:22 UTC"), since it knows nobody's clock: here it is the reader's.
export const onThisClock = (sentence) =>
  sentence.replace(/\b([012]\d):([0-5]\d):([0-5]\d) UTC\b/g, (_, ...time) => {
    const at = new Date();
    at.setUTCHours(...time.slice(0, 3).map(Number));
    return at.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
  });

export function percent(share) {
  return `${Math.round(100 * share)} %`;
}

// A random version 4 UUID. crypto.randomUUID exists in secure contexts alone; a house network over http is none.
export function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

export const same = (left, right) => JSON.stringify(left) === JSON.stringify(right);
