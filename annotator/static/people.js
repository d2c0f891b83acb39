// The tab People: chooses the project, and places the cards of members, invitations, audit trail, account and users.

import { get } from './api.js';
import { chooseProject, chosenProject } from './chosen_project.js';
import { AccountCard } from './people_account.js';
import { AuditCard } from './people_audit.js';
import { MembersCard } from './people_members.js';
import { UsersCard } from './people_users.js';
import { card, notice } from './people_parts.js';
import { h, replace } from './dom.js';

export class PeoplePanel {
  constructor(root) {
    this.root = root;
    // Whoever comes back to the tab sees what others did meanwhile.
    this.watch = new IntersectionObserver(([entry]) => entry.isIntersecting && this.load());
    this.watch.observe(root);
  }

  destroy() {
    this.watch.disconnect();
  }

  async load() {
    // Not under the hands of who is typing, nor while a link stands there that cannot be shown again.
    if (this.root.querySelector('input:focus, .g-link-made:not([hidden])')) return;
    try {
      const [me, projects] = await Promise.all([get('/me'), get('/projects')]);
      this.me = me;
      this.projects = projects;
      this.render();
    } catch (error) {
      replace(this.root, notice('This tab cannot be shown', error.message, ['Try again', () => this.load()]));
    }
  }

  get project() {
    return this.projects.find((each) => each.id === chosenProject()) ?? this.projects[0] ?? null;
  }

  choose(id) {
    chooseProject(id);
    this.render();
  }

  render() {
    const { me, projects, project } = this;
    const local = me.auth === 'local';
    const owner = me.user.role === 'admin';
    const admin = project?.role === 'admin';
    const select = h('select', { 'aria-label': 'Project', on: { change: () => this.choose(select.value) } },
      projects.map((each) => h('option', { value: each.id }, each.name)));
    select.value = project?.id ?? '';
    const audit = project && admin ? new AuditCard(`/projects/${project.id}/audit`, `What was decided in ${project.name}`) : null;
    const changed = () => audit?.load();
    replace(
      this.root,
      local ? localNotice() : null,
      project ? h('label', { class: 'g-people-project' }, 'Project', select) : null,
      h('div', { class: 'g-people-columns' },
        h('div', {},
          project
            ? new MembersCard(project, me, { admin: admin && !local, owner, changed }).root
            : notice('You are in no project yet', 'Ask an admin of a project for an invitation: a link that makes you a member.'),
          audit?.root),
        local ? null : h('div', {}, new AccountCard(me).root)),
      owner && !local ? new UsersCard(me).root : null,
      owner && !local ? new AuditCard('/audit', 'What was decided everywhere', true).root : null,
    );
  }
}

function localNotice() {
  const line = (text) => h('code', {}, text);
  return card('Nobody logs in here',
    h('p', {}, 'Glossator serves this machine only, and whoever opens it is ', h('b', {}, 'local'), ', who may do everything. To work together:'),
    h('ol', {},
      h('li', {}, 'Add yourself: ', line('glossator users add NAME --role admin')),
      h('li', {}, 'Start with a login: ', line('GLOSSATOR_AUTH=login glossator serve')),
      h('li', {}, 'Behind a TLS proxy, for others to reach it: ', line('GLOSSATOR_SECURE_COOKIES=true'), ' and ', line('GLOSSATOR_ALLOWED_HOSTS'),
        '. Then invite people here, by link.')));
}
