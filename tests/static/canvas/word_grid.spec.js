import assert from 'node:assert/strict';
import { test } from 'node:test';

import { WordGrid } from '../../../annotator/static/canvas/word_grid.js';
import { editWords } from '../../../annotator/static/words/words.js';
import { seeded } from '../seeded.js';
import { anyEdit, page } from '../words/page.js';

/** Words in any place, over each other too; some lie along the borders of the grid's cells. */
function scattered(rng, number = 60) {
  const numbers = Array.from({ length: number }, (_, at) => 100 + at);
  return {
    ...page(0),
    numbers,
    boxes: numbers.map(() => {
      const x = rng.one([rng.whole(0, 600), 64 * rng.whole(0, 9)]),
        y = rng.one([rng.whole(0, 600), 64 * rng.whole(0, 9)]);
      return [x, y, x + rng.whole(1, 120), y + rng.whole(1, 40)];
    }),
    texts: numbers.map(String),
    lines: numbers.map(() => rng.whole(0, 9)),
  };
}

const area = ([x0, y0, x1, y1]) => (x1 - x0) * (y1 - y0);

test('the word at a point is the smallest one there, with the slack around it', () => {
  const rng = seeded(1);
  for (let turn = 0; turn < 40; turn++) {
    const words = scattered(rng),
      grid = new WordGrid(words);
    for (let look = 0; look < 100; look++) {
      const x = rng.one([rng.share() * 700 - 20, 64 * rng.whole(0, 9) - 1]),
        y = rng.one([rng.share() * 700 - 20, 64 * rng.whole(0, 9) - 1]),
        slack = rng.one([0, 2, 5]);
      const there = words.boxes
        .map((box, at) => ({ box, at }))
        .filter(({ box: [x0, y0, x1, y1] }) => x >= x0 - slack && x < x1 + slack && y >= y0 - slack && y < y1 + slack)
        .sort((left, right) => area(left.box) - area(right.box) || left.at - right.at);
      assert.equal(grid.at(x, y, slack), there[0]?.at ?? -1, `${x} ${y} ${slack}`);
    }
  }
});

test('the words within a box are those that reach into it, in reading order', () => {
  const rng = seeded(2);
  for (let turn = 0; turn < 200; turn++) {
    const words = scattered(rng),
      x0 = rng.whole(-100, 650),
      y0 = rng.whole(-100, 650);
    const [x1, y1] = [x0 + rng.whole(1, 400), y0 + rng.whole(1, 400)];
    const expected = words.boxes.flatMap(([left, top, right, bottom], at) =>
      Math.max(left, x0) < Math.min(right, x1) && Math.max(top, y0) < Math.min(bottom, y1) ? [at] : [],
    );
    assert.deepEqual(new WordGrid(words).within([x0, y0, x1, y1]), expected);
  }
});

test('arrow keys go the way the line is read', () => {
  const words = {
    ...page(0),
    numbers: [0, 1, 2, 3],
    lines: [0, 0, 1, 1],
    texts: ['סך', 'לתשלום', 'left', 'right'],
    boxes: [
      [80, 0, 100, 10],
      [50, 0, 70, 10],
      [10, 20, 30, 30],
      [40, 20, 60, 30],
    ],
  };
  const grid = new WordGrid(words);
  const walked = [
    [0, 'left'],
    [1, 'right'],
    [1, 'left'],
    [2, 'right'],
    [3, 'left'],
    [0, 'right'],
    [3, 'right'],
  ].map(([at, direction]) => grid.neighbour(at, direction));
  assert.deepEqual(walked, [1, 0, 2, 3, 2, 0, 3]);
});

test('arrow keys reach the nearest word above and below, and stay where there is none', () => {
  const grid = new WordGrid(page(24)); // three lines of eight, the third read leftwards
  for (let at = 0; at < 24; at++) {
    assert.equal(grid.neighbour(at, 'down'), at < 16 ? at + 8 : at);
    assert.equal(grid.neighbour(at, 'up'), at < 8 ? at : at - 8);
  }
});

test('the next doubtful word follows in reading order, and behind the last one comes the first', () => {
  const { words } = editWords(page(24), [{ op: 'add', text: 'x', box: [72, 2, 88, 22] }]); // 3, 10 and 17 are doubtful
  const grid = new WordGrid(words),
    next = (number) => grid.numbers[grid.nextDoubtful(grid.position.get(number) ?? -1)];
  assert.deepEqual([-1, 3, 10, 12, 17, 23].map(next), [3, 10, 17, 17, 3, 3]);
  assert.equal(new WordGrid({ ...words, doubtful: [] }).nextDoubtful(4), -1);
});

test('numbers find the boxes of words that stand and of those that are retired, and lines their words', () => {
  const rng = seeded(3);
  let words = page();
  for (let step = 0; step < 60; step++) {
    words = editWords(words, [anyEdit(rng, words)]).words;
    const grid = new WordGrid(words);
    words.numbers.forEach((number, at) => assert.equal(grid.boxOf(number), words.boxes[at]));
    words.retired.numbers.forEach((number, at) => assert.equal(grid.boxOf(number), words.retired.boxes[at]));
    assert.deepEqual(grid.boxesOf([words.numbers[0], 9999]), [words.boxes[0]]);
    const at = rng.whole(0, words.numbers.length);
    assert.deepEqual(
      grid.line(at),
      words.lines.flatMap((line, other) => (line === words.lines[at] ? [other] : [])),
    );
    const named = rng.some(words.numbers, 3);
    assert.deepEqual(grid.living(named), named);
    const [gone] = words.retired.numbers;
    if (gone !== undefined) assert.ok(grid.living([gone]).length > 0);
  }
});
