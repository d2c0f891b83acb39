import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Following } from '../../../annotator/static/sync/following.js';

const PROJECT = 'p';

/** A workspace with a document open, that notes what is fetched. */
function opened({ slow = false } = {}) {
  const fetched = [];
  const note = (name) => async (ids) => {
    if (name === 'lines' && !ids.length) return;
    fetched.push(name === 'lines' ? `lines ${[...ids].sort()}` : name);
    if (slow) await new Promise((later) => setImmediate(later));
  };
  const library = {
    project: { id: PROJECT },
    document: { id: 'open' },
    refreshProjects: note('projects'),
    loadDocuments: note('list'),
    refreshLines: note('lines'),
    shows: (id) => !id.startsWith('far'),
  };
  const ports = { answers: note('answers'), pages: note('pages'), tasks: note('tasks'), questions: note('questions') };
  const state = { seen: true, editing: false };
  const following = new Following(library, {
    ...ports,
    seen: () => state.seen,
    editing: () => state.editing,
    failed: assert.fail,
  });
  const tell = (topic, subjects = null, project_id = PROJECT) => following.hear({ project_id, topic, subjects });
  const rest = async () => {
    do await new Promise((later) => setImmediate(later));
    while (following.running);
    return fetched.splice(0);
  };
  return { following, tell, rest, state };
}

test('a change fetches what it concerns, that alone', async () => {
  const { following, tell, rest } = opened();
  const cases = [
    [['documents', ['x']], ['lines x']],
    [
      ['documents', ['open']],
      ['lines open', 'pages', 'answers'],
    ],
    [['documents'], ['list', 'pages', 'answers']],
    [
      ['figures', ['x']],
      ['lines x', 'tasks'],
    ],
    [
      ['figures', ['open']],
      ['lines open', 'tasks'],
    ],
    [['figures'], ['list', 'tasks']],
    [['answers', ['x']], []], // strokes change no figure: what does so is told as tasks or figures
    [['answers', ['open']], ['answers']],
    [['tasks'], ['tasks']],
    [['questions'], ['questions']],
    [['projects', null, 'another'], ['projects']],
    [['answers', ['x'], 'another'], []],
  ];
  for (const [told, wanted] of cases) {
    tell(...told);
    assert.deepEqual(await rest(), wanted, told.join(' '));
  }
  following.destroy();
});

test('a line whose figures nobody announces is fetched after a while', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { tell, rest } = opened();
  tell('answers', ['x']);
  tell('answers', ['y']);
  tell('figures', ['y']);
  assert.deepEqual(await rest(), ['lines y', 'tasks']);
  context.mock.timers.tick(1500);
  assert.deepEqual(await rest(), ['lines x']);
});

test('changes that come while others are fetched make one further round', async () => {
  const { tell, rest } = opened({ slow: true });
  tell('tasks');
  for (const id of ['a', 'b', 'a', 'c']) tell('documents', [id]);
  tell('tasks');
  assert.deepEqual(await rest(), ['tasks', 'lines a,b,c', 'tasks']);
});

test('lines further down than was fetched are fetched for changed documents alone', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { tell, rest } = opened();
  tell('answers', ['far']);
  tell('figures', ['far', 'x']);
  assert.deepEqual(await rest(), ['lines x', 'tasks']);
  context.mock.timers.tick(1500);
  assert.deepEqual(await rest(), []);
  tell('documents', ['far']); // its removal changes the number of documents
  assert.deepEqual(await rest(), ['lines far']);
});

test('a window rests between rounds, the longer, the more others have changed', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const { tell, rest } = opened();
  const work = (people) => {
    const documents = Array.from({ length: people }, (_, at) => `far${at}`);
    tell('answers', ['open', ...documents.slice(1)]);
  };
  work(3);
  assert.deepEqual(await rest(), ['answers']);
  work(24); // few were heard by the last round: at once
  assert.deepEqual(await rest(), ['answers']);
  work(204);
  assert.deepEqual(await rest(), []);
  context.mock.timers.tick(4900);
  assert.deepEqual(await rest(), []);
  context.mock.timers.tick(100);
  assert.deepEqual(await rest(), ['lines open', 'answers']);
  work(24);
  context.mock.timers.tick(29_900);
  assert.deepEqual(await rest(), []);
  tell('documents', ['open']); // the open page does not wait
  assert.deepEqual(await rest(), ['lines open', 'pages', 'answers']);
});

test('many documents are fetched as a list', async () => {
  const { tell, rest } = opened({ slow: true });
  tell('tasks');
  for (let at = 0; at < 60; at++) tell('documents', [`d${at}`]);
  assert.deepEqual(await rest(), ['tasks', 'list']);
});

test('out of sight nothing is fetched, and what was missed comes with the sight', async () => {
  const { tell, rest, state, following } = opened();
  state.seen = false;
  tell('questions');
  tell('documents', ['x']);
  assert.deepEqual(await rest(), []);
  state.seen = true;
  following.run();
  assert.deepEqual(await rest(), ['lines x', 'questions']);
});

test('where everything may have changed, everything that is shown is fetched', async () => {
  const { following, rest } = opened();
  following.hear({ all: true });
  assert.deepEqual(await rest(), ['projects', 'list', 'pages', 'answers', 'tasks', 'questions']);
});

test('one’s own strokes, which come back as changes, are looked at once, when the hand rests', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { tell, rest, state } = opened();
  state.editing = true;
  for (let stroke = 0; stroke < 5; stroke++) {
    tell('answers', ['open']);
    context.mock.timers.tick(200);
    assert.deepEqual(await rest(), []);
  }
  context.mock.timers.tick(500);
  assert.deepEqual(await rest(), ['lines open', 'answers']);
  tell('documents', ['x']); // what is not an answer waits for nobody
  assert.deepEqual(await rest(), ['lines x']);
});
