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

export function replace(element, ...children) {
  element.replaceChildren(...present(children));
}

// Conditions may stand among the children: what is missing or false is left out.
const present = (children) => children.flat().filter((child) => child !== null && child !== undefined && child !== false && child !== '');

// Tells a person's way of writing a number of things: count(1, 'page') -> "1 page".
export function count(number, noun) {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

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
