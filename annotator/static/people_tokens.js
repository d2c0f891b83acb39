// Tokens of one's programs: what each may do, when it was used last and when it ends; making one, and ending it.

import { request } from './api.js';
import { h, replace } from './dom.js';
import { Say, button, copy, onSubmit, row, time, twice } from './people_parts.js';

const SCOPES = {
  read: 'read: sees, and changes nothing',
  annotate: 'annotate: also asks, marks, reviews',
  admin: 'admin: all that you may do',
};

export class TokensPart {
  constructor(changed) {
    this.changed = changed;
    this.say = new Say();
    this.list = h('ul', { class: 'g-rows' });
    this.made = h('div', { class: 'g-link-made', hidden: true });
    this.root = h('div', { class: 'g-tokens' }, h('h4', {}, 'Tokens for programs'), this.list, this.made, this.say.root, this.form());
  }

  show(tokens) {
    replace(this.list, tokens.length
      ? tokens.map((each) => row([each.client.replace(/^token: /, ''), h('i', {}, each.scope)],
        ['ends ', time(each.expires_at), each.last_used_at ? [', last used ', time(each.last_used_at)] : ', never used'],
        twice('End', 'Really end?', () => this.end(each.id))))
      : h('li', {}, h('span', {}, 'None. A program needs one to work in your name.')));
  }

  async end(id) {
    await this.say.act(() => request('DELETE', `/me/sessions/${id}`), 'The token does not work any more.');
    this.changed();
  }

  form() {
    const purpose = h('input', { name: 'purpose', required: true, maxlength: '150', autocomplete: 'off' });
    const days = h('input', { name: 'days', type: 'number', required: true, min: '1', max: '3650', value: '90' });
    const scope = h('select', { name: 'scope' }, Object.entries(SCOPES).map(([value, text]) => h('option', { value }, text)));
    scope.value = 'annotate';
    const form = h('form', { class: 'g-form g-upright' },
      h('label', {}, 'What it is for', purpose), h('label', {}, 'What it may do', scope), h('label', {}, 'Days until it ends', days),
      h('button', { class: 'g-act' }, 'Make token'));
    onSubmit(form, async () => {
      const wanted = { purpose: purpose.value, scope: scope.value, days: Number(days.value) };
      let token = null;
      if (!(await this.say.act(async () => ({ token } = await request('POST', '/me/tokens', wanted))))) return;
      this.tell(token);
      purpose.value = '';
      this.changed();
    });
    return h('details', {}, h('summary', {}, 'New token'), form);
  }

  // Told once: it stays until its owner says that it is kept somewhere.
  tell(token) {
    const field = h('input', { readonly: true, value: token, 'aria-label': 'The new token' });
    const done = () => {
      this.made.hidden = true;
      replace(this.made);
    };
    replace(this.made, h('p', {}, 'Copy it now: it is shown only this once.'), field,
      button('Copy', async () => this.say.show((await copy(field)) ? 'Copied.' : 'Select it and copy it.'), 'g-first'), button('Done', done));
    this.made.hidden = false;
    field.select();
  }
}
