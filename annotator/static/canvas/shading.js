// How strongly each pixel of a mark is coloured: a fill with an outline; hatched where painted pixels lie under no
// marked word. The page is large and the screen small, so this is worked out run by run, straight at the size of the
// screen.

/** @import { Box, Origin } from '../types' */
/** @import { Raster, Runs } from './mask.js' */

import { COLOURS } from './palettes.js';

const EDGE = 2; // width of the outline in page pixels
const HATCH = 14; // period of the hatching in page pixels

/** Opacities, 0..255. */
const FILL = 72,
  OUTLINE = 225,
  STRIPE = 120,
  FAINT = 34;

/** By how many page pixels the shade of a pixel depends on others. */
export const REACH = EDGE;

/**
 * The pixels of a page, shrunk along one axis to `length` cells: each pixel of the page lies in one cell.
 *
 * @typedef {object} Axis
 * @property {number} length cells
 * @property {Int32Array} cell the cell of each pixel
 * @property {Int32Array} start the first pixel of each cell, and behind the last one the number of all pixels
 */

/**
 * An axis of a page.
 *
 * @param {number} pixels of the page
 * @param {number} length cells, not more than pixels
 * @returns {Axis}
 */
export function axis(pixels, length) {
  const cell = new Int32Array(pixels),
    start = new Int32Array(length + 1).fill(pixels);
  for (let at = pixels - 1; at >= 0; at--) {
    cell[at] = Math.floor((at * length) / pixels);
    start[cell[at]] = at;
  }
  return { length, cell, start };
}

/**
 * The runs that two rows have in common.
 *
 * @param {Runs} left
 * @param {Runs} right
 */
function common(left, right) {
  /** @type {Runs} */
  const runs = [];
  for (let at = 0, other = 0; at < left.length && other < right.length;) {
    const from = Math.max(left[at], right[other]),
      to = Math.min(left[at + 1], right[other + 1]);
    if (from < to) runs.push(from, to);
    if (left[at + 1] < right[other + 1]) at += 2;
    else other += 2;
  }
  return runs;
}

/**
 * The runs of a row without those of another.
 *
 * @param {Runs} left
 * @param {Runs} right
 */
function without(left, right) {
  /** @type {Runs} */
  const runs = [];
  let other = 0;
  for (let at = 0; at < left.length; at += 2) {
    let from = left[at];
    while (other < right.length && right[other + 1] <= from) other += 2;
    for (let next = other; next < right.length && right[next] < left[at + 1]; next += 2) {
      if (right[next] > from) runs.push(from, right[next]);
      from = right[next + 1];
    }
    if (from < left[at + 1]) runs.push(from, left[at + 1]);
  }
  return runs;
}

/**
 * The pixels of a row that lie on no outline: the mask goes on around them.
 *
 * @param {Raster} mask
 * @param {number} y
 */
function innerRuns(mask, y) {
  /** @type {Runs} */
  let inner = [];
  if (y < EDGE || y >= mask.height - EDGE) return inner;
  const runs = mask.runs(y);
  for (let at = 0; at < runs.length; at += 2)
    if (runs[at + 1] - runs[at] > 2 * EDGE) inner.push(runs[at] + EDGE, runs[at + 1] - EDGE);
  for (let away = 1; away <= EDGE && inner.length; away++)
    inner = common(common(inner, mask.runs(y - away)), mask.runs(y + away));
  return inner;
}

/** Sums of opacities over the cells of one row of an area. */
class Line {
  /**
   * @param {Axis} columns
   * @param {number} x0 cells
   * @param {number} x1 cells
   */
  constructor({ cell, start }, x0, x1) {
    this.cell = cell;
    this.start = start;
    this.x0 = x0;
    this.left = start[x0]; // pixels of the page
    this.right = start[x1];
    this.sums = new Int32Array(x1 - x0);
  }

