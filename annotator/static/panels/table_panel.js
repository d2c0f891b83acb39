// The table of the open answer beside the page: a small grid with the text of each cell, and what can be done to rows.

import { h, keyed, redraw } from '../core/dom.js';
import { hint } from '../core/keyboard.js';
import { count } from '../core/text.js';
import { isBlankPart } from '../state/parts.js';
import { cellId, cellTitle } from './table_cells.js';

/** @import { Cell } from '../types' */
/** @import { CellView } from './table_cells.js' */
/** @import { AnswerValues } from '../state/answer_values.js' */
/** @import { TableWork } from '../state/table_work.js' */

/**
 * @typedef {object} TableView
 * @property {boolean} locked
 * @property {(place: number) => CellView} cellOf
 */

const AROUND = 6; // rows drawn above and below those in sight
/** @type {Record<string, [rows: number, columns: number]>} */
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
const ROW_ACTS = /** @type {const} */ ([
  ['tableAdd', 'addRow', 'Add a row', 'Add a row below the one in hand'],
  ['tableDelete', 'deleteRow', 'Delete row', 'Delete the row in hand'],
  ['tableMerge', 'mergeRow', 'Merge up', 'Merge the row in hand with the one above'],
  [
    'tableSplit',
    'splitRow',
    'Split row',
    'Split the row in hand at the word under the pointer, else below its first line',
  ],
]);

export class TablePanel {
  /** @type {TableView | null} */
  view = null;
  locked = true;

  /**
   * @param {TableWork} table
   * @param {AnswerValues} values
   */
  constructor(table, values) {
    this.table = table;
    this.values = values;
    this.note = h('p', { class: 'g-table-note', role: 'status' });
    this.headings = h('div', { class: 'g-cells-row g-cells-headings', role: 'row' });
    this.body = h('div', { class: 'g-cells-body', role: 'presentation' });
    this.input = h('input', {
      class: 'g-cells-input',
      type: 'text',
      dir: 'auto',
      maxlength: 2000,
      hidden: true,
      'aria-label': 'Text of the cell',
      on: { keydown: (event) => this.write(event), blur: () => this.end(true) },
    });
    this.grid = h(
      'div',
      {
        class: 'g-cells',
        role: 'grid',
        tabindex: '0',
        'aria-label': 'Cells of the table',
        on: {
          keydown: (event) => this.key(event),
          scroll: () => this.draw(),
          click: (event) => this.point(event),
          dblclick: () => this.edit(),
        },
      },
      this.headings,
      this.body,
    );
    this.body.append(this.input);
    this.lines = h('div', { class: 'g-cells-lines', role: 'presentation' });
    this.body.append(this.lines);
    this.acts = h('div', { class: 'g-table-acts', role: 'group', 'aria-label': 'Rows' });
    this.offer = h('div', { class: 'g-table-offer' });
    this.root = h('div', { class: 'g-part g-table-part' }, this.note, this.offer, this.acts, this.grid);
    new ResizeObserver(() => this.draw()).observe(this.grid);
  }

  /** @param {TableView} view */
  render(view) {
    const { table } = this,
      { columns, own, proposing, failure } = table;
    this.view = view;
    this.locked = view.locked;
    const stored = table.answer.storedParts.some((part) => part.cell);
    const stray = !stored && table.answer.storedParts.some((part) => !isBlankPart(part));
    redraw(this.note, [stored, stray, view.locked], () => noteWords(stored, stray, view.locked));
    this.grid.style.setProperty('--g-columns', String(columns.length));
    this.grid.ariaColCount = String(columns.length + 1);
    this.grid.ariaReadOnly = String(view.locked);
    redraw(this.headings, columns, () => [
      h('span', { class: 'g-cells-number', role: 'columnheader', 'aria-label': 'Row' }, '#'),
      columns.map(({ question }) => h('span', { role: 'columnheader', dir: 'auto', title: question }, question)),
    ]);
    this.draw();
    redraw(this.acts, [view.locked, ROW_ACTS.map(([command]) => hint(command))], () =>
      view.locked
        ? null
        : ROW_ACTS.map(([command, act, label, title]) =>
            h(
              'button',
              { class: 'g-button', title: `${title}   ${hint(command)}`, on: { click: () => table[act]() } },
              label,
              h('kbd', {}, hint(command)),
            ),
          ),
    );
    const numbers = table.rows.flatMap(({ row }, at) => (own.includes(row) ? [at + 1] : []));
    redraw(this.offer, [view.locked, numbers, proposing, failure, hint('proposeRows')], () =>
      view.locked ? null : this.drawOffer(numbers, proposing, failure),
    );
  }

