// Tokens of one's programs: what each may do, when it was used last and when it ends; making one, and ending it.

import { post, remove } from '../core/api.js';
import { h, redraw, replace } from '../core/dom.js';
import { Say, button, copy, onSubmit, row, time, twice } from './people_parts.js';

/** @import { NewToken, SessionView } from '../types' */

/** @typedef {NonNullable<NewToken['scope']>} Scope */

/** @type {Record<Scope, string>} */
const SCOPES = {
  read: 'read: view only',
  extract: 'extract: only get values out of files',
  annotate: 'annotate: also ask, mark and review',
  admin: 'admin: all your rights',
};

export class TokensPart {
  /** @param {() => unknown} changed */
  constructor(changed) {
    this.changed = changed;
    this.say = new Say();
    this.list = h('ul', { class: 'g-rows' });
    this.made = h('div', { class: 'g-link-made', hidden: true });
    this.root = h(
      'div',
      { class: 'g-tokens' },
      h('h3', {}, 'Tokens for programs'),
      this.list,
      this.made,
      this.say.root,
      this.form(),
    );
  }

  /** @param {SessionView[]} tokens */
  show(tokens) {
    redraw(this.list, tokens, () =>
      tokens.length
        ? tokens.map((each) => this.token(each))
        : h('li', {}, h('span', {}, 'No tokens. Programs need one to work in your name.')),
    );
  }

  /** @param {SessionView} each */
  token(each) {
    return row(
      [each.client.replace(/^token: /, ''), h('i', {}, each.scope)],
      [
        'valid until ',
        time(each.expires_at),
        each.last_used_at ? [', last used ', time(each.last_used_at)] : ', never used',
      ],
      twice('Revoke', 'Confirm revoking', () => this.end(each.id)),
    );
  }

  /** @param {string} id */
  async end(id) {
    await this.say.act(
      () => remove('/me/sessions/{session_id}', { session_id: id }),
      'Token revoked. It no longer works.',
    );
    this.changed();
  }

  form() {
    const purpose = h('input', { name: 'purpose', required: true, maxlength: '150', autocomplete: 'off' });
    const days = h('input', { name: 'days', type: 'number', required: true, min: '1', max: '3650', value: '90' });
    const scope = h(
      'select',
      { name: 'scope' },
      Object.entries(SCOPES).map(([value, text]) => h('option', { value }, text)),
    );
    scope.value = 'annotate';
    const form = h(
      'form',
      { class: 'g-form g-upright' },
      h('label', {}, 'Purpose', purpose),
      h('label', {}, 'Scope', scope),
      h('label', {}, 'Validity in days', days),
      h('button', { class: 'g-act' }, 'Create token'),
    );
    onSubmit(form, async () => {
      const chosen = /** @type {Scope} */ (scope.value);
      const wanted = { purpose: purpose.value, scope: chosen, days: Number(days.value) };
      const went = await this.say.act(async () => this.tell((await post('/me/tokens', {}, wanted)).token));
      if (!went) return;
      purpose.value = '';
      this.changed();
    });
    return h('details', {}, h('summary', {}, 'New token'), form);
  }

  /**
   * Told once: it stays until its owner says that it is kept somewhere.
   *
   * @param {string} token
   */
  tell(token) {
    const field = h('input', { readonly: true, value: token, 'aria-label': 'New token' });
    const done = () => {
      this.made.hidden = true;
      replace(this.made);
    };
    replace(
      this.made,
      h('p', {}, 'Copy the token now. It is shown only once.'),
      field,
      button(
        'Copy',
        async () => this.say.show((await copy(field)) ? 'Copied.' : 'Select the token and press Ctrl+C.'),
        'g-first',
      ),
      button('Done', done),
    );
    this.made.hidden = false;
    field.select();
  }
}
