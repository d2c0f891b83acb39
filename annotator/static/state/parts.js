// The parts of an answer: its values in order, each with its marks and with what a person said of its text. An answer
// has one at least. Plain values, never changed in place; the rules are those of engine/annotation/change.py.

import { EMPTY_MARK, isEmpty } from '../canvas/mask.js';
import { same } from '../core/values.js';
import { editsBetween, isBlank, sameMark } from './marks.js';

/** @import { AnswerPart, AnnotationState, Box, Cell, Correction, Edit, Mark, ValueView } from '../types' */

/** @type {Correction} */
const UNSAID = { text: null, reading: null };

/** @type {AnswerPart} */
export const EMPTY_PART = { pages: {}, correction: null };

/**
 * @param {Record<string, Mark>} pages
 * @returns {Record<string, Mark>}
 */
const whole = (pages) =>
  Object.fromEntries(Object.entries(pages).map(([page, mark]) => [page, { ...EMPTY_MARK, ...mark }]));

/**
 * @param {AnnotationState} state
 * @returns {AnswerPart[]}
 */
export function partsOf(state) {
  const values = state.values?.length ? state.values : [state];
  return values.map(({ pages, correction, cell }) => ({
    pages: whole(pages ?? {}),
    correction: correction ?? null,
    ...(cell ? { cell } : {}),
  }));
}

/**
 * An edit of a part; most answers have one, whose edits do not say so.
 *
 * @template {Edit} E
 * @param {E} edit
 * @param {number} place
 * @returns {E}
 */
export const at = (edit, place) => (place && edit.op !== 'no_answer' ? { ...edit, place } : edit);

/** @param {AnswerPart} part */
export const isBlankPart = ({ pages }) => Object.values(pages).every((mark) => isBlank(mark));

/**
 * Whether other words are marked: what was said of a text goes with the words.
 *
 * @param {Mark} before
 * @param {Mark} after
 */
export function wordsDiffer(before, after) {
  const left = new Set(before.words),
    right = new Set(after.words);
  return left.size !== right.size || [...left].some((word) => !right.has(word));
}

/**
 * Edits after which a correction stands, whatever stood before.
 *
 * @param {Correction | null} from
 * @param {Correction | null} to
 * @returns {Edit[]}
 */
export function correctionEdits(from, to) {
  /** @type {Edit[]} */
  const edits = [];
  const before = from ?? UNSAID,
    after = to ?? UNSAID;
  const texts = (before.text ?? null) !== (after.text ?? null);
  if (texts) edits.push({ op: 'text', text: after.text ?? null });
  const stands = texts ? null : (before.reading ?? null); // another text drops the reading
  if (!same(stands, after.reading ?? null)) edits.push({ op: 'reading', reading: after.reading ?? null });
  return edits;
}

/**
 * @param {Cell | null | undefined} left
 * @param {Cell | null | undefined} right
 */
const sameCell = (left, right) => left?.row === right?.row && left?.column === right?.column;

/**
 * The parts that stand in both lists, by their places in each, ascending in both: a part is never changed in place, so
 * the same marks are the same object. A row that comes or goes moves all cells behind it, which then are not sent anew.
 *
 * @param {readonly AnswerPart[]} from
 * @param {readonly AnswerPart[]} to
 * @returns {[before: number, after: number][]}
 */
function keptPlaces(from, to) {
  const places = new Map(to.map((part, place) => [part.pages, place]));
  /** @type {[before: number, after: number][]} */
  const kept = [];
  from.forEach((part, before) => {
    const after = places.get(part.pages);
    if (after !== undefined && after > (kept.at(-1)?.[1] ?? -1)) kept.push([before, after]);
  });
  return kept;
}

/**
 * Edits that turn one list of parts into another. Between parts that stay, parts are removed and added at the end, and
 * the others become what they shall be.
 *
 * @param {readonly AnswerPart[]} from
 * @param {readonly AnswerPart[]} to
 * @returns {Edit[]}
 */
