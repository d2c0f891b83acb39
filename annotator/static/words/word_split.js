// Where a word falls apart: at the caret, and there at the column of the picture with the least ink.

/** @import { Box } from '../types' */

import { goesLeft } from './words.js';

const REACH = 0.12; // of the word's length: how far from the caret's place a gap in the ink is looked for
const canvas = document.createElement('canvas');
const measure = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d', { willReadFrequently: true }));

/**
 * The two boxes of a word that is cut, in reading order.
 *
 * @param {CanvasImageSource} image in pixels of the page
 * @param {Box} box
 * @param {string} text
 * @param {number} caret number of letters before the cut
 * @returns {Box[]}
 */
export function cutBoxes(image, [x0, y0, x1, y1], text, caret) {
  const upright = y1 - y0 > 1.5 * (x1 - x0) && text.length > 1; // vertical writing, or a page that stands on its side
  measure.font = '20px sans-serif';
  const long = upright ? text.length : measure.measureText(text).width;
  const before = (upright ? caret : measure.measureText(text.slice(0, caret)).width) / Math.max(1, long);
  const leftwards = !upright && goesLeft(text) === true;
  const share = leftwards ? 1 - before : before;
  const length = upright ? y1 - y0 : x1 - x0;
  const ink = inkAlong(image, [x0, y0, x1, y1], upright);
  const wanted = share * length,
    reach = Math.max(1, REACH * length);
  let cut = Math.round(wanted),
    least = Infinity;
  for (let at = Math.ceil(wanted - reach); at <= wanted + reach; at++) {
    if (at < 1 || at >= length) continue;
    const cost = ink[at] + Math.abs(at - wanted) / (100 * reach); // of equal gaps the nearest
    if (cost < least) [cut, least] = [at, cost];
  }
  cut = Math.min(length - 1, Math.max(1, cut));
  /** @type {Box[]} */
  const parts = upright
    ? [
        [x0, y0, x1, y0 + cut],
        [x0, y0 + cut, x1, y1],
      ]
    : [
        [x0, y0, x0 + cut, y1],
        [x0 + cut, y0, x1, y1],
      ];
  return leftwards ? parts.reverse() : parts;
}

/**
 * How dark each column of a box is, 0..1; each row, where it is upright.
 *
 * @param {CanvasImageSource} image in pixels of the page
 * @param {Box} box
 * @param {boolean} upright
 */
function inkAlong(image, [x0, y0, x1, y1], upright) {
  const width = x1 - x0,
    height = y1 - y0;
  canvas.width = width;
  canvas.height = height;
  measure.drawImage(image, x0, y0, width, height, 0, 0, width, height);
  const { data } = measure.getImageData(0, 0, width, height);
  const ink = new Float64Array(upright ? height : width);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) ink[upright ? y : x] += 1 - data[4 * (y * width + x) + 1] / 255;
  }
  return ink.map((sum) => sum / (upright ? width : height));
}
