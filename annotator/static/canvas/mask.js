// Masks: run-length patches (wire and storage form) and the raster of one page (truth while a page is open).
//
// A patch is { box: [x0, y0, x1, y1], counts: [n0, n1, ...] }: row-major run lengths inside the box, the first run
// counts zeros. Boxes are integer pixels of the rendered page, x1 and y1 exclusive.

/** @import { Box, Mark, Patch } from '../types' */

/**
 * The value, which cannot be changed any more.
 *
 * @template T
 * @param {T} value
 * @returns {T}
 */
const frozen = (value) => (Object.freeze(value), value);

/** @type {Patch} */
export const EMPTY_PATCH = frozen({ box: frozen([0, 0, 0, 0]), counts: frozen([]) });

/**
 * Nothing is marked.
 *
 * @type {Mark}
 */
export const EMPTY_MARK = Object.freeze({ words: [], mask: EMPTY_PATCH, points: [], boxes: [] });

/**
 * Whether a patch has no pixel.
 *
 * @param {Patch} patch
 */
export const isEmpty = (patch) => patch.counts.length === 0;

/**
 * The smallest box around two boxes; null stands for none.
 *
 * @template {Box | null} Right
 * @param {Box | null} left
 * @param {Right} right
 * @returns {Right | Box}
 */
export const union = (left, right) =>
  left && right
    ? [
        Math.min(left[0], right[0]),
        Math.min(left[1], right[1]),
        Math.max(left[2], right[2]),
        Math.max(left[3], right[3]),
      ]
    : (left ?? right);

/**
 * The runs of ones of one row: [from, to, from, to, ...] in page pixels, ascending, with gaps between them.
 *
 * @typedef {number[]} Runs
 */

/** @type {Runs} */
const NONE = frozen([]);

/**
 * The runs of a patch, row by row.
 *
 * @param {Patch} patch
 * @returns {Generator<[y: number, runs: Runs], void, void>}
 */
function* rowsOf({ box: [x0, y0, x1], counts }) {
  const width = x1 - x0;
  let at = 0, // pixels of the box before the run
    row = 0,
    /** @type {Runs} */
    runs = [];
  for (const [index, length] of counts.entries()) {
    const end = at + length;
    for (let from = index % 2 ? at : end; from < end;) {
      const here = Math.floor(from / width),
        to = Math.min(end, (here + 1) * width);
      if (here !== row && runs.length) {
        yield [y0 + row, runs];
        runs = [];
      }
      row = here;
      const left = x0 + from - row * width,
        right = x0 + to - row * width;
      if (runs.at(-1) === left) runs[runs.length - 1] = right;
      else runs.push(left, right);
      from = to;
    }
    at = end;
  }
  if (runs.length) yield [y0 + row, runs];
}

/**
 * @param {Runs} left
 * @param {Runs} right
 */
function sameRuns(left, right) {
  if (left.length !== right.length) return false;
  for (let at = 0; at < left.length; at++) if (left[at] !== right[at]) return false;
  return true;
}

/** One byte a pixel of a page, 0 or 1. */
export class Raster {
  /**
   * @param {number} width page pixels
   * @param {number} height page pixels
   */
  constructor(width, height) {
    this.width = width;
    this.height = height;
    this.bytes = new Uint8Array(width * height);
    /**
     * The runs of each row; undefined where the row was painted since they were read. A page has millions of pixels,
     * and a stroke touches a few rows of them.
     *
     * @type {(Runs | undefined)[]}
     */
    this.rows = new Array(height).fill(NONE);
  }

  /**
   * The part of a box that lies on the page, in whole pixels.
   *
   * @param {Box} box
   * @returns {Box}
   */
  clip([x0, y0, x1, y1]) {
    const left = Math.min(this.width, Math.max(0, Math.floor(x0)));
    const top = Math.min(this.height, Math.max(0, Math.floor(y0)));
    return [
      left,
      top,
      Math.max(left, Math.min(this.width, Math.ceil(x1))),
      Math.max(top, Math.min(this.height, Math.ceil(y1))),
    ];
  }

