// What stands in an annotation: one mark a page, and whether the document answers at all. Plain values, never changed
// in place.
//
// mark: { words: [numbers], mask: patch, points: [[x, y, positive]], boxes: [[x0, y0, x1, y1]] }

import { EMPTY_MARK, isEmpty } from '../canvas/mask.js';
import { same } from '../core/values.js';

/** @import { Edit, Mark, Marked, Origin } from '../types' */

export { EMPTY_MARK };

/**
 * Whether neither words nor pixels are marked.
 *
 * @param {Marked} mark
 */
export const isBlank = (mark) => mark.words.length === 0 && isEmpty(mark.mask);

/** @param {readonly number[]} numbers */
const ascending = (numbers) => [...numbers].sort((left, right) => left - right);

/**
 * A dense mask has hundreds of thousands of runs, and this is asked at every stroke.
 *
 * @param {readonly number[]} left
 * @param {readonly number[]} right
 */
const alike = (left, right) =>
  left === right || (left.length === right.length && left.every((each, at) => each === right[at]));

/**
 * @param {Marked} left
 * @param {Marked} right
 */
const samePixels = (left, right) => alike(left.mask.box, right.mask.box) && alike(left.mask.counts, right.mask.counts);

/**
 * Whether two marks have the same words, in whatever order, and the same pixels.
 *
 * @param {Marked} left
 * @param {Marked} right
 */
export function sameMark(left, right) {
  return samePixels(left, right) && alike(ascending(left.words), ascending(right.words));
}

/**
 * The statuses that actions of an author lead to; the verdicts of a reviewer are statuses themselves.
 *
 * @type {Record<string, string>}
 */
const AFTER = { accept: 'accepted', submit: 'submitted', accepted: 'accepted', rejected: 'rejected', fixed: 'fixed' };

/**
 * The status of an answer after an action of its author or the verdict of a reviewer.
 *
 * @param {string} action
 */
export const statusAfter = (action) => AFTER[action] ?? 'draft';

/** The statuses in which nothing is left to do for the author. */
export const DECIDED = ['accepted', 'submitted', 'fixed'];

/**
 * Edits that turn one mark into another, whatever lies between: undo, redo, a candidate, one's own version after a
 * conflict.
 *
 * @param {string} page
 * @param {Mark} from
 * @param {Mark} to
 */
export function editsBetween(page, from, to) {
  /** @type {Edit[]} */
  const edits = [];
  if (!sameMark(from, to))
    edits.push(isBlank(to) ? { op: 'clear', page } : { op: 'mask', page, words: to.words, mask: to.mask });
  const cleared = edits[0]?.op === 'clear';
  const points = cleared ? [] : from.points,
    boxes = cleared ? [] : from.boxes;
  if (!same([points, boxes], [to.points, to.boxes]))
    edits.push({ op: 'prompts', page, points: to.points, boxes: to.boxes });
  return edits;
}

/**
 * Who drew a mark: the model, where words and pixels are exactly what one of its predictions for the page said.
 *
 * @param {Marked} mark
 * @param {readonly Marked[]} predictions
 * @returns {Origin}
 */
export function origin(mark, predictions) {
  return predictions.some((prediction) => sameMark(mark, prediction)) ? 'model' : 'person';
}
