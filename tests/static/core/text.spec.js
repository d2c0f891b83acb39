import assert from 'node:assert/strict';
import { afterEach, mock, test } from 'node:test';

import { count, moment, onThisClock, percent } from '../../../annotator/static/core/text.js';

process.env.TZ = 'Asia/Kolkata'; // five and a half hours ahead of UTC
afterEach(() => mock.timers.reset());

test('a number of things has the noun in its form', () => {
  assert.deepEqual(
    [0, 1, 2].map((number) => count(number, 'page')),
    ['0 pages', '1 page', '2 pages'],
  );
  assert.equal(count(2, 'person', 'people'), '2 people');
  assert.equal(percent(0.826), '83 %');
});

test('a moment is the shorter the nearer it is', () => {
  mock.timers.enable({ apis: ['Date'], now: new Date('2026-03-12T20:00:00Z') }); // 13 March, 01:30 here
  assert.equal(moment('2026-03-12T18:33:00Z'), '00:03');
  assert.equal(moment('2026-03-12T18:27:00Z'), '12 Mar, 23:57');
  assert.equal(moment('2025-03-12T08:33:00Z'), '12 Mar 2025, 14:03');
});

test('times of day in a sentence of the server are told by the clock here', () => {
  mock.timers.enable({ apis: ['Date'], now: new Date('2026-03-12T20:00:00Z') });
  assert.equal(onThisClock('Locked until 14:03:22 UTC, not 23:59:00 UTC.'), 'Locked until 19:33, not 05:29.');
  assert.equal(onThisClock('At 99:99:99 UTC, or 14:03.'), 'At 99:99:99 UTC, or 14:03.');
});