  /**
   * @param {number[]} rows numbers from 1 of the rows that a person made or corrected
   * @param {boolean} proposing
   * @param {string | null} failure
   */
  drawOffer(rows, proposing, failure) {
    const failed = failure ? h('p', { class: 'g-table-failure', role: 'alert' }, failure) : null;
    if (proposing) return [h('p', { class: 'g-quiet', role: 'status' }, 'The model proposes the other rows…')];
    if (!rows.length) return failed;
    const list = new Intl.ListFormat('en').format(rows.map(String));
    const many = rows.length > 5 ? count(rows.length, 'row') : `${rows.length === 1 ? 'Row' : 'Rows'} ${list}`;
    const named = `${many} ${rows.length === 1 ? 'is' : 'are'}`;
    return [
      failed,
      h('p', { class: 'g-quiet' }, `${named} made or corrected by hand. The other rows can follow.`),
      h(
        'button',
        { class: 'g-button g-primary', on: { click: () => void this.table.propose() } },
        'Propose the other rows',
        h('kbd', {}, hint('proposeRows')),
      ),
    ];
  }

  get height() {
    return parseFloat(getComputedStyle(this.grid).getPropertyValue('--g-row')) || 30;
  }

  /** Draws the rows in sight. */
  draw() {
    const { view, grid, table, height } = this;
    if (!view || this.root.hidden) return;
    const { rows, cell } = table,
      parts = table.answer.local?.parts ?? [],
      shown = grid.clientHeight || 300;
    const first = Math.max(0, Math.floor(grid.scrollTop / height) - AROUND),
      end = Math.min(rows.length, Math.ceil((grid.scrollTop + shown) / height) + AROUND);
    const own = new Set(table.own);
    this.body.style.height = `${rows.length * height}px`;
    grid.ariaRowCount = String(rows.length + 1);
    const drawn = rows.map((row, at) => ({ ...row, at })).slice(first, end);
    keyed(this.lines, drawn, {
      key: ({ at }) => at,
      make: () => h('div', { class: 'g-cells-row', role: 'row' }),
      updateRow: (line, { row, cells, at }) => {
        line.style.top = `${at * height}px`;
        line.ariaRowIndex = String(at + 2);
        line.dataset.row = String(row);
        line.dataset.hand = String(row === cell?.row);
        line.dataset.own = String(own.has(row));
        const shownCells = table.columns.map(({ name }) => {
          const place = cells.get(name);
          return place === undefined || isBlankPart(parts[place]) ? null : view.cellOf(place);
        });
        redraw(line, [row, row === cell?.row ? cell.column : null, shownCells], () => [
          h('span', { class: 'g-cells-number', role: 'rowheader' }, String(at + 1)),
          table.columns.map(({ name }, column) => this.drawCell({ row, column: name }, shownCells[column])),
        ]);
      },
    });
    if (cell) grid.setAttribute('aria-activedescendant', cellId(cell));
  }

  /**
   * @param {Cell} cell
   * @param {CellView | null} shown null: empty
   */
  drawCell(cell, shown) {
    const { cell: hand } = this.table;
    const inHand = hand?.row === cell.row && hand.column === cell.column;
    return h(
      'span',
      {
        id: cellId(cell),
        role: 'gridcell',
        'aria-selected': String(inHand),
        dir: 'auto',
        title: shown ? cellTitle(shown) : null,
        'aria-description': shown?.reason || null,
        dataset: { column: cell.column, state: shown?.state ?? 'empty' },
      },
      shown?.text ?? '',
    );
  }

