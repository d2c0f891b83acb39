// Short messages: one sentence, at the foot of the page, gone after a while, an error later than the rest.

import { h } from './dom.js';
import { onThisClock } from './text.js';
import { icon } from './icons.js';

const SECONDS = { info: 5, error: 30 }; // under the pointer, or with the focus in it, a message stays

export class Toasts {
  constructor(root) {
    this.list = h('div', { class: 'g-toasts', role: 'status', 'aria-live': 'polite' });
    root.append(this.list);
  }

  show(sentence, kind = 'info', action = null) {
    for (const old of this.list.children) if (old.dataset.sentence === sentence) old.remove();
    const toast = h(
      'div',
      { class: `g-toast g-${kind}`, dataset: { sentence } },
      icon(kind === 'error' ? 'warn' : 'check'),
      h('span', {}, onThisClock(sentence)),
      action && h('button', { class: 'g-link', on: { click: () => (action.run(), toast.remove()) } }, action.label),
      h(
        'button',
        { class: 'g-icon-button g-small', 'aria-label': 'Dismiss', on: { click: () => toast.remove() } },
        icon('cross', 14),
      ),
    );
    this.list.append(toast);
    while (this.list.children.length > 4) this.list.firstElementChild.remove();
    const leave = () => (toast.matches(':hover, :focus-within') ? setTimeout(leave, 2000) : toast.remove());
    setTimeout(leave, 1000 * SECONDS[kind]);
  }

  error(error) {
    if (error?.name === 'AbortError') return;
    const login = error.status === 401 ? { label: 'Log in', run: () => window.open('/login', '_blank') } : null;
    this.show(error.message ?? String(error), 'error', login);
  }
}
