// A table: an answer whose parts are cells, each with a row and a column. Rows come, go, merge and split here, and
// words go from cell to cell. Plain values, never changed in place. An empty cell is no part; rows are numbered from 0
// without gaps once the parts are settled, and a row between two others has a number between theirs until then.

import { EMPTY_MARK, patchOfBoxes, unitePatches } from '../canvas/mask.js';
import { isBlankPart, wordsDiffer } from './parts.js';

/** @import { AnswerPart, Box, Cell, FieldView } from '../types' */

/**
 * The words of a page by their numbers, and its size in pixels.
 *
 * @typedef {object} Sheet
 * @property {string} page id
 * @property {number} width
 * @property {number} height
 * @property {(number: number) => Box | undefined} boxOf
 */

/** @typedef {{ row: number, cells: Map<string, number> }} TableRow the places of its cells, by column */

/** @typedef {Map<number, Cell | null>} WordMoves word -> the cell that it goes to; null: out of the table */

/**
 * Whether an answer is read and drawn as a table.
 *
 * @param {{ field?: FieldView | null } | null | undefined} answer
 */
export const isTable = (answer) => answer?.field?.type === 'table' && (answer.field.columns?.length ?? 0) > 0;

/**
 * @param {Cell | null | undefined} left
 * @param {Cell | null | undefined} right
 */
export const isSameCell = (left, right) => left?.row === right?.row && left?.column === right?.column;

/**
 * @param {readonly AnswerPart[]} parts
 * @returns {TableRow[]} ascending
 */
export function tableRows(parts) {
  /** @type {Map<number, Map<string, number>>} */
  const rows = new Map();
  parts.forEach(({ cell }, place) => {
    if (!cell) return;
    const cells = rows.get(cell.row) ?? new Map();
    rows.set(cell.row, cells.set(cell.column, place));
  });
  return [...rows].map(([row, cells]) => ({ row, cells })).sort((left, right) => left.row - right.row);
}

/**
 * The place of a cell among the parts; -1 where it is empty.
 *
 * @param {readonly AnswerPart[]} parts
 * @param {Cell} cell
 */
export const placeOf = (parts, cell) => parts.findIndex((part) => isSameCell(part.cell, cell));

/**
 * The parts as they are stored: without empty cells, row by row, with rows numbered anew. A mark in no cell goes with
 * the first cell. `cell` is the same one under its new number; a row that is empty lies between its neighbours.
 *
 * @param {readonly AnswerPart[]} parts
 * @param {readonly string[]} columns names, in order
 * @param {Cell} cell
 * @returns {{ parts: AnswerPart[], cell: Cell }}
 */
export function settle(parts, columns, cell) {
  const marked = joinTwins(parts.filter((part) => !isBlankPart(part))),
    full = marked.some((part) => part.cell) ? marked.filter((part) => part.cell) : marked;
  const numbers = new Map(tableRows(full).map(({ row }, at) => [row, at]));
  const before = [...numbers.keys()].filter((row) => row < cell.row).length;
  const row = numbers.get(cell.row) ?? before - 0.5;
  const order = new Map(columns.map((column, at) => [column, at]));
  const rank = (/** @type {AnswerPart} */ part) => (part.cell ? (order.get(part.cell.column) ?? columns.length) : 0);
  const settled = full.map((part) => {
    const number = numbers.get(part.cell?.row ?? -1);
    if (!part.cell || number === undefined || number === part.cell.row) return part;
    return { ...part, cell: { ...part.cell, row: number } };
  });
  settled.sort((left, right) => (left.cell?.row ?? -1) - (right.cell?.row ?? -1) || rank(left) - rank(right));
  return { parts: settled, cell: { row: numbers.size ? row : 0, column: cell.column } };
}

/**
 * @param {readonly AnswerPart[]} parts
 * @param {number} row
 */
export const deleteRow = (parts, row) => parts.filter((part) => part.cell?.row !== row);

