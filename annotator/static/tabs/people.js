// The tab People: chooses the project, and places the cards of members, another model, webhooks, audit, account, users.

import { get, getAll, getPage, sentenceOf } from '../core/api.js';
import { chooseProject, chosenProject } from '../core/chosen_project.js';
import { h, replace } from '../core/dom.js';
import { same } from '../core/values.js';
import { EVERYWHERE, LiveTab } from '../sync/live_tab.js';
import { AccountCard } from './people_account.js';
import { AuditCard } from './people_audit.js';
import { MembersCard } from './people_members.js';
import { ProjectCard } from './people_project.js';
import { ProposerCard } from './people_proposer.js';
import { RemovedProjectsCard } from './people_removed_projects.js';
import { UsersCard } from './people_users.js';
import { WebhooksCard } from './people_webhooks.js';
import { card, notice } from './people_parts.js';
import { projectSelect } from './project_select.js';

/** @import { Topic } from '../sync/changes.js' */
/** @import { Me, ProjectView } from '../types' */

/** @typedef {{ root: HTMLElement, load: () => Promise<unknown> }} Card */

// What the audit trail tells of, beside members and projects.
/** @type {Topic[]} */
const AUDITED = ['questions', 'models', 'jobs'];

export class PeoplePanel {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    /** @type {{ me: Me, projects: ProjectView[], project: ProjectView | null } | null} */
    this.shown = null;
    /** @type {Card[]} */
    this.cards = [];
    /** @type {AuditCard[]} */
    this.audits = [];
    /** @type {ProposerCard | null} */
    this.proposer = null;
    this.live = new LiveTab(root.closest('[role=tabpanel]') ?? root, {
      topics: ['users', ...AUDITED],
      shown: () => this.shown?.project?.id ?? null,
      wanted: () => (this.busy ? (this.shown?.project?.id ?? null) : chosenProject()),
      fetch: (heard) => this.fetch(heard),
    });
    // What could not be drawn under the hands of somebody is drawn once they are done.
    root.addEventListener('focusout', ({ relatedTarget }) => relatedTarget || this.live.seen(this.live.inSight));
  }

  destroy() {
    this.live.destroy();
  }

  // Somebody is typing, or a link stands there that cannot be shown again.
  get busy() {
    return Boolean(this.root.querySelector('input:focus, textarea:focus, .g-link-made:not([hidden])'));
  }

  /** @param {Set<string>} heard */
  async fetch(heard) {
    const everything = ['all', 'users', ...EVERYWHERE].some((topic) => heard.has(topic));
    if (!this.shown || everything || chosenProject() !== this.shown.project?.id) return this.open();
    await Promise.all([...this.audits, this.proposer].map((each) => each?.load()));
    return true;
  }

  async open() {
    try {
      const [me, projects] = await Promise.all([get('/me', {}), getAll('/projects', {})]);
      const project = projects.find((each) => each.id === chosenProject()) ?? projects[0] ?? null;
      const other = !same(outline(me, projects, project), this.outline);
      const waits = other && this.busy;
      if (other && !waits) this.render(me, projects, project);
      await Promise.all(this.cards.map((each) => each.load()));
      return !waits;
    } catch (error) {
      this.shown = null;
      this.outline = undefined;
      const again = () => this.live.refresh();
      replace(this.root, notice('The tab could not be loaded', sentenceOf(error), ['Try again', again]));
      return false;
    }
  }

  /**
   * @param {Me} me
   * @param {ProjectView[]} projects
   * @param {ProjectView | null} project
   */
  render(me, projects, project) {
    this.shown = { me, projects, project };
    this.outline = outline(me, projects, project);
    const local = me.auth === 'local';
    const owner = me.user.role === 'admin';
    const admin = project?.role === 'admin';
    this.audits = [];
    const audit = project && admin ? this.auditOf(project) : null;
    const may = { admin: admin && !local, owner, changed: () => this.live.acted() };
    const members = project ? new MembersCard(project, me, may) : null;
    const itself = new ProjectCard(project, may.changed);
    const webhooks = project && project.role !== 'annotator' ? new WebhooksCard(project) : null;
    this.proposer = project && project.role !== 'annotator' ? new ProposerCard(project) : null;
    const account = local ? null : new AccountCard(me);
    const users = owner && !local ? new UsersCard(me, may.changed) : null;
    const bin = owner ? new RemovedProjectsCard(project, may.changed) : null;
    const trail = owner && !local ? this.auditOf(null) : null;
    this.cards = [itself, members, audit, account, this.proposer, webhooks, users, bin, trail].filter(
      (each) => each !== null,
    );
    const none = notice('You are not a member of any project', 'Ask an admin of a project for an invitation link.');
    replace(
      this.root,
      local && localNotice(),
      project && projectSelect(projects, project.id, (id) => this.choose(id)),
      h(
        'div',
        { class: 'g-people-columns' },
        h('div', {}, itself.root, members ? members.root : none, audit?.root),
        account && h('div', {}, account.root),
      ),
      this.proposer?.root,
      webhooks?.root,
      users?.root,
      bin?.root,
      trail?.root,
    );
  }

  /** @param {ProjectView | null} project null: everything */
  auditOf(project) {
    const audit = project
      ? new AuditCard(
          (values) => getPage('/projects/{project_id}/audit', { project_id: project.id, ...values }),
          `Audit trail of ${project.name}`,
        )
      : new AuditCard((values) => getPage('/audit', values), 'Audit trail of the installation', true);
    this.audits.push(audit);
    return audit;
  }

  /** @param {string} id */
  choose(id) {
    chooseProject(id);
    this.live.refresh();
  }
}

/**
 * What decides which cards there are.
 *
 * @param {Me} me
 * @param {ProjectView[]} projects
 * @param {ProjectView | null} project
 */
const outline = (me, projects, project) => [me, projects.map(({ id, name, role }) => [id, name, role]), project?.id];

function localNotice() {
  /** @param {string} text */
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
