// Which words a drag over text takes: from the first to the last in reading order, inside their column.
//
// A line of the page may hold pieces of several columns: an address on the left, dates on the right. A piece ends at a
// wide gap, as in engine/documents/reading/order.py. Lines run across or, on turned pages, down.

/** @import { Box, XY } from '../types' */
/** @import { WordGrid } from './word_grid.js' */

import { hull } from '../words/words.js';

const GAP = 1.5; // heights of a line; a wider gap ends a piece
const TALL = 2; // times as high as wide: a single word of several letters that runs down
const ASIDE = 100; // how much more the way to another line counts than the way along one

/**
 * Words of a line without a wide gap between them.
 *
 * @typedef {object} Piece
 * @property {number[]} words positions in reading order
 * @property {Box} box page pixels
 * @property {0 | 1} axis along which it runs: 0 across, 1 down
 */

/** @type {WeakMap<WordGrid, Piece[]>} the piece of each word; the words of a grid never change */
const known = new WeakMap();

/**
 * The piece of each word, by its position.
 *
 * @param {WordGrid} grid
 */
function piecesOf(grid) {
  let pieces = known.get(grid);
  if (!pieces) {
    pieces = /** @type {Piece[]} */ ([]);
    for (const line of grid.inLine.values())
      for (const piece of split(grid, line)) for (const at of piece.words) pieces[at] = piece;
    known.set(grid, pieces);
  }
  return pieces;
}

/**
 * @param {WordGrid} grid
 * @param {number[]} line positions
 * @returns {Piece[]}
 */
function split({ boxes, texts }, line) {
  const axis = runsDown(
      line.map((at) => boxes[at]),
      texts[line[0]],
    )
      ? 1
      : 0,
    across = axis ? 0 : 1;
  const heights = line.map((at) => boxes[at][across + 2] - boxes[at][across]).sort((left, right) => left - right);
  const gap = GAP * heights[heights.length >> 1];
  const along = [...line].sort((left, right) => boxes[left][axis] - boxes[right][axis]);
  /** @type {number[][]} */
  const runs = [];
  let end = -Infinity;
  for (const at of along) {
    if (boxes[at][axis] - end > gap) runs.push([]);
    runs[runs.length - 1].push(at);
    end = Math.max(end, boxes[at][axis + 2]);
  }
  return runs.map((run) => ({
    words: run.sort((left, right) => left - right),
    box: hull(run.map((at) => boxes[at])),
    axis,
  }));
}

/**
 * Whether the words of a line stand below each other.
 *
 * @param {Box[]} boxes in reading order
 * @param {string} text of the first word
 */
function runsDown(boxes, text) {
  const [first, last] = [boxes[0], boxes[boxes.length - 1]];
  if (boxes.length > 1) {
    /** @param {0 | 1} side */
    const step = (side) => Math.abs(last[side] + last[side + 2] - first[side] - first[side + 2]);
    return step(1) > step(0);
  }
  return text.length > 2 && first[3] - first[1] > TALL * (first[2] - first[0]);
}

/**
 * Positions of the words from one to another, in reading order. Between lines, only what stands in their column: above,
 * below or between the two pieces in which the selection begins and ends.
 *
 * @param {WordGrid} grid
 * @param {number} start position of a word
 * @param {number} end position of a word, before or behind it
 * @param {boolean} whole takes whole lines of the column
 */
export function wordsBetween(grid, start, end, whole) {
  const pieces = piecesOf(grid);
  let [first, last] = [Math.min(start, end), Math.max(start, end)];
  const [head, tail] = [pieces[first], pieces[last]];
  if (whole) {
    first = Math.min(first, head.words[0]);
    last = Math.max(last, tail.words[tail.words.length - 1]);
  }
  const range = Array.from({ length: last - first + 1 }, (_, step) => first + step);
  if (head === tail || head.axis !== tail.axis || grid.lines[first] === grid.lines[last]) return range;
  const { axis } = head;
  const between = [...new Set(range.map((at) => pieces[at]))].filter((piece) => piece.axis === axis);
  let [low, high] = [Math.min(head.box[axis], tail.box[axis]), Math.max(head.box[axis + 2], tail.box[axis + 2])];
  /** @param {Piece} piece */
  const inside = (piece) => piece.axis === axis && piece.box[axis] < high && piece.box[axis + 2] > low;
  // A longer line between the two widens the column, and a line below it may reach only under that.
  for (let wider = true; wider;) {
    wider = false;
    for (const piece of between.filter(inside)) {
      wider ||= piece.box[axis] < low || piece.box[axis + 2] > high;
      [low, high] = [Math.min(low, piece.box[axis]), Math.max(high, piece.box[axis + 2])];
    }
  }
  return range.filter((at) => inside(pieces[at]));
}

/**
 * Position of the word that a point on empty paper means, in the column of another word: of the nearest line, the
 * nearest word.
 *
 * @param {WordGrid} grid
 * @param {XY} point page pixels
 * @param {number} beside position of a word of the column
 */
export function nearestWord(grid, point, beside) {
  const pieces = piecesOf(grid),
    { axis, box } = pieces[beside];
  let best = beside,
    least = Infinity;
  pieces.forEach((piece, at) => {
    if (piece.axis !== axis || piece.box[axis] >= box[axis + 2] || piece.box[axis + 2] <= box[axis]) return;
    /** @type {(side: number, place: Box) => number} */
    const distance = (side, place) => Math.max(0, place[side] - point[side], point[side] - place[side + 2]);
    const far = ASIDE * distance(1 - axis, piece.box) + distance(axis, grid.boxes[at]);
    if (far < least) [best, least] = [at, far];
  });
  return best;
}

/**
 * Whether some words stand by others: in one piece, or within a line of each other.
 *
 * @param {WordGrid} grid
 * @param {readonly number[]} numbers
 * @param {ReadonlySet<number>} others numbers
 */
export function touches(grid, numbers, others) {
  const boxes = grid.boxesOf([...others]);
  return numbers.some((number) => {
    const box = grid.boxOf(number);
    if (!box) return false;
    const [x0, y0, x1, y1] = box,
      line = Math.min(x1 - x0, y1 - y0),
      reach = GAP * line;
    return boxes.some(
      (other) => other[0] < x1 + reach && other[2] > x0 - reach && other[1] < y1 + line && other[3] > y0 - line,
    );
  });
}