  /**
   * Adds an opacity to the pixels from one to before another.
   *
   * @param {number} from page pixels
   * @param {number} to page pixels
   * @param {number} opacity
   */
  add(from, to, opacity) {
    const { cell, start, sums, x0 } = this;
    let at = Math.max(from, this.left);
    const last = Math.min(to, this.right);
    while (at < last) {
      const here = cell[at],
        end = Math.min(last, start[here + 1]);
      sums[here - x0] += opacity * (end - at);
      at = end;
    }
  }

  /**
   * Adds what the hatching has less than an outline.
   *
   * @param {number} from page pixels
   * @param {number} to page pixels
   * @param {number} y page pixels
   */
  hatch(from, to, y) {
    let at = Math.max(from, this.left);
    const last = Math.min(to, this.right);
    while (at < last) {
      const phase = (at + y) % HATCH,
        striped = phase < HATCH / 2,
        end = Math.min(last, at + (striped ? HATCH / 2 : HATCH) - phase);
      this.add(at, end, (striped ? STRIPE : FAINT) - OUTLINE);
      at = end;
    }
  }

  /**
   * Adds a row of a mark; returns whether it has pixels here.
   *
   * @param {Raster} mask
   * @param {Raster} under
   * @param {number} y page pixels
   */
  addRow(mask, under, y) {
    const runs = mask.runs(y);
    if (!runs.length || runs[0] >= this.right || runs[runs.length - 1] <= this.left) return false;
    for (let at = 0; at < runs.length; at += 2) this.add(runs[at], runs[at + 1], OUTLINE);
    const inner = innerRuns(mask, y),
      filled = common(inner, under.runs(y)),
      loose = without(inner, under.runs(y));
    for (let at = 0; at < filled.length; at += 2) this.add(filled[at], filled[at + 1], FILL - OUTLINE);
    for (let at = 0; at < loose.length; at += 2) this.hatch(loose[at], loose[at + 1], y);
    return true;
  }
}

/**
 * The mean opacity of each cell in an area, 0..255, row by row; above 0 wherever a pixel of the cell is painted. null
 * where none is.
 *
 * @param {Raster} mask the painted pixels
 * @param {Raster} under the boxes of the marked words
 * @param {Axis} columns
 * @param {Axis} rows
 * @param {Box} area cells
 */
export function shades(mask, under, columns, rows, [x0, y0, x1, y1]) {
  const width = x1 - x0,
    opacities = new Uint8Array(width * (y1 - y0)),
    line = new Line(columns, x0, x1);
  let painted = false;
  for (let y = y0; y < y1; y++) {
    const [top, bottom] = [rows.start[y], rows.start[y + 1]];
    let touched = false;
    for (let row = top; row < bottom; row++) if (line.addRow(mask, under, row)) touched = true;
    if (!touched) continue;
    painted = true;
    for (let x = x0; x < x1; x++) {
      const sum = line.sums[x - x0];
      if (!sum) continue;
      const pixels = (columns.start[x + 1] - columns.start[x]) * (bottom - top);
      opacities[(y - y0) * width + x - x0] = Math.max(1, Math.round(sum / pixels));
    }
    line.sums.fill(0);
  }
  return painted ? opacities : null;
}

/**
 * Opacities in the colour of a mark.
 *
 * @param {Uint8Array} opacities of the area, row by row, 0..255
 * @param {Box} area
 * @param {Origin} origin
 */
export function coloured(opacities, [x0, y0, x1, y1], origin) {
  const image = new ImageData(x1 - x0, y1 - y0),
    pixels = new Uint32Array(image.data.buffer);
  const [red, green, blue] = COLOURS[origin],
    colour = (blue << 16) | (green << 8) | red; // from the highest byte: opacity, blue, green, red
  for (let at = 0; at < pixels.length; at++) if (opacities[at]) pixels[at] = ((opacities[at] << 24) | colour) >>> 0;
  return image;
}
