// Which word is under a point, in a line, next to another: a uniform grid over the boxes of one page.

const CELL = 64;
const STRIDE = 65536;

export class WordGrid {
  // words: { numbers, boxes, texts, lines } in reading order, as the server sends them. Positions below are indices into these.
  constructor(words) {
    this.numbers = words.numbers;
    this.boxes = words.boxes;
    this.texts = words.texts;
    this.lines = words.lines;
    this.position = new Map(words.numbers.map((number, at) => [number, at]));
    this.cells = new Map();
    words.boxes.forEach((box, at) => {
      for (let y = Math.floor(box[1] / CELL); y <= Math.floor(box[3] / CELL); y++) {
        for (let x = Math.floor(box[0] / CELL); x <= Math.floor(box[2] / CELL); x++) {
          const key = y * STRIDE + x;
          if (!this.cells.has(key)) this.cells.set(key, []);
          this.cells.get(key).push(at);
        }
      }
    });
  }

  // Position of the smallest word under the point, or -1. `slack` widens every box by that many pixels.
  at(x, y, slack = 0) {
    let best = -1, least = Infinity;
    for (const at of this.cells.get(Math.floor(y / CELL) * STRIDE + Math.floor(x / CELL)) ?? []) {
      const [x0, y0, x1, y1] = this.boxes[at];
      if (x < x0 - slack || x >= x1 + slack || y < y0 - slack || y >= y1 + slack) continue;
      const size = (x1 - x0) * (y1 - y0);
      if (size < least) [best, least] = [at, size];
    }
    return best;
  }

  // Positions of all words in the line of a word.
  line(at) {
    return this.lines.flatMap((line, other) => (line === this.lines[at] ? [other] : []));
  }

  // The word that a cursor at `at` reaches with an arrow key; the same one where the page ends.
  neighbour(at, direction) {
    if (direction === 'left') return Math.max(0, at - 1);
    if (direction === 'right') return Math.min(this.boxes.length - 1, at + 1);
    const [x0, y0, x1, y1] = this.boxes[at];
    const middle = (x0 + x1) / 2, height = (y0 + y1) / 2, down = direction === 'down';
    let best = at, least = Infinity;
    this.boxes.forEach((box, other) => {
      const rise = (box[1] + box[3]) / 2 - height;
      if (down ? rise < (y1 - y0) / 2 : rise > (y0 - y1) / 2) return;
      const aside = Math.max(0, box[0] - middle, middle - box[2]);
      const far = Math.abs(rise) * 3 + aside;
      if (far < least) [best, least] = [other, far];
    });
    return best;
  }

  textOf(numbers) {
    const chosen = new Set(numbers);
    return this.numbers.flatMap((number, at) => (chosen.has(number) ? [this.texts[at]] : [])).join(' ');
  }

  boxesOf(numbers) {
    return numbers.flatMap((number) => (this.position.has(number) ? [this.boxes[this.position.get(number)]] : []));
  }
}
