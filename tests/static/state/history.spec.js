import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Histories } from '../../../annotator/static/state/history.js';
import { EMPTY_MARK } from '../../../annotator/static/state/marks.js';
import { seeded } from '../seeded.js';

const moment = (runs, words = []) => ({
  mark: { ...EMPTY_MARK, words, mask: { box: [0, 0, runs, 1], counts: new Array(runs).fill(1) } },
});

test('steps lead back and forth through what was done, each mask for itself', () => {
  const rng = seeded(1);
  for (let turn = 0; turn < 50; turn++) {
    const histories = new Histories();
    /** What stood on each mask, step by step, and where each is now. */
    const masks = Array.from({ length: 4 }, (_, at) => ({ key: ['answer', `page ${at}`], stood: [moment(0)], at: 0 }));
    for (let step = 0; step < 200; step++) {
      const mask = rng.one(masks),
        { key, stood } = mask;
      const act = rng.one(['push', 'undo', 'redo']);
      if (act === 'push') {
        const after = moment(rng.whole(0, 3), [step]);
        histories.push(...key, stood[mask.at], after);
        stood.splice(++mask.at, Infinity, after);
      } else {
        const to = stood[mask.at + (act === 'undo' ? -1 : 1)] ?? null;
        assert.equal(histories[act](...key)?.to ?? null, to);
        if (to) mask.at += act === 'undo' ? -1 : 1;
      }
      assert.deepEqual(histories.can(...key), { undo: mask.at > 0, redo: mask.at < stood.length - 1 });
    }
  }
});

test('a mask remembers 200 steps, and the oldest go first', () => {
  const histories = new Histories();
  const moments = Array.from({ length: 251 }, (_, at) => moment(0, [at]));
  for (let at = 0; at < 250; at++) histories.push('answer', 'page', moments[at], moments[at + 1]);
  for (let at = 249; at >= 50; at--) assert.equal(histories.undo('answer', 'page').to, moments[at]);
  assert.equal(histories.undo('answer', 'page'), null);
});

test('the twenty masks that were used last are remembered', () => {
  const histories = new Histories();
  for (let page = 0; page < 60; page++) histories.push('answer', `page ${page}`, moment(0), moment(1));
  histories.can('answer', 'page 40'); // used again, just now
  histories.push('answer', 'one more', moment(0), moment(1));
  assert.equal(histories.masks.size, 20);
  for (const [page, kept] of [['page 39'], ['page 41'], ['page 40', true], ['page 59', true], ['one more', true]])
    assert.equal(histories.masks.has(`answer ${page}`), Boolean(kept), page);
});

test('all masks together remember four million runs, the step just made whatever its size', () => {
  const histories = new Histories();
  for (let step = 0; step < 10; step++) histories.push('answer', 'old', moment(100_000), moment(100_000));
  histories.undo('answer', 'old');
  for (let step = 0; step < 40; step++) histories.push('answer', 'page', moment(200_000), moment(200_000));
  assert.equal(histories.of('answer', 'page').done.length, 10);
  assert.deepEqual(histories.can('answer', 'old'), { undo: false, redo: false });
  histories.push('answer', 'huge', moment(0), moment(5_000_000));
  assert.deepEqual(histories.can('answer', 'page'), { undo: false, redo: false });
  assert.equal(histories.undo('answer', 'huge')?.to.mark.mask.counts.length, 0);
});

test('what is forgotten of one annotation stays of another whose name begins alike', () => {
  const histories = new Histories();
  for (const annotation of ['a1', 'a10'])
    for (const page of ['p', 'q']) histories.push(annotation, page, moment(0), moment(1));
  histories.forget('a1');
  assert.ok(!histories.can('a1', 'p').undo && !histories.can('a1', 'q').undo);
  assert.ok(histories.can('a10', 'p').undo && histories.can('a10', 'q').undo);
});

test('whatever is done on whatever page, undo takes the last thing back, and redo leads to the same answer again', () => {
  const rng = seeded(7),
    pages = ['p', 'q', 'r'];
  for (let turn = 0; turn < 100; turn++) {
    const histories = new Histories();
    /** What stands: a list of marks by page; a whole step changes all of them. */
    const mark = (number) => ({ ...EMPTY_MARK, words: [number] });
    let stands = { p: mark(0), q: mark(0), r: mark(0) },
      made = 0;
    const show = (to, page) => (stands = to.parts ? { ...to.parts } : { ...stands, [page]: to.mark });
    const draw = (page, whole) => {
      const before = { ...stands };
      made++;
      stands = whole ? { p: mark(made), q: mark(made), r: mark(made) } : { ...stands, [page]: mark(made) };
      const moment = (of) => ({ mark: of[page], ...(whole ? { parts: of } : {}) });
      histories.push('answer', page, moment(before), moment({ ...stands }));
    };
    for (let step = 0; step < 40; step++) {
      const page = rng.one(pages),
        act = rng.one(['draw', 'draw', 'whole', 'undo', 'redo', 'undo']);
      if (act === 'draw' || act === 'whole') draw(page, act === 'whole');
      else {
        const before = JSON.stringify(stands);
        const there = histories[act]('answer', page);
        if (!there) continue;
        show(there.to, there.page);
        const back = histories[act === 'undo' ? 'redo' : 'undo']('answer', there.page);
        show(back.to, back.page);
        assert.equal(JSON.stringify(stands), before, 'the way back leads where it came from');
        const again = histories[act]('answer', there.page);
        show(again.to, again.page);
      }
    }
  }
});
