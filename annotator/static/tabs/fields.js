// The fields of a project on the tab Questions: the list, the form of the field that is open, and saving.

import { get, getAll, sentenceOf } from '../core/api.js';
import { chosenProject } from '../core/chosen_project.js';
import { h, redraw, replace } from '../core/dom.js';
import { Toasts } from '../core/toast.js';
import { same, uuid } from '../core/values.js';
import { followShown, refreshAfterAct, shownProject } from '../gradio/tabs.js';
import { EVERYWHERE, LiveTab } from '../sync/live_tab.js';
import {
  addField,
  addFields,
  changeField,
  draftOf,
  isChanged,
  moveField,
  rebase,
  removeField,
  replaceList,
  stateOf,
  versionsOf,
} from './field_draft.js';
import { FieldFile } from './field_file.js';
import { FieldForm } from './field_form.js';
import { ReadingCard } from './field_reading.js';
import { FieldList } from './field_list.js';
import { findProblems } from './field_problems.js';
import { FieldSaving } from './field_saving.js';
import { ReadySets } from './field_sets.js';
import { FieldSheet } from './field_sheet.js';
import { versionsFold } from './field_versions.js';
import { button, card, notice } from './people_parts.js';

/** @import { FieldDefinition, ProjectView, StoredField } from '../types' */
/** @import { Draft } from './field_draft.js' */
/** @import { Problem } from './field_problems.js' */

const TAB = 'questions';
const MOST = 200; // fields of a project
const ABOUT =
  'A field is a question with the type of its value. Every document gets a task for each. Nothing is saved until you save.';

