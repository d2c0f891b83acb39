import assert from 'node:assert/strict';
import { test } from 'node:test';

import { nearestWord, touches, wordsBetween } from '../../../annotator/static/canvas/text_selection.js';
import { WordGrid } from '../../../annotator/static/canvas/word_grid.js';
import { NO_WORDS } from '../../../annotator/static/words/words.js';

/**
 * A page of lines; each word is [text, x], 12 high and 8 a letter, the lines 20 apart, in reading order.
 *
 * @param {[string, number][][]} lines
 * @param {(box: number[]) => number[]} [turn]
 */
function printed(lines, turn = (box) => box) {
  const words = lines.flatMap((line, row) => line.map(([text, x]) => ({ text, x, row })));
  return new WordGrid({
    ...NO_WORDS,
    numbers: words.map((word, at) => at),
    boxes: words.map(({ text, x, row }) => turn([x, 20 * row, x + 8 * text.length, 20 * row + 12])),
    texts: words.map((word) => word.text),
    lines: words.map((word) => word.row),
  });
}

const ADDRESS = [
  [
    ['Acme', 10],
    ['Trading', 50],
    ['Invoice', 300],
    ['No', 364],
    ['17', 390],
  ],
  [
    ['Long', 10],
    ['Street', 50],
    ['Buildings', 106],
    ['5', 186],
    ['Date', 300],
    ['1', 350],
    ['May', 366],
  ],
  [
    ['10115', 10],
    ['Berlin', 58],
    ['Due', 300],
    ['8', 332],
    ['May', 348],
  ],
  [['Germany', 10]],
];
const TABLE = [
  [
    ['Item', 10],
    ['Qty', 200],
    ['Price', 300],
  ],
  [
    ['Paper', 10],
    ['3', 200],
    ['5.00', 300],
  ],
  [
    ['Ink', 10],
    ['2', 200],
    ['7.00', 300],
  ],
];

const position = (grid, text) => grid.texts.indexOf(text);
const texts = (grid, first, last, whole = false) =>
  wordsBetween(grid, position(grid, first), position(grid, last), whole).map((at) => grid.texts[at]);

test('a diagonal drag over an address takes all of its lines, and nothing of the column beside it', () => {
  const grid = printed(ADDRESS);
  const address = ['Acme', 'Trading', 'Long', 'Street', 'Buildings', '5', '10115', 'Berlin'];
  assert.deepEqual(texts(grid, 'Acme', 'Berlin'), address);
  assert.deepEqual(texts(grid, 'Berlin', 'Acme'), address, 'upwards');
  assert.deepEqual(texts(grid, 'Trading', '10115'), address.slice(1, -1));
  assert.deepEqual(texts(grid, 'Date', 'Due'), ['Date', '1', 'May', 'Due']);
});

test('whole lines are those of the column', () => {
  const grid = printed(ADDRESS);
  assert.deepEqual(texts(grid, 'Street', 'Street', true), ['Long', 'Street', 'Buildings', '5']);
  assert.deepEqual(texts(grid, 'Trading', '10115', true), [
    ...['Acme', 'Trading', 'Long', 'Street', 'Buildings', '5', '10115', 'Berlin'],
  ]);
});

test('in one line everything between two words is taken, however wide the gaps', () => {
  const grid = printed(ADDRESS);
  assert.deepEqual(texts(grid, 'Trading', 'Invoice'), ['Trading', 'Invoice']);
  assert.deepEqual(
    texts(grid, 'Trading', 'Invoice', true),
    ADDRESS[0].map(([text]) => text),
  );
});

test('in a table a drag down takes cells of its column, and one across columns takes the rows between', () => {
  const grid = printed(TABLE);
  assert.deepEqual(texts(grid, 'Qty', '2'), ['Qty', '3', '2']);
  assert.deepEqual(texts(grid, 'Paper', '7.00'), ['Paper', '3', '5.00', 'Ink', '2', '7.00']);
});

test('columns of prose follow each other', () => {
  const left = [
      [
        ['One', 10],
        ['two', 40],
      ],
      [
        ['three', 10],
        ['four', 60],
      ],
    ],
    right = [
      [
        ['five', 300],
        ['six', 340],
      ],
      [
        ['seven', 300],
        ['eight', 350],
      ],
    ];
  const grid = printed([...left, ...right], (box) => box);
  assert.deepEqual(texts(grid, 'three', 'six'), ['three', 'four', 'five', 'six']);
});

test('text that runs from right to left is taken in its order', () => {
  const grid = printed([
    [
      ['שלום', 200],
      ['עולם', 160],
      ['טוב', 130],
    ],
    [
      ['בוקר', 200],
      ['אור', 170],
    ],
  ]);
  assert.deepEqual(texts(grid, 'עולם', 'בוקר'), ['עולם', 'טוב', 'בוקר']);
});

test('on turned pages columns are what they were upright', () => {
  const turns = {
    90: ([x0, y0, x1, y1]) => [-y1, x0, -y0, x1],
    180: ([x0, y0, x1, y1]) => [-x1, -y1, -x0, -y0],
    270: ([x0, y0, x1, y1]) => [y0, -x1, y1, -x0],
  };
  for (const [degrees, turn] of Object.entries(turns)) {
    const upright = printed(ADDRESS),
      turned = printed(ADDRESS, turn);
    for (let first = 0; first < upright.texts.length; first++)
      for (let last = 0; last < upright.texts.length; last++)
        for (const whole of [false, true])
          assert.deepEqual(
            wordsBetween(turned, first, last, whole),
            wordsBetween(upright, first, last, whole),
            `${degrees}: ${upright.texts[first]} to ${upright.texts[last]}`,
          );
  }
});

test('a selection never leaves the range between its ends, and has both', () => {
  for (const grid of [printed(ADDRESS), printed(TABLE)])
    for (let first = 0; first < grid.texts.length; first++)
      for (let last = 0; last < grid.texts.length; last++) {
        const taken = wordsBetween(grid, first, last, false);
        assert.ok(taken.includes(first) && taken.includes(last));
        assert.ok(taken.every((at) => at >= Math.min(first, last) && at <= Math.max(first, last)));
        assert.deepEqual(
          taken,
          [...taken].sort((left, right) => left - right),
        );
      }
});

test('on empty paper a drag means the nearest word of its column', () => {
  const grid = printed(ADDRESS),
    start = position(grid, 'Acme');
  const at = (x, y) => grid.texts[nearestWord(grid, [x, y], start)];
  assert.equal(at(120, 6), 'Trading', 'behind the line');
  assert.equal(at(290, 46), 'Berlin', 'near the other column');
  assert.equal(at(5, -20), 'Acme', 'above the page');
  assert.equal(at(200, 300), 'Germany', 'below the last line');
});

test('words touch those beside them and in the next line, and none farther away', () => {
  const grid = printed(ADDRESS);
  const by = (text, other) => touches(grid, [position(grid, text)], new Set([position(grid, other)]));
  assert.ok(by('Trading', 'Acme') && by('Long', 'Acme'));
  assert.ok(!by('Invoice', 'Trading') && !by('Germany', 'Acme') && !touches(grid, [0], new Set()));
});
