// Cells that were changed in this window. The server derives the rows of the table a moment after an answer: until it
// has, the row shows what was saved.

import { count } from '../core/text.js';
import { isBlankPart, viewOf } from '../state/parts.js';
import { same } from '../core/values.js';

/** @import { CellView, OpenedAnswer, Saved, TableRow, ValueView } from '../types' */

/**
 * A cell with what still waits: "unsaved", or "behind", whose rules the server checks in a moment.
 *
 * @typedef {CellView & { waits?: 'unsaved' | 'behind' }} LatestCell
 */

/** @param {CellView | null | undefined} cell */
const sign = (cell) => cell && [cell.annotation_id, cell.status, cell.state, cell.text, cell.values];

export class LatestCells {
  /**
   * By document and field: the cell, and those that the server may still show.
   *
   * @type {Map<string, Map<string, { cell: LatestCell, passed: unknown[] }>>}
   */
  documents = new Map();

  /**
   * @param {string} document id
   * @param {string} field name
   * @param {CellView | null} before as the server has it
   * @param {LatestCell} cell
   */
  put(document, field, before, cell) {
    const fields = this.documents.get(document) ?? new Map();
    this.documents.set(document, fields);
    const known = fields.get(field);
    fields.set(field, { cell, passed: [...(known?.passed ?? [sign(before)]), sign(known?.cell)] });
  }

  /**
   * The row with the cells as they were saved; a cell that the server has derived anew is the server's.
   *
   * @param {TableRow} row
   * @returns {TableRow}
   */
  of(row) {
    const fields = this.documents.get(row.document_id);
    if (!fields) return row;
    for (const [field, { cell, passed }] of fields) {
      const there = sign(row.cells[field]);
      const caught = cell.waits !== 'unsaved' && (same(there, sign(cell)) || !passed.some((each) => same(each, there)));
      if (caught) fields.delete(field);
    }
    if (!fields.size) {
      this.documents.delete(row.document_id);
      return row;
    }
    const cells = Object.fromEntries([...fields].map(([field, { cell }]) => [field, cell]));
    return {
      ...row,
      cells: { ...row.cells, ...cells },
      rules: row.rules.filter(({ field }) => !fields.has(field)),
    };
  }
}

/**
 * The cell of an answer whose edits are still on their way.
 *
 * @param {OpenedAnswer} local
 * @param {(place: number) => string} printed text of a value
 * @returns {LatestCell}
 */
export function cellOnItsWay(local, printed) {
  const { parts, values = [] } = local;
  const views = parts.flatMap((part, place) => {
    if (isBlankPart(part)) return [];
    const view = viewOf(parts, values, place),
      said = part.correction;
    const text = said?.text ?? view?.printed ?? printed(place);
    const value = said?.reading ? said.reading.value : view?.text === text ? view.value : null;
    const shown = { printed: view?.printed ?? printed(place), text, value: value ?? null };
    return [{ ...shown, readings: [], corrected: true, cell: part.cell ?? null }];
  });
  return cellOf(local.id, local.status, local.no_answer ? [] : views, local.no_answer, 'unsaved');
}

/**
 * The cell of an answer that was saved.
 *
 * @param {string} annotation
 * @param {Pick<Saved, 'status' | 'values' | 'state'>} saved
 * @returns {LatestCell}
 */
export const cellSaved = (annotation, { status, values = [], state }) =>
  cellOf(annotation, status, values, Boolean(state.no_answer), 'behind');

/**
 * As engine/followers/value_cells.py derives it, without rules.
 *
 * @param {string} annotation
 * @param {string} status
 * @param {readonly Pick<ValueView, 'printed' | 'text' | 'value' | 'readings' | 'cell'>[]} views of a table: its cells
 * @param {boolean} none the document does not answer
 * @param {'unsaved' | 'behind'} waits
 * @returns {LatestCell}
 */
function cellOf(annotation, status, views, none, waits) {
  const rows = new Set(views.flatMap(({ cell }) => (cell ? [cell.row] : []))).size;
  const unread = views.filter(({ value }) => value === null || value === undefined);
  const state = !views.length
    ? none
      ? 'absent'
      : 'empty'
    : !unread.length || waits === 'unsaved'
      ? 'value'
      : unread.some(({ readings }) => readings.length)
        ? 'ambiguous'
        : 'unreadable';
  return {
    annotation_id: annotation,
    page_id: null,
    status,
    state,
    printed: rows ? count(rows, 'row') : views.map(({ printed }) => printed).join(' · '),
    text: rows ? count(rows, 'row') : views.map(({ text }) => text).join(' · '),
    shown: '',
    values: rows ? [rows] : waits === 'unsaved' && unread.length ? [] : views.map(({ value }) => value ?? null),
    changed: true,
    broken: false,
    confidence: null,
    validated_by: status === 'accepted' || status === 'fixed' ? 'person' : 'nothing',
    waits,
  };
}
