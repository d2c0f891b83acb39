// Inputs of the form of a field: each has a label, a hint, and a place for what is wrong with it.

import { h } from '../core/dom.js';
import { set } from './people_parts.js';

/** @import { Attributes, Child } from '../types' */

/** @typedef {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} Control */

let serial = 0; // ids of hints and problems are the page's own

/**
 * A labelled input. Its `say` shows what is wrong with it, or nothing.
 *
 * @param {string} label
 * @param {Control} control
 * @param {Child} [hint]
 */
export function labelled(label, control, hint) {
  const id = `g-field-${++serial}`;
  control.id = id;
  const about = h('p', { class: 'g-hint', id: `${id}-hint`, hidden: !hint }, hint);
  const wrong = h('p', { class: 'g-problem', id: `${id}-wrong`, hidden: true });
  control.setAttribute('aria-describedby', `${id}-hint ${id}-wrong`);
  const root = h('div', { class: 'g-input' }, h('label', { for: id }, label), control, about, wrong);
  /** @param {string} sentence */
  const say = (sentence) => {
    set(wrong, sentence);
    control.toggleAttribute('aria-invalid', Boolean(sentence));
    if (sentence) control.setAttribute('aria-invalid', 'true');
  };
  return { root, control, about, say };
}

/** @typedef {ReturnType<typeof labelled>} Labelled */

/**
 * @param {string} value
 * @param {(value: string) => unknown} change
 * @param {Attributes} [more]
 * @returns {HTMLInputElement}
 */
export function textInput(value, change, more = {}) {
  /** @type {HTMLInputElement} */
  const input = h('input', {
    type: 'text',
    autocomplete: 'off',
    ...more,
    value,
    on: { input: () => change(input.value) },
  });
  return input;
}

/**
 * @param {string} value
 * @param {(value: string) => unknown} change
 * @param {Attributes} [more]
 * @returns {HTMLTextAreaElement}
 */
export function textArea(value, change, more = {}) {
  /** @type {HTMLTextAreaElement} */
  const area = h('textarea', { rows: '3', ...more, value, on: { input: () => change(area.value) } });
  return area;
}

/**
 * @param {readonly (readonly [value: string, text: string])[]} options
 * @param {string} value
 * @param {(value: string) => unknown} change
 * @param {Attributes} [more]
 * @returns {HTMLSelectElement}
 */
export function selectInput(options, value, change, more = {}) {
  /** @type {HTMLSelectElement} */
  const select = h(
    'select',
    { ...more, on: { change: () => change(select.value) } },
    options.map(([each, text]) => h('option', { value: each }, text)),
  );
  select.value = value;
  return select;
}

/**
 * @param {string} label
 * @param {boolean} checked
 * @param {(checked: boolean) => unknown} change
 */
export function tickBox(label, checked, change) {
  /** @type {HTMLInputElement} */
  const box = h('input', { type: 'checkbox', checked, on: { change: () => change(box.checked) } });
  return h('label', { class: 'g-tick' }, box, h('span', { dir: 'auto' }, label));
}

/** @param {string} text one a line */
export const linesOf = (text) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
