// What a stroke does: word, box, brush, eraser, point. Each tool gets points of the page and paints at once on it.
//
// A stroke is { tool, edits } for a change that is already on the page, { tool, prompt } for one that the model has to
// answer, or { tool, mend } for a wish to mend words.

/** @import { Box, Point, Press, Stroke, XY } from '../types' */
/** @import { MarkedPage } from './marked_page.js' */

import { union } from './mask.js';
import { PaintedRows } from './painted_rows.js';
import { alongLine, aroundWords, intoLine } from './snapping.js';

/**
 * What a tool needs of the stage.
 *
 * @typedef {object} Hand
 * @property {MarkedPage} marks what stands on the page
 * @property {number} radius of brush and eraser, page pixels
 * @property {{ scale: number }} view screen pixels a page pixel
 * @property {Box | null} rubber the box that is being drawn, page pixels
 * @property {Set<number>} chosen numbers of the words that are being mended
 * @property {() => void} draw shows `rubber` and `chosen` as they are now
 */

/**
 * @typedef {object} Tool
 * @property {(hand: Hand, point: XY, press: Press) => void} begin
 * @property {(hand: Hand, points: readonly XY[]) => void} move
 * @property {(hand: Hand) => Stroke | null} end
 * @property {(hand: Hand) => void} cancel the mark is set again after it
 * @property {(hand: Hand) => void} [again] does to a mark that came under the stroke what the stroke did before; of
 * tools
 *   that change the mark as they go
 */

const SNAP = 5; // screen pixels within which the edge of a frame goes to the edge of a word
const LEAST = 4; // page pixels: a click, or a drag of a few pixels, is no box
const SLACK = 2; // page pixels around a word that are the word's, too

/**
 * Points from one to another, without the first, at most `step` apart.
 *
 * @param {XY} from
 * @param {XY} to
 * @param {number} step page pixels
 */
function between(from, to, step) {
  const steps = Math.max(1, Math.ceil(Math.hypot(to[0] - from[0], to[1] - from[1]) / step));
  /** @param {number} share */
  const along = (share) =>
    /** @type {XY} */ ([from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share]);
  return Array.from({ length: steps }, (_, at) => along((at + 1) / steps));
}

/**
 * The box between two corners.
 *
 * @param {XY} from
 * @param {XY} to
 * @returns {Box}
 */
const spanned = (from, to) => [
  Math.min(from[0], to[0]),
  Math.min(from[1], to[1]),
  Math.max(from[0], to[0]),
  Math.max(from[1], to[1]),
];

/**
 * The box that was drawn, in whole pixels of the page; null where it is too small for one.
 *
 * @param {Hand} hand
 */
function drawn({ marks, rubber }) {
  const box = rubber && marks.mask.clip(rubber);
  return box && box[2] - box[0] >= LEAST && box[3] - box[1] >= LEAST ? box : null;
}

/** @implements {Tool} */
class WordTool {
  /** @type {Set<number>} numbers of the words that the stroke has been over */
  touched = new Set();

  /** @type {number[]} those of them that it has changed */
  changed = [];

  selecting = true; // whether the stroke marks or unmarks: the first word decides
  wholeLine = false;
  start = -1; // position of the word where it began

  /** @type {XY} */
  last = [0, 0];

  /** @type {Tool['begin']} */
  begin(hand, point, press) {
    this.touched = new Set();
    this.changed = [];
    this.wholeLine = press.shiftKey;
    this.last = point;
    this.start = hand.marks.grid.at(...point, SLACK);
    this.take(hand, point);
  }

  /**
   * A hand wavers: a drag that began on a word stays in its line until it clearly leaves it.
   *
   * @type {Tool['move']}
   */
  move(hand, points) {
    for (const each of points) {
      const point = this.start < 0 ? each : alongLine(hand.marks.grid, this.start, each);
      for (const step of between(this.last, point, 4)) this.take(hand, step);
      this.last = point;
    }
  }

  /**
   * @param {Hand} hand
   * @param {XY} point
   */
  take({ marks }, point) {
    const { grid, selected } = marks,
      at = grid.at(...point, SLACK);
    if (at < 0) return;
    if (!this.touched.size) this.selecting = !selected.has(grid.numbers[at]);
    const wanted = (this.wholeLine ? grid.line(at) : [at]).map((position) => grid.numbers[position]);
    const changed = wanted.filter((number) => !this.touched.has(number) && selected.has(number) !== this.selecting);
    for (const number of wanted) this.touched.add(number);
    if (changed.length) marks.setWords(changed, this.selecting);
    this.changed.push(...changed);
  }

  /** @type {Tool['end']} */
  end({ marks }) {
    const { changed, selecting } = this;
    if (!changed.length) return null;
    const numbers = { add: selecting ? changed : [], remove: selecting ? [] : changed };
    return { tool: 'word', edits: [{ op: 'words', page: marks.page.id, ...numbers }] };
  }

  /** @param {Hand} hand */
  again({ marks }) {
    marks.setWords(this.changed, this.selecting);
  }

  cancel() {
    this.changed = [];
  }
}

/** @implements {Tool} */
class BrushTool {
  painted = new PaintedRows();

  /** @type {XY} */
  last = [0, 0];

  /**
   * @param {string} name
   * @param {0 | 1} value
   */
  constructor(name, value) {
    this.name = name;
    this.value = value;
  }

  /** @type {Tool['begin']} */
  begin(hand, point) {
    this.painted = new PaintedRows();
    this.last = point;
    this.dab(hand, [point]);
  }

