// The grid of the table of answers: headers that sort, rows of which only those in sight are drawn, and the keys that
// walk over them. All rows are of one height: `--g-row`, in pixels.

import { h, keyed } from '../core/dom.js';
import { icon } from '../core/icons.js';
import { GridRow } from './answer_table_row.js';
import { directionOf } from './answer_table_query.js';

/** @import { StoredField, TableRow } from '../types' */

const AROUND = 8; // rows drawn above and below those in sight
const AHEAD = 40; // rows before the last one, from where on further ones are asked for
const UNSEEN = 600; // pixels, of a grid that is not laid out yet
const HEADER = -1;

/**
 * @typedef {object} GridActs
 * @property {(field: string | null) => void} sort a header was pressed; null: that of the documents
 * @property {(first: number, end: number) => void} seen rows are in sight
 * @property {() => void} more the end comes into sight
 * @property {(row: TableRow) => TableRow} latest the row with what was changed here
 * @property {(at: number, column: number) => void} held a cell of a field has the focus
 * @property {(at: number, column: number) => void} look a cell of a field was pressed
 * @property {(at: number, column: number) => void} edit its text is to be corrected
 * @property {(event: KeyboardEvent) => boolean} key whether the key is one of the cell in hand
 */

export class AnswerGrid {
  /** @type {readonly TableRow[]} */
  rows = [];
  /** @type {readonly StoredField[]} */
  columns = [];
  /** @type {Map<string, number>} where each document stands */
  places = new Map();
  /** @type {WeakMap<Element, GridRow>} */
  drawn = new WeakMap();
  stop = { id: '', at: HEADER, column: 0 }; // where Tab comes in
  open = false; // more rows than these
  project = '';

  /** @param {GridActs} act */
  constructor(act) {
    this.act = act;
    this.header = h('div', { class: 'g-table-row g-table-head', role: 'row' });
    this.room = h('div', { class: 'g-table-room', role: 'rowgroup' });
    this.root = h(
      'div',
      { class: 'g-table', role: 'grid', 'aria-label': 'Table of answers' },
      h('div', { class: 'g-table-top', role: 'rowgroup' }, this.header),
      this.room,
    );
    this.root.addEventListener('scroll', () => this.draw(), { passive: true });
    this.root.addEventListener('keydown', (event) => this.walk(event));
    this.root.addEventListener('focusin', ({ target }) => this.held(target));
    this.root.addEventListener('click', (event) => this.press(event));
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(this.root);
  }

  destroy() {
    this.watch.disconnect();
  }

  get height() {
    return parseFloat(getComputedStyle(this.root).getPropertyValue('--g-row')) || 36;
  }

  /** Rows in sight: the first one, and the one behind the last. */
  get sight() {
    const { height, root } = this,
      shown = Math.max(0, (root.clientHeight || UNSEEN) - this.header.offsetHeight);
    return [Math.floor(root.scrollTop / height), Math.ceil((root.scrollTop + shown) / height)];
  }

  /**
   * Shows other columns, or another order; the rows are drawn anew.
   *
   * @param {string} project id
   * @param {readonly StoredField[]} columns
   * @param {string} sort
   */
  setColumns(project, columns, sort) {
    const others = columns.length !== this.columns.length || columns.some((each, at) => each !== this.columns[at]);
    const held = this.room.contains(document.activeElement);
    if (others || project !== this.project) this.room.replaceChildren();
    Object.assign(this, { project, columns });
    this.stop.column = Math.min(this.stop.column, columns.length);
    this.root.style.setProperty('--g-columns', String(columns.length));
    this.root.ariaColCount = String(columns.length + 1);
    keyed(this.header, [null, ...columns], {
      key: (field) => field?.name ?? '',
      make: (field) => this.makeHeader(field),
      updateRow: (head, field) => {
        head.ariaSort = directionOf(sort, field?.name ?? null);
        head.title = field?.question ?? 'Name of the document';
        this.headerButton(head).dataset.sort = head.ariaSort ?? 'none';
      },
    });
    this.draw();
    if (held && others) this.cell(this.stop.at, this.stop.column)?.focus({ preventScroll: true });
  }

