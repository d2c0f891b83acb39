// Work on the table that is open: the cell in hand, its rows, and the model that proposes the others.

import { post, sentenceOf } from '../core/api.js';
import { hint } from '../core/keyboard.js';
import { count } from '../core/text.js';
import { isBlankPart, partsOf } from './parts.js';
import {
  deleteRow,
  isTable,
  lineTops,
  mergeRowUp,
  moveCell,
  moveWords,
  splitRow,
  tableRows,
  withoutWords,
} from './table.js';
import { mergeProposal, ownRows, proposedParts, rowKeys, wordsOf, wordsOfRow } from './table_proposal.js';

/** @import { AnswerPart, Cell, Mark, PageLine, Stroke } from '../types' */
/** @import { OpenAnswer } from './answer.js' */
/** @import { Sheet, WordMoves } from './table.js' */

/**
 * @typedef {object} TablePorts
 * @property {() => Sheet | null} sheet words of the page on the stage
 * @property {() => number | null} line top of the word under the hand or the cursor, page pixels
 * @property {(sentence: string) => void} tell
 * @property {() => void} changed
 * @property {(page: string) => unknown} open a page is to be shown
 */

const MARK_FIRST = 'Mark the words of this row first: click them on the page.';

export class TableWork {
  proposing = false;
  /** @type {string | null} why the last proposal failed */
  failure = null;
  /** @type {{ annotation: string, keys: Set<string> } | null} the rows that the model has proposed */
  known = null;

  /** @type {{ parts: readonly AnswerPart[], number: number, rows: number[] } | null} whose rows were looked at last */
  seen = null;

  /**
   * @param {OpenAnswer} answer
   * @param {TablePorts} on
   */
  constructor(answer, on) {
    this.answer = answer;
    this.on = on;
  }

  /** Whether the open answer is a table. */
  get open() {
    return isTable(this.answer.local) && !this.answer.local?.no_answer;
  }

  get columns() {
    return this.answer.local?.field?.columns ?? [];
  }

  get cell() {
    return this.answer.cell;
  }

  /** Keys of the rows that the model has proposed. */
  get proposed() {
    const { local, judged } = this.answer;
    if (!local) return new Set();
    if (this.known?.annotation !== local.id) {
      const cells = local.proposal?.cells ?? [];
      const parts = cells.length || judged ? proposedParts(cells, []) : partsOf(local.state);
      this.known = { annotation: local.id, keys: new Set(rowKeys(parts).values()) };
      this.failure = null;
    }
    return this.known.keys;
  }

  /** Numbers of the rows that a person has made or corrected since the model proposed the table. */
  get own() {
    const { proposed } = this,
      parts = this.answer.local?.parts ?? [];
    if (!this.open) return [];
    if (this.seen?.parts !== parts || this.seen.number !== proposed.size) {
      this.seen = { parts, number: proposed.size, rows: ownRows(this.answer.storedParts, proposed) };
    }
    return this.seen.rows;
  }

  /** The rows of the table, with the empty one in hand. */
  get rows() {
    const rows = tableRows(this.answer.local?.parts ?? []),
      { cell } = this;
    if (!cell || rows.some(({ row }) => row === cell.row)) return rows;
    return [...rows, { row: cell.row, cells: new Map() }].sort((left, right) => left.row - right.row);
  }

  get locked() {
    return !this.open || !this.cell || this.answer.on.locked();
  }

  /**
   * Takes a cell in hand, and shows its page.
   *
   * @param {Cell} cell
   */
  choose(cell) {
    const { answer } = this;
    if (!this.open) return;
    answer.refinement.drop();
    answer.takeCell(cell);
    const [page] = Object.keys(answer.local?.pages ?? {});
    if (page && page !== answer.place.page?.id) this.on.open(page);
  }

