import assert from 'node:assert/strict';
import { test } from 'node:test';

import { union } from '../../../annotator/static/canvas/mask.js';
import { MarkedPage } from '../../../annotator/static/canvas/marked_page.js';
import { EMPTY_MARK, sameMark } from '../../../annotator/static/state/marks.js';
import { editWords } from '../../../annotator/static/words/words.js';
import { seeded } from '../seeded.js';
import { anyEdit, page } from '../words/page.js';

const WIDTH = 760,
  HEIGHT = 150;
const OPEN = { id: 'p', width: WIDTH, height: HEIGHT };

/** Words of two lines; each reaches into the next one. */
function overlapping() {
  const words = page(16);
  return { ...words, boxes: words.boxes.map(([x0, y0, x1, y1]) => [x0, y0, x1 + 40, y1]) };
}

/** A page that is told where it has changed. */
function open(words) {
  const marks = new MarkedPage(OPEN, words, (box) => (marks.told = union(marks.told, box)));
  marks.told = null;
  return marks;
}

/** Everything that is kept up to date step by step, worked out anew from the pixels and words. */
function anew({ grid, mask, selected }) {
  const under = new Uint8Array(WIDTH * HEIGHT);
  for (const number of selected) {
    const [x0, y0, x1, y1] = mask.clip(grid.boxOf(number));
    for (let y = y0; y < y1; y++) under.fill(1, y * WIDTH + x0, y * WIDTH + x1);
  }
  let painted = 0,
    loose = 0;
  mask.bytes.forEach((each, at) => {
    painted += each;
    loose += each && !under[at] ? 1 : 0;
  });
  const bare = [...selected].filter((number) => mask.covered(grid.boxOf(number)) < 0.5);
  return { under, disagree: { bare: bare.length, loose: painted ? loose / painted : 0 } };
}

function anyAct(marks, rng, marksBefore) {
  const { grid, mask } = marks;
  const act = rng.one(['words', 'brush', 'eraser', 'commit', 'set']);
  if (act === 'words') {
    const on = rng.share() < 0.6,
      numbers = rng.some(grid.numbers, rng.whole(1, 9));
    marks.setWords(
      numbers.filter((number) => marks.selected.has(number) !== on),
      on,
    );
  } else if (act === 'commit') marksBefore.push(marks.commit());
  else if (act === 'set') marks.set(rng.one(marksBefore));
  else {
    const box = mask.fillDisc(rng.whole(0, WIDTH), rng.whole(0, HEIGHT), rng.whole(3, 40), act === 'brush' ? 1 : 0);
    marks.touched(box);
  }
}

test('what is kept step by step is what the pixels and words say, and every change is told', () => {
  const rng = seeded(1);
  for (let turn = 0; turn < 4; turn++) {
    let words = overlapping();
    const marks = open(words),
      before = [EMPTY_MARK];
    for (let step = 0; step < 50; step++) {
      const [pixels, stood] = [Uint8Array.from(marks.mask.bytes), Uint8Array.from(marks.under.bytes)];
      marks.told = null;
      if (rng.share() < 0.25) {
        words = editWords(words, [anyEdit(rng, words)]).words;
        const mark = marks.commit();
        marks.setWordList(words);
        marks.set(mark);
      } else anyAct(marks, rng, before);
      const { under, disagree } = anew(marks);
      assert.deepEqual(marks.under.bytes, under);
      assert.deepEqual(marks.disagree(), disagree);
      const [x0, y0, x1, y1] = marks.told ?? [0, 0, 0, 0];
      for (let at = 0; at < pixels.length; at++) {
        if (pixels[at] === marks.mask.bytes[at] && stood[at] === marks.under.bytes[at]) continue;
        const x = at % WIDTH,
          y = Math.floor(at / WIDTH);
        assert.ok(x >= x0 && y >= y0 && x < x1 && y < y1, `${x} ${y} changed, told was ${marks.told}`);
      }
    }
  }
});

test('a mark that is set stands there, whatever stood before, and nothing is told where nothing changes', () => {
  const rng = seeded(2);
  const marks = open(overlapping()),
    before = [EMPTY_MARK];
  for (let step = 0; step < 80; step++) {
    anyAct(marks, rng, before);
    const mark = rng.one(before);
    marks.set(mark);
    assert.ok(sameMark(marks.current(), mark));
    const committed = marks.commit();
    marks.touched(marks.mask.fillDisc(rng.whole(0, WIDTH), 20, 9, rng.whole(0, 2)));
    marks.set(committed);
    assert.ok(sameMark(marks.current(), committed), 'a stroke that was given up');
    marks.told = null;
    marks.set({ ...committed, points: [[1, 1, true]] });
    assert.equal(marks.told, null);
    assert.deepEqual(marks.commit().points, [[1, 1, true]]);
  }
});

test('words that are split or deleted while they are hardly painted count as those that stand there now', () => {
  const words = page(3),
    parts = [{ text: 'a', box: [0, 0, 30, 24] }, { text: 'b', box: [30, 0, 70, 24] }]; // prettier-ignore
  const marks = open(words);
  marks.setWords([0, 1], true);
  marks.mask.fillBox([0, 0, WIDTH, HEIGHT], 0);
  marks.touched([0, 0, WIDTH, HEIGHT]);
  const mark = marks.commit();
  assert.deepEqual([...marks.bare], [0, 1]);
  marks.setWordList(editWords(words, [{ op: 'split', number: 0, parts }, { op: 'remove', number: 1 }]).words); // prettier-ignore
  marks.set(mark);
  assert.deepEqual([...marks.bare].sort(), [1, 3, 4], 'nothing stands in the place of the second one');
  marks.set(EMPTY_MARK);
  assert.deepEqual(marks.disagree(), { bare: 0, loose: 0 });
});

test('a word that is taken out leaves the pixels of words that stay', () => {
  const words = { ...page(2), boxes: [[0, 0, 70, 24], [50, 0, 120, 24]] }; // prettier-ignore
  const marks = open(words);
  marks.setWords([0, 1], true);
  marks.setWords([0], false);
  assert.deepEqual(marks.commit(), {
    ...EMPTY_MARK,
    words: [1],
    mask: { box: [50, 0, 120, 24], counts: [0, 70 * 24] },
  });
});

test('the whole mark travels where the server would refill what was erased, or knows other words', () => {
  const words = { ...page(3), boxes: [[0, 0, 70, 24], [50, 0, 120, 24], [200, 0, 270, 24]] }; // prettier-ignore
  const edits = [{ op: 'words', page: 'p', add: [], remove: [0] }];
  const sent = (erased, before = { ...EMPTY_MARK, words: [0, 1, 2] }) => {
    const marks = open(words);
    marks.setWords([0, 1, 2], true);
    marks.touched(marks.mask.fillDisc(...erased, 3, 0));
    marks.setWords([0], false);
    return marks.exact(edits, before)[0].op;
  };
  assert.equal(sent([20, 12]), 'words', 'erased in the word that goes');
  assert.equal(sent([235, 12]), 'words', 'erased in a word that the one that goes does not touch');
  assert.equal(sent([100, 12]), 'mask', 'erased in a word that stays, and overlaps the one that goes');
  assert.equal(sent([20, 12], { ...EMPTY_MARK, words: [0, 99] }), 'mask', 'the mark named a word that was split');
});
