// Short messages: one sentence, at the foot of the page, gone after a while; an error, and what can be undone, later.

/** @import { Action } from '../types' */

import { LOG_IN, sentenceOf, statusOf } from './api.js';
import { h } from './dom.js';
import { onThisClock } from './text.js';
import { icon } from './icons.js';

const SECONDS = { info: 5, undo: 20, error: 30 }; // under the pointer, or with the focus in it, a message stays
const AGAIN = 2000; // milliseconds after which a message that was held looks again whether it may go
const MOST = 4; // messages at a time

/** The messages at the foot of the page. */
export class Toasts {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.list = h('div', { class: 'g-toasts', role: 'status', 'aria-live': 'polite' });
    root.append(this.list);
  }

  /**
   * Shows a sentence, in place of an earlier one that says the same.
   *
   * @param {string} sentence
   * @param {keyof typeof SECONDS} [kind]
   * @param {...(Action | null | undefined)} actions what links beside the sentence do
   */
  show(sentence, kind = 'info', ...actions) {
    for (const old of [...this.list.children])
      if (old instanceof HTMLElement && old.dataset.sentence === sentence) old.remove();
    /** @type {HTMLElement} */
    const toast = h(
      'div',
      { class: `g-toast g-${kind}`, dataset: { sentence } },
      icon(kind === 'error' ? 'warn' : 'check'),
      h('span', {}, onThisClock(sentence)),
      actions.map(
        (action) =>
          action && h('button', { class: 'g-link', on: { click: () => (action.run(), toast.remove()) } }, action.label),
      ),
      h(
        'button',
        { class: 'g-icon-button g-small', 'aria-label': 'Dismiss', on: { click: () => toast.remove() } },
        icon('cross', 14),
      ),
    );
    this.list.append(toast);
    for (const old of [...this.list.children].slice(0, -MOST)) old.remove();
    const leave = () => {
      if (toast.matches(':hover, :focus-within')) setTimeout(leave, AGAIN);
      else toast.remove();
    };
    setTimeout(leave, 1000 * SECONDS[kind]);
  }

  /**
   * Shows the sentence of whatever was thrown; a request that was given up is no error.
   *
   * @param {unknown} error
   */
  error(error) {
    if (error instanceof Error && error.name === 'AbortError') return;
    const login =
      statusOf(error) === 401 ? { label: 'Log in', run: () => document.dispatchEvent(new Event(LOG_IN)) } : null;
    this.show(sentenceOf(error), 'error', login);
  }
}
