// What a stroke does: word, box, brush, eraser, point. Each tool gets points of the page and paints at once on it.
//
// A stroke is { tool, edits } for a change that is already on the page, { tool, prompt } for one that the model has to
// answer, or { tool, mend } for a wish to mend words.

/** @import { Box, Edit, Mark, Point, Press, Stroke, XY } from '../types' */
/** @import { MarkedPage } from './marked_page.js' */
/** @import { StageTable } from './stage_table.js' */

import { union } from './mask.js';
import { PaintedRows } from './painted_rows.js';
import { EdgeTool } from './stage_table.js';
import { alongLine, aroundWords, heldWords, intoLine } from './snapping.js';
import { nearestWord, touches, wordsBetween } from './text_selection.js';

/**
 * What a tool needs of the stage.
 *
 * @typedef {object} Hand
 * @property {MarkedPage} marks what stands on the page
 * @property {number} radius of brush and eraser, page pixels
 * @property {{ scale: number }} view screen pixels a page pixel
 * @property {Box | null} rubber the box that is being drawn, page pixels
 * @property {StageTable | null} table the table whose edges can be dragged
 * @property {Set<number>} chosen numbers of the words that are being mended
 * @property {Mark} before what stood when the stroke began
 * @property {boolean} proposed whether that is a proposal that nobody has touched
 * @property {boolean} replaced whether the stroke has taken that away
 * @property {(replaced: boolean) => void} startOver sets what stood when the stroke began, or nothing
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
const BESIDE = 24; // page pixels from a mark within which paint adds to it
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

/**
 * Whether paint here would lie by a mark, and belong to it.
 *
 * @param {Box} box of the mark
 * @param {XY} point page pixels
 * @param {number} radius of the brush, page pixels
 */
function near([x0, y0, x1, y1], [x, y], radius) {
  const reach = radius + BESIDE;
  return x > x0 - reach && x < x1 + reach && y > y0 - reach && y < y1 + reach;
}

/**
 * The edit that writes down what stands on the page now.
 *
 * @param {MarkedPage} marks
 * @returns {Edit}
 */
function wholeMark(marks) {
  const { words, mask } = marks.current();
  return { op: 'mask', page: marks.page.id, words, mask };
}

/**
 * A click: a word, with Shift its line. A drag: the words from the first to the last, as in any text.
 *
 * @implements {Tool}
 */
class WordTool {
  /** @type {Set<number>} numbers of the words that were marked when it began */
  before = new Set();

  /** @type {number[]} numbers of the words that the stroke is over, in reading order */
  over = [];

  selecting = true; // whether the stroke marks or unmarks: the first word decides
  wholeLines = false;
  keeps = false; // whether a proposal stays beside what is marked now
  start = -1; // position of the word where the drag began; -1 on empty paper

  /** @type {XY} */
  from = [0, 0];

  /** @type {XY} */
  last = [0, 0];

  /** @type {Tool['begin']} */
  begin(hand, point, press) {
    this.over = [];
    this.wholeLines = press.shiftKey;
    this.keeps = Boolean(press.ctrlKey || press.metaKey);
    this.from = this.last = point;
    this.start = hand.marks.grid.at(...point, SLACK);
    if (this.start >= 0) this.take(hand, this.start);
  }

  /**
   * A hand wavers: a drag that began on a word stays in its line until it clearly leaves it. One that began on empty
   * paper takes nothing until it comes over a word.
   *
   * @type {Tool['move']}
   */
  move(hand, points) {
    const { grid } = hand.marks;
    for (const point of points) {
      if (this.start < 0) {
        const met = between(this.last, point, 4)
          .map((step) => grid.at(...step, SLACK))
          .find((at) => at >= 0);
        if (met !== undefined) this.start = nearestWord(grid, this.from, met);
      }
      this.last = point;
    }
    if (this.start < 0) return;
    const point = alongLine(grid, this.start, this.last),
      at = grid.at(...point, SLACK);
    this.take(hand, at < 0 ? nearestWord(grid, point, this.start) : at);
  }

  /**
   * @param {Hand} hand
   * @param {number} end position of the word that the pointer means
   */
  take(hand, end) {
    const { marks } = hand,
      { grid } = marks;
    if (!this.over.length) {
      this.before = new Set(marks.selected);
      this.selecting = !this.before.has(grid.numbers[this.start]);
    }
    const over = wordsBetween(grid, this.start, end, this.wholeLines).map((at) => grid.numbers[at]);
    if (over.length === this.over.length && over.every((number, at) => number === this.over[at])) return;
    const left = new Set(this.over);
    for (const number of over) left.delete(number);
    const taken = new Set(left.size ? [] : this.over);
    this.over = over;
    const replaces = this.replaces(hand);
    // A word that the drag leaves again gets back what was painted on it.
    if (left.size || replaces !== hand.replaced) {
      hand.startOver(replaces);
      taken.clear();
    }
    marks.setWords(
      this.changed(hand).filter((number) => !taken.has(number)),
      this.selecting,
    );
  }