/**
 * Two cells as one: the marks of both. What was said of their texts was said of other words.
 *
 * @param {AnswerPart} target
 * @param {AnswerPart} source
 * @returns {AnswerPart}
 */
function join(target, source) {
  const pages = { ...target.pages };
  for (const [page, mark] of Object.entries(source.pages)) {
    const there = pages[page] ?? EMPTY_MARK;
    pages[page] = {
      ...there,
      words: [...new Set([...there.words, ...mark.words])],
      mask: unitePatches([there.mask, mark.mask]),
    };
  }
  return { ...target, pages, correction: null };
}

/**
 * Puts a cell into another one, beside what that holds.
 *
 * @param {readonly AnswerPart[]} parts
 * @param {number} place of the cell that goes
 * @param {Cell} to
 * @returns {AnswerPart[]}
 */
export function moveCell(parts, place, to) {
  const target = placeOf(parts, to);
  if (target < 0) return parts.map((part, at) => (at === place ? { ...part, cell: to } : part));
  if (target === place) return [...parts];
  const joined = join(parts[target], parts[place]);
  return parts.map((part, at) => (at === target ? joined : part)).filter((_, at) => at !== place);
}

/**
 * The cells of a row become those of the row above; the parts themselves where it is the first one.
 *
 * @param {readonly AnswerPart[]} parts
 * @param {number} row
 */
export function mergeRowUp(parts, row) {
  const above = tableRows(parts).findLast((each) => each.row < row);
  if (!above) return null;
  let merged = [...parts];
  for (const part of parts) {
    if (part.cell?.row !== row) continue;
    merged = moveCell(merged, merged.indexOf(part), { row: above.row, column: part.cell.column });
  }
  return { parts: merged, row: above.row };
}

/**
 * Words of a page go into other cells, or out of the table.
 *
 * @param {readonly AnswerPart[]} parts
 * @param {WordMoves} moves
 * @param {Sheet} sheet
 * @returns {AnswerPart[]}
 */
export function moveWords(parts, moves, sheet) {
  /** @type {AnswerPart[]} */
  const next = [];
  /** @type {Map<string, { cell: Cell, words: number[] }>} */
  const arrivals = new Map();
  for (const [word, cell] of moves) {
    if (!cell) continue;
    const name = JSON.stringify([cell.row, cell.column]);
    const arrival = arrivals.get(name) ?? { cell, words: [] };
    arrival.words.push(word);
    arrivals.set(name, arrival);
  }
  for (const part of parts) {
    const words = part.pages[sheet.page]?.words ?? [];
    const stays = words.filter((word) => !moves.has(word) || isSameCell(moves.get(word), part.cell));
    const name = part.cell ? JSON.stringify([part.cell.row, part.cell.column]) : '';
    const comes = arrivals.get(name)?.words ?? [];
    arrivals.delete(name);
    next.push(withWords(part, [...new Set([...stays, ...comes])], sheet));
  }
  for (const { cell, words } of arrivals.values()) {
    // A cell that goes whole into an empty one takes along what was said of its text.
    const whole = parts.find(({ pages }) => {
      const own = pages[sheet.page]?.words ?? [];
      return (
        Object.keys(pages).length === 1 && own.length === words.length && own.every((word) => words.includes(word))
      );
    });
    if (whole) next.push({ ...whole, cell });
    else next.push(withWords({ pages: {}, correction: null, cell }, words, sheet));
  }
  return next.filter((part) => !isBlankPart(part));
}

/**
 * A part with other words on a page: their boxes are its mask there. The part itself where they are the same.
 *
 * @param {AnswerPart} part
 * @param {number[]} words
 * @param {Sheet} sheet
 * @returns {AnswerPart}
 */
function withWords(part, words, sheet) {
  const before = part.pages[sheet.page] ?? EMPTY_MARK;
  if (!wordsDiffer(before, { ...before, words })) return part;
  const { [sheet.page]: _, ...pages } = part.pages;
  if (words.length) {
    const boxes = words.map((word) => sheet.boxOf(word)).filter((box) => box !== undefined);
    pages[sheet.page] = { ...before, words, mask: patchOfBoxes(boxes, sheet) };
  }
  return { ...part, pages, correction: null };
}