  /** @param {StoredField | null} field */
  makeHeader(field) {
    const name = field?.name ?? null;
    const press = h(
      'button',
      { type: 'button', class: 'g-table-sort', tabindex: -1, on: { click: () => this.act.sort(name) } },
      h('span', { dir: 'auto' }, name ?? 'Document'),
      icon('up', 12),
    );
    return h('div', { class: 'g-table-cell', role: 'columnheader' }, press);
  }

  /** @param {Element} head */
  headerButton = (head) => /** @type {HTMLElement} */ (head.firstElementChild);

  /**
   * @param {readonly TableRow[]} rows
   * @param {number | null} total null: not known
   * @param {boolean} open more rows than these
   */
  show(rows, total, open) {
    this.open = open;
    this.root.ariaRowCount = String(total === null ? -1 : total + 1);
    if (rows !== this.rows) this.keepPlace(rows);
    this.draw();
  }

  /**
   * Rows in sight stay there when others come or go above them, but for somebody who looks at the first ones.
   *
   * @param {readonly TableRow[]} rows
   */
  keepPlace(rows) {
    const { root, height } = this,
      before = Math.floor(root.scrollTop / height),
      top = this.rows[before];
    this.rows = rows;
    this.places = new Map(rows.map(({ document_id: id }, at) => [id, at]));
    this.room.style.height = `${rows.length * height}px`;
    const after = top && root.scrollTop ? this.places.get(top.document_id) : undefined;
    if (after !== undefined && after !== before) root.scrollTop += (after - before) * height;
    const { stop } = this;
    if (stop.at === HEADER && !stop.id) return;
    stop.at = Math.min(this.places.get(stop.id) ?? stop.at, rows.length - 1);
    stop.id = rows[stop.at]?.document_id ?? '';
  }

  draw() {
    const { rows, height } = this,
      [top, bottom] = this.sight;
    this.room.style.height = `${rows.length * height}px`;
    const first = Math.max(0, top - AROUND),
      end = Math.min(rows.length, bottom + AROUND);
    const order = Array.from({ length: Math.max(0, end - first) }, (_, at) => first + at);
    // The focus must not be lost with its row, and Tab must find where it comes in.
    const { at: kept } = this.stop;
    if (kept >= 0 && kept < rows.length && (kept < first || kept >= end)) order.push(kept);
    order.sort((one, other) => one - other);
    keyed(this.room, order, {
      key: (at) => rows[at].document_id,
      make: () => {
        const row = new GridRow(this.project, this.columns);
        this.drawn.set(row.root, row);
        return row.root;
      },
      updateRow: (root, at) => {
        root.style.top = `${at * height}px`;
        root.ariaRowIndex = String(at + 2);
        this.drawn.get(root)?.updateRow(this.act.latest(rows[at]));
      },
    });
    this.place();
    this.act.seen(top, bottom);
    if (this.open && bottom + AHEAD > rows.length) this.act.more();
  }

  /** The one cell that Tab reaches. */
  place() {
    for (const each of this.root.querySelectorAll('[tabindex="0"]')) each.setAttribute('tabindex', '-1');
    this.cell(this.stop.at, this.stop.column)?.setAttribute('tabindex', '0');
  }

  /**
   * What takes the focus in a cell that is drawn.
   *
   * @param {number} at row; HEADER
   * @param {number} column 0: the document
   * @returns {HTMLElement | undefined}
   */
  cell(at, column) {
    if (at === HEADER) return this.headerButton(this.header.children[column] ?? this.header.children[0] ?? this.header);
    const id = this.rows[at]?.document_id;
    const root = [...this.room.children].find((each) => each instanceof HTMLElement && each.dataset.key === id);
    return root && this.drawn.get(root)?.link(column);
  }

