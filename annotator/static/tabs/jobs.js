// The tab Jobs: chooses the project, and looks again every few seconds while it is seen.

import { get } from '../core/api.js';
import { chooseProject, chosenProject } from '../core/chosen_project.js';
import { h, replace } from '../core/dom.js';
import { JobsCard } from './jobs_list.js';
import { FiringsCard, TriggersCard } from './jobs_triggers.js';
import { notice } from './people_parts.js';

const AGAIN_MILLISECONDS = 3000;

export class JobsPanel {
  constructor(root) {
    this.root = root;
    this.cards = null;
    this.shown = null; // the project of the cards; another one may be chosen while something is written here
    this.seen = false;
    this.watch = new IntersectionObserver(([entry]) => {
      this.seen = entry.isIntersecting;
      if (this.seen) this.open();
    });
    this.watch.observe(root);
    this.timer = setInterval(() => this.seen && !document.hidden && this.look(), AGAIN_MILLISECONDS);
  }

  destroy() {
    this.watch.disconnect();
    clearInterval(this.timer);
  }

  // Whoever comes back to the tab sees the projects that there are now; what they had begun to write stays.
  async open() {
    if (this.cards?.busy) return this.look();
    try {
      this.projects = await get('/projects', {});
      this.render();
    } catch (error) {
      this.cards = null;
      replace(this.root, notice('The tab could not be loaded', error.message, ['Try again', () => this.open()]));
    }
    return null;
  }

  get project() {
    return this.projects.find((each) => each.id === chosenProject()) ?? this.projects[0] ?? null;
  }

  choose(id) {
    chooseProject(id);
    this.render();
  }

  render() {
    const { projects, project } = this;
    this.cards = null;
    this.shown = project;
    if (!project) {
      replace(
        this.root,
        notice('You are not a member of any project', 'Ask an admin of a project for an invitation link.'),
      );
      return;
    }
    const select = h(
      'select',
      { 'aria-label': 'Project', on: { change: () => this.choose(select.value) } },
      projects.map((each) => h('option', { value: each.id }, each.name)),
    );
    select.value = project.id;
    const choice = h('label', { class: 'g-people-project' }, 'Project', select);
    if (project.role === 'annotator') {
      replace(
        this.root,
        choice,
        notice(
          'Only for reviewers and admins',
          'This tab shows jobs, failures and retraining triggers. Ask an admin of the project for the role reviewer.',
        ),
      );
      return;
    }
    const admin = project.role === 'admin';
    const look = () => this.look();
    this.cards = new Cards(new TriggersCard(project, admin, look), new JobsCard(admin, look), new FiringsCard());
    replace(
      this.root,
      choice,
      h(
        'div',
        { class: 'g-people-columns' },
        h('div', {}, this.cards.jobs.root, this.cards.firings.root),
        h('div', {}, this.cards.triggers.root),
      ),
    );
    this.look();
  }

  async look() {
    const { cards, shown: project } = this;
    if (!cards) return this.open();
    try {
      const [triggers, jobs] = await Promise.all([
        get('/projects/{project_id}/triggers', { project_id: project.id }),
        get('/projects/{project_id}/jobs', { project_id: project.id }),
      ]);
      if (cards === this.cards) cards.show(triggers, jobs);
    } catch (error) {
      if (cards === this.cards) cards.triggers.say.show(error.message, true);
    }
    return null;
  }
}

class Cards {
  constructor(triggers, jobs, firings) {
    Object.assign(this, { triggers, jobs, firings });
  }

  get busy() {
    return this.triggers.editing;
  }

  show(triggers, jobs) {
    this.triggers.show(triggers);
    this.jobs.show(jobs);
    this.firings.show(triggers.firings);
  }
}
