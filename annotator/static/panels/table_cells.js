// How a cell of a table reads: its text, its value, and what is doubtful about it.

import { shownValue } from '../core/shown_value.js';
import { count } from '../core/text.js';

/** @import { AnswerPart, Cell, ColumnView, OpenedAnswer, ValueView } from '../types' */
/** @import { Pages } from '../state/pages.js' */

/**
 * @typedef {object} CellView
 * @property {string} text as it is printed, or as a person corrected it
 * @property {'sure' | 'doubtful' | 'ambiguous' | 'unreadable'} state
 * @property {string} reason why it is not sure
 * @property {string} value as people read it, where it is another text
 */

/**
 * What the server said of the cells, to be found by what a cell says: rows get other numbers before they are saved.
 *
 * @param {readonly ValueView[]} values
 * @returns {(part: AnswerPart, printed: string | null) => ValueView | null}
 */
export function cellViews(values) {
  const byText = new Map(values.map((view) => [keyOf(view.cell, view.text, view.rule === 'person'), view]));
  const byCell = new Map(values.map((view) => [JSON.stringify([view.cell?.row, view.cell?.column]), view]));
  return ({ cell, correction }, printed) => {
    if (printed === null) return byCell.get(JSON.stringify([cell?.row, cell?.column])) ?? null;
    return byText.get(keyOf(cell, correction?.text ?? printed, Boolean(correction?.reading))) ?? null;
  };
}

/**
 * How the cells of the open table read, by their places.
 *
 * @param {OpenedAnswer | null} local
 * @param {(place: number) => string | null} textOf printed text
 * @param {Pages} pages
 */
export function tableCells(local, textOf, pages) {
  const said = viewsOf(local?.values ?? NONE);
  const viewOf = (/** @type {number} */ place) =>
    local?.parts[place] ? said(local.parts[place], textOf(place)) : null;
  const cellOf = (/** @type {number} */ place) => {
    const part = local?.parts[place],
      view = viewOf(place);
    return cellView({
      column: local?.field?.columns?.find(({ name }) => name === part?.cell?.column),
      text: part?.correction?.text ?? textOf(place) ?? view?.text ?? '',
      view,
      doubtful: Boolean(part && pages.doubts(part.pages)),
    });
  };
  return { viewOf, cellOf };
}

/** @type {readonly ValueView[]} */
const NONE = [];

/** @type {WeakMap<readonly ValueView[], ReturnType<typeof cellViews>>} by what the server said, until the next save */
const known = new WeakMap();

/** @param {readonly ValueView[]} values */
function viewsOf(values) {
  const views = known.get(values) ?? cellViews(values);
  known.set(values, views);
  return views;
}

/** @type {(cell: Cell | null | undefined, text: string, picked: boolean) => string} */
const keyOf = (cell, text, picked) => JSON.stringify([cell?.column, text.replace(/\s+/g, ' '), picked]);

/**
 * @param {object} cell
 * @param {ColumnView | undefined} cell.column
 * @param {string} cell.text
 * @param {ValueView | null} cell.view null: the server has not said it yet
 * @param {boolean} cell.doubtful one of its words was read with low confidence
 * @returns {CellView}
 */
export function cellView({ column, text, view, doubtful }) {
  const value = view?.value ?? null;
  const shown = value === null || !column ? '' : shownValue(value, column.type);
  const says = { text: text || 'No words', value: shown === text ? '' : shown };
  if (view?.readings.length) {
    const readings = view.readings.map(({ words }) => words).join(', or ');
    return { ...says, state: 'ambiguous', reason: `The text may mean: ${readings}.` };
  }
  if (view?.reason && value === null) return { ...says, state: 'unreadable', reason: view.reason };
  if (doubtful && !view?.corrected)
    return { ...says, state: 'doubtful', reason: 'A word of this cell was read with low confidence.' };
  return { ...says, state: 'sure', reason: '' };
}

/** @param {CellView} cell */
export const cellTitle = ({ text, value, reason }) =>
  [text, value && `Value: ${value}`, reason].filter(Boolean).join('\n');

/** @param {Cell} cell */
export const cellId = ({ row, column }) => `g-cell-${String(row).replace('.', '-')}-${column}`;

/**
 * A table in a few words.
 *
 * @param {number} rows
 */
export const rowsText = (rows) => (rows ? count(rows, 'row') : 'No rows');
