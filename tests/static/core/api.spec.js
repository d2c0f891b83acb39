import assert from 'node:assert/strict';
import { test } from 'node:test';

import { fetchWithin, get, put, writesEnd } from '../../../annotator/static/core/api.js';

test('who waits for writes waits for those that follow each other, and for no reading', async () => {
  /** @type {((value: unknown) => void)[]} */
  const answers = [];
  const headers = new Headers();
  globalThis.fetch = () => new Promise((resolve) => answers.push(resolve));
  const answer = () => answers.shift()({ ok: true, status: 200, headers, text: async () => '{}' });
  const saving = put('/x', {}, {}).then(() => put('/x', {}, {}));
  get('/x', {});
  let ended = false;
  const waiting = writesEnd(60_000).then(() => (ended = true));
  await new Promise((later) => setTimeout(later, 120));
  assert.equal(ended, false);
  answer(); // the first save: the next one follows
  await new Promise((later) => setTimeout(later, 120));
  assert.equal(ended, false);
  answers.pop()({ ok: true, status: 200, headers, text: async () => '{}' });
  await saving;
  await waiting;
  assert.equal(answers.length, 1); // the reading is under way
});

test('a write that never ends is waited for no longer than was said', async () => {
  globalThis.fetch = () => new Promise(() => {});
  put('/x', {}, {});
  const begun = Date.now();
  await writesEnd(150);
  assert.ok(Date.now() - begun < 5000);
});

test('a page that nobody has touched for a minute marks what it asks, its pictures too', async (t) => {
  /** @type {(string | null)[]} */
  const marks = [];
  globalThis.fetch = async (_, { headers }) => {
    marks.push(new Headers(headers).get('X-Glossator-Background'));
    return new Response('{}');
  };
  const ask = () => Promise.all([get('/x', {}), fetchWithin('/x')]);
  await ask();
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 61_000 });
  await ask();
  assert.deepEqual(marks, [null, null, '1', '1']);
});