  /** @type {Tool['move']} */
  move(hand, points) {
    for (const point of points) {
      this.dab(hand, between(this.last, point, Math.max(1, hand.radius / 3)));
      this.last = point;
    }
  }

  /**
   * @param {Hand} hand
   * @param {readonly XY[]} centres
   */
  dab({ marks, radius }, centres) {
    /** @type {Box | null} */
    let dirty = null;
    for (const [x, y] of centres) {
      const box = marks.mask.fillDisc(x, y, radius, this.value);
      this.painted.addDisc(box, x, y, radius);
      if (box[2] > box[0] && box[3] > box[1]) dirty = union(dirty, box);
    }
    if (dirty) marks.touched(dirty);
  }

  /** @param {Hand} hand */
  again({ marks }) {
    const patch = this.painted.patch();
    marks.mask.paint(patch, this.value);
    if (patch.counts.length) marks.touched(patch.box);
  }

  /** @type {Tool['end']} */
  end({ marks }) {
    const patch = this.painted.patch();
    if (!patch.counts.length) return null;
    return { tool: this.name, edits: [{ op: 'patch', page: marks.page.id, value: this.value, patch }] };
  }

  cancel() {}
}

/** @implements {Tool} */
class BoxTool {
  /** @type {XY} */
  from = [0, 0];

  add = false; // one more region beside what is marked
  free = false; // not along the words

  /** @type {Tool['begin']} */
  begin(hand, point, press) {
    this.from = point;
    this.add = press.shiftKey;
    this.free = press.altKey;
    hand.rubber = [...point, ...point];
  }

  /** @type {Tool['move']} */
  move(hand, points) {
    const box = spanned(this.from, points[points.length - 1]);
    hand.rubber = this.free ? box : aroundWords(hand.marks.grid, box, SNAP / hand.view.scale);
    hand.draw();
  }

  /** @type {Tool['end']} */
  end(hand) {
    const box = drawn(hand);
    hand.rubber = null;
    hand.draw();
    return box && { tool: 'box', prompt: { box, add: this.add } };
  }

  /** @type {Tool['cancel']} */
  cancel(hand) {
    hand.rubber = null;
  }
}

/** @implements {Tool} */
class PointTool {
  /** @type {Point} */
  point = [0, 0, true];

  /** @param {boolean} positive whether the points lie inside the answer; with Shift it is the other way round */
  constructor(positive) {
    this.positive = positive;
  }

  /** @type {Tool['begin']} */
  begin(hand, [x, y], press) {
    this.point = [Math.floor(x), Math.floor(y), press.shiftKey !== this.positive];
  }

  move() {}

  /** @type {Tool['end']} */
  end({ marks }) {
    const [x, y, positive] = this.point;
    if (x < 0 || y < 0 || x >= marks.page.width || y >= marks.page.height) return null;
    return { tool: positive ? 'plus' : 'minus', prompt: { point: this.point } };
  }

  cancel() {}
}

/**
 * Click: write; Shift and click, or a drag over words: choose; a drag over empty paper: a new word.
 *
 * @implements {Tool}
 */
class MendTool {
  /** @type {XY} */
  from = [0, 0];

  start = -1; // position of the word where it began
  several = false;
  dragged = false;

  /** @type {Set<number>} numbers of the words that were chosen when it began */
  before = new Set();

  /** @type {Tool['begin']} */
  begin(hand, point, press) {
    this.from = point;
    this.start = press.drawing ? -1 : hand.marks.grid.at(...point, SLACK);
    this.several = press.shiftKey;
    this.dragged = false;
    if (this.start < 0) hand.rubber = [...point, ...point];
    this.before = new Set(hand.chosen);
  }

  /** @type {Tool['move']} */
  move(hand, points) {
    const { grid } = hand.marks,
      point = points[points.length - 1];
    if (this.start < 0) {
      hand.rubber = intoLine(grid, spanned(this.from, point));
    } else {
      const at = grid.at(...alongLine(grid, this.start, point), SLACK);
      if (at < 0 || (at === this.start && !this.dragged)) return;
      const [first, last] = [Math.min(at, this.start), Math.max(at, this.start)];
      this.dragged = true;
      hand.chosen = new Set([...(this.several ? this.before : []), ...grid.numbers.slice(first, last + 1)]);
    }
    hand.draw();
  }

  /** @type {Tool['end']} */
  end(hand) {
    if (this.start < 0) {
      const add = drawn(hand);
      hand.rubber = null;
      return { tool: 'mend', mend: add ? { add } : { choose: [] } };
    }
    const number = hand.marks.grid.numbers[this.start];
    if (this.dragged) return { tool: 'mend', mend: { choose: [...hand.chosen] } };
    if (!this.several) return { tool: 'mend', mend: { open: number } };
    const chosen = new Set(this.before);
    if (!chosen.delete(number)) chosen.add(number);
    return { tool: 'mend', mend: { choose: [...chosen] } };
  }

  /** @type {Tool['cancel']} */
  cancel(hand) {
    hand.rubber = null;
    hand.chosen = this.before;
  }
}

/**
 * One of each tool, by name.
 *
 * @returns {Record<string, Tool>}
 */
export const makeTools = () => ({
  mend: new MendTool(),
  word: new WordTool(),
  box: new BoxTool(),
  brush: new BrushTool('brush', 1),
  eraser: new BrushTool('eraser', 0),
  plus: new PointTool(true),
  minus: new PointTool(false),
});