  /**
   * Takes the cell in hand that lies so many rows and columns further. Returns false at the end of the table.
   *
   * @param {number} rows
   * @param {number} columns
   */
  step(rows, columns) {
    const { cell } = this;
    if (!cell) return false;
    const lines = this.rows,
      names = this.columns.map(({ name }) => name);
    const row = lines[lines.findIndex((each) => each.row === cell.row) + rows],
      column = names[names.indexOf(cell.column) + columns];
    if (!row || !column) return false;
    this.choose({ row: row.row, column });
    return true;
  }

  /** The next cell, or the one before, row by row. Returns false at the end of the table. */
  onward(/** @type {1 | -1} */ by) {
    const { cell } = this,
      names = this.columns.map(({ name }) => name);
    if (this.step(0, by)) return true;
    const lines = this.rows,
      row = lines[lines.findIndex((each) => each.row === cell?.row) + by];
    if (!row) return false;
    this.choose({ row: row.row, column: by > 0 ? names[0] : names[names.length - 1] });
    return true;
  }

  // --- rows

  addRow() {
    if (this.locked || !this.cell) return;
    const { row } = this.cell,
      [first] = this.columns;
    const empty = !this.answer.storedParts.some((part) => part.cell?.row === row);
    if (empty) return this.on.tell(MARK_FIRST);
    this.choose({ row: row + 0.5, column: first.name });
    this.on.tell('A new row: click the words of its cells on the page.');
  }

  deleteRow() {
    if (this.locked || !this.cell) return;
    const { cell, rows, answer } = this,
      at = rows.findIndex(({ row }) => row === cell.row);
    const next = rows[at + 1] ?? rows[at - 1];
    const parts = deleteRow(answer.storedParts, cell.row);
    if (parts.length === answer.storedParts.length) return next && this.choose({ ...cell, row: next.row });
    answer.becomeTable(parts, { ...cell, row: next?.row ?? 0 }, 'row');
    this.on.tell(`Deleted row ${at + 1}. Undo brings it back.`);
  }

  mergeRow() {
    if (this.locked || !this.cell) return;
    const { cell, answer } = this;
    const merged = mergeRowUp(answer.storedParts, cell.row);
    if (!merged) return this.on.tell('There is no row above this one.');
    answer.becomeTable(merged.parts, { ...cell, row: merged.row }, 'row');
  }

  /** Splits the row in hand at the word under the hand; else below its first printed line. */
  splitRow() {
    if (this.locked || !this.cell) return;
    const { cell, answer } = this,
      sheet = this.on.sheet(),
      pages = answer.place.document?.pages.map(({ id }) => id) ?? [];
    if (!sheet) return;
    const parts = answer.storedParts,
      tops = lineTops(parts, cell.row, sheet),
      later = pages.slice(pages.indexOf(sheet.page) + 1);
    const under = this.on.line();
    const top = (under !== null ? tops.findLast((each, at) => at > 0 && each <= under) : undefined) ?? tops[1];
    const split = splitRow(parts, cell.row, top ?? Infinity, sheet, later);
    if (!split) return this.on.tell('This row has a single printed line here. Drag its edge, or move single cells.');
    answer.becomeTable(split, cell, 'row');
  }

  // --- cells

  clearCell() {
    if (this.locked || !this.cell) return;
    const { cell, answer } = this,
      { local } = answer;
    if (!local || isBlankPart(local.parts[local.place])) return;
    const parts = local.parts.filter((_, place) => place !== local.place);
    answer.becomeTable(parts, cell, 'clear');
  }

  /**
   * Moves the words of the cell in hand to its neighbour.
   *
   * @param {number} rows
   * @param {number} columns
   */
  moveCell(rows, columns) {
    if (this.locked || !this.cell) return;
    const { cell, answer } = this,
      { local } = answer,
      names = this.columns.map(({ name }) => name);
    if (!local || isBlankPart(local.parts[local.place])) return this.on.tell('This cell is empty.');
    const lines = this.rows,
      at = lines.findIndex(({ row }) => row === cell.row);
    const row = lines[at + rows]?.row ?? cell.row + rows / 2, // beyond the table: a new row
      column = names[names.indexOf(cell.column) + columns];
    if (!column) return this.on.tell('There is no column on this side.');
    answer.becomeTable(moveCell(answer.storedParts, local.place, { row, column }), { row, column }, 'cell');
  }