/**
 * The mark of the part in hand takes its words out of all other cells.
 *
 * @param {readonly AnswerPart[]} parts
 * @param {AnswerPart} hand
 * @param {Sheet} sheet
 * @returns {AnswerPart[]} the others
 */
export function withoutWords(parts, hand, sheet) {
  const own = new Set(hand.pages[sheet.page]?.words ?? []);
  return parts
    .filter((part) => part !== hand)
    .map((part) => {
      const words = part.pages[sheet.page]?.words ?? [];
      return words.some((word) => own.has(word))
        ? withWords(
            part,
            words.filter((word) => !own.has(word)),
            sheet,
          )
        : part;
    });
}

/**
 * Splits a row at a height of a page: words whose middle lies below it, and what lies on later pages, become a row of
 * their own. Null where one of the two rows would be empty.
 *
 * @param {readonly AnswerPart[]} parts
 * @param {number} row
 * @param {number} y page pixels
 * @param {Sheet} sheet
 * @param {readonly string[]} later ids of the pages after this one
 */
export function splitRow(parts, row, y, sheet, later) {
  const below = row + 0.5;
  /** @type {WordMoves} */
  const moves = new Map();
  for (const { cell, pages } of parts) {
    if (cell?.row !== row) continue;
    for (const word of pages[sheet.page]?.words ?? []) {
      const box = sheet.boxOf(word);
      if (box && (box[1] + box[3]) / 2 >= y) moves.set(word, { row: below, column: cell.column });
    }
  }
  const split = moveWords(parts, moves, sheet).flatMap((part) => {
    if (part.cell?.row !== row) return [part];
    const { pages, cell } = part;
    const goes = Object.keys(pages).filter((page) => later.includes(page));
    if (!goes.length) return [part];
    const stays = Object.fromEntries(Object.entries(pages).filter(([page]) => !goes.includes(page)));
    const gone = Object.fromEntries(goes.map((page) => [page, pages[page]]));
    return [
      { ...part, pages: stays, correction: null },
      { pages: gone, correction: null, cell: { row: below, column: cell.column } },
    ];
  });
  const joined = joinTwins(split.filter((part) => !isBlankPart(part)));
  const has = (/** @type {number} */ wanted) => joined.some((part) => part.cell?.row === wanted);
  return has(row) && has(below) ? joined : null;
}

/**
 * Parts of the same cell as one part.
 *
 * @param {readonly AnswerPart[]} parts
 */
export function joinTwins(parts) {
  /** @type {AnswerPart[]} */
  const joined = [];
  for (const part of parts) {
    const twin = part.cell ? placeOf(joined, part.cell) : -1;
    if (twin < 0) joined.push(part);
    else joined[twin] = join(joined[twin], part);
  }
  return joined;
}

/**
 * The heights at which the printed lines of a row begin on a page, from the top. Words of one line overlap in height.
 *
 * @param {readonly AnswerPart[]} parts
 * @param {number} row
 * @param {Sheet} sheet
 * @returns {number[]} page pixels
 */
export function lineTops(parts, row, sheet) {
  const boxes = parts
    .filter((part) => part.cell?.row === row)
    .flatMap((part) => part.pages[sheet.page]?.words ?? [])
    .map((word) => sheet.boxOf(word))
    .filter((box) => box !== undefined)
    .sort((left, right) => left[1] + left[3] - right[1] - right[3]);
  /** @type {number[]} */
  const tops = [];
  let bottom = -Infinity;
  for (const [, y0, , y1] of boxes) {
    if ((y0 + y1) / 2 >= bottom) tops.push(y0);
    else tops[tops.length - 1] = Math.min(tops[tops.length - 1], y0);
    bottom = Math.max(bottom, y1);
  }
  return tops;
}
