// The fields of a project as a list in their order. A row moves by its buttons, by Alt and an arrow key, or by drag.

import { h, keyed, redraw } from '../core/dom.js';
import { icon } from '../core/icons.js';
import { walk } from '../core/list_keys.js';
import { count } from '../core/text.js';
import { marksOf } from './field_words.js';
import { button } from './people_parts.js';

/** @import { DraftField } from './field_draft.js' */

/**
 * @typedef {object} FieldListActs
 * @property {(key: string) => unknown} open opens the form of a field, or closes it
 * @property {(key: string, place: number) => unknown} move
 * @property {(key: string) => unknown} remove
 */

/**
 * A row of the list: the field, whether it differs from what is stored, and the number of its problems.
 *
 * @typedef {{ field: DraftField, state: 'new' | 'changed' | null, problems: number }} FieldRow
 */

const STATES = { new: 'new', changed: 'changed' };

export class FieldList {
  /** @param {FieldListActs} act */
  constructor(act) {
    this.act = act;
    /** @type {string | null} */
    this.dragged = null;
    /** @type {readonly FieldRow[]} */
    this.rows = [];
    this.spoken = h('p', { class: 'g-unseen', role: 'status' });
    this.list = h('ol', {
      class: 'g-rows g-field-rows',
      'aria-label': 'Fields',
      on: { keydown: (event) => this.key(event) },
    });
    this.root = h('div', {}, this.list, this.spoken);
  }

  /**
   * @param {readonly FieldRow[]} rows
   * @param {{ edits: boolean, open: string | null, form: HTMLElement | null }} how `form` stands below the open row
   */
  render(rows, { edits, open, form }) {
    this.rows = rows;
    keyed(this.list, rows, {
      key: ({ field }) => field.key,
      make: ({ field }) => this.make(field.key),
      updateRow: (row, item, at) => this.update(row, item, at, edits, item.field.key === open ? form : null),
    });
  }

  /** @param {string} key */
  make(key) {
    return h(
      'li',
      {
        class: 'g-field-row',
        on: {
          dragstart: (event) => this.drag(event, key),
          dragover: (event) => this.dragged && event.preventDefault(),
          drop: (event) => this.drop(event, key),
          dragend: () => (this.dragged = null),
        },
      },
      h('div', { class: 'g-field-line' }),
      h('div', { class: 'g-field-open', hidden: true }),
    );
  }

  /**
   * @param {HTMLElement} row
   * @param {FieldRow} item
   * @param {number} at
   * @param {boolean} edits
   * @param {HTMLElement | null} form
   */
  update(row, { field, state, problems }, at, edits, form) {
    const [line, place] = /** @type {HTMLElement[]} */ ([...row.children]);
    row.draggable = edits && !form;
    const view = [
      field.name,
      field.question,
      marksOf(field),
      state,
      problems,
      at,
      this.rows.length,
      edits,
      Boolean(form),
    ];
    redraw(line, view, () => this.line(field, state, problems, at, edits, Boolean(form)));
    if (form && form.parentElement !== place) place.replaceChildren(form);
    if (!form) place.replaceChildren();
    place.hidden = !form;
  }

  /**
   * @param {DraftField} field
   * @param {'new' | 'changed' | null} state
   * @param {number} problems
   * @param {number} at
   * @param {boolean} edits
   * @param {boolean} opened
   */
  line(field, state, problems, at, edits, opened) {
    const named = field.name || 'the new field',
      { key } = field;
    const edit = button(opened ? 'Close' : edits ? 'Edit' : 'Show', () => this.act.open(key), 'g-field-edit');
    edit.setAttribute('aria-label', `${opened ? 'Close' : edits ? 'Edit' : 'Show'} ${named}`);
    edit.setAttribute('aria-expanded', String(opened));
    edit.dataset.key = `edit ${key}`;
    const remove = button('Remove', () => this.act.remove(key));
    remove.setAttribute('aria-label', `Remove ${named}`);
    return [
      h('span', { class: 'g-place' }, String(at + 1)),
      h(
        'div',
        { class: 'g-row-text' },
        h('b', { dir: 'auto' }, field.question || 'New field'),
        h(
          'span',
          { class: 'g-field-marks' },
          h('code', {}, field.name || 'no name yet'),
          marksOf(field).map((mark) => h('span', {}, mark)),
          state && h('i', {}, STATES[state]),
          problems > 0 && h('i', { class: 'g-off' }, count(problems, 'problem')),
        ),
      ),
      h(
        'div',
        { class: 'g-row-acts' },
        edits && [this.step(key, named, at, -1), this.step(key, named, at, 1)],
        edit,
        edits && remove,
      ),
    ];
  }

  /**
   * A button that moves a row. (At the end of the list it stays, so that the focus does.)
   *
   * @param {string} key
   * @param {string} named
   * @param {number} at
   * @param {number} step
   */
  step(key, named, at, step) {
    const up = step < 0,
      way = up ? 'up' : 'down';
    const end = at + step < 0 || at + step >= this.rows.length;
    return h(
      'button',
      {
        class: 'g-act g-square',
        type: 'button',
        'aria-label': `Move ${named} ${way}`,
        'aria-disabled': end ? 'true' : null,
        title: `Move ${way}   Alt+${up ? '↑' : '↓'}`,
        dataset: { key: `${way} ${key}` },
        on: { click: () => this.move(key, at + step) },
      },
      icon(way, 16),
    );
  }

  /**
   * @param {string} key
   * @param {number} place
   */
  move(key, place) {
    const row = this.rows.find(({ field }) => field.key === key);
    if (!row || place < 0 || place >= this.rows.length) return;
    this.act.move(key, place);
    this.spoken.textContent = `${row.field.name || 'The new field'} is now ${place + 1} of ${this.rows.length}.`;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { target, key, altKey } = event;
    const row = target instanceof Element && target.closest('.g-field-line') ? target.closest('.g-field-row') : null;
    if (!(row instanceof HTMLElement)) return;
    const step = key === 'ArrowUp' ? -1 : key === 'ArrowDown' ? 1 : 0;
    if (!step || event.ctrlKey || event.metaKey) return;
    if (!altKey) return walk(event, '.g-field-edit');
    event.preventDefault();
    const named = row.dataset.key ?? '';
    const at = this.rows.findIndex(({ field }) => field.key === named);
    if (this.list.querySelector('.g-field-edit[aria-expanded]') && row.querySelector('.g-row-acts .g-square')) {
      this.move(named, at + step);
    }
  }

  /**
   * @param {DragEvent} event
   * @param {string} key
   */
  drag(event, key) {
    this.dragged = key;
    event.dataTransfer?.setData('text/plain', key);
    if (event.dataTransfer) event.dataTransfer.effectAllowed = 'move';
  }

  /**
   * @param {DragEvent} event
   * @param {string} key of the row under the pointer
   */
  drop(event, key) {
    const { dragged } = this;
    if (!dragged) return;
    event.preventDefault();
    this.dragged = null;
    this.move(
      dragged,
      this.rows.findIndex(({ field }) => field.key === key),
    );
  }
}
