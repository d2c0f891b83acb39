// The grid of a table on a page: bands of rows, columns, and the edges between them that a hand can drag. Geometry
// alone: nothing here draws. All in pixels of the page.

/** @import { AnswerPart, Box, Cell, XY } from '../types' */

import { isEmpty } from './mask.js';

/**
 * A row or a column as it lies on the page; `from` and `to` are y of a row, x of a column.
 *
 * @template Key
 * @typedef {{ key: Key, from: number, to: number }} Band
 */

/** @typedef {{ axis: 'row' | 'column', index: number, at: number }} Edge the edge before the band `index` */

/** @typedef {{ number: number, cell: Cell, x: number, y: number }} TableWord a word of a cell, by its middle */

/** @typedef {Map<number, Cell | null>} WordMoves word -> the cell that it goes to; null: out of the table */

const SHARED = 0.5; // of the narrower band: from so much in common on, one lies in the other
const BESIDE = 6; // page pixels between the table's words and its outer edges

/**
 * The edges of bands that follow each other: between two neighbours where one ends and the other begins.
 *
 * @param {readonly Band<unknown>[]} bands
 */
function edgesOf(bands) {
  if (!bands.length) return [];
  const inner = bands.slice(1).map((band, at) => (bands[at].to + band.from) / 2);
  const ends = [bands[0].from - BESIDE, (bands.at(-1)?.to ?? 0) + BESIDE];
  const edges = [ends[0], ...inner, ends[1]];
  for (let at = 1; at < edges.length; at++) edges[at] = Math.max(edges[at], edges[at - 1]);
  return edges;
}

/**
 * Bands of the keys, in the order in which they lie. Skewed or long cells reach into their neighbours: the quarter of
 * them that reaches farthest does not count there. A band that lies in another one has no edges, and is left out.
 *
 * @template Key
 * @param {Map<Key, [from: number, to: number][]>} spans
 * @returns {Band<Key>[]}
 */
function bandsOf(spans) {
  const bands = [...spans].map(([key, all]) => {
    const starts = all.map(([from]) => from).sort((left, right) => left - right),
      ends = all.map(([, to]) => to).sort((left, right) => right - left);
    const few = all.length < 4 ? 0 : Math.floor(all.length / 4);
    return { key, all, from: starts[0], to: ends[0], start: starts[few], end: ends[few] };
  });
  /** @type {typeof bands} */
  const apart = [];
  for (const band of bands.sort((left, right) => right.all.length - left.all.length)) {
    const inside = (/** @type {(typeof bands)[number]} */ other) =>
      Math.min(band.end, other.end) - Math.max(band.start, other.start) >
      SHARED * Math.min(band.end - band.start, other.end - other.start);
    if (!apart.some(inside)) apart.push(band);
  }
  apart.sort((left, right) => left.start + left.end - right.start - right.end);
  return apart.map(({ key, from, to, start, end }, at) => {
    const previous = apart[at - 1],
      following = apart[at + 1];
    return {
      key,
      from: previous && from < previous.to ? start : from,
      to: following && to > following.from ? end : to,
    };
  });
}

export class TableGrid {
  /**
   * @param {readonly AnswerPart[]} parts
   * @param {Cell | null} hand the cell in hand
   * @param {string} page id
   * @param {(number: number) => Box | undefined} boxOf of the words of the page
   */
  constructor(parts, hand, page, boxOf) {
    this.hand = hand;
    /** @type {{ cell: Cell, box: Box }[]} */
    this.cells = [];
    /** @type {TableWord[]} */
    this.words = [];
    /** @type {Map<number, [number, number][]>} */
    const rows = new Map();
    /** @type {Map<string, [number, number][]>} */
    const columns = new Map();
    const numbers = new Set();
    for (const { cell, pages } of parts) {
      if (cell) numbers.add(cell.row);
      const mark = pages[page];
      if (!cell || !mark || isEmpty(mark.mask)) continue;
      const { box } = mark.mask;
      this.cells.push({ cell, box });
      rows.set(cell.row, [...(rows.get(cell.row) ?? []), [box[1], box[3]]]);
      columns.set(cell.column, [...(columns.get(cell.column) ?? []), [box[0], box[2]]]);
      for (const number of mark.words) {
        const own = boxOf(number);
        if (own) this.words.push({ number, cell, x: (own[0] + own[2]) / 2, y: (own[1] + own[3]) / 2 });
      }
    }
    /** the number of a row as people read it, from 1 over all pages */
    this.numbers = new Map([...numbers].sort((left, right) => left - right).map((row, at) => [row, at + 1]));
    this.rows = bandsOf(rows);
    this.columns = bandsOf(columns);
    this.rowEdges = edgesOf(this.rows);
    this.columnEdges = edgesOf(this.columns);
  }

