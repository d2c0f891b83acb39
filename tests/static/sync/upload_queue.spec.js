import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ApiError } from '../../../annotator/static/core/api.js';
import { UploadQueue } from '../../../annotator/static/sync/upload_queue.js';

const file = (name) => new File([name], name);
const settled = () => new Promise((go) => setImmediate(go));

/** Answers come when a test says so. */
function server() {
  const calls = [];
  const send = (project, sent, progress) =>
    new Promise((resolve, reject) => calls.push({ project, name: sent.name, progress, resolve, reject }));
  const document = (id, more = {}) => ({
    document_id: id,
    name: id,
    created: true,
    whole: true,
    pages: 1,
    words: 1,
    warnings: [],
    ...more,
  });
  const store = (call, more) => call.resolve({ documents: [document(call.name, more)], refused: [], detail: null });
  return { calls, send, store };
}

test('two files are sent at once, and each stored one is told before the end', async () => {
  const { calls, send, store } = server(),
    heard = [];
  const queue = new UploadQueue(
    { stored: ({ name, project }) => heard.push(`${project}/${name}`), ended: (all) => heard.push(all.length) },
    send,
  );
  queue.add('p', ['a', 'b', 'c'].map(file));
  assert.deepEqual(
    calls.map(({ name }) => name),
    ['a', 'b'],
  );
  calls[0].progress(0.5);
  assert.deepEqual(
    queue.under.map(({ state, share }) => [state, share]),
    [
      ['sending', 0.5],
      ['sending', 0],
    ],
  );
  calls[0].progress(1);
  assert.equal(queue.under[0].state, 'reading');
  store(calls[0]);
  await settled();
  assert.deepEqual([calls.length, queue.finished, queue.total, heard], [3, 1, 3, ['p/a']]);
  calls[1].resolve({ documents: [], refused: [{ name: 'b', reason: 'x', sentence: 'b is no PDF.' }], detail: null });
  store(calls[2], { created: false });
  await settled();
  assert.deepEqual(heard, ['p/a', 'p/c', 2]);
  assert.deepEqual(
    queue.remarks.map(({ kind, name, sentence }) => [kind, name, sentence]),
    [
      ['refused', 'b', 'b is no PDF.'],
      ['known', 'c', 'Already in the project.'],
    ],
  );
  assert.equal(queue.progress, 1);
  queue.dismiss('refused');
  assert.deepEqual(
    queue.remarks.map(({ kind }) => kind),
    ['known'],
  );
});

test('a row stays until those who hear of a stored file are ready, and holds up no other file', async () => {
  const { calls, send, store } = server();
  let ready = () => {};
  const queue = new UploadQueue({ stored: ({ name }) => name === 'a' && new Promise((go) => (ready = go)) }, send);
  queue.add('p', ['a', 'b', 'c'].map(file));
  store(calls[0]);
  await settled();
  assert.deepEqual(
    queue.under.map(({ name, state }) => [name, state]),
    [
      ['a', 'stored'],
      ['b', 'sending'],
      ['c', 'sending'],
    ],
  );
  ready();
  await settled();
  assert.deepEqual(
    queue.under.map(({ name }) => name),
    ['b', 'c'],
  );
});

test('a busy server is asked again; lines that break and logins that end may be tried again', async () => {
  const { calls, send, store } = server();
  const queue = new UploadQueue({}, send);
  queue.add('p', ['a', 'b', 'c', 'd'].map(file));
  calls[0].reject(new ApiError('Too many files.', 429, null, 0.01));
  await settled();
  assert.equal(queue.under[0].state, 'busy');
  while (calls.length < 3) await settled();
  store(calls[2]);
  calls[1].reject(new ApiError('The server cannot be reached.', 0));
  while (calls.length < 5) await settled();
  calls[3].reject(new ApiError('Log in.', 401));
  calls[4].reject(new ApiError('The file is larger than this server accepts.', 413));
  await settled();
  assert.deepEqual(
    queue.remarks.map(({ kind, name }) => [kind, name]),
    [
      ['failed', 'b'],
      ['failed', 'c'],
      ['refused', 'd'],
    ],
  );
  queue.again();
  assert.deepEqual([calls.slice(5).map(({ name }) => name), queue.total], [['b', 'c'], 2]);
});

test('files that are not sent yet are given up at a wish', async () => {
  const { calls, send, store } = server(),
    ended = [];
  const queue = new UploadQueue({ ended: (all) => ended.push(all.length) }, send);
  queue.add('p', ['a', 'b', 'c', 'd'].map(file));
  queue.cancel();
  assert.equal(queue.total, 2);
  for (const call of calls) store(call);
  await settled();
  assert.deepEqual([calls.length, queue.busy, ended], [2, false, [2]]);
});
