// What the cards of the tabs People and Jobs share: the card itself, rows, roles, moments, and buttons that ask twice.

import { sentenceOf } from '../core/api.js';
import { h, keyed } from '../core/dom.js';
import { moment } from '../core/text.js';

/** @import { Pages } from '../core/pages.js' */
/** @import { Child, WantedRole } from '../types' */

/** @typedef {WantedRole['role']} Role */

/** @type {Record<string, string>} */
export const RIGHTS = {
  annotator: 'Asks, marks, uploads',
  reviewer: 'Also reviews, retrains, exports',
  admin: 'Also changes settings, models and members',
};
const ROLES = /** @type {Role[]} */ (Object.keys(RIGHTS));

/**
 * @param {string} title
 * @param {...Child} content
 */
export function card(title, ...content) {
  return h('section', { class: 'g-card' }, h('h2', {}, title), ...content);
}

/**
 * @param {string} title
 * @param {string} sentence
 * @param {[string, () => unknown]} [action] text and deed of a button
 */
export function notice(title, sentence, action) {
  return h(
    'section',
    { class: 'g-card g-card-empty' },
    h('b', {}, title),
    h('span', {}, sentence),
    action && h('button', { class: 'g-act', type: 'button', on: { click: action[1] } }, action[0]),
  );
}

/**
 * A line of a list: what it is on the left, what can be done with it on the right.
 *
 * @param {Child} main
 * @param {Child} quiet
 * @param {...Child} actions
 */
export function row(main, quiet, ...actions) {
  return h(
    'li',
    {},
    h('div', { class: 'g-row-text' }, h('b', { dir: 'auto' }, main), quiet && h('span', {}, quiet)),
    h('div', { class: 'g-row-acts' }, actions),
  );
}

/**
 * A list whose rows stay as long as their items do, so that a question that a button asks stays asked.
 *
 * @template {{ id: string }} Item
 */
export class Rows {
  /**
   * @param {HTMLElement} root
   * @param {(item: Item) => { root: HTMLElement, updateRow: (item: Item) => void }} make
   */
  constructor(root, make) {
    this.root = root;
    this.make = make;
    /** @type {WeakMap<HTMLElement, (item: Item) => void>} */
    this.updaters = new WeakMap();
  }

  /** @param {readonly Item[]} items */
  show(items) {
    keyed(this.root, items, {
      key: ({ id }) => id,
      make: (item) => {
        const made = this.make(item);
        this.updaters.set(made.root, made.updateRow);
        return made.root;
      },
      updateRow: (made, item) => this.updaters.get(made)?.(item),
    });
  }
}

/**
 * @param {string} label
 * @param {string} value
 * @param {(role: Role) => unknown} [chosen]
 */
export function roleSelect(label, value, chosen) {
  /** @type {HTMLSelectElement} */
  const select = h(
    'select',
    { 'aria-label': label, on: { change: () => chosen?.(roleIn(select)) } },
    ROLES.map((role) => h('option', { value: role, title: RIGHTS[role] }, role)),
  );
  select.value = value;
  return select;
}

/** @param {HTMLSelectElement} select made by roleSelect */
export const roleIn = (select) => /** @type {Role} */ (select.value);

/**
 * While what a button began is under way, it takes no second press. (A disabled button would lose the focus.)
 *
 * @param {HTMLElement} pressed
 * @param {() => unknown} run
 */
export async function once(pressed, run) {
  if (pressed.ariaDisabled === 'true') return;
  pressed.ariaDisabled = 'true';
  try {
    await run();
  } finally {
    pressed.ariaDisabled = null;
  }
}

/**
 * @param {string} text
 * @param {() => unknown} run
 * @param {string} [kind] class
 */
export function button(text, run, kind = '') {
  /** @type {HTMLButtonElement} */
  const made = h('button', { class: `g-act ${kind}`, type: 'button', on: { click: () => once(made, run) } }, text);
  return made;
}

