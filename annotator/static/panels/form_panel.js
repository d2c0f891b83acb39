// The form beside the page: a row for each field of the project, with its value as people read it.

/** @import { FormField } from '../types' */
/** @import { FieldState } from '../state/form_fields.js' */

import { h, keyed, redraw } from '../core/dom.js';
import { icon } from '../core/icons.js';
import { hint } from '../core/keyboard.js';
import { walk } from '../core/list_keys.js';
import { count, percent } from '../core/text.js';
import { acceptable, fieldState, isDecided, shownValues, unreadReasons } from '../state/form_fields.js';

/**
 * @typedef {object} FormActs
 * @property {() => unknown} toggle
 * @property {(annotation: string | null) => unknown} open
 * @property {(field: FormField) => unknown} accept
 * @property {() => unknown} acceptAll
 * @property {() => unknown} again fetches what failed
 */

/**
 * @typedef {object} FormPanelView
 * @property {object | null} document the open one
 * @property {boolean} offered the form may be shown now
 * @property {boolean} shown
 * @property {boolean} reading the document is still being read
 * @property {readonly FormField[] | null} fields null: on their way
 * @property {boolean} filling
 * @property {string | null} failure
 * @property {string | undefined} annotation id of the open answer
 * @property {ReadonlySet<string>} pending ids with edits that are not saved yet
 * @property {string | undefined} locale
 * @property {boolean} reviewer may make fields
 * @property {boolean} submits what is accepted is only submitted for review
 */

/** @type {Record<FieldState, { sign: string, text: string }>} */
const STATES = {
  waiting: { sign: 'clock', text: 'Not asked yet' },
  by_hand: { sign: 'pencil', text: 'Mark by hand' },
  rejected: { sign: 'cross', text: 'Rejected' },
  broken: { sign: 'warn', text: 'Rule broken' },
  ambiguous: { sign: 'question', text: 'Ambiguous' },
  unreadable: { sign: 'question', text: 'Unreadable' },
  unanswered: { sign: 'none', text: 'Not answered' },
  corrected: { sign: 'pencil', text: 'Corrected' },
  proposed: { sign: 'spark', text: 'Proposed' },
  submitted: { sign: 'up', text: 'Submitted' },
  accepted: { sign: 'check', text: 'Accepted' },
  fixed: { sign: 'check', text: 'Fixed' },
};

export class FormPanel {
  /**
   * @param {HTMLElement} root
   * @param {FormActs} act
   */
  constructor(root, act) {
    this.act = act;
    this.root = root;
    /** @type {ReadonlyMap<string, FormField>} by the id of its question */
    this.fields = new Map();
    this.title = h('h3', { id: 'g-form-title' });
    this.toggle = h('button', {
      class: 'g-button g-form-toggle',
      'aria-controls': 'g-form-body',
      on: { click: () => act.toggle() },
    });
    this.all = h('button', { class: 'g-button g-form-all', on: { click: () => act.acceptAll() } });
    this.note = h('div', { class: 'g-form-note', role: 'status' });
    this.list = h('div', {
      class: 'g-form',
      role: 'listbox',
      'aria-labelledby': 'g-form-title',
      on: { keydown: (event) => this.key(event), focusin: (event) => this.focused(event) },
    });
    this.body = h('div', { class: 'g-form-body', id: 'g-form-body' }, this.note, this.list, this.all);
    root.append(h('div', { class: 'g-form-head' }, this.title, this.toggle), this.body);
  }

  /** @param {FormPanelView} view */
  render(view) {
    const { document, offered, shown, fields } = view;
    this.root.hidden = !document || !offered;
    this.root.dataset.shown = String(shown);
    this.body.hidden = !shown;
    this.toggle.setAttribute('aria-pressed', String(shown));
    this.toggle.title = `${shown ? 'Back to question by question' : 'All fields of the paper at once'}   ${hint('form')}`;
    redraw(this.toggle, null, () => 'Form');
    const done = (fields ?? []).filter(isDecided).length;
    this.title.textContent = !shown
      ? 'All fields at once'
      : fields?.length
        ? `Fields · ${done} of ${fields.length} done`
        : 'Fields';
    if (!shown || this.root.hidden) return;
    this.renderNote(view);
    this.fields = new Map((fields ?? []).map((each) => [each.question_id, each]));
    const first = fields?.find((each) => each.annotation_id === view.annotation) ?? fields?.[0];
    keyed(this.list, fields ?? [], {
      key: (each) => each.question_id,
      make: (each) =>
        h('button', {
          class: 'g-field',
          role: 'option',
          dataset: { question: each.question_id },
          on: { click: () => act(this, each.question_id) },
        }),
      updateRow: (row, each) => this.fill(row, each, view, each === first),
    });
    this.list.hidden = !fields?.length;
    this.renderAll(fields ?? []);
  }

  /** @param {FormPanelView} view */
  renderNote({ fields, filling, failure, reading, reviewer }) {
    const left = (fields ?? []).filter((each) => each.annotation_id === null).length;
    const empty = fields?.length === 0 && !failure;
    redraw(this.note, [left, filling, failure, reading, empty, reviewer], () => {
      if (reading) return h('p', {}, 'The document is still being read. Its fields are filled in afterwards.');
      if (failure) {
        const again = h('button', { class: 'g-link', on: { click: () => this.act.again() } }, 'Try again');
        return h('p', { class: 'g-form-failure' }, failure, ' ', again);
      }
      if (empty) {
        const where = reviewer
          ? 'Make them in the tab Questions, or add a ready set there.'
          : 'Ask a reviewer for fields.';
        return h('div', { class: 'g-empty g-left' }, h('b', {}, 'This project has no fields'), h('span', {}, where));
      }
      if (!filling) return null;
      return h('p', {}, left ? `The model answers ${count(left, 'field')}…` : 'The fields are on their way…');
    });
  }

