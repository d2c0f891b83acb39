// The tab Jobs: chooses the project, and shows its jobs, its triggers and their history.

import { get, getAll, sentenceOf } from '../core/api.js';
import { chooseProject, chosenProject } from '../core/chosen_project.js';
import { h, replace } from '../core/dom.js';
import { JobsCard } from './jobs_list.js';
import { TriggerHistoryCard, TriggersCard } from './jobs_triggers.js';
import { EVERYWHERE, LiveTab } from '../sync/live_tab.js';
import { notice } from './people_parts.js';
import { projectSelect } from './project_select.js';

/** @import { ProjectView } from '../types' */

/** @typedef {{ triggers: TriggersCard, jobs: JobsCard, triggerHistory: TriggerHistoryCard }} Cards */

export class JobsPanel {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    /** @type {Cards | null} */
    this.cards = null;
    /** @type {ProjectView | null} */
    this.shown = null; // the project of the cards; another one may be chosen while something is written here
    this.live = new LiveTab(root.closest('[role=tabpanel]') ?? root, {
      topics: ['jobs', 'runs', 'answers'],
      shown: () => this.shown?.id ?? null,
      wanted: () => (this.busy ? (this.shown?.id ?? null) : chosenProject()),
      fetch: (heard) => this.fetch(heard),
    });
  }

  destroy() {
    this.live.destroy();
  }

  // Somebody has opened the settings: they stay.
  get busy() {
    return Boolean(this.cards?.triggers.editing);
  }

  /** @param {Set<string>} heard */
  async fetch(heard) {
    const projects = ['all', ...EVERYWHERE].some((topic) => heard.has(topic)) || chosenProject() !== this.shown?.id;
    return this.cards && (this.busy || !projects) ? this.look() : this.open();
  }

  async open() {
    try {
      const projects = await getAll('/projects', {});
      this.render(projects, projects.find((each) => each.id === chosenProject()) ?? projects[0] ?? null);
    } catch (error) {
      this.cards = this.shown = null;
      const again = () => this.live.refresh();
      replace(this.root, notice('The tab could not be loaded', sentenceOf(error), ['Try again', again]));
      return false;
    }
    return this.look();
  }

  /**
   * @param {ProjectView[]} projects
   * @param {ProjectView | null} project
   */
  render(projects, project) {
    this.cards = null;
    this.shown = project;
    if (!project) {
      const sentence = 'Ask an admin of a project for an invitation link.';
      replace(this.root, notice('You are not a member of any project', sentence));
      return;
    }
    const choice = projectSelect(projects, project.id, (id) => this.choose(id));
    if (project.role === 'annotator') {
      const sentence =
        'This tab shows jobs, failures and retraining triggers. Ask an admin of the project for the role reviewer.';
      replace(this.root, choice, notice('Only for reviewers and admins', sentence));
      return;
    }
    const admin = project.role === 'admin';
    const changed = () => this.live.acted();
    const cards = {
      triggers: new TriggersCard(project, admin, changed),
      jobs: new JobsCard(project.id, admin, changed),
      triggerHistory: new TriggerHistoryCard(),
    };
    this.cards = cards;
    const history = h('div', {}, cards.jobs.root, cards.triggerHistory.root);
    replace(this.root, choice, h('div', { class: 'g-people-columns' }, history, h('div', {}, cards.triggers.root)));
  }

  /** @param {string} id */
  choose(id) {
    chooseProject(id);
    if (this.cards?.triggers.form) this.cards.triggers.form.open = false; // chosen on purpose: what was begun ends
    this.live.refresh();
  }

  async look() {
    const { cards, shown } = this;
    if (!cards || !shown) return true;
    const values = { project_id: shown.id };
    try {
      const [triggers] = await Promise.all([get('/projects/{project_id}/triggers', values), cards.jobs.load()]);
      if (cards !== this.cards) return true;
      cards.triggers.show(triggers);
      cards.triggerHistory.show(triggers.firings);
      return true;
    } catch (error) {
      if (cards === this.cards) cards.triggers.say.show(sentenceOf(error), true);
      return false;
    }
  }
}
