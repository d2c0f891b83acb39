// A lease that somebody else has: its person hears what becomes of it, once each.

import assert from 'node:assert/strict';
import test from 'node:test';

import { ApiError } from '../../../annotator/static/core/api.js';
import { Lease } from '../../../annotator/static/sync/lease.js';

const HELD = 'Ben is now working on this question, until 10:42; your saved edits are kept.';
const ANSWERED = 'Ben answered this question meanwhile; your saved edits are kept.';

test('a lost lease is asked for again, and each piece of news is told once', async (t) => {
  Object.assign(globalThis, { document: new EventTarget(), window: new EventTarget() });
  /** @type {(string | null)[]} sentences of refusals; null: it is lent */
  const server = [HELD, HELD.replace('10:42', '10:43'), ANSWERED, null];
  /** @type {string[]} */
  const told = [];
  const keep = async () => {
    const refusal = server.shift();
    if (refusal) throw new ApiError(refusal, 409);
    return { lease_until: '2026-11-29T10:45:00Z' };
  };
  const on = { changed: () => {}, lost: (/** @type {string} */ sentence) => void told.push(sentence) };
  const lease = new Lease({ keep, giveBack: async () => {} }, '2026-11-29T10:40:00Z', () => 0, on);
  t.after(() => lease.end());
  for (let beat = 0; beat < 3; beat++) await lease.beat();
  assert.deepEqual(told, [HELD, ANSWERED]);
  assert.equal(lease.lost, ANSWERED);
  await lease.beat();
  assert.equal(lease.lost, null);
});

test('whoever leaves a task does not take it up again by a beat', async (t) => {
  Object.assign(globalThis, { document: new EventTarget(), window: new EventTarget() });
  /** @type {((answer: { lease_until: string }) => void)[]} */
  const beats = [];
  const keep = () =>
    new Promise((/** @type {(answer: { lease_until: string }) => void} */ answer) => beats.push(answer));
  const on = { changed: () => {}, lost: () => {} };
  const lease = new Lease({ keep, giveBack: async () => {} }, '2026-11-29T10:40:00Z', () => 0, on);
  t.after(() => lease.end());
  lease.beat();
  lease.beat();
  assert.equal(beats.length, 1); // the second would say the same
  let left = false;
  const leaving = lease.pause().then(() => (left = true));
  await Promise.resolve();
  assert.equal(left, false); // a beat under way may arrive after the request that leaves
  beats[0]({ lease_until: '2026-11-29T10:45:00Z' });
  await leaving;
  await lease.beat();
  assert.equal(beats.length, 1);
  lease.goOn(); // no other task came
  lease.beat();
  assert.equal(beats.length, 2);
});
