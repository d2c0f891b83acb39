// The tab Table: the answers of a project's documents, a row a document, a column a field.

import { get, getAll, getPage, sentenceOf } from '../core/api.js';
import { chooseProject, chosenProject } from '../core/chosen_project.js';
import { h, replace } from '../core/dom.js';
import { count } from '../core/text.js';
import { same } from '../core/values.js';
import { EVERYWHERE, LiveTab } from '../sync/live_tab.js';
import { TableControls } from './answer_table_controls.js';
import { CellEditor } from './answer_table_editor.js';
import { AnswerGrid } from './answer_table_grid.js';
import { TablePages } from './answer_table_pages.js';
import {
  EVERYTHING,
  columnsOf,
  nextSort,
  queryOf,
  rowsOfPage,
  showColumn,
  turnFilter,
  withoutLost,
} from './answer_table_query.js';
import { button, notice, set } from './people_parts.js';
import { projectSelect } from './project_select.js';
import { openTab } from './tab_history.js';

/** @import { ProjectView, StoredField, TableCounts } from '../types' */
/** @import { TableView } from './answer_table_query.js' */

const SHAPE = ['all', 'questions', ...EVERYWHERE]; // topics after which columns or projects may be others

export class AnswerTablePanel {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    /** @type {ProjectView | null} */
    this.project = null;
    /** @type {StoredField[]} */
    this.fields = [];
    /** @type {TableCounts | null} */
    this.counts = null;
    /** @type {TableView} */
    this.view = EVERYTHING;
    /** @type {Map<string, TableView>} of other projects, by id */
    this.views = new Map();
    this.ready = false; // the table stands, and no sentence in place of it
    this.loading = false; // another filter or order is on its way
    this.pages = new TablePages((cursor) => this.fetchRows(cursor));
    this.controls = new TableControls({
      filter: (filter) => this.change(turnFilter(this.view, filter)),
      clear: () => this.change({ ...this.view, filters: [] }),
      column: (name, shown) => this.change(showColumn(this.fields, this.view, name, shown)),
      sort: (sort) => this.change({ ...this.view, sort }),
    });
    /** @type {CellEditor} */
    this.editor = new CellEditor(() => this.grid);
    /** @type {AnswerGrid} */
    this.grid = new AnswerGrid({
      sort: (field) => this.change({ ...this.view, sort: nextSort(this.view.sort, field) }),
      seen: (first, end) => this.seen(first, end),
      more: () => this.more(),
      latest: (row) => this.editor.latest.of(row),
      // While other rows are on their way, those that stand may be of another project.
      held: (at, column) => void (this.loading || this.editor.held(at, column)),
      look: (at, column) => void (this.loading || this.editor.look(at, column)),
      edit: (at, column) => void (this.loading || this.editor.edit(at, column)),
      key: (event) => !this.loading && this.editor.key(event),
    });
    this.none = h(
      'div',
      { class: 'g-table-none', hidden: true },
      h('p', {}, 'No document fits these filters.'),
      button('Clear filters', () => this.change({ ...this.view, filters: [] })),
    );
    this.wrong = h('span', { class: 'g-table-wrong' });
    this.failure = h(
      'div',
      { class: 'g-table-failure', role: 'alert', hidden: true },
      this.wrong,
      button('Try again', () => this.live.refresh()),
    );
    this.table = h(
      'section',
      { class: 'g-card g-table-card' },
      this.controls.root,
      this.failure,
      h('div', { class: 'g-table-beside' }, this.grid.root, this.editor.root),
      this.none,
    );
    replace(root, h('p', { class: 'g-card', role: 'status' }, 'Loading…'));
    this.live = new LiveTab(root.closest('[role=tabpanel]') ?? root, {
      topics: ['values', 'questions', 'documents'],
      shown: () => this.project?.id ?? null,
      wanted: chosenProject,
      fetch: (heard) => this.fetch(heard),
    });
  }

  destroy() {
    this.live.destroy();
    this.grid.destroy();
    this.editor.destroy();
  }

  /** @param {Set<string>} heard */
  async fetch(heard) {
    const shape = SHAPE.some((topic) => heard.has(topic));
    try {
      if (!this.ready || shape || chosenProject() !== this.project?.id || !this.failure.hidden) await this.open();
      else await this.follow();
      return true;
    } catch (error) {
      this.fail(error);
      return false;
    }
  }

  /** @param {unknown} error */
  fail(error) {
    this.loading = false;
    if (this.ready) {
      set(this.wrong, sentenceOf(error));
      this.failure.hidden = false;
      return this.render();
    }
    const again = () => this.live.refresh();
    replace(this.root, notice('The table could not be loaded', sentenceOf(error), ['Try again', again]));
  }

  async open() {
    const projects = await getAll('/projects', {});
    const project = projects.find(({ id }) => id === chosenProject()) ?? projects[0] ?? null;
    if (!project || project.role === 'annotator') return this.refuse(projects, project);
    const values = { project_id: project.id };
    const [fields, counts] = await Promise.all([
      get('/projects/{project_id}/fields', values),
      get('/projects/{project_id}/values/counts', values),
    ]);
    if (project.id !== this.project?.id) this.leave(project);
    this.project = project;
    if (!same(fields, this.fields)) this.fields = fields; // else the rows, and the focus in them, stay
    this.counts = counts;
    this.view = withoutLost(this.view, fields);
    const choice = projectSelect(projects, project.id, (id) => this.choose(id));
    if (!fields.length || !counts.documents) return this.missing(choice);
    if (!(await this.pages.begin())) return;
    this.failure.hidden = true;
    this.loading = false;
    if (this.ready) this.root.firstElementChild?.replaceWith(choice);
    else replace(this.root, choice, this.table);
    this.ready = true;
    this.render();
  }

  /** @param {ProjectView} project takes the place of the present one */
  leave(project) {
    if (this.project) this.views.set(this.project.id, this.view);
    this.view = this.views.get(project.id) ?? EVERYTHING;
    this.pages.turn++;
    this.loading = true; // rows of the other project stand until those of this one are there
    this.editor.leave();
    this.grid.root.scrollTo(0, 0);
  }

  /**
   * @param {ProjectView[]} projects
   * @param {ProjectView | null} project
   */
  refuse(projects, project) {
    this.ready = false;
    this.project = project;
    if (!project) {
      const sentence = 'Ask an admin of a project for an invitation link.';
      return replace(this.root, notice('You are not a member of any project', sentence));
    }
    const sentence = 'This tab shows the answers of everybody. Ask an admin of the project for the role reviewer.';
    const choice = projectSelect(projects, project.id, (id) => this.choose(id));
    replace(this.root, choice, notice('Only for reviewers and admins', sentence));
  }

  /** @param {HTMLElement} choice of a project that has no fields, or no documents */
  missing(choice) {
    this.ready = false;
    const sentence = this.fields.length
      ? notice('No documents yet', 'Each document becomes a row.', ['Open Documents', () => openTab('documents')])
      : notice('No fields yet', 'Each field becomes a column.', ['Open Questions', () => openTab('questions')]);
    replace(this.root, choice, sentence);
  }

  /** @param {string} id */
  choose(id) {
    chooseProject(id);
    this.live.refresh();
  }

  /** Values have changed: the numbers, and the rows in sight. */
  async follow() {
    const { project } = this;
    if (!project) return;
    this.pages.spoil();
    const [first, end] = this.grid.sight;
    const [counts] = await Promise.all([
      get('/projects/{project_id}/values/counts', { project_id: project.id }),
      this.loading ? null : this.pages.freshen(first, end), // else all rows are on their way
    ]);
    if (project !== this.project) return;
    this.counts = counts;
    this.render();
    this.editor.refresh();
  }

  /** @param {TableView} view that somebody has chosen */
  async change(view) {
    if (view === this.view) return;
    const columns = columnsOf(this.fields, view).length > columnsOf(this.fields, this.view).length;
    const others = columns || view.filters !== this.view.filters || view.sort !== this.view.sort;
    this.view = view;
    this.loading = others;
    this.render();
    if (!others) return;
    try {
      if (!(await this.pages.begin())) return; // something else was chosen meanwhile
      this.loading = false;
      this.failure.hidden = true;
      this.grid.root.scrollTop = 0;
      this.render();
    } catch (error) {
      this.fail(error);
    }
  }

  /** @param {string | null} cursor */
  fetchRows(cursor) {
    const columns = columnsOf(this.fields, this.view).length;
    const values = { ...queryOf(this.project?.id ?? '', this.fields, this.view), limit: rowsOfPage(columns), cursor };
    return getPage('/projects/{project_id}/values', values);
  }

  /**
   * @param {number} first
   * @param {number} end
   */
  async seen(first, end) {
    if (this.pages.busy || this.loading || !this.failure.hidden || !this.pages.staleIn(first, end).length) return;
    await this.step(() => this.pages.freshen(first, end));
  }

  async more() {
    if (this.pages.busy || this.loading || !this.failure.hidden) return;
    await this.step(() => this.pages.more());
  }

  /** @param {() => Promise<void>} run */
  async step(run) {
    const { turn } = this.pages;
    try {
      await run();
      if (turn === this.pages.turn) this.render();
    } catch (error) {
      if (turn === this.pages.turn) this.fail(error);
    }
  }

  render() {
    const { project, fields, view, counts, pages } = this;
    if (!project) return;
    this.controls.render({ project: project.id, fields, view, counts });
    this.grid.setColumns(project.id, columnsOf(fields, view), view.sort);
    this.grid.show(pages.rows, pages.total, pages.open);
    this.none.hidden = pages.rows.length > 0 || this.loading;
    this.editor.render();
    this.grid.root.ariaBusy = String(this.loading);
    set(
      this.controls.said,
      this.loading ? 'Loading…' : countWords(pages.total, pages.rows.length, view.filters.length > 0),
    );
  }
}

/**
 * @param {number | null} total
 * @param {number} fetched
 * @param {boolean} filtered
 */
function countWords(total, fetched, filtered) {
  if (total === null) return `More than ${count(fetched, 'document')}`;
  return filtered ? `${count(total, 'document')} with these filters` : count(total, 'document');
}
