// What the model proposes for a table, and what of the table is the person's own. Own rows stay as they are; the model
// says the others. Plain values, never changed in place.

import { EMPTY_MARK, isEmpty } from '../canvas/mask.js';
import { joinTwins } from './table.js';

/** @import { AnswerPart, Mark } from '../types' */

/** @typedef {{ row: number, column: string, page_id: string, words: number[], mask: Mark['mask'] }} ProposedCell */

// As many as an answer may have: engine/annotation/state.py.
const MOST_ROWS = 1000,
  MOST_CELLS = 4000;

/**
 * What a row says by its words alone: two rows with the same cells are the same row, whatever their numbers.
 *
 * @param {readonly { column: string, page: string, words: readonly number[] }[]} cells
 */
export const rowKey = (cells) =>
  JSON.stringify(
    cells
      .filter(({ words }) => words.length)
      .map(({ column, page, words }) => [column, page, [...words].sort((left, right) => left - right)])
      .sort((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1)),
  );

/**
 * The keys of the rows of a table, by their numbers.
 *
 * @param {readonly AnswerPart[]} parts
 * @returns {Map<number, string>}
 */
export function rowKeys(parts) {
  /** @type {Map<number, { column: string, page: string, words: readonly number[] }[]>} */
  const rows = new Map();
  for (const { cell, pages } of parts) {
    if (!cell) continue;
    const cells = Object.entries(pages).map(([page, { words }]) => ({ column: cell.column, page, words }));
    rows.set(cell.row, [...(rows.get(cell.row) ?? []), ...cells]);
  }
  return new Map([...rows].map(([row, cells]) => [row, rowKey(cells)]));
}

/**
 * Whether a person has said something of a cell that its words do not tell: of its text, or by the brush alone.
 *
 * @param {AnswerPart} part
 */
const isOwn = ({ pages, correction }) =>
  correction !== null || Object.values(pages).some(({ words, mask }) => !words.length && !isEmpty(mask));

/**
 * The rows that a person made or corrected: those that no proposal has shown as they are.
 *
 * @param {readonly AnswerPart[]} parts
 * @param {ReadonlySet<string>} proposed keys of the rows that the model proposed
 * @returns {number[]} ascending
 */
export function ownRows(parts, proposed) {
  const own = new Set(parts.filter(isOwn).map(({ cell }) => cell?.row));
  return [...rowKeys(parts)]
    .filter(([row, key]) => own.has(row) || (key !== '[]' && !proposed.has(key)))
    .map(([row]) => row)
    .sort((left, right) => left - right);
}

/**
 * A row as the proposer is told of it: the words of each cell, by column and page.
 *
 * @param {readonly AnswerPart[]} parts
 * @param {number} row
 */
export function wordsOfRow(parts, row) {
  /** @type {Record<string, Record<string, number[]>>} */
  const cells = {};
  for (const { cell, pages } of parts) {
    if (cell?.row !== row) continue;
    const marked = Object.entries(pages).filter(([, { words }]) => words.length);
    if (marked.length) cells[cell.column] = Object.fromEntries(marked.map(([page, { words }]) => [page, words]));
  }
  return { cells };
}

/**
 * The table that a proposal says. A cell that stood already keeps what was said of its text.
 *
 * @param {readonly ProposedCell[]} cells
 * @param {readonly AnswerPart[]} stood
 * @returns {AnswerPart[]}
 */
export function proposedParts(cells, stood) {
  const key = (/** @type {AnswerPart} */ { cell, pages }) =>
    rowKey(Object.entries(pages).map(([page, { words }]) => ({ column: cell?.column ?? '', page, words })));
  const before = new Map(stood.map((part) => [key(part), part]));
  const parts = joinTwins(
    cells.map(({ row, column, page_id: page, words, mask }) => ({
      pages: { [page]: { ...EMPTY_MARK, words, mask } },
      correction: null,
      cell: { row, column },
    })),
  );
  return parts.map((part) => {
    const same = before.get(key(part));
    return same ? { ...same, cell: part.cell } : part;
  });
}

