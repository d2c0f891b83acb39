// The tab People: chooses the project, and places the cards of members, invitations, audit trail, account and users.

import { get } from '../core/api.js';
import { chooseProject, chosenProject } from '../core/chosen_project.js';
import { AccountCard } from './people_account.js';
import { AuditCard } from './people_audit.js';
import { MembersCard } from './people_members.js';
import { UsersCard } from './people_users.js';
import { card, notice } from './people_parts.js';
import { h, replace } from '../core/dom.js';

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
      const [me, projects] = await Promise.all([get('/me', {}), get('/projects', {})]);
      this.me = me;
      this.projects = projects;
      this.render();
    } catch (error) {
      replace(this.root, notice('The tab could not be loaded', error.message, ['Try again', () => this.load()]));
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
    const select = h(
      'select',
      { 'aria-label': 'Project', on: { change: () => this.choose(select.value) } },
      projects.map((each) => h('option', { value: each.id }, each.name)),
    );
    select.value = project?.id ?? '';
    const audit =
      project && admin
        ? new AuditCard(
            (values) => get('/projects/{project_id}/audit', { project_id: project.id, ...values }),
            `Audit trail of ${project.name}`,
          )
        : null;
    const changed = () => audit?.load();
    replace(
      this.root,
      local ? localNotice() : null,
      project ? h('label', { class: 'g-people-project' }, 'Project', select) : null,
      h(
        'div',
        { class: 'g-people-columns' },
        h(
          'div',
          {},
          project
            ? new MembersCard(project, me, { admin: admin && !local, owner, changed }).root
            : notice('You are not a member of any project', 'Ask an admin of a project for an invitation link.'),
          audit?.root,
        ),
        local ? null : h('div', {}, new AccountCard(me).root),
      ),
      owner && !local ? new UsersCard(me).root : null,
      owner && !local
        ? new AuditCard((values) => get('/audit', values), 'Audit trail of the installation', true).root
        : null,
    );
  }
}

function localNotice() {
  const line = (text) => h('code', {}, text);
  return card(
    'Logins are disabled',
    h(
      'p',
      {},
      'Glossator serves this machine only. Everybody works as the user ',
      h('b', {}, 'local'),
      ' with all rights. To enable logins:',
    ),
    h(
      'ol',
      {},
      h('li', {}, 'Add a user: ', line('glossator users add NAME --role admin')),
      h('li', {}, 'Start with logins: ', line('GLOSSATOR_AUTH=login glossator serve')),
      h(
        'li',
        {},
        'For access through a TLS proxy, set: ',
        line('GLOSSATOR_SECURE_COOKIES=true'),
        ' and ',
        line('GLOSSATOR_ALLOWED_HOSTS'),
        '. Then invite people on this tab.',
      ),
    ),
  );
}