  /** The cell in hand, drawn and in sight; null where it is not. */
  reveal() {
    const { grid, height, table } = this,
      { cell } = table;
    const at = table.rows.findIndex(({ row }) => row === cell?.row);
    if (!cell || at < 0) return null;
    const top = at * height,
      shown = grid.clientHeight - height; // the headings lie over the rows
    if (top < grid.scrollTop) grid.scrollTop = top;
    else if (top + height > grid.scrollTop + shown) grid.scrollTop = top + height - shown;
    this.draw();
    const element = this.lines.querySelector(`#${CSS.escape(cellId(cell))}`);
    if (element instanceof HTMLElement) {
      const { offsetLeft: left, offsetWidth: width } = element,
        number = this.headings.firstElementChild?.clientWidth ?? 0;
      if (left - number < grid.scrollLeft) grid.scrollLeft = left - number;
      else if (left + width > grid.scrollLeft + grid.clientWidth) grid.scrollLeft = left + width - grid.clientWidth;
      return element;
    }
    return null;
  }

  /** @param {MouseEvent} event */
  point({ target }) {
    const element = target instanceof Element ? target : null,
      line = element?.closest('.g-cells-row');
    if (!(line instanceof HTMLElement) || !line.dataset.row || element === this.input) return;
    const own = element?.closest('[role=gridcell]');
    const column = (own instanceof HTMLElement && own.dataset.column) || this.table.cell?.column || '';
    this.table.choose({ row: Number(line.dataset.row), column });
    this.grid.focus({ preventScroll: true });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.target !== this.grid || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!this.press(event)) return;
    event.preventDefault();
    event.stopPropagation();
    requestAnimationFrame(() => this.reveal());
  }

  /**
   * Whether the key was the grid's.
   *
   * @param {KeyboardEvent} event
   */
  press({ key, shiftKey }) {
    const { table, locked } = this;
    if (key in STEPS && !shiftKey) return (table.step(...STEPS[key]), true);
    if (key === 'Tab') return table.onward(shiftKey ? -1 : 1);
    if (key === 'Enter') return (table.step(shiftKey ? -1 : 1, 0), true);
    if (key === 'F2') return (this.edit(), true);
    if (locked) return false;
    if (key === 'Delete' || key === 'Backspace') return (table.clearCell(), true);
    if ([...key].length === 1 && key !== ' ') return (this.edit(key), true);
    return false;
  }

  /**
   * Writes into the cell in hand.
   *
   * @param {string} [start] the first letter, in place of the text
   */
  edit(start) {
    const { table, view, input } = this,
      { local } = table.answer;
    if (this.locked || !view || !local) return;
    const element = this.reveal(),
      part = local.parts[local.place];
    if (!element) return;
    if (!part.cell || part.fresh) return table.on.tell('Mark the words of this cell first: click them on the page.');
    input.value = start ?? view.cellOf(local.place).text;
    input.hidden = false;
    Object.assign(input.style, {
      left: `${element.offsetLeft}px`,
      top: `${element.parentElement?.offsetTop ?? 0}px`,
      width: `${Math.max(140, element.offsetWidth)}px`,
    });
    input.focus({ preventScroll: true });
    if (start === undefined) input.select();
  }

  /** @param {KeyboardEvent} event */
  write(event) {
    event.stopPropagation(); // the page's own keys rest while somebody writes
    const { key, shiftKey } = event;
    if (!['Enter', 'Tab', 'Escape'].includes(key) || event.isComposing) return;
    event.preventDefault();
    this.end(key !== 'Escape');
    this.grid.focus({ preventScroll: true });
    if (key === 'Enter') this.table.step(shiftKey ? -1 : 1, 0);
    if (key === 'Tab') this.table.onward(shiftKey ? -1 : 1);
    requestAnimationFrame(() => this.reveal());
  }

  /** @param {boolean} saves */
  end(saves) {
    const { input } = this;
    if (input.hidden) return;
    input.hidden = true;
    if (saves) this.values.correct(input.value);
  }
}

/**
 * @param {boolean} stored there are cells
 * @param {boolean} stray something is marked that is in no cell
 * @param {boolean} locked
 */
function noteWords(stored, stray, locked) {
  if (stored) return '';
  if (locked) return stray ? 'A mark of this answer is in no cell.' : 'No rows.';
  if (stray) return 'A mark of this answer is in no cell. The first cell that you mark replaces it.';
  return 'No rows found. Mark the cells of one row; the others follow.';
}