/**
 * The words of parts, each by its page and number.
 *
 * @param {readonly AnswerPart[]} parts
 */
export const wordsOf = (parts) =>
  parts.flatMap(({ pages }) =>
    Object.entries(pages).flatMap(([page, { words }]) => words.map((word) => `${page} ${word}`)),
  );

/**
 * Words of the rows that stood, and of which nothing stands any more: the person deleted them.
 *
 * @param {readonly AnswerPart[]} stood
 * @param {readonly AnswerPart[]} stand
 * @returns {string[]} as of `wordsOf`
 */
export function wordsGone(stood, stand) {
  const still = new Set(wordsOf(stand));
  return rowsOf(stood)
    .map(({ parts }) => wordsOf(parts))
    .filter((words) => !words.some((word) => still.has(word)))
    .flat();
}

/**
 * @param {readonly AnswerPart[]} parts
 * @returns {{ row: number, parts: AnswerPart[] }[]} ascending
 */
function rowsOf(parts) {
  /** @type {Map<number, AnswerPart[]>} */
  const rows = new Map();
  for (const part of parts) if (part.cell) rows.set(part.cell.row, [...(rows.get(part.cell.row) ?? []), part]);
  return [...rows].map(([row, cells]) => ({ row, parts: cells })).sort((left, right) => left.row - right.row);
}

/**
 * @param {AnswerPart} part
 * @param {number} row
 */
const inRow = (part, row) =>
  part.cell?.row === row ? part : { ...part, cell: { row, column: part.cell?.column ?? '' } };

/**
 * The table after a proposal. The person's own rows are the parts that stood. Of the proposal come the rows that have
 * no word of an own row, and none of a row that the person deleted. An own row stands where the proposal has its words;
 * else behind the row that it stood behind.
 *
 * @param {readonly ProposedCell[]} cells
 * @param {readonly AnswerPart[]} stood
 * @param {readonly number[]} own numbers of the person's rows
 * @param {ReadonlySet<string>} deleted words as of `wordsOf`; those that stand in the table are not
 * @returns {{ parts: AnswerPart[], rows: Map<number, number>, deleted: number }} `rows`: where each own row went;
 *   `deleted`: how many proposed rows were left out, as the person had deleted them
 */
export function mergeProposal(cells, stood, own, deleted) {
  const proposed = rowsOf(proposedParts(cells, stood)),
    before = rowsOf(stood);
  const standing = new Set(wordsOf(stood)),
    taken = new Set(wordsOf(stood.filter(({ cell }) => cell && own.includes(cell.row)))),
    /** @type {Map<string, number>} */
    places = new Map(proposed.flatMap(({ row, parts }) => wordsOf(parts).map((word) => [word, row])));
  /** @type {{ at: number, from: number | null, parts: AnswerPart[] }[]} */
  const rows = [];
  let behind = -1;
  for (const { row, parts } of before) {
    const word = wordsOf(parts).find((each) => places.has(each));
    if (word !== undefined) behind = places.get(word) ?? behind;
    if (own.includes(row)) rows.push({ at: behind, from: row, parts });
  }
  let number = rows.length,
    size = rows.reduce((sum, { parts }) => sum + parts.length, 0),
    left = 0;
  for (const { row, parts } of proposed) {
    const words = wordsOf(parts);
    if (words.some((word) => taken.has(word))) continue;
    if (words.some((word) => deleted.has(word) && !standing.has(word))) left++;
    else if (number < MOST_ROWS && size + parts.length <= MOST_CELLS) {
      number++;
      size += parts.length;
      rows.push({ at: row, from: null, parts });
    }
  }
  // Behind a row of the proposal stand the own ones that follow it.
  rows.sort((one, two) => one.at - two.at || Number(one.from !== null) - Number(two.from !== null));
  return {
    parts: rows.flatMap(({ parts }, row) => parts.map((part) => inRow(part, row))),
    rows: new Map(rows.flatMap(({ from }, row) => (from === null ? [] : [[from, row]]))),
    deleted: left,
  };
}