  /**
   * The runs of ones in a row.
   *
   * @param {number} y
   * @returns {Runs}
   */
  runs(y) {
    const known = this.rows[y];
    if (known) return known;
    const row = this.bytes.subarray(y * this.width, (y + 1) * this.width);
    /** @type {Runs} */
    const runs = [];
    for (let to = 0; ;) {
      const from = row.indexOf(1, to);
      if (from < 0) break;
      to = row.indexOf(0, from);
      if (to < 0) to = this.width;
      runs.push(from, to);
    }
    return (this.rows[y] = runs);
  }

  /**
   * Becomes a patch, whatever stood here.
   *
   * @param {Patch} patch
   * @returns {Box | null} the smallest box around what has changed
   */
  load(patch) {
    /** @type {Box | null} */
    let changed = null;
    let next = 0;
    /** @type {(y: number, runs: Runs) => void} */
    const become = (y, runs) => {
      const before = this.runs(y);
      if (sameRuns(before, runs)) return;
      this.fillRuns(y, before, 0);
      this.fillRuns(y, runs, 1);
      this.rows[y] = runs;
      changed = union(changed, differing(before, runs, y));
    };
    for (const [y, runs] of rowsOf(patch)) {
      while (next < y) become(next++, NONE);
      become(next++, runs);
    }
    while (next < this.height) become(next++, NONE);
    return changed;
  }

  /**
   * Sets or clears the pixels of a patch.
   *
   * @param {Patch} patch
   * @param {0 | 1} value
   */
  paint(patch, value) {
    for (const [y, runs] of rowsOf(patch)) {
      this.fillRuns(y, runs, value);
      this.rows[y] = undefined;
    }
  }

  /**
   * @param {number} y
   * @param {Runs} runs
   * @param {0 | 1} value
   */
  fillRuns(y, runs, value) {
    const start = y * this.width;
    for (let at = 0; at < runs.length; at += 2) this.bytes.fill(value, start + runs[at], start + runs[at + 1]);
  }

  /**
   * Sets or clears a box.
   *
   * @param {Box} box
   * @param {0 | 1} value
   */
  fillBox(box, value) {
    const [x0, y0, x1, y1] = this.clip(box);
    for (let y = y0; y < y1; y++) this.bytes.fill(value, y * this.width + x0, y * this.width + x1);
    this.rows.fill(undefined, y0, y1);
  }

  /**
   * Sets or clears a disc of the brush.
   *
   * @param {number} x page pixels
   * @param {number} y page pixels
   * @param {number} radius page pixels
   * @param {0 | 1} value
   * @returns {Box} the box that it may have touched
   */
  fillDisc(x, y, radius, value) {
    const box = this.clip([x - radius, y - radius, x + radius + 1, y + radius + 1]);
    for (const [row, from, to] of discRows(box, x, y, radius))
      this.bytes.fill(value, row * this.width + from, row * this.width + to);
    this.rows.fill(undefined, box[1], box[3]);
    return box;
  }

  /**
   * Share of a box that is set, 0..1.
   *
   * @param {Box} box
   */
  covered(box) {
    const [x0, y0, x1, y1] = this.clip(box);
    if (x1 <= x0 || y1 <= y0) return 0;
    let set = 0;
    for (let y = y0; y < y1; y++) set += this.count(y, x0, x1);
    return set / ((x1 - x0) * (y1 - y0));
  }

  /**
   * How many pixels of a part of a row are set.
   *
   * @param {number} y
   * @param {number} from page pixels
   * @param {number} to page pixels
   */
  count(y, from, to) {
    const runs = this.runs(y);
    let set = 0;
    for (let at = 0; at < runs.length && runs[at] < to; at += 2)
      set += Math.max(0, Math.min(to, runs[at + 1]) - Math.max(from, runs[at]));
    return set;
  }

  /**
   * All that is set, in its tight box.
   *
   * @returns {Patch}
   */
  patch() {
    /** @type {[y: number, runs: Runs][]} */
    const rows = [];
    for (let y = 0; y < this.height; y++) {
      const runs = this.runs(y);
      if (runs.length) rows.push([y, runs]);
    }
    return encoded(rows);
  }
}

/**
 * The patch of rows of ones, in its tight box.
 *
 * @param {readonly [y: number, runs: Runs][]} rows ascending, none of them without runs
 * @returns {Patch}
 */
