// Which word is under a point, in a line, next to another: a uniform grid over the boxes of one page.

/** @import { Box, Words } from '../types' */

import { goesLeft, living } from '../words/words.js';

const CELL = 64; // page pixels
const STRIDE = 65536; // more cells than a page has in a row

/** The words of a page by place. Positions are indices into the lists of `words`, which are in reading order. */
export class WordGrid {
  /** @param {Words} words */
  constructor(words) {
    this.words = words;
    this.numbers = words.numbers;
    this.boxes = words.boxes;
    this.texts = words.texts;
    this.lines = words.lines;
    this.doubtful = new Set(words.doubtful); // numbers
    this.position = new Map(words.numbers.map((number, at) => [number, at]));
    this.gone = new Map(words.retired.numbers.map((number, at) => [number, words.retired.boxes[at]]));
    /** @type {Map<number, number[]>} line -> positions of its words */
    this.inLine = new Map();
    words.lines.forEach((line, at) => append(this.inLine, line, at));
    /** @type {Map<number, number[]>} cell -> positions of the words that reach into it */
    this.cells = new Map();
    words.boxes.forEach((box, at) => {
      for (const cell of cellsOf(box)) append(this.cells, cell, at);
    });
  }

  /**
   * Positions of the words in the cells of a box, each one once.
   *
   * @param {Box} box page pixels
   */
  near(box) {
    return new Set([...cellsOf(box)].flatMap((cell) => this.cells.get(cell) ?? []));
  }

  /**
   * Position of the smallest word under the point, or -1.
   *
   * @param {number} x page pixels
   * @param {number} y page pixels
   * @param {number} [slack] page pixels by which every box is widened
   */
  at(x, y, slack = 0) {
    let best = -1,
      least = Infinity;
    for (const at of this.near([x - slack, y - slack, x + slack, y + slack])) {
      const [x0, y0, x1, y1] = this.boxes[at];
      if (x < x0 - slack || x >= x1 + slack || y < y0 - slack || y >= y1 + slack) continue;
      const size = (x1 - x0) * (y1 - y0);
      if (size < least || (size === least && at < best)) [best, least] = [at, size];
    }
    return best;
  }

  /**
   * Positions of the words that reach into a box, in reading order.
   *
   * @param {Box} box page pixels
   */
  within(box) {
    const [x0, y0, x1, y1] = box;
    const found = [...this.near(box)].filter((at) => {
      const [left, top, right, bottom] = this.boxes[at];
      return left < x1 && right > x0 && top < y1 && bottom > y0;
    });
    return found.sort((left, right) => left - right);
  }

  /**
   * Positions of all words in the line of a word.
   *
   * @param {number} at position of the word
   */
  line(at) {
    return this.inLine.get(this.lines[at]) ?? [];
  }

  /**
   * Whether the line of a word is read from right to left, as most of its words are.
   *
   * @param {number} at position of the word
   */
  leftwards(at) {
    const ways = this.line(at).map((each) => goesLeft(this.texts[each]));
    return ways.filter((way) => way === true).length > ways.filter((way) => way === false).length;
  }

  /**
   * Position of the word that an arrow key reaches; the same one where the page ends.
   *
   * @param {number} at position of the word to begin with
   * @param {'left' | 'right' | 'up' | 'down'} direction
   */
  neighbour(at, direction) {
    if (direction === 'left' || direction === 'right') {
      const onward = (direction === 'left') === this.leftwards(at);
      return onward ? Math.min(this.boxes.length - 1, at + 1) : Math.max(0, at - 1);
    }
    const [x0, y0, x1, y1] = this.boxes[at];
    const middle = (x0 + x1) / 2,
      height = (y0 + y1) / 2,
      down = direction === 'down';
    let best = at,
      least = Infinity;
    this.boxes.forEach((box, other) => {
      const rise = (box[1] + box[3]) / 2 - height;
      if (down ? rise < (y1 - y0) / 2 : rise > (y0 - y1) / 2) return;
      const aside = Math.max(0, box[0] - middle, middle - box[2]);
      const far = Math.abs(rise) * 3 + aside;
      if (far < least) [best, least] = [other, far];
    });
    return best;
  }

  /**
   * Position of the next doubtful word in reading order, the first one behind the last; -1 where there is none.
   *
   * @param {number} at position to go on from; -1 begins with the first word
   */
  nextDoubtful(at) {
    const places = this.words.doubtful.map((number) => this.position.get(number) ?? -1);
    return places.find((place) => place > at) ?? places[0] ?? -1;
  }

  /**
   * Numbers of the words that a mark means: see living in words.js.
   *
   * @param {number[]} numbers
   */
  living(numbers) {
    if (numbers.every((number) => this.position.has(number))) return numbers;
    return living(this.words, numbers).map((each) => each.number);
  }

  /**
   * The box of a word that stands on the page or stood there once.
   *
   * @param {number} number
   */
  boxOf(number) {
    const at = this.position.get(number);
    return at === undefined ? this.gone.get(number) : this.boxes[at];
  }

  /**
   * The boxes of words; those that the page never had are left out.
   *
   * @param {readonly number[]} numbers
   */
  boxesOf(numbers) {
    return numbers.map((number) => this.boxOf(number)).filter((box) => box !== undefined);
  }
}

/**
 * @param {Box} box page pixels
 * @returns {Generator<number, void, void>}
 */
function* cellsOf([x0, y0, x1, y1]) {
  for (let y = Math.floor(y0 / CELL); y <= Math.floor(y1 / CELL); y++)
    for (let x = Math.floor(x0 / CELL); x <= Math.floor(x1 / CELL); x++) yield y * STRIDE + x;
}

/**
 * @param {Map<number, number[]>} lists
 * @param {number} key
 * @param {number} value
 */
function append(lists, key, value) {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}
