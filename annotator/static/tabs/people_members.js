// Members of a project with their roles, and invitations by link.

import { get, getAll, post, put, remove } from '../core/api.js';
import { h, redraw, replace } from '../core/dom.js';
import { RIGHTS, Say, button, card, copy, roleIn, roleSelect, row, time, twice } from './people_parts.js';

/** @import { InvitationView, Me, MemberView, ProjectView, UserView } from '../types' */
/** @import { Role } from './people_parts.js' */

/** @type {[number, string][]} */
const DAYS = [
  [1, '1 day'],
  [7, '7 days'],
  [30, '30 days'],
];

export class MembersCard {
  /**
   * @param {ProjectView} project
   * @param {Me} me
   * @param {object} may
   * @param {boolean} may.admin of the project
   * @param {boolean} may.owner admin of everything
   * @param {() => unknown} may.changed called after a change
   */
  constructor(project, me, may) {
    this.project = project;
    this.me = me;
    this.may = may;
    this.say = new Say();
    this.refused = 0; // a choice that was refused is drawn as it was before
    this.list = h('ul', { class: 'g-rows' });
    this.link = h('div', { class: 'g-link-made', hidden: true });
    this.adding = h('div', {});
    this.invitations = h('ul', { class: 'g-rows' });
    this.root = card(
      `Members of ${project.name}`,
      this.list,
      this.say.root,
      may.admin ? [this.inviteForm(), this.link, this.adding, this.invitations] : null,
    );
  }

  get values() {
    return { project_id: this.project.id };
  }

  load() {
    return this.say.load(async () => {
      const { admin, owner } = this.may;
      const [members, invitations, users] = await Promise.all([
        getAll('/projects/{project_id}/members', this.values),
        admin ? get('/projects/{project_id}/invitations', this.values) : [],
        admin && owner ? getAll('/users', {}) : [],
      ]);
      this.renderMembers(members);
      this.renderAdding(
        users.filter(
          (user) => user.name !== 'local' && !user.disabled && !members.some((each) => each.user_id === user.id),
        ),
      );
      this.renderInvitations(invitations.filter((each) => each.state === 'open'));
    });
  }

  /**
   * @param {() => Promise<unknown>} step
   * @param {string} [done]
   */
  async change(step, done) {
    if (await this.say.act(step, done)) return this.may.changed();
    this.refused++;
    return this.load();
  }

  /** @param {MemberView[]} members */
  renderMembers(members) {
    redraw(this.list, [members, this.refused], () =>
      members.length
        ? members.map((each) => this.member(each))
        : h(
            'li',
            { class: 'g-none' },
            'No members yet. Admins of this installation see every project without membership.',
          ),
    );
  }

  /** @param {MemberView} each */
  member(each) {
    const own = each.user_id === this.me.user.id;
    const member = { ...this.values, user_id: each.user_id };
    const path = '/projects/{project_id}/members/{user_id}';
    const role = this.may.admin
      ? roleSelect(`Role of ${each.name}`, each.role, (wanted) =>
          this.change(() => put(path, member, { role: wanted })),
        )
      : h('span', { class: 'g-tag', title: RIGHTS[each.role] }, each.role);
    const leave = async () => {
      await this.change(() => remove(path, member));
      if (own && !this.may.owner) location.reload();
    };
    const end = own ? twice('Leave', 'Confirm leaving', leave) : twice('Remove', 'Confirm removal', leave);
    return row(
      [each.name, own ? h('i', {}, 'you') : null],
      ['since ', time(each.since), each.disabled ? ', disabled' : ''],
      role,
      this.may.admin || own ? end : null,
    );
  }

  inviteForm() {
    const role = roleSelect('Role of the invited person', 'annotator');
    const days = h(
      'select',
      { 'aria-label': 'Validity of the link' },
      DAYS.map(([value, text]) => h('option', { value }, text)),
    );
    days.value = '7';
    const make = button('Create invitation link', () => this.invite(roleIn(role), Number(days.value)), 'g-first');
    return h(
      'div',
      { class: 'g-form' },
      h('label', {}, 'Role', role),
      h('label', {}, 'Validity of the link', days),
      make,
    );
  }

  /**
   * @param {Role} role
   * @param {number} days
   */
  async invite(role, days) {
    await this.say.act(async () => {
      const made = await post('/projects/{project_id}/invitations', this.values, { role, days });
      this.showLink(made.url, role);
    });
    this.may.changed();
  }

  /**
   * @param {string} url
   * @param {Role} role
   */
  showLink(url, role) {
    /** @type {HTMLInputElement} */
    const field = h('input', { readonly: true, value: url, 'aria-label': 'Link', on: { focus: () => field.select() } });
    /** @type {HTMLButtonElement} */
    const copied = button(
      'Copy',
      async () => (copied.textContent = (await copy(field)) ? 'Copied' : 'Press Ctrl+C'),
      'g-first',
    );
    const sentence =
      `Send this link to one person. It works once and makes them ${role}. ` +
      'It is shown only now; withdraw it below if it is lost.';
    replace(this.link, h('div', { class: 'g-link-field' }, field, copied), h('p', {}, sentence));
    this.link.hidden = false;
  }

  /** @param {InvitationView[]} open */
  renderInvitations(open) {
    redraw(this.invitations, open, () => [
      open.length ? h('li', { class: 'g-rows-head' }, 'Open invitations') : null,
      open.map((each) =>
        row(
          each.role,
          [`by ${each.created_by}, valid until `, time(each.expires_at)],
          button('Withdraw', () =>
            this.change(
              () => remove('/invitations/{invitation_id}', { invitation_id: each.id }),
              'Invitation withdrawn. Its link no longer works.',
            ),
          ),
        ),
      ),
    ]);
  }

  /**
   * Admins of everything know all users, and add one without a link.
   *
   * @param {UserView[]} users
   */
  renderAdding(users) {
    const names = users.map(({ id, name }) => ({ id, name }));
    redraw(this.adding, names, () => (names.length ? this.addingForm(names) : null));
  }

  /** @param {{ id: string, name: string }[]} users */
  addingForm(users) {
    const who = h(
      'select',
      { 'aria-label': 'User to add' },
      users.map((user) => h('option', { value: user.id, dir: 'auto' }, user.name)),
    );
    const role = roleSelect('Role of the added user', 'annotator');
    const add = button('Add member', () =>
      this.change(() =>
        put('/projects/{project_id}/members/{user_id}', { ...this.values, user_id: who.value }, { role: roleIn(role) }),
      ),
    );
    return h('div', { class: 'g-form' }, h('label', {}, 'User', who), h('label', {}, 'Role', role), add);
  }
}