export function encoded(rows) {
  if (!rows.length) return { box: [0, 0, 0, 0], counts: [] };
  const y0 = rows[0][0],
    y1 = rows[rows.length - 1][0] + 1;
  let x0 = Infinity,
    x1 = 0;
  for (const [, runs] of rows) {
    x0 = Math.min(x0, runs[0]);
    x1 = Math.max(x1, runs[runs.length - 1]);
  }
  const width = x1 - x0,
    counts = [];
  let end = 0; // of the last run of ones, in pixels of the box
  for (const [y, runs] of rows) {
    const start = (y - y0) * width - x0;
    for (let at = 0; at < runs.length; at += 2) {
      const from = start + runs[at],
        to = start + runs[at + 1];
      // A run that ends with its row goes on in the next one.
      if (from === end && counts.length) counts[counts.length - 1] += to - from;
      else counts.push(from - end, to - from);
      end = to;
    }
  }
  const rest = width * (y1 - y0) - end;
  if (rest) counts.push(rest);
  return { box: [x0, y0, x1, y1], counts };
}

/**
 * The pixels of several patches together.
 *
 * @param {readonly Patch[]} patches
 * @returns {Patch}
 */
export function unitePatches(patches) {
  /** @type {Map<number, [from: number, to: number][]>} */
  const rows = new Map();
  for (const patch of patches)
    for (const [y, runs] of rowsOf(patch)) {
      const row = rows.get(y) ?? [];
      for (let at = 0; at < runs.length; at += 2) row.push([runs[at], runs[at + 1]]);
      rows.set(y, row);
    }
  return encoded([...rows].sort(([left], [right]) => left - right).map(([y, row]) => [y, joinRuns(row)]));
}

/**
 * The pixels of boxes, filled: of words, mostly.
 *
 * @param {readonly Box[]} boxes page pixels
 * @param {{ width: number, height: number }} page no pixel lies outside of it
 * @returns {Patch}
 */
export function patchOfBoxes(boxes, page) {
  const clip = (/** @type {number} */ at, /** @type {number} */ most) => Math.max(0, Math.min(most, at));
  return unitePatches(
    boxes.map(([left, top, right, bottom]) => {
      const x0 = clip(Math.floor(left), page.width),
        x1 = clip(Math.ceil(right), page.width),
        y0 = clip(Math.floor(top), page.height),
        y1 = clip(Math.ceil(bottom), page.height);
      const size = (x1 - x0) * (y1 - y0);
      return size > 0 ? { box: [x0, y0, x1, y1], counts: [0, size] } : EMPTY_PATCH;
    }),
  );
}

/**
 * @param {[from: number, to: number][]} row
 * @returns {Runs}
 */
function joinRuns(row) {
  row.sort(([left], [right]) => left - right);
  /** @type {Runs} */
  const runs = [];
  for (const [from, to] of row) {
    const last = runs.length - 1;
    if (runs.length && from <= runs[last]) runs[last] = Math.max(runs[last], to);
    else runs.push(from, to);
  }
  return runs;
}

/**
 * The pixels of a disc, row by row, inside a box.
 *
 * @param {Box} box whole page pixels
 * @param {number} x page pixels, as are `y` and `radius`
 * @param {number} y
 * @param {number} radius
 * @returns {Generator<[y: number, from: number, to: number], void, void>}
 */
export function* discRows([x0, y0, x1, y1], x, y, radius) {
  for (let row = y0; row < y1; row++) {
    const half = Math.sqrt(radius * radius - (row - y) * (row - y)); // NaN above and below the disc
    const from = Math.max(x0, Math.ceil(x - half)),
      to = Math.min(x1, Math.floor(x + half) + 1);
    if (to > from) yield [row, from, to];
  }
}

/**
 * The smallest box around the pixels in which two rows differ.
 *
 * @param {Runs} left
 * @param {Runs} right
 * @param {number} y
 * @returns {Box}
 */
function differing(left, right, y) {
  let first = 0,
    last = 1;
  while (left[first] === right[first]) first++;
  while (left.at(-last) === right.at(-last)) last++;
  const from = Math.min(left[first] ?? Infinity, right[first] ?? Infinity);
  const to = Math.max(left.at(-last) ?? 0, right.at(-last) ?? 0);
  return [from, y, to, y + 1];
}
