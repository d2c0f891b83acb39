// What a field of the form shows, and what is accepted with others.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  acceptable,
  fieldState,
  shownField,
  shownValues,
  unreadReasons,
} from '../../../annotator/static/state/form_fields.js';

const value = (more = {}) => ({
  ...{ printed: '1', text: '1', corrected: false, value: '1', rule: 'text', readings: [], reason: '' },
  ...more,
});
const field = (more = {}) => ({
  ...{ question_id: 'q', name: 'total', question: 'Total?', type: 'string', required: false },
  ...{ annotation_id: 'a', head: 0, status: 'draft', prediction_id: 'p', confidence: 0.9, accepted_from: null },
  ...{ no_answer: false, unaided: false, values: [value()], marks: [], broken: [] },
  ...more,
});

test('a decision comes before what stood in its way', () => {
  assert.equal(fieldState(field({ status: 'accepted', head: 1, broken: ['wrong'] })), 'accepted');
  assert.equal(fieldState(field({ broken: ['wrong'] })), 'broken');
});

test('each state of an open field has a name', () => {
  const reading = { value: '2026-04-03', words: 'day first', convention: {} };
  assert.equal(fieldState(field({ status: null, annotation_id: null, values: [] })), 'waiting');
  assert.equal(fieldState(field({ values: [value({ value: null, readings: [reading] })] })), 'ambiguous');
  assert.equal(fieldState(field({ values: [value({ value: null, reason: 'no date' })] })), 'unreadable');
  assert.equal(fieldState(field({ values: [] })), 'unanswered');
  assert.equal(fieldState(field({ values: [], unaided: true })), 'by_hand');
  assert.equal(fieldState(field({ head: 1 })), 'corrected');
  assert.equal(fieldState(field()), 'proposed');
});

test('a table is shown as the number of its rows, and its unreadable cells are counted', () => {
  const cell = (row, column, more = {}) => value({ cell: { row, column }, ...more });
  const values = [cell(0, 'item'), cell(0, 'amount', { value: null, reason: 'no number' }), cell(3, 'item')];
  const table = field({ type: 'table', values });
  assert.deepEqual(shownValues(table), ['2 rows']);
  assert.deepEqual(unreadReasons(table), ['1 cell cannot be read as the type of its column.']);
  assert.deepEqual(shownValues(field({ type: 'table', values, no_answer: true })), []);
  assert.deepEqual(unreadReasons(field({ values: [value({ value: null, reason: 'no date' })] })), ['no date']);
});

test('without any bound all that is whole may be accepted, and nothing is sure', () => {
  const fields = [field(), field({ values: [] }), field({ broken: ['wrong'] }), field({ status: 'accepted' })];
  const { candidates, sure, bounded } = acceptable(fields);
  assert.deepEqual([candidates.length, sure.length, bounded], [1, 0, false]);
});

test('with a bound the sure ones are accepted, and what a person corrected', () => {
  const fields = [
    field({ accepted_from: 0.8 }),
    field({ accepted_from: 0.95 }),
    field({ accepted_from: 0.95, head: 2, confidence: null }),
  ];
  const { sure, bounded } = acceptable(fields);
  assert.deepEqual([sure, bounded], [[fields[0], fields[2]], true]);
});

test('values are shown as the papers of the project print them', () => {
  const amount = value({ value: { amount: '2987.88', currency: 'EUR' } });
  assert.equal(shownField(amount, 'currency', 'en_GB'), '€2,987.88');
  assert.equal(shownField(value({ value: null, text: '03/04/26' }), 'date', 'en-GB'), '03/04/26');
  assert.equal(shownField(value({ value: '1', text: '1' }), 'number', 'no locale at all'), '1');
  assert.equal(shownField(value({ value: true, text: '' }), 'signature', undefined), 'Marked');
});
