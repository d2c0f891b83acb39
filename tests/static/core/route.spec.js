import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { readRoute, writeRoute } from '../../../annotator/static/core/route.js';

const place = { pathname: '/app/', search: '?__theme=light', hash: '' };
globalThis.location = place;
/** @type {string[]} */
let steps = [];
const write = (how) =>
  function (state, _, address) {
    assert.equal(state, this.state);
    assert.ok(address.startsWith('/app/?__theme=light#'));
    place.hash = address.slice(address.indexOf('#'));
    steps.push(how);
  };
globalThis.history = { state: { kept: true }, replaceState: write('replace'), pushState: write('push') };

beforeEach(() => {
  place.hash = '';
  steps = [];
  readRoute();
});

test('what is written is read again, whatever stands in the ids', () => {
  const wanted = { project: 'a b', document: 'x&y=z', annotation: 'ä#', page: '100 %' };
  writeRoute(wanted);
  assert.deepEqual(readRoute(), wanted);
  writeRoute({ document: 'd', page: null });
  assert.equal(place.hash, '#document=d');
  assert.deepEqual(readRoute(), { project: null, document: 'd', annotation: null, page: null });
});

test('an address that somebody has just changed is not written over before it is read', () => {
  writeRoute({ document: 'mine' });
  place.hash = '#document=theirs';
  writeRoute({ document: 'late' });
  assert.equal(place.hash, '#document=theirs');
  assert.equal(readRoute().document, 'theirs');
  writeRoute({ document: 'next' });
  assert.equal(place.hash, '#document=next');
});

test('another document or answer is a step in the history, and what completes the address is none', () => {
  for (const [written, step] of [
    [{ document: 'd' }, 'replace'],
    [{ document: 'd', annotation: 'a' }, 'replace'],
    [{ document: 'd', annotation: 'a', page: '2' }, 'replace'],
    [{ document: 'd', annotation: 'b', page: '2' }, 'push'],
    [{ document: 'e' }, 'push'],
    [{ document: 'e', annotation: 'c' }, 'replace'],
  ]) {
    writeRoute(written);
    assert.equal(steps.pop(), step, JSON.stringify(written));
  }
});
