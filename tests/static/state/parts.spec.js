import assert from 'node:assert/strict';
import { test } from 'node:test';

import { EMPTY_MARK } from '../../../annotator/static/state/marks.js';
import { editsTo, opened } from '../../../annotator/static/state/opened.js';
import {
  otherMarks,
  partsOf,
  renumbered,
  sameParts,
  viewOf,
  wordsDiffer,
} from '../../../annotator/static/state/parts.js';
import { seeded } from '../seeded.js';

const MASKS = [EMPTY_MARK.mask, { box: [0, 0, 4, 1], counts: [0, 4] }, { box: [1, 0, 5, 1], counts: [0, 4] }];
const PICKED = { value: '2026-04-03', convention: {} };

const mark = (rng) => ({
  words: rng.some([0, 1, 2], rng.whole(0, 3)),
  mask: rng.one(MASKS),
  points: rng.one([[], [[3, 4, true]]]),
  boxes: [],
});

const part = (rng) => ({
  pages: Object.fromEntries(rng.some(['p', 'q'], rng.whole(0, 3)).map((page) => [page, mark(rng)])),
  correction: rng.one([
    null,
    { text: 'Ann', reading: null },
    { text: null, reading: PICKED },
    { text: '3/4', reading: PICKED },
  ]),
  ...rng.one([{}, { cell: { row: rng.whole(0, 2), column: rng.one(['item', 'amount']) } }]),
});

const version = (rng) => ({
  parts: Array.from({ length: rng.whole(1, 4) }, () => part(rng)),
  no_answer: rng.share() < 0.3,
});

/** What the server makes of edits: see engine/annotation/change.py. */
function applied({ parts, no_answer }, edits) {
  const state = { parts: parts.map((each) => ({ ...each, pages: { ...each.pages } })), no_answer };
  for (const { place = 0, ...edit } of edits) {
    const own = state.parts[place];
    if (edit.op === 'no_answer') state.no_answer = edit.value;
    else if (edit.op === 'add_value') state.parts.splice(place, 0, { pages: {}, correction: null, cell: edit.cell });
    else if (edit.op === 'remove_value') state.parts.splice(place, 1);
    else if (edit.op === 'cell') own.cell = edit.cell;
    else if (edit.op === 'text') own.correction = edit.text === null ? null : { text: edit.text, reading: null };
    else if (edit.op === 'reading') own.correction = { text: own.correction?.text ?? null, reading: edit.reading };
    else {
      const before = own.pages[edit.page] ?? EMPTY_MARK;
      if (edit.op === 'clear') own.pages[edit.page] = EMPTY_MARK;
      else if (edit.op === 'mask') own.pages[edit.page] = { ...before, words: edit.words, mask: edit.mask };
      else if (edit.op === 'prompts') own.pages[edit.page] = { ...before, points: edit.points, boxes: edit.boxes };
      else assert.fail(edit.op);
      if (wordsDiffer(before, own.pages[edit.page])) own.correction = null;
    }
  }
  return state;
}

test('edits to a version of an answer lead there from any other, with its values and what was said of them', () => {
  const rng = seeded(2);
  for (let turn = 0; turn < 1000; turn++) {
    const mine = version(rng),
      theirs = version(rng);
    const reached = applied(theirs, editsTo(mine, theirs));
    assert.equal(reached.no_answer, mine.no_answer);
    assert.ok(sameParts(reached.parts, mine.parts), JSON.stringify([mine, theirs]));
    assert.deepEqual(editsTo(mine, reached), []);
  }
});

test('parts that stay as they are, are not sent anew when others come and go before them', () => {
  const rng = seeded(3);
  for (let turn = 0; turn < 500; turn++) {
    const theirs = version(rng),
      kept = rng.some(theirs.parts, rng.whole(0, theirs.parts.length + 1));
    const parts = kept.flatMap((each) => (rng.share() < 0.4 ? [part(rng), each] : [each]));
    const mine = { parts: parts.length ? parts : [part(rng)], no_answer: false };
    assert.ok(sameParts(applied(theirs, editsTo(mine, theirs)).parts, mine.parts), JSON.stringify([mine, theirs]));
  }
  const cells = Array.from({ length: 100 }, (_, row) => ({
    pages: { p: { ...EMPTY_MARK, words: [row], mask: MASKS[1] } },
    correction: null,
    cell: { row, column: 'item' },
  }));
  const edits = editsTo({ parts: cells.slice(1), no_answer: false }, { parts: cells, no_answer: false });
  assert.deepEqual(edits, [{ op: 'remove_value' }]);
});

test('an answer without several values is opened as one value', () => {
  const [only, ...others] = partsOf({ no_answer: false, pages: { p: { words: [1], mask: MASKS[1] } } });
  assert.deepEqual([only.pages.p, others], [{ ...EMPTY_MARK, words: [1], mask: MASKS[1] }, []]);
});

test('values that wait in the queue stand in the answer that is opened', () => {
  const annotation = { state: { no_answer: false, pages: {} }, proposal: null, status: 'draft' };
  const parts = [
    { pages: {}, correction: null },
    { pages: { p: { ...EMPTY_MARK, words: [2] } }, correction: null },
  ];
  const local = opened(annotation, [{ parts, place: 1, no_answer: false, action: 'edit' }]);
  assert.deepEqual([local.place, local.pages], [1, parts[1].pages]);
});

test('the server names the values that mark something, in their order', () => {
  const blank = { pages: {}, correction: null };
  const full = { pages: { p: { ...EMPTY_MARK, words: [1] } }, correction: null };
  const values = [{ text: 'Ann' }, { text: 'Ben' }];
  assert.deepEqual(
    [0, 1, 2].map((place) => viewOf([full, blank, full], values, place)?.text),
    ['Ann', undefined, 'Ben'],
  );
});

test('other values of a page are shown with their numbers, and words follow their new numbers', () => {
  const parts = [1, 2].map((at) => ({
    pages: { p: { ...EMPTY_MARK, words: [at], mask: MASKS[at] } },
    correction: null,
  }));
  assert.deepEqual(otherMarks(parts, 0, 'p'), [{ box: MASKS[2].box, number: 2 }]);
  assert.deepEqual(renumbered(parts[0], 'p', (number) => number + 7).pages.p.words, [8]);
  assert.deepEqual(renumbered(parts[0], 'p', () => null).pages.p.words, []);
});
