// Short messages: one sentence, at the foot of the page, gone after a while; an error stays until it is read.

import { h } from './dom.js';
import { icon } from './icons.js';

const SECONDS = { info: 5, error: 12 };

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
      h('span', {}, sentence),
      action && h('button', { class: 'g-link', on: { click: () => (action.run(), toast.remove()) } }, action.label),
      h('button', { class: 'g-icon-button g-small', 'aria-label': 'Dismiss', on: { click: () => toast.remove() } }, icon('cross', 14)),
    );
    this.list.append(toast);
    while (this.list.children.length > 4) this.list.firstElementChild.remove();
    setTimeout(() => toast.remove(), 1000 * SECONDS[kind]);
  }

  error(error) {
    if (error?.name === 'AbortError') return;
    this.show(error.message ?? String(error), 'error');
  }
}
