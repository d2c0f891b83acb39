// One's own account: where one is logged in, the password, tokens for programs, and logging out.

import { get, put, remove } from '../core/api.js';
import { h, redraw } from '../core/dom.js';
import { ROOT } from '../core/root.js';
import { Say, button, card, onSubmit, row, time, twice } from './people_parts.js';
import { SecondFactorPart } from './people_second_factor.js';
import { TokensPart } from './people_tokens.js';

/** @import { Me, SessionView } from '../types' */

export class AccountCard {
  /** @param {Me} me */
  constructor(me) {
    this.say = new Say();
    this.list = h('ul', { class: 'g-rows' });
    this.tokens = new TokensPart(() => this.load());
    this.factor = me.password ? new SecondFactorPart(me) : null;
    const own = me.user.role === 'admin' ? 'Admin of this installation' : 'Logged in';
    this.root = card(
      'You',
      h('ul', { class: 'g-rows' }, row(me.user.name, own, button('Log out', logOut))),
      h('h3', {}, 'Sessions'),
      this.list,
      h(
        'div',
        { class: 'g-row-acts' },
        twice('Log out everywhere', 'Confirm', () => this.logOutEverywhere()),
      ),
      this.say.root,
      ...(this.factor ? [this.passwordForm(me), this.factor.root] : []),
      this.tokens.root,
    );
  }

  load() {
    return this.say.load(async () => {
      const sessions = await get('/me/sessions', {});
      this.tokens.show(sessions.filter((each) => each.scope));
      const shown = sessions.filter((each) => !each.scope);
      redraw(this.list, shown, () => shown.map((each) => this.session(each)));
      await this.factor?.load();
    });
  }

  /** @param {SessionView} each */
  session(each) {
    return row(
      [each.client, each.current ? h('i', {}, 'here') : null],
      [
        'since ',
        time(each.created_at),
        each.address ? ` from ${each.address}` : '',
        each.last_used_at && !each.current ? [', last used ', time(each.last_used_at)] : '',
      ],
      each.current ? null : button('End session', () => this.end(each.id)),
    );
  }

  async logOutEverywhere() {
    if (await this.say.act(() => remove('/me/sessions', {}))) logOut();
  }

  /** @param {string} id */
  async end(id) {
    await this.say.act(() => remove('/me/sessions/{session_id}', { session_id: id }));
    await this.load();
  }

  /** @param {Me} me */
  passwordForm(me) {
    const said = new Say();
    const old = h('input', { type: 'password', name: 'old', autocomplete: 'current-password', required: true });
    const wanted = h('input', {
      type: 'password',
      name: 'new',
      autocomplete: 'new-password',
      required: true,
      minlength: '10',
    });
    const user = { type: 'text', name: 'username', autocomplete: 'username', value: me.user.name };
    const form = h(
      'form',
      { class: 'g-form g-upright' },
      h('input', { ...user, hidden: true, readonly: true }),
      h('label', {}, 'Current password', old),
      h('label', {}, 'New password, at least 10 characters', wanted),
      h('button', { class: 'g-act' }, 'Change password'),
      said.root,
    );
    onSubmit(form, async () => {
      const done = 'Password changed. All other sessions were ended.';
      if (!(await said.act(() => put('/me/password', {}, { old: old.value, new: wanted.value }), done))) return;
      old.value = wanted.value = '';
      this.load();
    });
    return h('details', {}, h('summary', {}, 'Change password'), form);
  }
}

// A form, not a request: the browser follows to the login page and forgets the cookie.
export function logOut() {
  const form = h('form', { method: 'post', action: `${ROOT}/logout`, hidden: true });
  document.body.append(form);
  form.submit();
}
