// What the cards of the tab People share: the card itself, rows, roles, moments, and buttons that ask twice.

import { h } from '../core/dom.js';
import { moment } from '../core/text.js';

const ROLES = ['annotator', 'reviewer', 'admin'];
export const WHAT = {
  annotator: 'Asks, marks, uploads',
  reviewer: 'Also reviews, retrains, exports',
  admin: 'Also changes settings, models and members',
};

export function card(title, ...content) {
  return h('section', { class: 'g-card' }, h('h3', {}, title), ...content);
}

export function notice(title, sentence, action) {
  return h(
    'section',
    { class: 'g-card g-card-empty' },
    h('b', {}, title),
    h('span', {}, sentence),
    action ? h('button', { class: 'g-act', type: 'button', on: { click: action[1] } }, action[0]) : null,
  );
}

// A line of a list: what it is on the left, what can be done with it on the right.
export function row(main, quiet, ...actions) {
  return h(
    'li',
    {},
    h('div', { class: 'g-row-text' }, h('b', {}, main), quiet ? h('span', {}, quiet) : null),
    h('div', { class: 'g-row-acts' }, actions),
  );
}

export function roleSelect(label, value, chosen) {
  const select = h(
    'select',
    { 'aria-label': label, on: { change: () => chosen?.(select.value, select) } },
    ROLES.map((role) => h('option', { value: role, title: WHAT[role] }, role)),
  );
  select.value = value;
  return select;
}

// While what a button began is under way, it takes no second press. (A disabled button would lose the focus.)
export async function once(pressed, run) {
  if (pressed.ariaDisabled === 'true') return;
  pressed.ariaDisabled = 'true';
  try {
    await run();
  } finally {
    pressed.ariaDisabled = null;
  }
}

export function button(text, run, kind = '') {
  const made = h('button', { class: `g-act ${kind}`, type: 'button', on: { click: () => once(made, run) } }, text);
  return made;
}

// What a form does, once at a time, whether by its button or by Enter in a field.
export function onSubmit(form, run) {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    once(form.querySelector('button:not([type=button])'), run);
  });
  return form;
}

// The first click asks, the second one does; going elsewhere takes the question back.
export function twice(text, question, run) {
  let asked = false;
  const ask = (on) => {
    asked = on;
    made.textContent = on ? question : text;
    made.classList.toggle('g-sure', on);
  };
  const made = button(text, () => (asked ? run() : ask(true)), 'g-danger');
  made.addEventListener('blur', () => ask(false));
  return made;
}

// A place for one sentence about what went wrong, or right.
export class Say {
  constructor() {
    this.root = h('p', { class: 'g-say', role: 'status', hidden: true });
  }

  show(sentence, wrong = false) {
    this.root.textContent = sentence;
    this.root.hidden = !sentence;
    this.root.classList.toggle('g-wrong', wrong);
  }

  // Runs something that may be refused, and says the sentence.
  async act(step, done = '') {
    this.show('');
    try {
      await step();
      this.show(done);
      return true;
    } catch (error) {
      this.show(error.message, true);
      return false;
    }
  }
}

export const time = (when) =>
  h('time', { datetime: when, title: new Date(when).toLocaleString('en-GB') }, moment(when));

// Copies, also where the page is served without TLS and the clipboard is closed to it.
export async function copy(field) {
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    return document.execCommand('copy');
  }
}
