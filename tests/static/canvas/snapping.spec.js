import assert from 'node:assert/strict';
import { test } from 'node:test';

import { alongLine, aroundWords, intoLine } from '../../../annotator/static/canvas/snapping.js';
import { WordGrid } from '../../../annotator/static/canvas/word_grid.js';
import { seeded } from '../seeded.js';
import { page } from '../words/page.js';

const WORDS = page(), // lines of eight words, 70 x 24, 90 apart; the lines 60 apart
  GRID = new WordGrid(WORDS);

test('a drag stays in the line of its word until it clearly leaves it', () => {
  const rng = seeded(1);
  for (let turn = 0; turn < 500; turn++) {
    const start = rng.whole(0, 40),
      [, y0, , y1] = WORDS.boxes[start],
      x = rng.share() * 800 - 40,
      y = y0 - 60 + rng.share() * 144;
    const band = 0.6 * (y1 - y0);
    assert.deepEqual(alongLine(GRID, start, [x, y]), [x, y > y0 - band && y < y1 + band ? (y0 + y1) / 2 : y]);
  }
});

test('where a line bends, a drag stays at the height of the word that it is over', () => {
  const bent = { ...page(3), boxes: [10, 20, 30].map((y, at) => [90 * at, y, 90 * at + 70, y + 24]) };
  assert.deepEqual(alongLine(new WordGrid(bent), 0, [200, 25]), [200, 42]);
});

test('a frame is drawn along the words that it holds, as far as its edges are near theirs', () => {
  const around = (box, slack) => aroundWords(GRID, box, slack);
  assert.deepEqual(around([-5, -4, 163, 29], 5), [0, 0, 160, 24], 'two words');
  assert.deepEqual(around([-9, -4, 163, 27], 5), [-9, 0, 160, 24], 'the left edge is too far away');
  assert.deepEqual(around([2, 3, 158, 20], 5), [0, 0, 160, 24], 'from inside');
  assert.deepEqual(around([-3, -4, 120, 27], 5), [-3 + 3, 0, 120, 24], 'of the second word less than half is held');
  assert.deepEqual(around([86, -4, 120, 27], 5), [86, -4, 120, 27], 'a word of which less than half is held');
  assert.deepEqual(around([300, 30, 340, 55], 5), [300, 30, 340, 55], 'between the lines');
  const rng = seeded(2);
  for (let turn = 0; turn < 500; turn++) {
    const box = [rng.whole(-20, 600), rng.whole(-20, 250)],
      slack = rng.whole(0, 12);
    box.push(box[0] + rng.whole(5, 300), box[1] + rng.whole(5, 150));
    const drawn = around(box, slack);
    assert.ok(drawn.every((edge, side) => Math.abs(edge - box[side]) <= slack));
    const edges = [0, 1, 2, 3].map((side) => new Set(WORDS.boxes.map((each) => each[side])));
    assert.ok(drawn.every((edge, side) => edge === box[side] || edges[side].has(edge)));
  }
});

test('a new word is as high as the nearest one in the line that it overlaps by half', () => {
  assert.deepEqual(intoLine(GRID, [720, 3, 760, 20]), [720, 0, 760, 24]);
  assert.deepEqual(intoLine(GRID, [720, 63, 760, 90]), [720, 60, 760, 84]);
  assert.deepEqual(intoLine(GRID, [720, 14, 760, 48]), [720, 14, 760, 48], 'less than half of it');
  assert.deepEqual(intoLine(GRID, [900, 3, 940, 20]), [900, 3, 940, 20], 'too far from any word');
  const bent = { ...page(2), boxes: [0, 8].map((y, at) => [200 * at, y, 200 * at + 70, y + 24]) };
  assert.deepEqual(intoLine(new WordGrid(bent), [150, 6, 180, 26]), [150, 8, 180, 32], 'the nearer one counts');
});
