import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { TableTurns } from '../../../annotator/static/gradio/table_turns.js';

const bills = { table: 'documents', project: 'bills', query: '' };
const FIRST = { ...bills, trail: [], next: 'a' };
const SECOND = { ...bills, trail: ['a'], next: 'b' };
const LAST = { ...bills, trail: ['a', 'b'], next: null };

let turns;

/** Cursors of the pages up to the one that a refresh asks for. */
const asked = (place) => turns.take(['a search', place, null])[1].trail;

beforeEach(() => {
  turns = new TableTurns();
});

test('a turn is asked for once, and later refreshes stay on its page', () => {
  assert.ok(turns.turn('next', FIRST));
  assert.deepEqual(asked(FIRST), ['a']);
  turns.end();
  assert.deepEqual(asked(SECOND), ['a']);
  assert.ok(turns.turn('previous', SECOND));
  assert.deepEqual(asked(SECOND), []);
});

test('a turn outlives the refresh that was on its way, and goes on from what that has brought', () => {
  asked(FIRST);
  assert.ok(turns.turn('next', FIRST));
  turns.end();
  const newer = { ...FIRST, next: 'a2' }; // a document was added meanwhile
  assert.deepEqual(asked(newer), ['a2']);
});

test('two clicks on one button turn one page, before a refresh takes the turn along and after', () => {
  assert.ok(turns.turn('next', FIRST));
  assert.ok(!turns.turn('next', FIRST));
  assert.deepEqual(asked(FIRST), ['a']);
  assert.ok(!turns.turn('next', FIRST));
  turns.end();
  assert.deepEqual(asked(SECOND), ['a']);
  assert.ok(turns.turn('next', SECOND));
  assert.deepEqual(asked(SECOND), ['a', 'b']);
});

test('the other button takes a turn back', () => {
  turns.turn('next', SECOND);
  turns.turn('previous', SECOND);
  assert.deepEqual(asked(SECOND), ['a']);
  turns.turn('next', SECOND);
  assert.deepEqual(asked(SECOND), ['a', 'b']);
  assert.ok(turns.turn('previous', SECOND)); // the last page is on its way
  turns.end();
  assert.deepEqual(asked(LAST), ['a']);
});

test('a turn of another search or project is dropped', () => {
  turns.turn('next', FIRST);
  const found = { ...FIRST, query: 'rent', next: 'z' };
  assert.deepEqual(asked(found), []);
  turns.end();
  assert.deepEqual(asked(FIRST), []);
});

test('there is no page behind the last and none before the first', () => {
  turns.turn('next', LAST);
  assert.deepEqual(asked(LAST), ['a', 'b']);
  turns.end();
  turns.turn('previous', FIRST);
  assert.deepEqual(asked(FIRST), []);
});

test('each table of a tab has its own turn', () => {
  const models = { table: 'models', project: 'bills', trail: [], next: 'm' };
  turns.turn('next', FIRST);
  assert.deepEqual(
    turns.take([FIRST, models]).map(({ trail }) => trail),
    [['a'], []],
  );
});

test('what is no place of a table goes as it is', () => {
  assert.ok(!turns.turn('next', {}));
  assert.deepEqual(turns.take([{}, null, 'x', undefined]), [{}, null, 'x', undefined]);
});
