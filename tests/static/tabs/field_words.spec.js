import assert from 'node:assert/strict';
import { test } from 'node:test';

import { definitionOf, draftOf } from '../../../annotator/static/tabs/field_draft.js';
import { findProblems, problemsFrom } from '../../../annotator/static/tabs/field_problems.js';
import { differences, marksOf, ruleWords } from '../../../annotator/static/tabs/field_words.js';

const field = (name, more = {}) => definitionOf({ name, question: `${name}?`, ...more });
const drafted = (...fields) =>
  draftOf(fields.map((each) => ({ ...each, id: each.name, version: 1, position: 0 }))).fields;
const found = (...fields) => findProblems(drafted(...fields)).map(({ key, part, sentence }) => [key, part, sentence]);

test('a rule is worded as a sentence', () => {
  assert.equal(ruleWords({ rule: 'pattern', pattern: '[0-9]+' }), 'fits the pattern [0-9]+');
  assert.equal(ruleWords({ rule: 'range', least: '1', most: '9' }), 'is from 1 to 9');
  assert.equal(ruleWords({ rule: 'range', least: null, most: '9' }), 'is at most 9');
  assert.equal(ruleWords({ rule: 'range', least: '1', most: null }), 'is at least 1');
  assert.equal(
    ruleWords({ rule: 'sum', of: ['a', 'b', 'c'], tolerance: 0.01 }),
    'is the sum of a, b and c, up to 0.01',
  );
  assert.equal(ruleWords({ rule: 'not_before', field: 'start' }), 'is not before start');
});

test('the marks of a field name type, values and rules', () => {
  const rules = [{ rule: 'not_before', field: 'start' }];
  const marks = marksOf(field('end', { type: 'date', several: true, required: true, rules }));
  assert.deepEqual(marks, ['Date', 'several values', 'required', '1 rule']);
});

test('two versions differ part by part', () => {
  const before = field('due', { type: 'string' }),
    after = field('due', { type: 'choice', required: true, choices: [{ value: 'now', names: ['jetzt', 'ora'] }] });
  assert.deepEqual(differences(before, after), [
    { part: 'Type', from: 'Text', to: 'Choice' },
    { part: 'Required', from: 'no', to: 'yes' },
    { part: 'Choices', from: '', to: 'now (jetzt, ora)' },
  ]);
  const first = differences(null, before).map(({ part }) => part);
  assert.deepEqual(first, ['Name', 'Question', 'Type']);
});

test('problems that need no server stand at their parts', () => {
  assert.deepEqual(found(field('total', { type: 'currency' })), []);
  const [name, choices] = found({ ...field('Total'), type: 'choice' });
  assert.deepEqual([name[1], choices[1]], ['name', 'choices']);
  const twice = found({ ...field('total'), question: 'Same?' }, { ...field('total'), question: 'Same?' });
  assert.deepEqual(new Set(twice.map(([, part]) => part)), new Set(['question', 'name']));
  assert.deepEqual(
    found(field('a', { currency: 'EURO', country: 'D', confidence: 1.2 })).map(([, part]) => part),
    ['currency', 'country', 'confidence'],
  );
});

test('a rule that fits no more says what to do', () => {
  const end = { rule: 'range', least: '2026-12-31', most: '2026-01-01' };
  const sentences = (more) => found(field('end', more), field('start')).map(([, , sentence]) => sentence);
  assert.deepEqual(sentences({ rules: [end] }), ['“Lowest and highest value” does not fit the type Text. Remove it.']);
  assert.deepEqual(sentences({ type: 'date', rules: [end] }), ['The lowest value is above the highest.']);
  assert.deepEqual(sentences({ type: 'number', rules: [{ ...end, least: '1,5', most: null }] }), [
    'Write a number with a point, as 1250.5.',
  ]);
  assert.deepEqual(sentences({ type: 'number', rules: [{ rule: 'range', least: '9', most: '10' }] }), []);
  assert.deepEqual(sentences({ type: 'date', rules: [{ rule: 'not_before', field: 'gone' }] }), [
    'The list has no field gone any more.',
  ]);
});

test('the columns of a table are worded, and their problems stand at the column', () => {
  const column = (name, question, more = {}) => ({
    ...definitionOf({ name, question, type: 'string' }),
    ...more,
  });
  const table = (...columns) => ({ ...field('lines'), type: 'table', columns });
  const lines = table(column('item', 'Item'), column('unit', 'Unit', { type: 'choice', required: true }));
  assert.deepEqual(marksOf(lines), ['Table', '2 columns']);
  assert.deepEqual(differences(field('lines'), lines)[1], {
    part: 'Columns',
    from: '',
    to: 'Item (item): Text; Unit (unit): Choice, required',
  });
  const parts = (...columns) => found(table(...columns)).map(([, part, sentence]) => `${part} ${sentence}`);
  assert.deepEqual(parts(), ['columns Add at least one column.']);
  assert.deepEqual(parts(column('item', 'Item')), []);
  assert.deepEqual(parts(column('item', 'Item'), column('item', '')), [
    'columns.0 Another column has this key.',
    'columns.1 Write the heading of the column.',
    'columns.1 Another column has this key.',
  ]);
  assert.deepEqual(parts(column('unit', 'Unit', { type: 'choice' })), ['columns.0 Write at least one choice.']);
  const [{ part }] = problemsFrom(
    { errors: [{ where: ['body', 'fields', '0', 'columns', '1', 'name'], what: 'String should match' }] },
    drafted(lines),
  );
  assert.equal(part, 'columns.1');
});

test('what the server refuses stands at the part that it names', () => {
  const fields = drafted(field('a'), field('b'));
  const where = (...rest) => ['body', 'fields', '1', ...rest];
  const errors = [
    { where: where('rules', '0', 'pattern', 'pattern'), what: "Value error, '(' is no regular expression: missing )" },
    { where: where('question'), what: 'String should have at most 1000 characters' },
    { where: where(), what: 'Value error, a choice is listed twice' },
    { where: ['body', 'before'], what: 'Input should be a valid dictionary' },
  ];
  assert.deepEqual(problemsFrom({ errors }, fields), [
    { key: 'b', part: 'rules.0', sentence: "'(' is no regular expression: missing )." },
    { key: 'b', part: 'question', sentence: 'Too long: 1000 characters at most.' },
    { key: 'b', part: 'choices', sentence: 'A choice is listed twice.' },
  ]);
  assert.deepEqual(problemsFrom(null, fields), []);
});
