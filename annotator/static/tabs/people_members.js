// Members of a project with their roles, and invitations by link.

import { get, post, put, remove } from '../core/api.js';
import { h, replace } from '../core/dom.js';
import { Say, button, card, copy, roleSelect, row, time, twice, WHAT } from './people_parts.js';

const DAYS = [
  [1, '1 day'],
  [7, '7 days'],
  [30, '30 days'],
];

export class MembersCard {
  // may: { admin: of the project, owner: admin of everything, changed() }
  constructor(project, me, may) {
    Object.assign(this, { project, me, may });
    this.say = new Say();
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
    this.load();
  }

  get values() {
    return { project_id: this.project.id };
  }

  async load() {
    await this.say.act(async () => {
      const { admin, owner } = this.may;
      const [members, invitations, users] = await Promise.all([
        get('/projects/{project_id}/members', this.values),
        admin ? get('/projects/{project_id}/invitations', this.values) : [],
        admin && owner ? get('/users', {}) : [],
      ]);
      replace(
        this.list,
        members.map((each) => this.member(each)),
        members.length
          ? null
          : h(
              'li',
              { class: 'g-none' },
              'No members yet. Admins of this installation see every project without membership.',
            ),
      );
      this.renderAdding(
        users.filter(
          (user) => user.name !== 'local' && !user.disabled && !members.some((each) => each.user_id === user.id),
        ),
      );
      this.renderInvitations(invitations);
    });
  }

  async change(step, done) {
    const went = await this.say.act(step);
    await this.load();
    if (went) this.may.changed();
    if (went && done) this.say.show(done);
  }

  member(each) {
    const own = each.user_id === this.me.user.id;
    const member = { ...this.values, user_id: each.user_id };
    const role = this.may.admin
      ? roleSelect(`Role of ${each.name}`, each.role, (wanted) =>
          this.change(() => put('/projects/{project_id}/members/{user_id}', member, { role: wanted })),
        )
      : h('span', { class: 'g-tag', title: WHAT[each.role] }, each.role);
    const remove =
      this.may.admin || own
        ? twice(own ? 'Leave' : 'Remove', own ? 'Confirm leaving' : 'Confirm removal', () =>
            this.change(() => remove('/projects/{project_id}/members/{user_id}', member)).then(
              () => own && !this.may.owner && location.reload(),
            ),
          )
        : null;
    return row(
      [each.name, own ? h('i', {}, 'you') : null],
      ['since ', time(each.since), each.disabled ? ', disabled' : ''],
      role,
      remove,
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
    const make = button('Create invitation link', () => this.invite(role.value, Number(days.value)), 'g-first');
    return h(
      'div',
      { class: 'g-form' },
      h('label', {}, 'Role', role),
      h('label', {}, 'Validity of the link', days),
      make,
    );
  }

  async invite(role, days) {
    let made;
    if (
      !(await this.say.act(
        async () => (made = await post('/projects/{project_id}/invitations', this.values, { role, days })),
      ))
    )
      return;
    const field = h('input', {
      readonly: true,
      value: made.url,
      'aria-label': 'Link',
      on: { focus: () => field.select() },
    });
    const copied = button(
      'Copy',
      async () => (copied.textContent = (await copy(field)) ? 'Copied' : 'Press Ctrl+C'),
      'g-first',
    );
    replace(
      this.link,
      h('div', { class: 'g-link-field' }, field, copied),
      h(
        'p',
        {},
        `Send this link to one person. It works once and makes them ${role}. It is shown only now; withdraw it below if it is lost.`,
      ),
    );
    this.link.hidden = false;
    await this.load();
    this.may.changed();
  }

  renderInvitations(all) {
    const open = all.filter((each) => each.state === 'open');
    replace(
      this.invitations,
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
    );
  }

  // Admins of everything know all users, and add one without a link.
  renderAdding(users) {
    if (!users.length) return replace(this.adding);
    const who = h(
      'select',
      { 'aria-label': 'User to add' },
      users.map((user) => h('option', { value: user.id }, user.name)),
    );
    const role = roleSelect('Role of the added user', 'annotator');
    const add = button('Add member', () =>
      this.change(() =>
        put('/projects/{project_id}/members/{user_id}', { ...this.values, user_id: who.value }, { role: role.value }),
      ),
    );
    replace(this.adding, h('div', { class: 'g-form' }, h('label', {}, 'User', who), h('label', {}, 'Role', role), add));
    return null;
  }
}
