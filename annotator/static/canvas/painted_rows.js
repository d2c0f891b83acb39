// What a stroke of the brush or the eraser went over: a few rows of the page, however large that is.

/** @import { Box, Patch } from '../types' */
/** @import { Runs } from './mask.js' */

import { discRows, encoded } from './mask.js';

/** Pixels of a page, kept by the rows that have any. */
export class PaintedRows {
  /** @type {Map<number, Runs>} */
  rows = new Map();

  /**
   * Adds a disc.
   *
   * @param {Box} box the part of the page in which it may lie, whole page pixels
   * @param {number} x page pixels, as are `y` and `radius`
   * @param {number} y
   * @param {number} radius
   */
  addDisc(box, x, y, radius) {
    for (const [row, from, to] of discRows(box, x, y, radius)) {
      const runs = this.rows.get(row);
      this.rows.set(row, runs ? joined(runs, from, to) : [from, to]);
    }
  }

  /**
   * All that was added, in its tight box.
   *
   * @returns {Patch}
   */
  patch() {
    return encoded([...this.rows].sort(([left], [right]) => left - right));
  }
}

/**
 * The runs of a row with one more, which may touch or cover others.
 *
 * @param {Runs} runs
 * @param {number} from page pixels
 * @param {number} to page pixels
 */
function joined(runs, from, to) {
  /** @type {Runs} */
  const before = [],
    after = [];
  for (let at = 0; at < runs.length; at += 2) {
    const [left, right] = [runs[at], runs[at + 1]];
    if (right < from) before.push(left, right);
    else if (left > to) after.push(left, right);
    else {
      from = Math.min(from, left);
      to = Math.max(to, right);
    }
  }
  return [...before, from, to, ...after];
}
