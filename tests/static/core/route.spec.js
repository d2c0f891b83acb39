import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { readRoute, writeRoute } from '../../../annotator/static/core/route.js';

const place = { pathname: '/app/', search: '?__theme=light', hash: '' };
globalThis.location = place;
globalThis.history = {
  state: { kept: true },
  replaceState(state, _, address) {
    assert.equal(state, this.state);
    assert.ok(address.startsWith('/app/?__theme=light#'));
    place.hash = address.slice(address.indexOf('#'));
  },
};

beforeEach(() => {
  place.hash = '';
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
