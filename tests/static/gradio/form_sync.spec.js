import assert from 'node:assert/strict';
import { test } from 'node:test';

import { chooseProject } from '../../../annotator/static/core/chosen_project.js';
import { freshenForm, keepInput, projectToFollow } from '../../../annotator/static/gradio/form_sync.js';

/** What a form of the project "bills" was given: one question, review not required, no check questions. */
const given = (questions = ['What is the total?'], settings = [false, 0]) => ({
  project: 'bills',
  questions,
  settings,
});

test('a form follows the project chosen last, and stays with what was begun and not saved', () => {
  chooseProject('letters');
  assert.equal(projectToFollow('bills', [given(), 'What is the total?', false, 0]), 'letters');
  assert.equal(projectToFollow('bills', [given(), 'What is the total?\nWho', false, 0]), 'bills');
  assert.equal(projectToFollow('bills', [given(), 'What is the total?', true, 0]), 'bills');
  assert.equal(projectToFollow('bills', [null, '', false, 0]), 'letters');
});

test('spaces and empty lines are nothing begun', () => {
  chooseProject('letters');
  assert.equal(projectToFollow('bills', [given(), '\n  What is  the total? \n\n', false, 0]), 'letters');
});

test('what else is sent behind the form is no part of it', () => {
  chooseProject('letters');
  assert.equal(projectToFollow('bills', [given(), 'What is the total?', false, 0, 'a search']), 'letters');
});

test('newer questions come into a list in which nothing was begun', () => {
  const newer = { ...given(['What is the total?', 'Who signed it?'], [true, 0]), seen: given() };
  const { seen, ...there } = newer;
  assert.deepEqual(freshenForm('bills', newer, [seen, 'What is the total?', false, 0]), [
    there,
    'What is the total?\nWho signed it?',
    true,
    0,
  ]);
});

test('what is being written stays when the list is read anew, and saving will name what others added', () => {
  const newer = { ...given(['What is the total?', 'Who signed it?']), seen: given() };
  const [seen, text, ...settings] = freshenForm('bills', newer, [given(), 'What is the total?\nWhen?', false, 0]);
  assert.equal(text, 'What is the total?\nWhen?');
  assert.deepEqual(seen.questions, ['What is the total?']); // compared with the server's when it is saved
  assert.deepEqual(settings, [false, 0]);
});

test('settings that were begun stay, and newer questions come beside them', () => {
  const newer = { ...given(['Who signed it?'], [false, 0.25]), seen: given() };
  assert.deepEqual(freshenForm('bills', newer, [given(), 'What is the total?', true, 0]), [
    { project: 'bills', questions: ['Who signed it?'], settings: [false, 0] },
    'Who signed it?',
    true,
    0,
  ]);
});

test('another project is shown as it is', () => {
  const newer = { ...given(['Who signed it?']), seen: undefined };
  const form = [null, '', true, 0.5];
  const [there, text, ...settings] = freshenForm('bills', { ...newer, seen: {} }, form);
  assert.equal(there.project, 'bills');
  assert.deepEqual([text, ...settings], ['Who signed it?', false, 0]);
});

test('an answer that comes after the form was left or saved changes nothing', () => {
  const form = [given(['saved meanwhile']), 'saved meanwhile', false, 0];
  assert.equal(freshenForm('letters', { ...given(), seen: given() }, form), form); // another project by now
  assert.equal(freshenForm('bills', { ...given(), seen: given() }, form), form); // it was given something else since
  assert.equal(freshenForm('bills', null, form), form);
});

test('what is written while the list is saved stays, and what was saved is as the server stored it', () => {
  const sent = { text: 'Who  signed it?' };
  const saved = { project: 'bills', questions: ['Who signed it?'], sent };
  const same = keepInput('bills', saved, given(), 'Who  signed it?', false, 0);
  assert.deepEqual(same, [given(['Who signed it?']), 'Who signed it?', false, 0]);
  const [form, text] = keepInput('bills', saved, given(), 'Who  signed it?\nWhen?', false, 0);
  assert.equal(text, 'Who  signed it?\nWhen?');
  assert.deepEqual(form.questions, ['Who signed it?']);
});

test('of saved settings each shows what was stored, but for those set meanwhile', () => {
  const saved = { project: 'bills', settings: [true, 0.25], sent: { settings: [true, 0] } };
  assert.deepEqual(keepInput('bills', saved, given(), 'text', true, 0), [
    given(undefined, [true, 0.25]),
    'text',
    true,
    0.25,
  ]);
  assert.deepEqual(keepInput('bills', saved, given(), 'text', true, 0.5).slice(2), [true, 0.5]);
});

test('what was saved of another project changes no form', () => {
  const form = [given(), 'text', false, 0];
  assert.deepEqual(keepInput('bills', { project: 'letters', questions: ['x'], sent: { text: 'text' } }, ...form), form);
});
