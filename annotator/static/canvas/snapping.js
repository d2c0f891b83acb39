// Holding a hand to the lines of the page: a drag over words stays in its line, the edges of a frame lie along words.

/** @import { Box, XY } from '../types' */
/** @import { WordGrid } from './word_grid.js' */

import { hull } from '../words/words.js';

const BAND = 0.6; // of a line's height: how far above and below it a drag still means this line

/**
 * Where a drag that began on a word points to, once it is held to the line of that word.
 *
 * @param {WordGrid} grid
 * @param {number} start position of the word
 * @param {XY} point page pixels
 * @returns {XY} page pixels
 */
export function alongLine(grid, start, [x, y]) {
  let near = start,
    least = Infinity;
  for (const at of grid.line(start)) {
    const far = Math.max(0, grid.boxes[at][0] - x, x - grid.boxes[at][2]);
    if (far < least) [near, least] = [at, far];
  }
  const [, y0, , y1] = grid.boxes[near],
    band = BAND * (y1 - y0);
  return [x, y > y0 - band && y < y1 + band ? (y0 + y1) / 2 : y];
}

/**
 * Positions of the words of which a frame holds at least half, in reading order.
 *
 * @param {WordGrid} grid
 * @param {Box} box page pixels
 */
export function heldWords(grid, box) {
  return grid.within(box).filter((at) => {
    const [x0, y0, x1, y1] = grid.boxes[at];
    const width = Math.min(x1, box[2]) - Math.max(x0, box[0]),
      height = Math.min(y1, box[3]) - Math.max(y0, box[1]);
    return width * height >= 0.5 * (x1 - x0) * (y1 - y0);
  });
}

/**
 * A frame whose edges lie near the edges of the words that it holds is drawn along these.
 *
 * @param {WordGrid} grid
 * @param {Box} box page pixels
 * @param {number} slack page pixels
 * @returns {Box}
 */
export function aroundWords(grid, box, slack) {
  const held = heldWords(grid, box).map((at) => grid.boxes[at]);
  if (!held.length) return box;
  const words = hull(held);
  /** @param {0 | 1 | 2 | 3} side */
  const edge = (side) => (Math.abs(words[side] - box[side]) <= slack ? words[side] : box[side]);
  return [edge(0), edge(1), edge(2), edge(3)];
}

/**
 * The upper and lower edge of a new word follow the words beside it, where it overlaps their line by half.
 *
 * @param {WordGrid} grid
 * @param {Box} box page pixels
 * @returns {Box}
 */
export function intoLine(grid, [x0, y0, x1, y1]) {
  const room = 6 * (y1 - y0);
  /** @type {Box | null} */
  let best = null;
  let least = Infinity;
  for (const at of grid.within([x0 - room, y0, x1 + room, y1])) {
    const box = grid.boxes[at],
      common = Math.min(box[3], y1) - Math.max(box[1], y0);
    if (common < 0.5 * Math.max(box[3] - box[1], y1 - y0)) continue;
    const far = Math.max(0, box[0] - x1, x0 - box[2]);
    if (far < least) [best, least] = [box, far];
  }
  return best ? [x0, best[1], x1, best[3]] : [x0, y0, x1, y1];
}
