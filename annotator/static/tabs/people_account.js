// One's own account: where one is logged in, the password, tokens for programs, and logging out.

import { get, put, remove } from '../core/api.js';
import { h, replace } from '../core/dom.js';
import { Say, button, card, onSubmit, row, time } from './people_parts.js';
import { TokensPart } from './people_tokens.js';

export class AccountCard {
  constructor(me) {
    this.say = new Say();
    this.list = h('ul', { class: 'g-rows' });
    this.tokens = new TokensPart(() => this.load());
    this.root = card(
      'You',
      h(
        'ul',
        { class: 'g-rows' },
        row(
          me.user.name,
          me.user.role === 'admin' ? 'Admin of this installation' : 'Logged in',
          button('Log out', logOut),
        ),
      ),
      h('h4', {}, 'Sessions'),
      this.list,
      this.say.root,
      this.passwordForm(me),
      this.tokens.root,
    );
    this.load();
  }

  async load() {
    await this.say.act(async () => {
      const sessions = await get('/me/sessions', {});
      this.tokens.show(sessions.filter((each) => each.scope));
      replace(
        this.list,
        sessions
          .filter((each) => !each.scope)
          .map((each) =>
            row(
              [each.client, each.current ? h('i', {}, 'here') : null],
              ['since ', time(each.created_at), each.address ? ` from ${each.address}` : ''],
              each.current ? null : button('End session', () => this.end(each.id)),
            ),
          ),
      );
    });
  }

  async end(id) {
    await this.say.act(() => remove('/me/sessions/{session_id}', { session_id: id }));
    await this.load();
  }

  passwordForm(me) {
    const said = new Say();
    const field = (text, name) =>
      h(
        'label',
        {},
        text,
        h('input', {
          type: 'password',
          name,
          autocomplete: name === 'old' ? 'current-password' : 'new-password',
          required: true,
          minlength: name === 'new' ? '10' : null,
        }),
      );
    const form = h(
      'form',
      { class: 'g-form g-upright' },
      h('input', {
        type: 'text',
        name: 'username',
        autocomplete: 'username',
        value: me.user.name,
        hidden: true,
        readonly: true,
      }),
      field('Current password', 'old'),
      field('New password, at least 10 characters', 'new'),
      h('button', { class: 'g-act' }, 'Change password'),
      said.root,
    );
    onSubmit(form, async () => {
      const { old, new: wanted } = form.elements;
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
  const form = h('form', { method: 'post', action: '/logout', hidden: true });
  document.body.append(form);
  form.submit();
}
