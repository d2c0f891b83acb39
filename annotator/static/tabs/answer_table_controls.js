// What stands above the table of answers: filters with their numbers, the choice of columns, and the exports.

import { h, keyed, redraw } from '../core/dom.js';
import { chipsOf, columnsOf, exportAddress, ordersOf } from './answer_table_query.js';

/** @import { StoredField, TableCounts } from '../types' */
/** @import { TableView } from './answer_table_query.js' */

/**
 * @typedef {object} ControlActs
 * @property {(filter: string) => void} filter sets a filter, or takes it away
 * @property {() => void} clear takes all filters away
 * @property {(field: string, shown: boolean) => void} column
 * @property {(sort: string) => void} sort
 */

/**
 * @typedef {object} ControlsView
 * @property {string} project id
 * @property {readonly StoredField[]} fields
 * @property {TableView} view
 * @property {TableCounts | null} counts null: on their way
 */

const FULL = 'At most 5 filters can be combined.';

export class TableControls {
  field = ''; // name of the field that is filtered; '' for any
  /** @type {ControlsView | null} */
  shown = null;

  /** @param {ControlActs} act */
  constructor(act) {
    this.act = act;
    /** @type {HTMLSelectElement} */
    this.select = h('select', { 'aria-label': 'Filter by', on: { change: () => this.choose() } });
    /** @type {HTMLSelectElement} */
    this.order = h('select', { 'aria-label': 'Order', on: { change: () => act.sort(this.order.value) } });
    this.chips = h('div', { class: 'g-chips', role: 'group', 'aria-label': 'Filters' });
    this.clear = h('button', { type: 'button', class: 'g-act', on: { click: () => act.clear() } }, 'Clear filters');
    this.said = h('p', { class: 'g-table-said', role: 'status' });
    this.summary = h('summary', {}, 'Columns');
    this.ticks = h('div', { class: 'g-ticks' });
    this.csv = h('a', { class: 'g-act', download: true }, 'Export CSV');
    this.xlsx = h('a', { class: 'g-act', download: true }, 'Export XLSX');
    this.root = h(
      'div',
      { class: 'g-table-controls' },
      h(
        'div',
        { class: 'g-line' },
        h('label', { class: 'g-table-field' }, 'Filter by', this.select),
        h('label', { class: 'g-table-field' }, 'Order', this.order),
        h('div', { class: 'g-table-exports' }, this.csv, this.xlsx),
      ),
      this.chips,
      h('details', { class: 'g-table-columns' }, this.summary, this.ticks),
      h('div', { class: 'g-line g-table-found' }, this.said, this.clear),
    );
  }

  choose() {
    this.field = this.select.value;
    if (this.shown) this.render(this.shown);
  }

  /** @param {ControlsView} shown */
  render(shown) {
    const { project, fields, view, counts } = (this.shown = shown);
    const names = fields.map(({ name }) => name);
    if (!names.includes(this.field)) this.field = '';
    redraw(this.select, names, () =>
      ['', ...names].map((name) => h('option', { value: name, dir: 'auto' }, name || 'Any field')),
    );
    this.select.value = this.field;
    const orders = ordersOf(view.sort);
    redraw(this.order, orders, () => orders.map(([value, words]) => h('option', { value, dir: 'auto' }, words)));
    this.order.value = view.sort;
    keyed(this.chips, chipsOf(counts, view, this.field), {
      key: ({ filter }) => filter,
      make: ({ filter }) =>
        h('button', { type: 'button', class: 'g-chip', on: { click: () => this.act.filter(filter) } }),
      updateRow: (chip, { text, documents, pressed, full }) => {
        chip.ariaPressed = String(pressed);
        chip.ariaDisabled = full ? 'true' : null;
        chip.title = full ? FULL : '';
        chip.classList.toggle('g-none', documents === 0);
        const number = documents === null ? '…' : documents.toLocaleString('en-GB');
        redraw(chip, [text, number], () => [h('span', { dir: 'auto' }, text), ' ', h('b', {}, number)]);
      },
    });
    this.clear.hidden = !view.filters.length;
    const columns = columnsOf(fields, view).map(({ name }) => name);
    this.summary.textContent =
      columns.length === fields.length ? 'Columns' : `Columns (${columns.length} of ${fields.length})`;
    keyed(this.ticks, fields, {
      key: ({ name }) => name,
      make: ({ name }) => {
        /** @type {HTMLInputElement} */
        const box = h('input', { type: 'checkbox', on: { change: () => this.act.column(name, box.checked) } });
        return h('label', { class: 'g-tick' }, box, h('span', { dir: 'auto' }, name));
      },
      updateRow: (tick, { name }) => {
        const box = tick.querySelector('input');
        if (!box) return;
        box.checked = columns.includes(name);
        box.disabled = box.checked && columns.length === 1; // a table has a column
      },
    });
    this.csv.href = exportAddress(project, fields, view, 'csv');
    this.xlsx.href = exportAddress(project, fields, view, 'xlsx');
  }
}
