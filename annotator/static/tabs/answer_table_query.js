// What is asked of the table of answers: filters, order and columns, as the addresses of REST name them.

import { addressOf } from '../core/api.js';

/** @import { FlagCount, StoredField, TableCounts } from '../types' */

/** @typedef {FlagCount['flag']} Flag */

/**
 * What a person wants to see of a project's table.
 *
 * @typedef {object} TableView
 * @property {readonly string[]} filters "broken": in any field; "total:broken": in the field total
 * @property {string} sort as REST names it; NEWEST without an order
 * @property {ReadonlySet<string> | null} hidden names of fields without a column; null: nobody has chosen yet
 */

export const NEWEST = '-created';
const MOST_FILTERS = 5;
const FIRST_COLUMNS = 30; // of a project with more fields, until somebody chooses
const MOST_ROWS = 100;
const LEAST_ROWS = 20;
const CELLS = 3000; // of a page, about

/** @type {Record<Flag, string>} */
export const FLAGS = {
  empty: 'Empty',
  unsure: 'Unsure',
  ambiguous: 'Ambiguous',
  unreadable: 'Unreadable',
  broken: 'Rule broken',
  absent: 'Not in the document',
  proposed: 'Only proposed',
  changed: 'Corrected',
  accepted: 'Accepted',
  unaccepted: 'Open',
};

/** @type {readonly [sort: string, words: string][]} orders of the documents; those by value are a column's */
const ORDERS = [
  [NEWEST, 'Newest first'],
  ['created', 'Oldest first'],
  ['name', 'Name'],
];

/** @type {TableView} */
export const EVERYTHING = { filters: [], sort: NEWEST, hidden: null };

/**
 * The fields that have a column.
 *
 * @param {readonly StoredField[]} fields
 * @param {TableView} view
 */
export const columnsOf = (fields, { hidden }) =>
  hidden ? fields.filter(({ name }) => !hidden.has(name)) : fields.slice(0, FIRST_COLUMNS);

/**
 * The view with the column of a field shown or hidden; the last column stays.
 *
 * @param {readonly StoredField[]} fields
 * @param {TableView} view
 * @param {string} name
 * @param {boolean} shown
 * @returns {TableView}
 */
export function showColumn(fields, view, name, shown) {
  const before = new Set(columnsOf(fields, view).map((each) => each.name));
  const after = new Set(shown ? [...before, name] : [...before].filter((each) => each !== name));
  if (!after.size) return view;
  return { ...view, hidden: new Set(fields.map((each) => each.name).filter((each) => !after.has(each))) };
}

/**
 * The view without filters, orders and columns of fields that are gone.
 *
 * @param {TableView} view
 * @param {readonly StoredField[]} fields
 * @returns {TableView}
 */
export function withoutLost(view, fields) {
  const names = new Set(fields.map(({ name }) => name));
  const filters = view.filters.filter((each) => !each.includes(':') || names.has(partsOf(each).field));
  const [by, field] = view.sort.split(':');
  const sort = by.endsWith('value') && !names.has(field) ? NEWEST : view.sort;
  const lost = Boolean(view.hidden) && fields.length > 0 && !columnsOf(fields, view).length;
  return { filters, sort, hidden: lost ? null : view.hidden };
}

/**
 * @param {string} field name; '' for any
 * @param {Flag} flag
 */
export const filterOf = (field, flag) => (field ? `${field}:${flag}` : flag);

/**
 * @param {string} filter
 * @returns {{ field: string, flag: Flag }}
 */
export function partsOf(filter) {
  const at = filter.lastIndexOf(':');
  return { field: filter.slice(0, Math.max(0, at)), flag: /** @type {Flag} */ (filter.slice(at + 1)) };
}

/**
 * The view with a filter set, or without it; as it was where no further filter can be combined.
 *
 * @param {TableView} view
 * @param {string} filter
 * @returns {TableView}
 */
export function turnFilter(view, filter) {
  if (view.filters.includes(filter)) return { ...view, filters: view.filters.filter((each) => each !== filter) };
  return view.filters.length < MOST_FILTERS ? { ...view, filters: [...view.filters, filter] } : view;
}

/**
 * The order after a press on a header: rising, falling, none.
 *
 * @param {string} sort the present order
 * @param {string | null} field name; null: the documents' names, which only rise
 */
export function nextSort(sort, field) {
  if (field === null) return sort === 'name' ? NEWEST : 'name';
  if (sort === `value:${field}`) return `-value:${field}`;
  return sort === `-value:${field}` ? NEWEST : `value:${field}`;
}

/**
 * The orders to choose from: those of the documents, and the present one by a column.
 *
 * @param {string} sort the present order
 * @returns {readonly (readonly [sort: string, words: string])[]}
 */
export function ordersOf(sort) {
  if (ORDERS.some(([each]) => each === sort)) return ORDERS;
  const [by, field] = sort.split(':');
  return [...ORDERS, [sort, `${field}, ${by.startsWith('-') ? 'largest' : 'smallest'} first`]];
}

/**
 * How a column is sorted, as aria-sort says it.
 *
 * @param {string} sort
 * @param {string | null} field name; null: the documents' names
 */
export function directionOf(sort, field) {
  if (sort === (field === null ? 'name' : `value:${field}`)) return 'ascending';
  return field !== null && sort === `-value:${field}` ? 'descending' : 'none';
}

/**
 * The values of a request for rows.
 *
 * @param {string} project id
 * @param {readonly StoredField[]} fields
 * @param {TableView} view
 */
export function queryOf(project, fields, view) {
  const columns = columnsOf(fields, view);
  return {
    project_id: project,
    field: columns.length === fields.length ? [] : columns.map(({ name }) => name),
    filter: [...view.filters],
    sort: view.sort,
  };
}

/**
 * Rows of a page: fewer where rows are wide.
 *
 * @param {number} columns
 */
export const rowsOfPage = (columns) =>
  Math.max(LEAST_ROWS, Math.min(MOST_ROWS, Math.floor(CELLS / Math.max(1, columns))));

/**
 * The address of the file that holds what is seen.
 *
 * @param {string} project id
 * @param {readonly StoredField[]} fields
 * @param {TableView} view
 * @param {'csv' | 'xlsx'} format
 */
export const exportAddress = (project, fields, view, format) =>
  addressOf('/projects/{project_id}/values/export', { ...queryOf(project, fields, view), format });

/**
 * A chip for each flag: how many documents it finds, and whether it filters.
 *
 * @param {TableCounts | null} counts
 * @param {TableView} view
 * @param {string} field name; '' for any
 */
export function chipsOf(counts, view, field) {
  const found = new Map((counts?.counts ?? []).map((each) => [filterOf(each.field ?? '', each.flag), each.documents]));
  const flags = /** @type {Flag[]} */ (Object.keys(FLAGS));
  const here = flags.map((flag) => filterOf(field, flag));
  // A filter of another field stays in sight: nobody should wonder why rows are missing.
  return [...here, ...view.filters.filter((each) => !here.includes(each))].map((filter) => ({
    filter,
    text: textOf(filter, field),
    documents: counts ? (found.get(filter) ?? 0) : null,
    pressed: view.filters.includes(filter),
    full: view.filters.length >= MOST_FILTERS && !view.filters.includes(filter),
  }));
}

/**
 * @param {string} filter
 * @param {string} chosen name of the field that is chosen
 */
function textOf(filter, chosen) {
  const { field, flag } = partsOf(filter);
  const text = flag === 'accepted' && !field ? 'All accepted' : FLAGS[flag];
  return field === chosen ? text : `${field || 'Any field'}: ${text}`;
}