  /**
   * Words have gone from cell to cell as an edge was dragged.
   *
   * @param {WordMoves} moves
   */
  drag(moves) {
    const { cell, answer } = this,
      sheet = this.on.sheet();
    if (this.locked || !cell || !sheet || !moves.size) return answer.on.mark();
    answer.becomeTable(moveWords(answer.storedParts, moves, sheet), cell, 'edge');
  }

  /**
   * A stroke on the page: what it puts into the cell in hand, it takes out of the others.
   *
   * @param {Stroke} stroke
   * @param {Mark | null} mark
   * @param {PageLine} page
   */
  stroke(stroke, mark, page) {
    const { answer, cell } = this,
      { local } = answer,
      sheet = this.on.sheet();
    if (stroke.moves) return this.drag(stroke.moves);
    if (!local || !mark || !cell || !sheet || !stroke.edits) return answer.stroke(stroke, mark, page);
    const { points, boxes } = answer.markOn(page.id);
    const hand = {
      ...{ pages: { ...local.pages, [page.id]: { ...mark, points, boxes } }, correction: null, cell },
    };
    const rest = local.parts.filter((_, place) => place !== local.place),
      others = withoutWords(rest, hand, sheet);
    if (others.every((part, at) => part === rest[at])) return answer.stroke(stroke, mark, page);
    answer.becomeTable([...others, hand], cell, stroke.tool);
  }

  // --- the model

  /** Sends the rows of the person, and takes the table that the model makes of them as a single step. */
  async propose() {
    const { answer, own } = this,
      { local } = answer;
    if (this.locked || this.proposing || !local) return;
    const { proposed } = this;
    if (!wordsOf(answer.storedParts.filter(({ cell }) => cell && own.includes(cell.row))).length)
      return this.on.tell('Mark or correct the words of a row first; the others follow.');
    const parts = answer.storedParts,
      keys = rowKeys(parts),
      hand = keys.get(this.cell?.row ?? -1),
      turn = ++answer.turn;
    this.proposing = true;
    this.failure = null;
    this.on.changed();
    try {
      // A row that is marked by brush alone has no words to learn from; it stays as it is, too.
      const rows = own.map((row) => wordsOfRow(parts, row)).filter(({ cells }) => Object.keys(cells).length);
      const said = await post('/annotations/{annotation_id}/table', { annotation_id: local.id }, { rows });
      if (answer.local?.id !== local.id) return;
      if (turn !== answer.turn) {
        this.failure = `The table was changed meanwhile, so the proposal was not taken. Press ${hint('proposeRows')} again.`;
        return;
      }
      answer.learn(said);
      const table = mergeProposal(said.cells ?? [], parts, own, answer.deletedWords),
        now = rowKeys(table.parts),
        kept = new Set(table.rows.values());
      for (const [row, key] of now) if (!kept.has(row)) proposed.add(key);
      const row = table.rows.get(this.cell?.row ?? -1) ?? [...now].find(([, key]) => key === hand)?.[0] ?? 0;
      const column = this.cell?.column ?? this.columns[0].name;
      answer.becomeTable(table.parts, { row, column }, 'propose', { prediction: said.prediction_id });
      const deleted = table.deleted ? ` ${count(table.deleted, 'row')} that you deleted stayed out.` : '';
      this.on.tell(`The table has ${count(now.size, 'row')} now. Undo brings back what it was.${deleted}`);
    } catch (error) {
      if (answer.local?.id === local.id) this.failure = `The other rows could not be proposed. ${sentenceOf(error)}`;
    } finally {
      this.proposing = false;
      this.on.changed();
    }
  }
}
