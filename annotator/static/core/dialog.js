// One dialog over the workspace: dimmed ground, focus kept inside, Escape closes, the focus goes back where it was.

/** @import { Action, Child } from '../types' */

import { h } from './dom.js';
import { icon } from './icons.js';

const STOPS = 'button:not(:disabled), a[href], input:not(:disabled), select:not(:disabled), textarea:not(:disabled)';

/** @param {Element | null | undefined} element */
function focus(element) {
  if (element instanceof HTMLElement) element.focus({ preventScroll: true });
}

/**
 * Opens a dialog and returns the function that closes it.
 *
 * @param {HTMLElement} root
 * @param {object} content
 * @param {string} content.title
 * @param {Child} content.body
 * @param {readonly (Action | null | undefined | false | '')[]} [content.actions] buttons at its foot, which close it,
 * too
 * @param {boolean} [content.wide]
 * @param {() => void} [content.closed] called once it is gone, whoever has closed it
 */
export function openDialog(root, { title, body, actions = [], wide = false, closed = () => {} }) {
  const before = document.activeElement;
  const close = () => {
    watch.disconnect();
    ground.remove();
    focus(before);
    closed();
  };
  const buttons = actions
    .filter((action) => typeof action === 'object' && action !== null)
    .map(({ label, primary, run }) =>
      h('button', { class: `g-button${primary ? ' g-primary' : ''}`, on: { click: () => (close(), run()) } }, label),
    );
  const box = h(
    'section',
    {
      class: `g-dialog${wide ? ' g-wide' : ''}`,
      role: 'dialog',
      'aria-modal': 'true',
      'aria-label': title,
      tabindex: '-1',
    },
    h(
      'header',
      {},
      h('h2', {}, title),
      h('button', { class: 'g-icon-button', 'aria-label': 'Close', on: { click: close } }, icon('cross')),
    ),
    h('div', { class: 'g-dialog-body' }, body),
    buttons.length > 0 && h('div', { class: 'g-dialog-foot' }, buttons),
  );
  /** @type {HTMLElement} */
  const ground = h(
    'div',
    { class: 'g-ground', on: { pointerdown: (event) => event.target === ground && close() } },
    box,
  );
  ground.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      event.preventDefault();
      event.stopPropagation();
      close();
    }
    if (event.key !== 'Tab') return;
    const stops = [...box.querySelectorAll(STOPS)].filter((each) => each.getClientRects().length);
    const edge = event.shiftKey ? stops[0] : stops.at(-1);
    if (document.activeElement !== edge && document.activeElement !== box) return;
    event.preventDefault();
    focus(event.shiftKey ? stops.at(-1) : stops[0]);
  });
  // What hides under the focus would drop it behind the dialog, where Tab and Escape are not heard.
  const watch = new MutationObserver(() => {
    const { activeElement } = document;
    if (!box.contains(activeElement) || !activeElement?.getClientRects().length) focus(box);
  });
  watch.observe(box, { attributes: true, attributeFilter: ['hidden', 'disabled'], childList: true, subtree: true });
  root.append(ground);
  focus(box.querySelector('.g-primary') ?? box);
  return close;
}
