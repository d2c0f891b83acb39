// Users of the whole installation, for its admins: adding, roles, disabling, ending sessions, new passwords.

import { get, patch, post, put, remove } from '../core/api.js';
import { h, replace } from '../core/dom.js';
import { Say, button, card, onSubmit, row, time, twice } from './people_parts.js';

export class UsersCard {
  constructor(me) {
    this.me = me;
    this.say = new Say();
    this.list = h('ul', { class: 'g-rows' });
    this.root = card(
      'Users of this installation',
      h('p', {}, 'Admins see every project and have all rights. Users see the projects of which they are members.'),
      this.list,
      this.say.root,
      this.addForm(),
    );
    this.load();
  }

  async load() {
    const load = async () => {
      const users = await get('/users', {});
      replace(
        this.list,
        users.filter((user) => user.name !== 'local').map((user) => this.user(user)),
      );
    };
    await this.say.act(load);
  }

  async change(step, done) {
    const went = await this.say.act(step);
    await this.load();
    if (went) this.say.show(done);
  }

  user(user) {
    const own = user.id === this.me.user.id;
    const values = { user_id: user.id };
    const set = (wanted, done) => this.change(() => patch('/users/{user_id}', values, wanted), done);
    const select = h(
      'select',
      {
        'aria-label': `Role of ${user.name}`,
        disabled: own,
        on: { change: () => set({ role: select.value }, `${user.name} is now ${select.value}.`) },
      },
      h('option', { value: 'annotator' }, 'user'),
      h('option', { value: 'admin' }, 'admin'),
    );
    select.value = user.role === 'admin' ? 'admin' : 'annotator';
    const acts = own
      ? []
      : [
          button('Set password', () => this.askPassword(user)),
          button('End sessions', () =>
            this.change(() => remove('/users/{user_id}/sessions', values), `All sessions of ${user.name} were ended.`),
          ),
          user.disabled
            ? button('Enable', () => set({ disabled: false }, `${user.name} can log in again.`))
            : twice('Disable', 'Confirm disabling', () =>
                set({ disabled: true }, `${user.name} can no longer log in. Their answers are kept.`),
              ),
        ];
    return row(
      [user.name, own ? h('i', {}, 'you') : null, user.disabled ? h('i', { class: 'g-off' }, 'disabled') : null],
      ['since ', time(user.created_at)],
      select,
      ...acts,
    );
  }

  askPassword(user) {
    const field = h('input', { type: 'password', required: true, minlength: '10', autocomplete: 'new-password' });
    const form = h(
      'form',
      { class: 'g-form' },
      h('label', {}, `New password for ${user.name}`, field),
      h('button', { class: 'g-act g-first' }, 'Save'),
      button('Cancel', () => form.remove()),
    );
    onSubmit(form, () =>
      this.change(
        () => put('/users/{user_id}/password', { user_id: user.id }, { new: field.value }),
        `Password of ${user.name} changed. All their sessions were ended.`,
      ).then(() => form.remove()),
    );
    this.say.root.after(form);
    field.focus();
  }

  addForm() {
    const field = (text, more) => h('label', {}, text, h('input', { required: true, ...more }));
    const form = h(
      'form',
      { class: 'g-form' },
      field('Name', { name: 'name', maxlength: '100', autocomplete: 'off' }),
      field('Password, at least 10 characters', {
        name: 'password',
        type: 'password',
        minlength: '10',
        autocomplete: 'new-password',
      }),
      h(
        'label',
        {},
        'Role',
        h(
          'select',
          { name: 'role' },
          h('option', { value: 'annotator' }, 'user'),
          h('option', { value: 'admin' }, 'admin'),
        ),
      ),
      h('button', { class: 'g-act' }, 'Add user'),
    );
    return onSubmit(form, async () => {
      const [name, password, role] = ['name', 'password', 'role'].map((each) => form.elements[each].value);
      let went = false;
      await this.change(
        async () => (await post('/users', {}, { name, password, role }), (went = true)),
        `${name} can log in.`,
      );
      if (went) form.reset();
    });
  }
}
