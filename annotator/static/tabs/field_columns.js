// The columns of a table in the form of its field: heading, key, type, and the choices of a list.

import { h, redraw } from '../core/dom.js';
import { icon } from '../core/icons.js';
import { selectInput, textInput, tickBox } from './field_inputs.js';
import { nameOfQuestion } from './field_names.js';
import { TYPES } from './field_words.js';
import { button, set } from './people_parts.js';

/** @import { FieldDefinition } from '../types' */

/** @typedef {FieldDefinition['columns'][number]} Column */

/** @type {Column} */
const FRESH = {
  ...{ name: '', question: '', type: 'string', guideline: '', required: false, examples: [] },
  ...{ choices: [], currency: null, country: null, rules: [] },
};
const HINT =
  'The heading is that of the papers, as Unit price; the key names the column in exports. Alt ↑ and Alt ↓ move a column.';

export class ColumnsPart {
  /**
   * @param {readonly string[]} saved keys that answers have already: they follow no heading
   * @param {(columns: Column[]) => unknown} change
   */
  constructor(saved, change) {
    this.saved = new Set(saved);
    this.change = change;
    /** @type {readonly Column[]} */
    this.columns = [];
    this.turn = 0; // a column was moved or taken out: the rows are drawn anew
    /** @type {{ name: HTMLInputElement, wrong: HTMLElement }[]} */
    this.rows = [];
    this.list = h('div', { class: 'g-column-rows' });
    this.wrong = h('p', { class: 'g-problem', role: 'status', hidden: true });
    this.root = h(
      'fieldset',
      { class: 'g-group' },
      h('legend', {}, 'Columns'),
      h('p', { class: 'g-hint' }, HINT),
      this.list,
      h(
        'div',
        { class: 'g-line' },
        button('Add column', () => this.add()),
      ),
      this.wrong,
    );
  }

  /**
   * @param {readonly Column[]} columns
   * @param {(part: string) => string} problem
   */
  render(columns, problem) {
    this.columns = columns;
    redraw(this.list, [columns.map(({ type }) => type), this.turn], () => {
      this.rows = [];
      return columns.map((column, at) => this.row(column, at));
    });
    this.rows.forEach(({ name, wrong }, at) => {
      if (name.value.trim() !== columns[at].name) name.value = columns[at].name; // proposed from the heading
      set(wrong, problem(`columns.${at}`));
    });
    set(this.wrong, problem('columns'));
  }

  add() {
    this.change([...this.columns, FRESH]);
    this.focus(this.columns.length - 1);
  }

  /** @param {number} at */
  focus(at) {
    const row = this.list.children[Math.max(0, at)];
    (row?.querySelector('input') ?? this.root.querySelector('button'))?.focus();
  }

  /**
   * @param {number} at
   * @param {Partial<Column>} part
   */
  put(at, part) {
    this.change(this.columns.map((each, place) => (place === at ? { ...each, ...part } : each)));
  }

  /**
   * @param {number} at
   * @param {string} question
   */
  head(at, question) {
    const { name, question: before } = this.columns[at];
    const taken = new Set(this.columns.flatMap((each, place) => (place === at ? [] : [each.name])));
    const proposed = !this.saved.has(name) && (!name || name === nameOfQuestion(before, taken));
    this.put(at, { question, ...(proposed ? { name: question.trim() ? nameOfQuestion(question, taken) : '' } : {}) });
  }

  /**
   * @param {number} at
   * @param {number} to
   */
  move(at, to) {
    if (to < 0 || to >= this.columns.length) return;
    const others = this.columns.filter((_, place) => place !== at);
    this.turn++;
    this.change([...others.slice(0, to), this.columns[at], ...others.slice(to)]);
    this.focus(to);
  }

  /** @param {number} at */
  remove(at) {
    this.turn++;
    this.change(this.columns.filter((_, place) => place !== at));
    this.focus(at - 1);
  }

  /**
   * @param {Column} column
   * @param {number} at
   */
  row(column, at) {
    const number = at + 1,
      types = Object.entries(TYPES).filter(([type]) => type !== 'table');
    const name = textInput(column.name, (text) => this.put(at, { name: text.trim() }), {
      'aria-label': `Key of column ${number}`,
      ...{ class: 'g-code', placeholder: 'Key', maxlength: '60', spellcheck: 'false' },
    });
    const wrong = h('p', { class: 'g-problem', role: 'status', hidden: true });
    this.rows[at] = { name, wrong };
    const act = (/** @type {string} */ label, /** @type {string} */ sign, /** @type {() => void} */ run, off = false) =>
      h(
        'button',
        {
          class: 'g-icon-button',
          type: 'button',
          title: label,
          'aria-label': label,
          disabled: off,
          on: { click: run },
        },
        icon(sign, 14),
      );
    const key = (/** @type {KeyboardEvent} */ event) => {
      const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (!step || !event.altKey) return;
      event.preventDefault();
      event.stopPropagation();
      this.move(at, at + step);
    };
    return h(
      'div',
      { class: 'g-column-row', role: 'group', 'aria-label': `Column ${number}`, on: { keydown: key } },
      textInput(column.question, (text) => this.head(at, text), {
        'aria-label': `Heading of column ${number}`,
        ...{ placeholder: 'Heading', dir: 'auto', maxlength: '1000' },
      }),
      name,
      selectInput(
        types.map(([type, [title]]) => /** @type {const} */ ([type, title])),
        column.type,
        (type) => this.put(at, { type: /** @type {Column['type']} */ (type) }),
        { 'aria-label': `Type of column ${number}` },
      ),
      tickBox('Required', column.required, (required) => this.put(at, { required })),
      h(
        'span',
        { class: 'g-column-acts' },
        act(`Move column ${number} up`, 'up', () => this.move(at, at - 1), at === 0),
        act(`Move column ${number} down`, 'down', () => this.move(at, at + 1), number === this.columns.length),
        act(`Remove column ${number}`, 'clear', () => this.remove(at)),
      ),
      column.type === 'choice'
        ? textInput(column.choices.map(({ value }) => value).join('; '), (text) => this.choose(at, text), {
            'aria-label': `Choices of column ${number}`,
            ...{ class: 'g-column-choices', placeholder: 'Choices; separated so', dir: 'auto' },
          })
        : null,
      wrong,
    );
  }

  /**
   * Choices that stay keep their other printed names, which a file of fields has.
   *
   * @param {number} at
   * @param {string} text
   */
  choose(at, text) {
    const before = new Map(this.columns[at].choices.map((choice) => [choice.value, choice]));
    const values = text
      .split(';')
      .map((value) => value.trim())
      .filter(Boolean);
    this.put(at, { choices: values.map((value) => before.get(value) ?? { value, names: [] }) });
  }
}
