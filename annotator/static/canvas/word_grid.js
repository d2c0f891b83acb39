// Which word is under a point, in a line, next to another: a uniform grid over the boxes of one page.

import { goesLeft, living } from '../words/words.js';

const CELL = 64;
const STRIDE = 65536;

export class WordGrid {
  // words: see words.js. Positions below are indices into its lists, which are in reading order.
  constructor(words) {
    this.words = words;
    this.numbers = words.numbers;
    this.boxes = words.boxes;
    this.texts = words.texts;
    this.lines = words.lines;
    this.position = new Map(words.numbers.map((number, at) => [number, at]));
    this.gone = new Map(words.retired.numbers.map((number, at) => [number, words.retired.boxes[at]]));
    this.inLine = new Map(); // line -> positions of its words
    words.lines.forEach((line, at) => {
      if (!this.inLine.has(line)) this.inLine.set(line, []);
      this.inLine.get(line).push(at);
    });
    this.cells = new Map();
    words.boxes.forEach((box, at) => {
      this.eachCell(box, (key) => {
        if (!this.cells.has(key)) this.cells.set(key, []);
        this.cells.get(key).push(at);
      });
    });
  }

  eachCell([x0, y0, x1, y1], visit) {
    for (let y = Math.floor(y0 / CELL); y <= Math.floor(y1 / CELL); y++) {
      for (let x = Math.floor(x0 / CELL); x <= Math.floor(x1 / CELL); x++) visit(y * STRIDE + x);
    }
  }

  // Position of the smallest word under the point, or -1. `slack` widens every box by that many pixels.
  at(x, y, slack = 0) {
    let best = -1,
      least = Infinity;
    for (const at of this.cells.get(Math.floor(y / CELL) * STRIDE + Math.floor(x / CELL)) ?? []) {
      const [x0, y0, x1, y1] = this.boxes[at];
      if (x < x0 - slack || x >= x1 + slack || y < y0 - slack || y >= y1 + slack) continue;
      const size = (x1 - x0) * (y1 - y0);
      if (size < least) [best, least] = [at, size];
    }
    return best;
  }

  // Positions of the words that reach into a box, in reading order.
  within([x0, y0, x1, y1]) {
    const found = new Set();
    this.eachCell([x0, y0, x1, y1], (key) => {
      for (const at of this.cells.get(key) ?? []) {
        const box = this.boxes[at];
        if (box[0] < x1 && box[2] > x0 && box[1] < y1 && box[3] > y0) found.add(at);
      }
    });
    return [...found].sort((left, right) => left - right);
  }

  // Positions of all words in the line of a word.
  line(at) {
    return this.inLine.get(this.lines[at]) ?? [];
  }

  // Whether the line of a word is read from right to left, as most of its words are.
  leftwards(at) {
    const ways = this.line(at).map((each) => goesLeft(this.texts[each]));
    return ways.filter((way) => way === true).length > ways.filter((way) => way === false).length;
  }

  // The word that a cursor at `at` reaches with an arrow key; the same one where the page ends.
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

  // Numbers of the words that a mark means: see living in words.js.
  living(numbers) {
    if (numbers.every((number) => this.position.has(number))) return numbers;
    return living(this.words, numbers).map((each) => each.number);
  }

  boxOf(number) {
    return this.boxes[this.position.get(number)] ?? this.gone.get(number);
  }

  boxesOf(numbers) {
    return numbers.flatMap((number) => (this.boxOf(number) ? [this.boxOf(number)] : []));
  }
}
