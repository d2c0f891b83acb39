import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  addField,
  addFields,
  changeField,
  definitionOf,
  draftOf,
  isChanged,
  moveField,
  rebase,
  removeField,
  replaceList,
  requestOf,
  stateOf,
} from '../../../annotator/static/tabs/field_draft.js';
import { nameOfQuestion } from '../../../annotator/static/tabs/field_names.js';

const stored = (id, question, more = {}) => ({
  ...definitionOf({ name: id, question }),
  version: 1,
  position: 0,
  id,
  ...more,
});
const LIST = [stored('total', 'What is the total?'), stored('due', 'When is it due?', { type: 'date' })];
const names = ({ fields }) => fields.map(({ name }) => name);
let serial = 0;
const newKey = () => `new${++serial}`;

test('a draft is unchanged until something differs from what is stored', () => {
  const draft = draftOf(LIST);
  assert.equal(isChanged(draft), false);
  const moved = moveField(draft, 'due', 0);
  assert.deepEqual([names(moved), isChanged(moved)], [['due', 'total'], true]);
  assert.equal(isChanged(moveField(moved, 'due', 1)), false);
  assert.equal(moveField(draft, 'due', 2), draft);
  assert.deepEqual(names(removeField(draft, 'due')), ['total']);
});

test('a new field is named after its question until somebody names it', () => {
  const draft = changeField(addField(draftOf(LIST), 'k'), 'k', { question: 'What is the total?' });
  assert.equal(names(draft)[2], 'total_2');
  const named = changeField(draft, 'k', { name: 'sum' });
  assert.equal(names(changeField(named, 'k', { question: 'Other?' }))[2], 'sum');
  assert.equal(stateOf(named, named.fields[2]), 'new');
  assert.equal(names(changeField(draftOf(LIST), 'due', { question: 'Which day?' }))[1], 'due');
});

test('rules of other fields follow a new name', () => {
  const rules = [
    { rule: 'not_before', field: 'due' },
    { rule: 'sum', of: ['total', 'due'], tolerance: 1 },
  ];
  const draft = draftOf([...LIST, stored('paid', 'When?', { rules })]);
  const renamed = changeField(draft, 'due', { name: 'due_date' });
  assert.deepEqual(renamed.fields[2].rules, [
    { rule: 'not_before', field: 'due_date' },
    { rule: 'sum', of: ['total', 'due_date'], tolerance: 1 },
  ]);
  assert.deepEqual(draft.fields[2].rules, rules);
  // A name that passes by that of another field takes no rule with it.
  const passing = changeField(changeField(draft, 'total', { name: 'due' }), 'total', { name: 'due_2' });
  assert.deepEqual(passing.fields[2].rules[0], { rule: 'not_before', field: 'due' });
});

test('what is sent names the versions that the draft began with, and no id of a new field', () => {
  const { fields, before } = requestOf(addField(draftOf(LIST), 'k'));
  assert.deepEqual(before, { total: 1, due: 1 });
  assert.deepEqual(
    fields.map(({ id }) => id),
    ['total', 'due', undefined],
  );
  assert.equal('key' in fields[0], false);
});

test('a ready set adds what is not there, without rules that name what was left out', () => {
  const rules = [{ rule: 'not_before', field: 'start' }];
  const set = [
    definitionOf({ name: 'start', question: 'When is it due?' }),
    definitionOf({ name: 'end', question: 'When does it end?', rules }),
  ];
  const draft = addFields(draftOf(LIST), set, newKey);
  assert.deepEqual(names(draft), ['total', 'due', 'end']);
  assert.deepEqual(draft.fields[2].rules, []);
});

test('a list has one issuer: a tick takes it from the other field, a ready set leaves it', () => {
  const named = changeField(draftOf(LIST), 'due', { issuer: true });
  const moved = changeField(named, 'total', { issuer: true });
  assert.deepEqual(
    moved.fields.map(({ issuer }) => issuer),
    [true, false],
  );
  const set = [definitionOf({ name: 'supplier', question: 'Who?', rules: [], issuer: true })];
  assert.equal(addFields(draftOf(LIST), set, newKey).fields[2].issuer, true);
  assert.equal(addFields(moved, set, newKey).fields[2].issuer, false);
});

test('a list from a file keeps the fields that it has by question, or else by name', () => {
  const list = [
    definitionOf({ name: 'grand_total', question: 'What is the total?' }),
    definitionOf({ name: 'due', question: 'What is the due date?' }),
    definitionOf({ name: 'signer', question: 'Who signed it?' }),
  ];
  const draft = replaceList(draftOf(LIST), list, newKey);
  assert.deepEqual(
    draft.fields.map(({ id }) => id),
    ['total', 'due', null],
  );
  assert.deepEqual(draft.before, LIST);
});

test('a draft on top of a newer list keeps both changes and tells which met', () => {
  const mine = changeField(changeField(draftOf(LIST), 'total', { required: true }), 'due', { several: true });
  const theirs = [
    stored('signer', 'Who signed it?'),
    stored('total', 'What is the total?', { type: 'currency', version: 2 }),
    stored('due', 'When is it due?', { type: 'date' }),
  ];
  const { draft, both } = rebase(mine, theirs);
  assert.deepEqual(names(draft), ['total', 'due', 'signer']);
  assert.deepEqual(both, ['total']);
  assert.deepEqual([draft.fields[0].required, draft.fields[1].several], [true, true]);
  assert.deepEqual(requestOf(draft).before, { signer: 1, total: 2, due: 1 });
});

test('what others changed or removed counts where nothing was changed here', () => {
  const mine = moveField(draftOf([...LIST, stored('gone', 'Gone?')]), 'due', 0);
  const { draft, both } = rebase(mine, [
    stored('total', 'What is the total?', { type: 'currency', version: 2 }),
    LIST[1],
  ]);
  assert.deepEqual(
    draft.fields.map(({ name, type }) => [name, type]),
    [
      ['due', 'date'],
      ['total', 'currency'],
    ],
  );
  assert.deepEqual(both, []);
});

test('columns are sent of tables alone, and stay in the draft while another type is tried', () => {
  const columns = [{ name: 'amount', question: 'Amount', type: 'number' }];
  const table = changeField(draftOf(LIST), 'due', { type: 'table', columns, several: true });
  assert.deepEqual([requestOf(table).fields[1].columns, requestOf(table).fields[1].several], [columns, false]);
  const text = changeField(table, 'due', { type: 'string' });
  assert.deepEqual(requestOf(text).fields[1].columns, []);
  assert.deepEqual(requestOf(changeField(text, 'due', { type: 'table' })).fields[1].columns, columns);
});

test('a name is made of the telling words of a question', () => {
  const made = (question, ...taken) => nameOfQuestion(question, new Set(taken));
  assert.equal(made('What is the invoice number?'), 'invoice_number');
  assert.equal(made('Who signed it?', 'signed'), 'signed_2');
  assert.equal(made('何時?'), 'field_1');
  assert.equal(made('2nd name'), 'field_2nd_name');
  assert.equal(made('Wie heißt die Straße in Köln?'), 'wie_heit_die_strae_in_koln');
});