export class FieldsPanel {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    /** @type {ProjectView | null} */
    this.project = null;
    /** @type {StoredField[]} as the server had them last */
    this.stored = [];
    /** @type {Draft} */
    this.draft = draftOf([]);
    /** @type {Map<string, Draft>} changes of other projects that are not saved, by project */
    this.aside = new Map();
    /** @type {{ key: string, form: FieldForm | FieldSheet } | null} */
    this.open = null;
    this.checked = false; // problems are shown once somebody wanted to save, or has left a field
    /** @type {Problem[]} of the server; each goes with the next change of its field */
    this.refused = [];
    /** @type {string[] | null} names that were changed here and by others, once theirs were taken over */
    this.both = null;
    this.toasts = new Toasts(root);
    this.list = new FieldList({
      open: (key) => this.toggle(key),
      move: (key, place) => this.put(moveField(this.draft, key, place)),
      remove: (key) => this.remove(key),
    });
    this.saving = new FieldSaving(this.toasts, {
      project: () => this.project?.id ?? '',
      draft: () => this.draft,
      check: () => this.check(),
      refused: (problems) => this.refuse(problems),
      saved: (stored) => this.saved(stored),
      conflict: () => this.fetchFields(),
      discard: () => this.begin(this.stored),
    });
    this.sets = new ReadySets((fields) => this.put(addFields(this.draft, fields, uuid)));
    this.file = new FieldFile({
      project: () => this.project?.id ?? '',
      take: (fields, name) => this.takeFile(fields, name),
    });
    this.reading = new ReadingCard(this.toasts, (project) => {
      if (this.project?.id !== project.id) return;
      this.project = project;
      this.reading.render(project);
    });
    this.none = h('p', { class: 'g-none' });
    this.note = h('div', { class: 'g-field-note', role: 'status', hidden: true });
    this.adding = h(
      'div',
      { class: 'g-line' },
      button('Add field', () => this.add()),
      this.sets.root,
    );
    this.content = h('div', {});
    root.prepend(this.content);
    this.live = new LiveTab(root.closest('[role=tabpanel]') ?? root, {
      topics: ['questions'],
      shown: () => this.project?.id ?? null,
      wanted: () => shownProject(TAB) ?? chosenProject(),
      fetch: (heard) => this.fetch(heard),
    });
    this.unfollow = followShown(TAB, () => this.live.look());
  }

  destroy() {
    this.unfollow();
    this.live.destroy();
  }

  get edits() {
    return this.project !== null && this.project.role !== 'annotator';
  }

  /** @param {Set<string>} heard */
  async fetch(heard) {
    const wanted = this.live.content.wanted();
    const everything = ['all', ...EVERYWHERE].some((topic) => heard.has(topic));
    try {
      if (!this.project || everything || this.project.id !== wanted) await this.choose(wanted);
      else await this.fetchFields();
      return true;
    } catch (error) {
      if (this.project && this.project.id === wanted) return false; // what is there stays
      this.project = null;
      const again = () => this.live.refresh();
      replace(this.content, notice('The fields could not be loaded', sentenceOf(error), ['Try again', again]));
      return false;
    }
  }

  /** @param {string | null} wanted */
  async choose(wanted) {
    const projects = await getAll('/projects', {});
    const project = projects.find(({ id }) => id === wanted) ?? projects[0] ?? null;
    if (!project) return replace(this.content);
    const stored = await get('/projects/{project_id}/fields', { project_id: project.id });
    if (this.project?.id === project.id) {
      this.project = project;
      return this.take(stored);
    }
    if (this.project && isChanged(this.draft)) this.aside.set(this.project.id, this.draft);
    this.project = project;
    this.stored = stored;
    this.begin(stored, this.aside.get(project.id));
    this.aside.delete(project.id);
    replace(this.content, this.build(project));
    if (this.edits) this.sets.load();
  }

  async fetchFields() {
    const { project } = this;
    if (!project) return;
    const stored = await get('/projects/{project_id}/fields', { project_id: project.id });
    if (this.project === project) this.take(stored);
  }

  /**
   * What others have saved is shown at once where nothing was changed here.
   *
   * @param {StoredField[]} stored
   */
  take(stored) {
    this.stored = stored;
    if (isChanged(this.draft)) this.render();
    else if (!same(this.draft.before, stored)) this.begin(stored);
  }

  /**
   * @param {StoredField[]} stored
   * @param {Draft} [draft]
   */
  begin(stored, draft = draftOf(stored)) {
    this.checked = false;
    this.refused = [];
    this.both = null;
    const open = this.open && draft.fields.find(({ key }) => key === this.open?.key);
    this.draft = draft;
    this.open = open ? this.makeOpen(open.key) : null;
    this.render();
  }

  /** @param {Draft} draft */
  put(draft) {
    if (draft === this.draft) return;
    const changed = new Set(draft.fields.filter((field) => !this.draft.fields.includes(field)).map(({ key }) => key));
    this.refused = this.refused.filter(({ key }) => !changed.has(key));
    this.draft = draft;
    this.render();
  }

  add() {
    const key = uuid();
    this.put(addField(this.draft, key));
    this.toggle(key);
  }

  /** @param {string} key */
  remove(key) {
    const at = this.draft.fields.findIndex((field) => field.key === key);
    if (this.open?.key === key) this.open = null;
    this.put(removeField(this.draft, key));
    const edits = this.list.list.querySelectorAll('.g-field-edit');
    const next = edits[Math.min(at, edits.length - 1)] ?? this.adding.querySelector('button');
    if (next instanceof HTMLElement) next.focus();
  }

  /** @param {string} key */
  toggle(key) {
    const closes = this.open?.key === key;
    this.open = closes ? null : this.makeOpen(key);
    this.render();
    if (!closes) return this.open?.form.focus();
    const edit = this.list.list.querySelector(`[data-key="edit ${CSS.escape(key)}"]`);
    if (edit instanceof HTMLElement) edit.focus();
  }

  /** @param {string} key */
  makeOpen(key) {
    const field = this.draft.fields.find((each) => each.key === key);
    if (!field || !this.project) return null;
    const versions = field.id ? versionsFold(this.project.id, field.id) : null;
    const act = {
      change: (/** @type {object} */ change) => this.put(changeField(this.draft, key, change)),
      close: () => this.toggle(key),
    };
    return { key, form: this.edits ? new FieldForm(field, act, versions) : new FieldSheet(versions) };
  }

  /** Shows all problems from now on, and opens the first field that has one. */
  check() {
    this.checked = true;
    const problems = findProblems(this.draft.fields);
    this.showFirst(problems);
    return problems;
  }

  /** @param {Problem[]} problems */
  refuse(problems) {
    this.refused = problems;
    this.showFirst(problems);
  }

  /** @param {Problem[]} problems */
  showFirst(problems) {
    if (problems.length && !problems.some(({ key }) => key === this.open?.key)) {
      this.open = this.makeOpen(problems[0].key);
    }
    this.render();
    const wrong = this.root.querySelector('[aria-invalid=true]');
    if (wrong instanceof HTMLElement) wrong.focus();
  }

  /** @param {StoredField[]} stored */
  saved(stored) {
    this.open = null;
    this.stored = stored;
    this.begin(stored);
    this.live.acted();
    refreshAfterAct(TAB); // the list of one question a line
  }

  /**
   * The fields of a file in place of the list, with the preview of what that changes.
   *
   * @param {FieldDefinition[]} fields
   * @param {string} name of the file
   */
  takeFile(fields, name) {
    const before = this.draft,
      draft = replaceList(before, fields, uuid);
    if (same(draft.fields, before.fields)) return `${name} changes nothing.`;
    this.open = null;
    this.put(draft);
    if (!isChanged(draft)) return `${name} has the fields as they are saved.`;
    this.saving.look();
    const undo = () => {
      if (this.draft.before === before.before) this.put(before);
      else this.toasts.show('The list was saved meanwhile. Undo the saving instead.');
    };
    this.toasts.show(`The list is that of ${name}. Nothing is saved yet.`, 'undo', { label: 'Undo', run: undo });
    return '';
  }

  takeTheirs() {
    const { draft, both } = rebase(this.draft, this.stored);
    this.begin(this.stored, draft);
    this.both = both;
    this.render();
  }

  /** @param {ProjectView} project */
  build({ name }) {
    return card(
      `Fields of ${name}`,
      h('p', {}, ABOUT),
      this.none,
      this.list.root,
      this.adding,
      this.file.root,
      this.note,
      this.saving.root,
      this.reading.root,
    );
  }

  render() {
    const { draft, edits, open } = this;
    const problems = [...this.refused, ...(this.checked ? findProblems(draft.fields) : [])];
    const rows = draft.fields.map((field) => ({
      field,
      state: stateOf(draft, field),
      problems: problems.filter(({ key }) => key === field.key).length,
    }));
    const opened = draft.fields.find(({ key }) => key === open?.key);
    this.list.render(rows, { edits, open: opened?.key ?? null, form: open?.form.root ?? null });
    if (opened) open?.form.render(opened, draft.fields, problems);
    this.none.hidden = draft.fields.length > 0;
    this.none.textContent = edits
      ? 'No fields yet. Add one, or take a ready set for your kind of paper.'
      : 'No fields yet. A reviewer adds them.';
    this.adding.hidden = !edits || draft.fields.length >= MOST;
    this.saving.root.hidden = !edits;
    this.file.render(edits, draft.before.length > 0);
    this.renderNote();
    this.saving.render();
    if (this.project) this.reading.render(this.project);
  }

  /** Says that others have saved while something was being changed here. */
  renderNote() {
    const behind = isChanged(this.draft) && !same(versionsOf(this.draft.before), versionsOf(this.stored));
    this.note.hidden = !behind && this.both === null;
    redraw(this.note, [behind, this.both], () => {
      if (behind) {
        return [
          h('p', {}, 'Somebody else has changed the fields meanwhile. What you typed is kept, and not saved yet.'),
          button('Take over their changes', () => this.takeTheirs()),
        ];
      }
      if (this.both === null) return null;
      const names = this.both.join(', ');
      const yours = names ? ` Both of you changed ${names}; the list shows your version.` : '';
      return h('p', {}, `The list now has their changes, and yours.${yours} Look through it, then save.`);
    });
  }
}