  /** @param {EventTarget | null} target has taken the focus */
  held(target) {
    const cell = target instanceof Element ? target.closest('.g-table-cell') : null,
      row = cell?.parentElement;
    if (!cell || !row) return;
    const id = row === this.header ? '' : (row.dataset.key ?? '');
    const at = id ? (this.places.get(id) ?? HEADER) : HEADER;
    this.stop = { id, at, column: [...row.children].indexOf(cell) };
    this.place();
    if (at >= 0 && this.stop.column) this.act.held(at, this.stop.column);
  }

  /** @param {MouseEvent} event a press on a cell of a field shows it here; in another window, the link leads there */
  press(event) {
    const { target, button, altKey, ctrlKey, metaKey, shiftKey } = event;
    const cell = target instanceof Element ? target.closest('[role=gridcell]') : null;
    if (!cell || button || altKey || ctrlKey || metaKey || shiftKey) return;
    event.preventDefault();
    const link = cell.firstElementChild;
    if (link instanceof HTMLElement) link.focus({ preventScroll: true });
    this.act.look(this.stop.at, this.stop.column);
  }

  /** The cell that had the focus last has it again. */
  refocus() {
    this.focus(this.stop.at, this.stop.column);
  }

  /** @param {KeyboardEvent} event */
  walk(event) {
    const ofField = this.stop.at >= 0 && this.stop.column > 0;
    const plain = !event.altKey && !event.shiftKey && !event.ctrlKey && !event.metaKey;
    if (ofField && plain && (event.key === 'Enter' || event.key === 'F2')) {
      event.preventDefault();
      event.stopPropagation();
      return this.act.edit(this.stop.at, this.stop.column);
    }
    if (ofField && this.act.key(event)) {
      event.preventDefault();
      return event.stopPropagation();
    }
    if (event.altKey || event.shiftKey) return;
    const { stop, columns, rows } = this,
      whole = event.ctrlKey || event.metaKey,
      [first, end] = this.sight,
      leaf = Math.max(1, end - first - 1);
    /** @type {Record<string, [number, number]>} */
    const steps = {
      ArrowUp: [stop.at - 1, stop.column],
      ArrowDown: [stop.at + 1, stop.column],
      ArrowLeft: [stop.at, stop.column - 1],
      ArrowRight: [stop.at, stop.column + 1],
      PageUp: [Math.max(0, stop.at - leaf), stop.column],
      PageDown: [stop.at + leaf, stop.column],
      Home: [whole ? 0 : stop.at, 0],
      End: [whole ? rows.length - 1 : stop.at, columns.length],
    };
    const step = steps[event.key];
    if (!step || (whole && !['Home', 'End'].includes(event.key))) return;
    event.preventDefault();
    event.stopPropagation();
    this.focus(Math.max(HEADER, Math.min(step[0], rows.length - 1)), Math.max(0, Math.min(step[1], columns.length)));
  }

  /**
   * @param {number} at row
   * @param {number} column
   */
  focus(at, column) {
    this.stop = { id: this.rows[at]?.document_id ?? '', at, column };
    this.reveal(at);
    this.draw();
    const cell = this.cell(at, column);
    cell?.focus({ preventScroll: true });
    const box = cell?.closest('.g-table-cell');
    if (box instanceof HTMLElement && column) this.revealColumn(box);
  }

  /** @param {number} at row */
  reveal(at) {
    if (at < 0) return;
    const { root, height } = this,
      top = at * height,
      shown = root.clientHeight - this.header.offsetHeight;
    if (top < root.scrollTop) root.scrollTop = top;
    else if (top + height > root.scrollTop + shown) root.scrollTop = top + height - shown;
  }

  /** @param {HTMLElement} box of a cell, which may lie under the first column */
  revealColumn(box) {
    const { root } = this,
      first = this.header.firstElementChild?.getBoundingClientRect().width ?? 0,
      frame = root.getBoundingClientRect(),
      { left, right } = box.getBoundingClientRect();
    if (left < frame.left + first) root.scrollLeft -= frame.left + first - left;
    else if (right > frame.left + root.clientWidth) root.scrollLeft += right - frame.left - root.clientWidth;
  }
}
