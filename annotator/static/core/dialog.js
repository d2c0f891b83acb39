// One dialog over the workspace: dimmed ground, focus kept inside, Escape closes, the focus goes back where it was.

import { h } from './dom.js';
import { icon } from './icons.js';

const STOPS = 'button:not(:disabled), a[href], input:not(:disabled), select:not(:disabled), textarea:not(:disabled)';

export function openDialog(root, { title, body, actions = [], wide = false, closed = () => {} }) {
  const before = document.activeElement;
  const close = () => {
    watch.disconnect();
    ground.remove();
    before?.focus?.({ preventScroll: true });
    closed();
  };
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
    actions.length
      ? h(
          'div',
          { class: 'g-dialog-foot' },
          actions.map(({ label, primary, run }) =>
            h(
              'button',
              { class: `g-button${primary ? ' g-primary' : ''}`, on: { click: () => (close(), run()) } },
              label,
            ),
          ),
        )
      : null,
  );
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
    (event.shiftKey ? stops.at(-1) : stops[0])?.focus();
  });
  // What hides under the focus would drop it behind the dialog, where Tab and Escape are not heard.
  const watch = new MutationObserver(() => {
    const { activeElement } = document;
    if (!box.contains(activeElement) || !activeElement.getClientRects().length) box.focus({ preventScroll: true });
  });
  watch.observe(box, { attributes: true, attributeFilter: ['hidden', 'disabled'], childList: true, subtree: true });
  root.append(ground);
  (box.querySelector('.g-primary') ?? box).focus({ preventScroll: true });
  return close;
}
