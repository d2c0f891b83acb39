// Saving the fields of a project: first what the change touches, then Save or Cancel; afterwards Undo.

import { ApiError, post, put, sentenceOf, statusOf } from '../core/api.js';
import { h, replace } from '../core/dom.js';
import { count } from '../core/text.js';
import { isChanged, requestOf, versionsOf } from './field_draft.js';
import { problemsFrom } from './field_problems.js';
import { button, set } from './people_parts.js';

/** @import { FieldChange, StoredField } from '../types' */
/** @import { Toasts } from '../core/toast.js' */
/** @import { Draft } from './field_draft.js' */
/** @import { Problem } from './field_problems.js' */

/**
 * @typedef {object} FieldSavingPorts
 * @property {() => string} project
 * @property {() => Draft} draft
 * @property {() => readonly Problem[]} check shows the problems that are known here, and returns them
 * @property {(problems: Problem[]) => unknown} refused shows what the server found wrong
 * @property {(stored: StoredField[]) => unknown} saved the list as the server has it now
 * @property {() => Promise<unknown>} conflict somebody else has saved meanwhile
 * @property {() => unknown} discard what was changed here
 */

const KINDS = { added: 'New', changed: 'Changed', removed: 'Removed' };
const SAVED = 'The fields were saved.';

export class FieldSaving {
  /**
   * @param {Toasts} toasts
   * @param {FieldSavingPorts} ports
   */
  constructor(toasts, ports) {
    this.toasts = toasts;
    this.ports = ports;
    /** @type {Draft | null} the draft whose preview is shown */
    this.shown = null;
    this.preview = h('div', {
      class: 'g-field-preview',
      role: 'region',
      'aria-label': 'Preview',
      hidden: true,
      tabindex: '-1',
    });
    this.review = button('Preview and save', () => this.look(), 'g-first');
    this.drop = button('Discard changes', () => ports.discard());
    this.say = h('p', { class: 'g-say g-wrong', role: 'alert', hidden: true });
    this.bar = h('div', { class: 'g-line g-field-bar' }, this.review, this.drop);
    this.root = h('div', { class: 'g-field-saving' }, this.say, this.preview, this.bar);
  }

  /** Another draft than the one of the preview closes it. */
  render() {
    const draft = this.ports.draft(),
      changed = isChanged(draft);
    if (this.shown && this.shown !== draft) this.close();
    this.bar.hidden = !changed || this.shown !== null;
    if (!changed) set(this.say, '');
  }

  close() {
    this.shown = null;
    this.preview.hidden = true;
  }

  async look() {
    const draft = this.ports.draft(),
      problems = this.ports.check();
    if (problems.length)
      return set(this.say, `Nothing was saved yet. Correct ${count(problems.length, 'problem')} first.`);
    set(this.say, '');
    try {
      const values = { project_id: this.ports.project() };
      const changes = await post('/projects/{project_id}/fields/preview', values, requestOf(draft));
      if (this.ports.draft() !== draft) return; // changed while the answer was on its way
      this.show(draft, changes);
    } catch (error) {
      this.fail(error, draft);
    }
  }

  /**
   * @param {Draft} draft
   * @param {FieldChange[]} changes
   */
  show(draft, changes) {
    this.shown = draft;
    const save = button('Save', () => this.save(draft), 'g-first');
    const cancel = () => {
      this.close();
      this.render();
      this.review.focus();
    };
    const order = h('p', {}, 'Only the order changes. No answer is touched.');
    replace(
      this.preview,
      h('h4', {}, 'What this changes'),
      changes.length ? h('ul', { class: 'g-rows' }, changes.map(changeRow)) : order,
      h('div', { class: 'g-line' }, save, button('Cancel', cancel)),
    );
    this.preview.hidden = false;
    this.render();
    this.preview.focus();
    this.preview.scrollIntoView({ block: 'nearest' });
  }

  /** @param {Draft} draft */
  async save(draft) {
    const project = this.ports.project();
    try {
      const stored = await put('/projects/{project_id}/fields', { project_id: project }, requestOf(draft));
      this.close();
      this.ports.saved(stored);
      this.toasts.show(SAVED, 'undo', { label: 'Undo', run: () => this.undo(project, draft.before, stored) });
    } catch (error) {
      this.close();
      await this.fail(error, draft);
    }
    this.render();
  }

  /**
   * Puts the list before back in place of the one that was just saved, unless somebody has changed that since.
   *
   * @param {string} project
   * @param {StoredField[]} before
   * @param {StoredField[]} saved
   */
  async undo(project, before, saved) {
    const fields = before.map(({ version: _version, position: _position, ...field }) => field);
    try {
      const body = { fields, before: versionsOf(saved) };
      const stored = await put('/projects/{project_id}/fields', { project_id: project }, body);
      if (this.ports.project() === project) this.ports.saved(stored);
      this.toasts.show('The fields are as they were before.');
    } catch (error) {
      this.toasts.error(error);
    }
    this.render();
  }

  /**
   * @param {unknown} error
   * @param {Draft} draft
   */
  async fail(error, draft) {
    if (statusOf(error) === 409) {
      await this.ports.conflict();
      return;
    }
    const problems = error instanceof ApiError ? problemsFrom(error.body, draft.fields) : [];
    this.ports.refused(problems);
    set(
      this.say,
      problems.length ? `Nothing was saved. Correct ${count(problems.length, 'problem')} first.` : sentenceOf(error),
    );
  }
}

/** @param {FieldChange} change */
function changeRow({ name, kind, documents, sentence }) {
  const word = KINDS[/** @type {keyof typeof KINDS} */ (kind)] ?? kind;
  return h(
    'li',
    { dataset: { kind } },
    h('div', { class: 'g-row-text' }, h('b', { dir: 'auto' }, name), h('span', {}, sentence)),
    h('span', { class: 'g-tag' }, `${word}, ${count(documents, 'document')}`),
  );
}