/**
 * What a form does, once at a time, whether by its button or by Enter in a field.
 *
 * @param {HTMLFormElement} form
 * @param {() => unknown} run
 */
export function onSubmit(form, run) {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const send = form.querySelector('button:not([type=button])');
    if (send instanceof HTMLElement) once(send, run);
  });
  return form;
}

/**
 * The first click asks, the second one does; going elsewhere takes the question back.
 *
 * @param {string} text
 * @param {string} question
 * @param {() => unknown} run
 */
export function twice(text, question, run) {
  let asked = false;
  /** @param {boolean} on */
  const ask = (on) => {
    asked = on;
    made.textContent = on ? question : text;
    made.classList.toggle('g-sure', on);
  };
  const made = button(text, () => (asked ? run() : ask(true)), 'g-danger');
  made.addEventListener('blur', () => ask(false));
  return made;
}

/**
 * A button that shows the next page of a list; it stands below the list while there is one.
 *
 * @template {{ id: string }} Item
 */
export class MoreButton {
  /**
   * @param {Pages<Item>} pages
   * @param {Say} say tells of a failure
   * @param {() => unknown} draw
   * @param {string} [text]
   */
  constructor(pages, say, draw, text = 'Show more') {
    this.pages = pages;
    this.root = button(text, () =>
      say.act(async () => {
        await pages.more();
        draw();
      }),
    );
    this.root.hidden = true;
  }

  draw() {
    this.root.hidden = !this.pages.next;
  }
}

/** A place for one sentence about what went wrong, or right. */
export class Say {
  constructor() {
    this.root = h('p', { class: 'g-say', role: 'status', hidden: true });
  }

  /**
   * @param {string} sentence
   * @param {boolean} [wrong]
   */
  show(sentence, wrong = false) {
    this.root.textContent = sentence;
    this.root.hidden = !sentence;
    this.root.classList.toggle('g-wrong', wrong);
  }

  /**
   * Runs something that may be refused, and says the sentence. Resolves to whether it went.
   *
   * @param {() => unknown} step
   * @param {string} [done]
   */
  async act(step, done = '') {
    this.show('');
    try {
      await step();
      this.show(done);
      return true;
    } catch (error) {
      this.show(sentenceOf(error), true);
      return false;
    }
  }

  /**
   * Fetches what a card shows. What was said of a deed stays; only a failure is said.
   *
   * @param {() => Promise<unknown>} load
   */
  async load(load) {
    try {
      await load();
      return true;
    } catch (error) {
      this.show(sentenceOf(error), true);
      return false;
    }
  }
}

/**
 * Sets the text of an element that stands only where there is one.
 *
 * @param {HTMLElement} element
 * @param {string} text
 */
export function set(element, text) {
  if (element.textContent !== text) element.textContent = text;
  element.hidden = !text;
}

/** How far something is, as a bar. */
export class ProgressBar {
  /** @param {string} [label] */
  constructor(label = 'Progress') {
    this.done = h('i');
    this.root = h(
      'div',
      { class: 'glossator-bar', role: 'progressbar', 'aria-label': label, 'aria-valuemin': 0, 'aria-valuemax': 100 },
      this.done,
    );
  }

  /**
   * @param {boolean} shown
   * @param {number} share 0..1
   */
  show(shown, share) {
    this.root.hidden = !shown;
    this.root.setAttribute('aria-valuenow', String(Math.round(100 * share)));
    this.done.style.width = `${100 * share}%`;
  }
}

/** @param {string} when */
export const time = (when) =>
  h('time', { datetime: when, title: new Date(when).toLocaleString('en-GB') }, moment(when));

/**
 * Copies, also where the page is served without TLS and the clipboard is closed to it.
 *
 * @param {HTMLInputElement | HTMLTextAreaElement} field
 */
export async function copy(field) {
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    return document.execCommand('copy');
  }
}