  /**
   * Whether the words stand apart from a proposal that nobody has touched: then they are the answer in its place.
   *
   * @param {Hand} hand
   */
  replaces(hand) {
    if (!this.selecting || this.keeps || !hand.proposed) return false;
    return !touches(hand.marks.grid, this.over, this.before);
  }

  /**
   * Numbers of the words that the stroke marks or unmarks.
   *
   * @param {Hand} hand
   */
  changed(hand) {
    return this.over.filter((number) => hand.replaced || this.before.has(number) !== this.selecting);
  }

  /** @type {Tool['end']} */
  end(hand) {
    const { marks } = hand,
      changed = this.changed(hand);
    if (!changed.length) return null;
    if (hand.replaced) return { tool: 'word', edits: [wholeMark(marks)] };
    const numbers = { add: this.selecting ? changed : [], remove: this.selecting ? [] : changed };
    return { tool: 'word', edits: [{ op: 'words', page: marks.page.id, ...numbers }], keeps: this.keeps };
  }

  /** @param {Hand} hand */
  again(hand) {
    if (!this.over.length) return;
    this.before = new Set(hand.marks.selected);
    if (this.replaces(hand)) hand.startOver(true);
    hand.marks.setWords(this.changed(hand), this.selecting);
  }

  cancel() {
    this.over = [];
  }
}

/** @implements {Tool} */
class BrushTool {
  painted = new PaintedRows();
  keeps = false; // whether a proposal stays beside what is painted now

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
  begin(hand, point, press) {
    this.painted = new PaintedRows();
    this.last = point;
    this.keeps = !this.value || Boolean(press.ctrlKey || press.metaKey);
    if (hand.proposed && !this.keeps && !near(hand.before.mask.box, point, hand.radius)) hand.startOver(true);
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
  again(hand) {
    const { marks } = hand,
      patch = this.painted.patch();
    marks.mask.paint(patch, this.value);
    if (patch.counts.length) marks.touched(patch.box);
  }

  /** @type {Tool['end']} */
  end(hand) {
    const { marks } = hand,
      patch = this.painted.patch();
    if (!patch.counts.length) return null;
    if (hand.replaced) return { tool: this.name, edits: [wholeMark(marks)] };
    const edit = { op: /** @type {const} */ ('patch'), page: marks.page.id, value: this.value, patch };
    return { tool: this.name, edits: [edit], keeps: this.keeps };
  }

  cancel() {}
}

/**
 * Marks the words that a frame holds. Where it holds none, or Alt is held, the model answers inside it.
 *
 * @implements {Tool}
 */
class BoxTool {
  /** @type {XY} */
  from = [0, 0];

  add = false; // one more region beside what is marked
  asks = false; // the model, inside the frame as it is drawn

  /** @type {Tool['begin']} */
  begin(hand, point, press) {
    this.from = point;
    this.add = press.shiftKey;
    this.asks = press.altKey;
    hand.rubber = [...point, ...point];
  }

  /** @type {Tool['move']} */
  move(hand, points) {
    const box = spanned(this.from, points[points.length - 1]);
    hand.rubber = this.asks ? box : aroundWords(hand.marks.grid, box, SNAP / hand.view.scale);
    hand.draw();
  }

  /** @type {Tool['end']} */
  end(hand) {
    const { marks } = hand,
      box = drawn(hand);
    hand.rubber = null;
    hand.draw();
    if (!box) return null;
    const held = this.asks ? [] : heldWords(marks.grid, box).map((at) => marks.grid.numbers[at]);
    if (!held.length) return { tool: 'box', prompt: { box, add: this.add } };
    const add = held.filter((number) => !this.add || !marks.selected.has(number));
    if (!add.length) return null;
    if (!this.add) hand.startOver(true);
    marks.setWords(add, true);
    const edit = this.add ? { op: /** @type {const} */ ('words'), page: marks.page.id, add, remove: [] } : null;
    return { tool: 'box', edits: [edit ?? wholeMark(marks)], keeps: this.add };
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
  edge: new EdgeTool(),
  mend: new MendTool(),
  word: new WordTool(),
  box: new BoxTool(),
  brush: new BrushTool('brush', 1),
  eraser: new BrushTool('eraser', 0),
  plus: new PointTool(true),
  minus: new PointTool(false),
});