  /** @param {readonly FormField[]} fields */
  renderAll(fields) {
    const { candidates, sure, bounded } = acceptable(fields);
    const number = bounded ? sure.length : candidates.length;
    const label = bounded ? `Accept ${count(number, 'sure field')}` : `Accept all ${number} shown`;
    this.all.hidden = number === 0;
    redraw(this.all, [label, hint('formAcceptAll')], () => [
      icon('check', 16),
      label,
      h('kbd', {}, hint('formAcceptAll')),
    ]);
  }

  /**
   * @param {HTMLElement} row
   * @param {FormField} field
   * @param {FormPanelView} view
   * @param {boolean} first where Tab comes in
   */
  fill(row, field, { annotation, pending, locale }, first) {
    const state = fieldState(field),
      open = field.annotation_id !== null && field.annotation_id === annotation,
      waits = field.annotation_id !== null && pending.has(field.annotation_id);
    const values = shownValues(field, locale),
      table = field.type === 'table';
    const printed = field.values
      .map((each) => each.printed)
      .filter((text, at) => !table && text && text !== values[at]);
    row.ariaSelected = String(open);
    row.dataset.state = state;
    row.tabIndex = 0; // Tab walks from field to field
    row.dataset.first = String(first);
    redraw(row, [field.name, field.question, values, printed, state, waits, field.broken, field.confidence], () => [
      h(
        'span',
        { class: 'g-field-head' },
        h('b', { class: 'g-field-name', dir: 'auto' }, readable(field.name)),
        badge(state, waits),
      ),
      h('span', { class: 'g-field-question', dir: 'auto' }, field.question),
      h(
        'span',
        { class: 'g-field-value', dir: 'auto' },
        values.length ? values.join(' · ') : field.no_answer ? 'Not in this document' : '—',
      ),
      printed.length ? h('span', { class: 'g-field-printed' }, 'Printed: ', h('bdi', {}, printed.join(' · '))) : null,
      unreadReasons(field).map((reason) => h('span', { class: 'g-field-reason' }, reason)),
      state === 'waiting'
        ? null
        : field.broken.map((rule) => h('span', { class: 'g-field-rule' }, icon('warn', 12), rule)),
      field.confidence === null ? null : gauge(field.confidence),
    ]);
  }

  /** @param {FocusEvent} event */
  focused({ target }) {
    const field = this.fieldOf(target);
    if (field) this.act.open(field.annotation_id);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    walk(event, '.g-field');
    if (event.key !== 'Enter' || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const field = this.fieldOf(event.target);
    if (!field) return;
    event.preventDefault();
    event.stopPropagation();
    this.act.accept(field);
  }

  /** @param {EventTarget | null} target */
  fieldOf(target) {
    const row = target instanceof Element ? target.closest('.g-field') : null;
    return row instanceof HTMLElement ? (this.fields.get(row.dataset.question ?? '') ?? null) : null;
  }

  /**
   * Returns whether the row of a field has the focus now: one that is not drawn yet takes none.
   *
   * @param {string} annotation
   */
  focus(annotation) {
    const field = [...this.fields.values()].find((each) => each.annotation_id === annotation);
    const row = [...this.list.children].find(
      (each) => each instanceof HTMLElement && each.dataset.question === field?.question_id,
    );
    if (!(row instanceof HTMLElement)) return false;
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: 'nearest' });
    return document.activeElement === row;
  }
}

/** @type {(panel: FormPanel, question: string) => void} */
const act = (panel, question) => void panel.act.open(panel.fields.get(question)?.annotation_id ?? null);

/**
 * A key for programs as a label: "invoice_number" -> "Invoice number".
 *
 * @param {string} name
 */
const readable = (name) => {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/**
 * @param {FieldState} state
 * @param {boolean} waits edits are not saved yet
 */
function badge(state, waits) {
  const { sign, text } = STATES[state];
  return h(
    'span',
    { class: 'g-status', dataset: { field: state }, title: waits ? `${text}, not saved yet` : text },
    icon(sign, 12),
    text,
  );
}

/** @param {number} confidence */
const gauge = (confidence) =>
  h(
    'span',
    { class: 'g-field-sure', title: `Confidence ${percent(confidence)}` },
    h(
      'span',
      { class: 'g-track', 'aria-hidden': 'true' },
      h('i', { style: `width: ${Math.round(100 * confidence)}%` }),
    ),
    h('span', { 'aria-label': `Confidence ${percent(confidence)}`, role: 'img' }, percent(confidence)),
  );

/**
 * Whether so many fields are to be accepted without a bound.
 *
 * @param {number} number
 * @param {boolean} submits
 */
export const confirmation = (number, submits) => ({
  title: `${submits ? 'Submit' : 'Accept'} all ${number} shown?`,
  sentence:
    'No confidence is known from which this project’s answers are right. Fields that break a rule, are ambiguous or ' +
    'have no answer are left to you.',
  label: submits ? `Submit ${number}` : `Accept ${number}`,
});
