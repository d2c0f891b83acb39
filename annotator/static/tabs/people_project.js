// The project itself: its name, the archive, and the projects that lie in it.

import { getPage, patch, post } from '../core/api.js';
import { chooseProject } from '../core/chosen_project.js';
import { h, redraw } from '../core/dom.js';
import { Pages } from '../core/pages.js';
import { count } from '../core/text.js';
import { MoreButton, Say, button, card, onSubmit, row, time, twice } from './people_parts.js';

/** @import { ProjectView } from '../types' */

const PAGE = 20;
const MOST = 1000; // that the server sends at once

export class ProjectCard {
  say = new Say();
  list = h('ul', { class: 'g-rows', 'aria-label': 'Archived projects' });
  heading = h('summary', {}, 'Archived projects');
  /** @type {Pages<ProjectView>} */
  archived = new Pages((values) => getPage('/projects', { archived: true, ...values }), PAGE, MOST);
  more = new MoreButton(this.archived, this.say, () => this.draw());
  /** @type {HTMLDetailsElement} */
  fold = h('details', { hidden: true }, this.heading, this.list, this.more.root);

  /**
   * @param {ProjectView | null} project
   * @param {() => unknown} changed called after a change
   */
  constructor(project, changed) {
    this.project = project;
    this.changed = changed;
    const acts = project?.role === 'admin' ? this.form(project) : null;
    this.root = card('Project', acts, this.say.root, this.fold);
    this.root.hidden = !acts; // until there is something in the archive
  }

  /** @param {ProjectView} project */
  form(project) {
    /** @type {HTMLInputElement} */
    const field = h('input', { name: 'name', required: true, maxlength: 100, value: project.name, dir: 'auto' });
    const archive = twice('Archive project', 'Confirm: nothing in it can be changed then', () =>
      this.act(() => post('/projects/{project_id}/archive', { project_id: project.id }, undefined)),
    );
    const form = h(
      'form',
      { class: 'g-form' },
      h('label', {}, 'Name', field),
      h('button', { class: 'g-act g-first' }, 'Rename'),
      archive,
    );
    return onSubmit(form, () =>
      this.act(async () => {
        const name = field.value.trim();
        await patch('/projects/{project_id}', { project_id: project.id }, { name, before: project.name });
      }),
    );
  }

  load() {
    return this.say.load(async () => {
      await this.archived.load();
      this.draw();
    });
  }

  draw() {
    const { items } = this.archived;
    this.heading.textContent = `Archived: ${count(items.length, 'project')}${this.archived.next ? ' and more' : ''}`;
    this.fold.hidden = !items.length;
    this.root.hidden = !items.length && this.project?.role !== 'admin';
    redraw(this.list, items, () => items.map((each) => this.line(each)));
    this.more.draw();
  }

  /** @param {ProjectView} each */
  line(each) {
    const place = h('a', { href: `./#project=${each.id}`, on: { click: () => chooseProject(each.id) } }, each.name);
    const back = () => this.act(() => post('/projects/{project_id}/unarchive', { project_id: each.id }, undefined));
    return row(
      place,
      [`${count(each.documents, 'document')}, archived `, time(each.archived_at ?? '')],
      each.role === 'admin' ? button('Unarchive', back) : null,
    );
  }

  /** @param {() => Promise<unknown>} step */
  async act(step) {
    if (await this.say.act(step)) this.changed();
    else await this.load();
  }
}