export function partEdits(from, to) {
  /** @type {Edit[]} */
  const edits = [];
  const present = [...from];
  let [left, right] = [from.length, to.length];
  // From the end, so that the places before it still are those of `from`.
  for (const [before, after] of [...keptPlaces(from, to).reverse(), [-1, -1]]) {
    const most = Math.min(left - before, right - after) - 1; // parts that become others
    for (let place = left - 1; place > before + most; place--) {
      edits.push(at({ op: 'remove_value' }, place));
      present.splice(place, 1);
    }
    for (let more = most + 1; more < right - after; more++) {
      const { cell } = to[after + more],
        place = before + more;
      edits.push(at({ op: 'add_value', ...(cell ? { cell } : {}) }, place));
      present.splice(place, 0, { ...EMPTY_PART, cell });
    }
    [left, right] = [before, after];
  }
  to.forEach((part, place) => {
    const before = present[place];
    if (!sameCell(before.cell, part.cell)) edits.push(at({ op: 'cell', cell: part.cell ?? null }, place));
    const pages = new Set([...Object.keys(before.pages), ...Object.keys(part.pages)]);
    let correction = before.correction;
    for (const page of pages) {
      const stood = before.pages[page] ?? EMPTY_MARK,
        stands = part.pages[page] ?? EMPTY_MARK;
      if (stood === stands) continue;
      edits.push(...editsBetween(page, stood, stands).map((edit) => at(edit, place)));
      if (wordsDiffer(stood, stands)) correction = null;
    }
    edits.push(...correctionEdits(correction, part.correction).map((edit) => at(edit, place)));
  });
  return edits;
}

/**
 * Edits that lead to some parts from any answer with a single value.
 *
 * @param {readonly AnswerPart[]} parts
 * @returns {Edit[]}
 */
export function wholeEdits([first = EMPTY_PART, ...others]) {
  /** @type {Edit[]} */
  const marks = [];
  for (const [page, { words, mask, points, boxes }] of Object.entries(first.pages)) {
    marks.push(isBlank({ words, mask }) ? { op: 'clear', page } : { op: 'mask', page, words, mask });
    if (points.length || boxes.length) marks.push({ op: 'prompts', page, points, boxes });
  }
  const said = correctionEdits(null, first.correction);
  /** @type {Edit[]} */
  const cell = first.cell ? [{ op: 'cell', cell: first.cell }] : [];
  return [...marks, ...said, ...cell, ...partEdits([first], [first, ...others])];
}

/**
 * Whether two answers have the same parts.
 *
 * @param {readonly AnswerPart[]} left
 * @param {readonly AnswerPart[]} right
 */
export function sameParts(left, right) {
  return (
    left.length === right.length &&
    left.every((part, place) => {
      const other = right[place];
      const pages = new Set([...Object.keys(part.pages), ...Object.keys(other.pages)]);
      return (
        sameCell(part.cell, other.cell) &&
        correctionEdits(part.correction, other.correction).length === 0 &&
        [...pages].every((page) => sameMark(part.pages[page] ?? EMPTY_MARK, other.pages[page] ?? EMPTY_MARK))
      );
    })
  );
}

/**
 * What the server said of a part, which names those with marks alone; null where it has not said it yet.
 *
 * @param {readonly AnswerPart[]} parts
 * @param {readonly ValueView[]} values
 * @param {number} place
 */
export function viewOf(parts, values, place) {
  if (!parts[place] || isBlankPart(parts[place])) return null;
  return values[parts.slice(0, place).filter((part) => !isBlankPart(part)).length] ?? null;
}

/**
 * A part whose words on a page have other numbers, or are no more (null).
 *
 * @param {AnswerPart} part
 * @param {string} page
 * @param {(number: number) => number | null} map
 */
export function renumbered(part, page, map) {
  const mark = part.pages[page];
  if (!mark) return part;
  const words = mark.words.map(map).filter((number) => number !== null);
  return { ...part, pages: { ...part.pages, [page]: { ...mark, words } } };
}

/**
 * Where the other values of an answer are marked on a page, and their numbers from 1.
 *
 * @param {readonly AnswerPart[]} parts
 * @param {number} place the value in hand
 * @param {string} page
 * @returns {{ box: Box, number: number }[]}
 */
export const otherMarks = (parts, place, page) =>
  parts.flatMap((part, other) => {
    const mark = part.pages[page];
    return other === place || !mark || isEmpty(mark.mask) ? [] : [{ box: mark.mask.box, number: other + 1 }];
  });