  /**
   * The table on the page; null where none of it lies there.
   *
   * @returns {Box | null}
   */
  get box() {
    if (!this.cells.length) return null;
    const [{ rowEdges, columnEdges }] = [this];
    return [columnEdges[0], rowEdges[0], columnEdges[columnEdges.length - 1], rowEdges[rowEdges.length - 1]];
  }

  /** The box of the cell in hand, where it is marked on this page. */
  get handBox() {
    const { hand } = this;
    return this.cells.find(({ cell }) => cell.row === hand?.row && cell.column === hand.column)?.box ?? null;
  }

  /** Places of the row and the column in hand among the bands; -1: not on this page. */
  get inHand() {
    const { hand } = this;
    return {
      row: this.rows.findIndex(({ key }) => key === hand?.row),
      column: this.columns.findIndex(({ key }) => key === hand?.column),
    };
  }

  /**
   * The edge near a point; in the table, rows and columns have their edges there, and beside it the rows alone.
   *
   * @param {XY} point
   * @param {number} reach
   * @param {number} margin how far beyond the table its edges reach
   * @returns {Edge | null}
   */
  edgeAt([x, y], reach, margin) {
    const { box } = this;
    if (!box) return null;
    const [x0, y0, x1, y1] = box;
    if (x < x0 - margin || x > x1 + reach || y < y0 - margin || y > y1 + reach) return null;
    /** @type {{ edge: Edge, far: number } | null} */
    let best = null;
    /** @type {(axis: Edge['axis'], edges: readonly number[], place: number) => void} */
    const look = (axis, edges, place) =>
      edges.forEach((at, index) => {
        const far = Math.abs(at - place);
        if (far <= reach && (!best || far < best.far)) best = { edge: { axis, index, at }, far };
      });
    if (y >= y0 - reach) look('row', this.rowEdges, y);
    if (x >= x0 - reach) look('column', this.columnEdges, x);
    return /** @type {{ edge: Edge } | null} */ (best)?.edge ?? null;
  }

  /**
   * The cell at a point, empty or not; left of the table, the one of the column in hand.
   *
   * @param {XY} point
   * @param {number} margin
   * @returns {Cell | null}
   */
  cellAt([x, y], margin) {
    const row = between(this.rowEdges, y),
      column = between(this.columnEdges, x);
    if (row < 0) return null;
    if (column >= 0) return { row: this.rows[row].key, column: this.columns[column].key };
    if (x >= this.columnEdges[0] || x < this.columnEdges[0] - margin) return null;
    return { row: this.rows[row].key, column: this.hand?.column ?? this.columns[0].key };
  }

  /**
   * Where an edge may go: to its neighbours, and an outer one to the end of the page.
   *
   * @param {Edge} edge
   * @param {number} at where the hand is
   */
  limit({ axis, index }, at) {
    const edges = axis === 'row' ? this.rowEdges : this.columnEdges;
    return Math.max(edges[index - 1] ?? 0, Math.min(edges[index + 1] ?? Infinity, at));
  }

  /**
   * The words that change their cell when an edge goes elsewhere: those whose middle it crosses. An outer edge takes in
   * words that are in no cell, and leaves others out.
   *
   * @param {Edge} edge
   * @param {number} to where the edge goes
   * @param {readonly { number: number, x: number, y: number }[]} free words of the page that are in no cell
   * @returns {WordMoves}
   */
  moves({ axis, index, at }, to, free) {
    const isRow = axis === 'row',
      bands = isRow ? this.rows : this.columns,
      edges = isRow ? this.columnEdges : this.rowEdges,
      across = isRow ? this.columns : this.rows;
    /** @type {WordMoves} */
    const moves = new Map();
    const [before, behind] = [bands[index - 1], bands[index]];
    const [low, high] = [Math.min(at, to), Math.max(at, to)];
    const target = to > at ? before : behind,
      source = to > at ? behind : before;
    const put = (/** @type {Cell} */ cell) =>
      isRow ? { ...cell, row: /** @type {number} */ (target.key) } : { ...cell, column: String(target.key) };
    for (const { number, cell, x, y } of this.words) {
      const place = isRow ? y : x;
      if (!source || (isRow ? cell.row : cell.column) !== source.key || place < low || place >= high) continue;
      moves.set(number, target ? put(cell) : null);
    }
    if (source || !target) return moves;
    for (const { number, x, y } of free) {
      const place = isRow ? y : x,
        other = between(edges, isRow ? x : y);
      if (place < low || place >= high || other < 0) continue;
      const cell = isRow
        ? { row: 0, column: String(across[other].key) }
        : { row: /** @type {number} */ (across[other].key), column: '' };
      moves.set(number, put(cell));
    }
    return moves;
  }
}

/**
 * The band of ascending edges in which a place lies, or -1.
 *
 * @param {readonly number[]} edges
 * @param {number} place
 */
const between = (edges, place) =>
  edges.findIndex((edge, at) => at + 1 < edges.length && place >= edge && place < edges[at + 1]);
