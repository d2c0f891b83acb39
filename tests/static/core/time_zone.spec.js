import assert from 'node:assert/strict';
import { test } from 'node:test';

process.env.TZ = 'Pacific/Kiritimati';

globalThis.HTMLElement ??= class {};

test('a moment is shown on the clock of the reader', async () => {
  const { onClock } = await import('../../../annotator/static/core/time_zone.js');
  assert.equal(onClock(new Date('2026-11-28T10:05:00Z')), '2026-11-29 00:05');
  assert.equal(onClock(new Date('2026-11-28T09:59:00Z')), '2026-11-28 23:59');
});
