// The printed words that lie under paint and are not marked: a brush or a box may have meant them.

/** @import { Stage } from './stage.js' */
/** @import { Mark } from '../types' */

const COVERED = 0.5; // share of a word's box from which on the paint means the word

/** @type {WeakMap<Mark, number[]>} what was found for a mark, which never changes */
const found = new WeakMap();

/**
 * Numbers of the words, in reading order.
 *
 * @param {Stage} stage
 * @returns {number[]}
 */
export function wordsUnderPaint(stage) {
  const { mark, grid, mask } = stage;
  if (!grid || !mask || !mark.mask.counts.length || stage.disagree().loose === 0) return [];
  const known = found.get(mark);
  if (known) return known;
  const under = grid
    .within(mark.mask.box)
    .filter(
      (at) => !stage.selected.has(grid.numbers[at] ?? -1) && mask.covered(grid.boxes[at] ?? [0, 0, 0, 0]) >= COVERED,
    )
    .map((at) => grid.numbers[at] ?? -1);
  found.set(mark, under);
  return under;
}
