import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  EMPTY_MARK,
  editsBetween,
  isBlank,
  origin,
  sameMark,
  statusAfter,
} from '../../../annotator/static/state/marks.js';
import { opened } from '../../../annotator/static/state/opened.js';
import { seeded } from '../seeded.js';

const MASKS = [
  EMPTY_MARK.mask,
  { box: [0, 0, 4, 1], counts: [0, 4] },
  { box: [0, 0, 4, 1], counts: [0, 2, 1, 1] },
  { box: [1, 0, 5, 1], counts: [0, 4] },
];

/** A random mark; few kinds of everything, so that two are often alike in a part. */
const some = (rng) => ({
  words: rng.some([0, 1, 2], rng.whole(0, 3)),
  mask: rng.one(MASKS),
  points: rng.one([[], [[3, 4, true]], [[3, 4, false]]]),
  boxes: rng.one([[], [[0, 0, 9, 9]]]),
});

/** What the server makes of edits: see engine/annotation/state.py. */
function applied({ pages, no_answer }, edits) {
  const state = { pages: { ...pages }, no_answer };
  for (const edit of edits) {
    const before = state.pages[edit.page] ?? EMPTY_MARK;
    if (edit.op === 'clear') state.pages[edit.page] = EMPTY_MARK;
    else if (edit.op === 'mask') state.pages[edit.page] = { ...before, words: edit.words, mask: edit.mask };
    else if (edit.op === 'prompts') state.pages[edit.page] = { ...before, points: edit.points, boxes: edit.boxes };
    else if (edit.op === 'no_answer') state.no_answer = edit.value;
    else assert.fail(edit.op);
  }
  return state;
}

const sorted = (mark) => ({ ...mark, words: mark.words.toSorted() });

test('edits between two marks lead from one to the other, and there are none where they are the same', () => {
  const rng = seeded(1);
  for (let turn = 0; turn < 2000; turn++) {
    const from = some(rng),
      to = some(rng);
    const edits = editsBetween('p', from, to);
    const reached = applied({ pages: { p: from }, no_answer: false }, edits).pages.p;
    assert.deepEqual(sorted(reached), sorted(to));
    assert.equal(edits.length === 0, JSON.stringify(sorted(from)) === JSON.stringify(sorted(to)));
    assert.ok(edits.length <= 2);
  }
});

test('two marks are the same by words in any order and pixels, whatever their prompts', () => {
  const mark = { ...EMPTY_MARK, words: [10, 9, 2], mask: MASKS[1] };
  assert.ok(sameMark(mark, { ...mark, words: [2, 9, 10], points: [[1, 1, true]] }));
  assert.ok(!sameMark(mark, { ...mark, words: [2, 9] }));
  for (const mask of [MASKS[0], MASKS[2], MASKS[3]]) assert.ok(!sameMark(mark, { ...mark, mask }));
  assert.ok(isBlank({ ...EMPTY_MARK, boxes: [[0, 0, 1, 1]] }));
  assert.ok(!isBlank({ ...EMPTY_MARK, words: [0] }) && !isBlank({ ...EMPTY_MARK, mask: MASKS[1] }));
});

test('a mark is the model’s where one of its predictions said exactly that', () => {
  const said = [
    { words: [1, 2], mask: MASKS[1] },
    { words: [3], mask: MASKS[3] },
  ];
  assert.equal(origin({ words: [3], mask: MASKS[3] }, said), 'model');
  assert.equal(origin({ words: [2, 1], mask: MASKS[1] }, said), 'model');
  assert.equal(origin({ words: [3], mask: MASKS[1] }, said), 'person');
  assert.equal(origin(EMPTY_MARK, []), 'person');
});

test('an opened answer is what the server said with what waits on top, in its order', () => {
  const mark = { ...EMPTY_MARK, words: [1] },
    later = { ...EMPTY_MARK, words: [2] };
  const annotation = {
    id: 'a',
    status: 'accepted',
    proposal: { prediction_id: 'x' },
    state: { no_answer: true, pages: { p: { words: [7], mask: MASKS[1] }, q: mark } },
  };
  const still = opened(annotation, []);
  assert.deepEqual(still.pages, { p: { ...EMPTY_MARK, words: [7], mask: MASKS[1] }, q: mark });
  assert.deepEqual([still.no_answer, still.status, still.prediction_id], [true, 'accepted', 'x']);
  const waiting = [
    { pages: { p: mark }, no_answer: false, action: 'submit' },
    { pages: { p: later }, no_answer: false, action: 'edit' },
  ];
  const local = opened(annotation, waiting);
  assert.deepEqual(local.pages, { p: later, q: mark });
  assert.deepEqual([local.no_answer, local.status], [false, 'draft']);
  assert.equal(opened(annotation, waiting.slice(0, 1)).status, 'submitted');
  assert.equal(statusAfter('rejected'), 'rejected');
});
