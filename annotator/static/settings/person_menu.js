// Who is logged in, in the corner of the page: a menu to the account and out. Nothing where nobody logs in.

import { sourceLink } from './about.js';
import { actAs, get } from '../core/api.js';
import { h } from '../core/dom.js';
import { logOut } from '../tabs/people_account.js';
import { openTab } from '../tabs/tab_history.js';

/** Asks who is logged in, and places the menu. Resolves to the answer; null where nobody logs in. */
export async function placePersonMenu() {
  const me = await get('/me', {}).catch(() => null);
  if (!me || me.auth === 'local') return null;
  actAs(me.user.id);
  const { name } = me.user;
  /** @type {(text: string, run: () => void) => HTMLElement} */
  const item = (text, run) =>
    h('button', { type: 'button', role: 'menuitem', on: { click: () => (open(false), run()) } }, text);
  const items = [
    item('Account and people', () => openTab('people')),
    item('Log out', logOut),
    sourceLink({ role: 'menuitem' }),
  ];
  const menu = h(
    'div',
    { class: 'g-person-menu', role: 'menu', hidden: true },
    h('p', {}, h('b', {}, name), me.user.role === 'admin' ? 'Admin of this installation' : null),
    items,
  );
  const face = h(
    'button',
    {
      class: 'g-person-face',
      type: 'button',
      'aria-haspopup': 'menu',
      'aria-expanded': 'false',
      'aria-label': `${name}: account`,
      title: name,
    },
    h('span', { 'aria-hidden': 'true' }, [...name][0].toUpperCase()),
  );
  const root = h('div', { class: 'g-corner' }, face, menu);
  /** @param {boolean} on */
  const open = (on) => {
    menu.hidden = !on;
    face.setAttribute('aria-expanded', String(on));
    if (on) items[0].focus();
  };
  /** @param {EventTarget | null} target */
  const inside = (target) => target instanceof Node && root.contains(target);
  face.addEventListener('click', () => open(menu.hidden));
  root.addEventListener('focusout', (event) => !inside(event.relatedTarget) && open(false));
  root.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') (open(false), face.focus());
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (!step || menu.hidden) return;
    event.preventDefault();
    const at = items.findIndex((each) => each === document.activeElement);
    items[(at + step + items.length) % items.length].focus();
  });
  document.body.append(root);
  document.body.classList.add('g-has-person');
  return me;
}
