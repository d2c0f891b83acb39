// The text of words as it is printed: Chinese and Japanese, whose characters are words here, without blanks between
// them. By the rules of the server (model/printed_text.py).

/** @import { Box } from '../types' */

// Han, kana, and the signs and wide letters among them. Korean has blanks between its words.
const UNSPACED = /[\u2e80-\u30ff\u31f0-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\u{20000}-\u{3ffff}]/u;
const SAME_ROW = 0.5; // share of the lower word's height
const PRINTED_BLANK = 0.6; // heights: a gap between two such characters that is a blank
const TOUCHING = 0.3; // heights: a gap to a number or a Latin word that is none

/**
 * The text of words of one page, in reading order.
 *
 * @param {readonly { text: string, box: Box }[]} words
 */
export function printedText(words) {
  const ordered = words.filter((word) => word.text);
  return ordered.map((word, at) => (at && !followsClosely(ordered[at - 1], word) ? ' ' : '') + word.text).join('');
}

/**
 * @param {{ text: string, box: Box }} before
 * @param {{ text: string, box: Box }} after
 */
function followsClosely(before, after) {
  const unspaced = [[...before.text].at(-1) ?? '', [...after.text][0]].map((end) => UNSPACED.test(end));
  if (!unspaced.includes(true)) return false;
  const both = !unspaced.includes(false);
  const [ax0, ay0, ax1, ay1] = before.box,
    [bx0, by0, bx1, by1] = after.box,
    height = Math.max(1, Math.min(ay1 - ay0, by1 - by0));
  if (Math.min(ay1, by1) - Math.max(ay0, by0) < SAME_ROW * height) return both; // it goes on in the next line, or below
  return Math.max(bx0 - ax1, ax0 - bx1) / height < (both ? PRINTED_BLANK : TOUCHING);
}
