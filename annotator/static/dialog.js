// One dialog over the workspace: dimmed ground, focus kept inside, Escape closes, the focus goes back where it was.

import { h } from './dom.js';
import { icon } from './icons.js';
import { BINDINGS, signs } from './keyboard.js';

export function openDialog(root, { title, body, actions = [], wide = false, closed = () => {} }) {
  const before = document.activeElement;
  const close = () => {
    ground.remove();
    before?.focus?.({ preventScroll: true });
    closed();
  };
  const box = h(
    'section',
    { class: `g-dialog${wide ? ' g-wide' : ''}`, role: 'dialog', 'aria-modal': 'true', 'aria-label': title, tabindex: '-1' },
    h('header', {}, h('h2', {}, title), h('button', { class: 'g-icon-button', 'aria-label': 'Close', on: { click: close } }, icon('cross'))),
    h('div', { class: 'g-dialog-body' }, body),
    actions.length
      ? h('div', { class: 'g-dialog-foot' }, actions.map(({ label, primary, run }) =>
          h('button', { class: `g-button${primary ? ' g-primary' : ''}`, on: { click: () => (close(), run()) } }, label)))
      : null,
  );
  const ground = h('div', { class: 'g-ground', on: { pointerdown: (event) => event.target === ground && close() } }, box);
  ground.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      event.preventDefault();
      event.stopPropagation();
      close();
    }
    if (event.key !== 'Tab') return;
    const stops = [...box.querySelectorAll('button, a[href], input')];
    const edge = event.shiftKey ? stops[0] : stops.at(-1);
    if (document.activeElement !== edge && document.activeElement !== box) return;
    event.preventDefault();
    (event.shiftKey ? stops.at(-1) : stops[0])?.focus();
  });
  root.append(ground);
  (box.querySelector('.g-primary') ?? box).focus({ preventScroll: true });
  return close;
}

const keyCaps = (keys) =>
  keys.map((key, at) => [at ? h('i', {}, keys.length > 2 ? '' : 'or') : null, h('span', { class: 'g-keys' }, signs(key).map((sign) => h('kbd', {}, sign)))]).flat();

export function openHelp(root) {
  const groups = [...new Set(BINDINGS.map(([, , group]) => group))];
  const legend = h(
    'ul', { class: 'g-legend' },
    h('li', {}, h('span', { class: 'g-swatch g-model' }), 'Blue: as the model proposed it'),
    h('li', {}, h('span', { class: 'g-swatch g-person' }), 'Orange: corrected by a person'),
    h('li', {}, h('span', { class: 'g-swatch g-hatched' }), 'Hatched: painted where no word is marked'),
    h('li', {}, h('span', { class: 'g-swatch g-dashed' }), 'Dashed: a marked word that is not painted'),
  );
  return openDialog(root, {
    title: 'Keys and colours',
    wide: true,
    body: [
      h('div', { class: 'g-help' }, groups.map((group) =>
        h('section', {}, h('h3', {}, group),
          h('dl', {}, BINDINGS.filter(([, , each]) => each === group).map(([, keys, , text]) =>
            h('div', {}, h('dt', {}, keyCaps(keys)), h('dd', {}, text))))))),
      h('section', { class: 'g-help-colours' }, h('h3', {}, 'Colours'), legend,
        h('p', { class: 'g-quiet' }, 'Wheel zooms. Space and drag, the middle button or two fingers move the page.')),
    ],
  });
}
