// Users of the whole installation, for its admins: adding, roles, disabling, ending sessions, new passwords.

import { getPage, patch, post, put, remove } from '../core/api.js';
import { h, redraw } from '../core/dom.js';
import { Pages } from '../core/pages.js';
import { MoreButton, Say, button, card, onSubmit, row, time, twice } from './people_parts.js';

/** @import { ChangedUser, Me, UserView } from '../types' */

const PAGE = 100; // users
const MOST = 1000; // users that the server sends at once

export class UsersCard {
  /**
   * @param {Me} me
   * @param {() => unknown} changed called after a change
   */
  constructor(me, changed) {
    this.me = me;
    this.changed = changed;
    this.say = new Say();
    this.refused = 0; // a choice that was refused is drawn as it was before
    this.list = h('ul', { class: 'g-rows' });
    /** @type {Pages<UserView>} */
    this.pages = new Pages((values) => getPage('/users', values), PAGE, MOST);
    this.more = new MoreButton(this.pages, this.say, () => this.render());
    this.root = card(
      'Users of this installation',
      h('p', {}, 'Admins see every project and have all rights. Users see the projects of which they are members.'),
      this.list,
      this.more.root,
      this.say.root,
      this.addForm(),
    );
  }

  load() {
    return this.say.load(async () => {
      await this.pages.load();
      this.render();
    });
  }

  render() {
    const users = this.pages.items.filter((user) => user.name !== 'local');
    redraw(this.list, [users, this.refused], () => users.map((user) => this.user(user)));
    this.more.draw();
  }

  /**
   * @param {() => unknown} step
   * @param {string} done
   */
  async change(step, done) {
    const went = await this.say.act(step, done);
    if (went) this.changed();
    else {
      this.refused++;
      await this.load();
    }
    return went;
  }

  /** @param {UserView} user */
  user(user) {
    const own = user.id === this.me.user.id;
    return row(
      [
        user.name,
        own ? h('i', {}, 'you') : null,
        user.second_factor ? h('i', {}, 'second factor') : null,
        user.disabled && !user.erased ? h('i', { class: 'g-off' }, 'disabled') : null,
      ],
      user.erased ? 'Nobody can log in by this name. The answers are kept.' : ['since ', time(user.created_at)],
      user.erased ? null : this.roleOf(user, own),
      own || user.erased ? null : this.actsOn(user),
    );
  }

  /**
   * @param {UserView} user
   * @param {ChangedUser} wanted
   * @param {string} done
   */
  set(user, wanted, done) {
    return this.change(() => patch('/users/{user_id}', { user_id: user.id }, wanted), done);
  }

  /**
   * @param {UserView} user
   * @param {boolean} own
   */
  roleOf(user, own) {
    const chosen = () => {
      const role = select.value === 'admin' ? 'admin' : 'annotator';
      this.set(user, { role }, `${user.name} is now ${role === 'admin' ? 'an admin' : 'a user'}.`);
    };
    /** @type {HTMLSelectElement} */
    const select = h(
      'select',
      { 'aria-label': `Role of ${user.name}`, disabled: own, on: { change: chosen } },
      h('option', { value: 'annotator' }, 'user'),
      h('option', { value: 'admin' }, 'admin'),
    );
    select.value = user.role === 'admin' ? 'admin' : 'annotator';
    return select;
  }

  /** @param {UserView} user */
  actsOn(user) {
    const values = { user_id: user.id };
    return [
      button('Set password', () => this.askPassword(user)),
      button('End sessions', () =>
        this.change(() => remove('/users/{user_id}/sessions', values), `All sessions of ${user.name} were ended.`),
      ),
      user.second_factor
        ? twice('Reset second factor', 'Confirm reset', () =>
            this.change(
              () => remove('/users/{user_id}/second-factor', values),
              `${user.name} has no second factor now, and is logged out everywhere.`,
            ),
          )
        : null,
      user.disabled
        ? button('Enable', () => this.set(user, { disabled: false }, `${user.name} can log in again.`))
        : twice('Disable', 'Confirm disabling', () =>
            this.set(user, { disabled: true }, `${user.name} can no longer log in. Their answers are kept.`),
          ),
      button('Erase', () => this.askErasing(user), 'g-danger'),
    ];
  }

  /** @param {UserView} user */
  askErasing(user) {
    const field = h('input', { required: true, autocomplete: 'off', dir: 'auto' });
    /** @type {HTMLFormElement} */
    const form = h(
      'form',
      { class: 'g-form' },
      h(
        'p',
        {},
        `${user.name} is replaced by a label everywhere. Password, sessions, tokens and memberships are deleted. ` +
          'Answers are kept. This cannot be undone.',
      ),
      h('label', {}, 'Type the name to confirm', field),
      h('button', { class: 'g-act g-danger' }, 'Erase person'),
      button('Cancel', () => form.remove()),
    );
    onSubmit(form, async () => {
      if (field.value !== user.name) {
        this.say.show(`The name is not ${user.name}. Nothing was erased.`, true);
        return;
      }
      const erase = async () => {
        const { name, stays } = await post('/users/{user_id}/erase', { user_id: user.id }, undefined);
        done = [`${user.name} is now ${name}.`, ...stays].join(' ');
      };
      let done = '';
      if (await this.change(erase, '')) this.say.show(done);
      form.remove();
    });
    this.say.root.after(form);
    field.focus();
  }

  /** @param {UserView} user */
  askPassword(user) {
    const field = h('input', { type: 'password', required: true, minlength: '10', autocomplete: 'new-password' });
    /** @type {HTMLFormElement} */
    const form = h(
      'form',
      { class: 'g-form' },
      h('label', {}, `New password for ${user.name}`, field),
      h('button', { class: 'g-act g-first' }, 'Save'),
      button('Cancel', () => form.remove()),
    );
    onSubmit(form, async () => {
      await this.change(
        () => put('/users/{user_id}/password', { user_id: user.id }, { new: field.value }),
        `Password of ${user.name} changed. All their sessions were ended.`,
      );
      form.remove();
    });
    this.say.root.after(form);
    field.focus();
  }

  addForm() {
    const name = h('input', { required: true, name: 'name', maxlength: '100', autocomplete: 'off' });
    const password = h('input', {
      required: true,
      name: 'password',
      type: 'password',
      minlength: '10',
      autocomplete: 'new-password',
    });
    const role = h(
      'select',
      { name: 'role' },
      h('option', { value: 'annotator' }, 'user'),
      h('option', { value: 'admin' }, 'admin'),
    );
    const form = h(
      'form',
      { class: 'g-form' },
      h('label', {}, 'Name', name),
      h('label', {}, 'Password, at least 10 characters', password),
      h('label', {}, 'Role', role),
      h('button', { class: 'g-act' }, 'Add user'),
    );
    return onSubmit(form, async () => {
      /** @type {'admin' | 'annotator'} */
      const chosen = role.value === 'admin' ? 'admin' : 'annotator';
      const user = { name: name.value, password: password.value, role: chosen };
      if (await this.change(() => post('/users', {}, user), `${user.name} can log in.`)) form.reset();
    });
  }
}
