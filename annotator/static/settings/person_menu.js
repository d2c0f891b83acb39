// Who is logged in, in the corner of the page: a menu to the account and out. Nothing where nobody logs in.

import { sourceLink } from './about.js';
import { get } from '../core/api.js';
import { h } from '../core/dom.js';
import { logOut } from '../tabs/people_account.js';

export async function placePersonMenu() {
  const me = await get('/me', {}).catch(() => null);
  if (!me || me.auth === 'local') return;
  const { name } = me.user;
  const toAccount = () =>
    [...document.querySelectorAll('[role=tab]')].find((tab) => tab.textContent.trim() === 'People')?.click();
  const item = (text, run) =>
    h('button', { type: 'button', role: 'menuitem', on: { click: () => (open(false), run()) } }, text);
  const menu = h(
    'div',
    { class: 'g-person-menu', role: 'menu', hidden: true },
    h('p', {}, h('b', {}, name), me.user.role === 'admin' ? 'Admin of this installation' : null),
    item('Account and people', toAccount),
    item('Log out', logOut),
    sourceLink({ role: 'menuitem' }),
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
  const open = (on) => {
    menu.hidden = !on;
    face.setAttribute('aria-expanded', String(on));
    if (on) menu.querySelector('button').focus();
  };
  face.addEventListener('click', () => open(menu.hidden));
  root.addEventListener('focusout', (event) => !root.contains(event.relatedTarget) && open(false));
  root.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') (open(false), face.focus());
    const items = [...menu.querySelectorAll('[role=menuitem]')];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && !menu.hidden)
      (event.preventDefault(),
        items[(items.indexOf(document.activeElement) + step + items.length) % items.length].focus());
  });
  document.body.append(root);
  document.body.classList.add('g-has-person');
}
