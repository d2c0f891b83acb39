import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ApiError } from '../../../annotator/static/core/api.js';
import { SaveQueue } from '../../../annotator/static/sync/save_queue.js';
import { seeded } from '../seeded.js';

/** A disk that several windows share; it keeps copies, as IndexedDB does. */
class Disk {
  lasting = true;
  kept = new Map();
  full = false;

  async all() {
    return [...this.kept.values()].map((item) => structuredClone(item)).sort((one, two) => one.sequence - two.sequence);
  }

  async change(put, remove = []) {
    if (this.full) throw new Error('full');
    for (const item of put) this.kept.set(item.key, structuredClone(item));
    for (const key of remove) this.kept.delete(key);
  }
}

/** A server that stores an item once by its key, and refuses one whose base is not the head. */
class Server {
  heads = new Map();
  stored = new Map();
  order = [];
  line = async () => {}; // what may happen on the way

  send = async (item) => {
    await this.line(item, 'there');
    const known = this.stored.get(item.key);
    const head = this.heads.get(item.annotation) ?? 0;
    if (known === undefined && item.base !== head) {
      throw new ApiError('Changed meanwhile.', 409, { detail: 'Changed meanwhile.', current: { head } });
    }
    if (known === undefined) {
      this.heads.set(item.annotation, head + 1);
      this.stored.set(item.key, head + 1);
      this.order.push(item.key);
    }
    const revision = this.stored.get(item.key);
    await this.line(item, 'back');
    return { revision, saved_at: '2026-01-01T00:00:00Z' };
  };
}

const edit = (annotation, more = {}) => ({
  kind: 'revision',
  annotation,
  document: 'd',
  action: 'edit',
  edits: [],
  prediction_id: null,
  seconds: 1,
  interactions: {},
  pages: {},
  no_answer: false,
  ...more,
});

function window(disk, server, user = 'ada') {
  const told = { conflicts: [], saved: [], notKept: 0, loggedOut: 0 };
  const on = {
    changed() {},
    saved: (item, answer) => told.saved.push([item.key, answer.revision]),
    conflict: (annotation) => told.conflicts.push(annotation),
    loggedOut: () => told.loggedOut++,
    notKept: () => told.notKept++,
    broken(error) {
      throw error;
    },
  };
  return Object.assign(new SaveQueue(disk, user, server.send, on), { told });
}

/** Until nothing is under way; what fails is tried again at once instead of after seconds. */
async function settled(queue) {
  for (let turn = 0; turn < 500; turn++) {
    await new Promise((later) => setImmediate(later));
    if (queue.sending) continue;
    if (!queue.items.some((item) => queue.free(item, queue.halted))) return;
    queue.retry();
  }
  throw new Error('the queue does not come to rest');
}

const close = (...queues) => queues.forEach((queue) => queue.destroy());

test('edits of an answer are stored in order, each on the one before, and leave the disk', async () => {
  const disk = new Disk(),
    server = new Server(),
    queue = window(disk, server);
  const keys = [1, 2, 3].map(() => queue.add(edit('a'), 0).key);
  await settled(queue);
  assert.deepEqual(server.order, keys);
  assert.equal(disk.kept.size, 0);
  assert.equal(queue.newestOf('a'), 3);
  assert.equal(queue.state, 'saved');
  close(queue);
});

test('whatever is lost on the way, in whatever order, every edit is stored exactly once', async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const rng = seeded(seed),
      disk = new Disk(),
      server = new Server(),
      queue = window(disk, server);
    let faults = 8;
    server.line = async () => {
      if (faults > 0 && rng.whole(0, 2) === 0) {
        faults--;
        throw new ApiError('The server cannot be reached.', 0);
      }
    };
    const made = { a: [], b: [], c: [] };
    for (let step = 0; step < 12; step++) {
      const annotation = rng.one(['a', 'b', 'c']);
      const head = queue.newestOf(annotation);
      made[annotation].push(queue.add(edit(annotation), head).key);
      if (rng.whole(0, 1)) await new Promise((later) => setImmediate(later));
    }
    await settled(queue);
    assert.equal(server.stored.size, 12, `seed ${seed}`);
    for (const [annotation, keys] of Object.entries(made)) {
      assert.deepEqual(
        server.order.filter((key) => keys.includes(key)),
        keys,
        `seed ${seed}, ${annotation}`,
      );
    }
    assert.equal(queue.halted.size, 0);
    close(queue);
  }
});

test('a window that is opened anew finds what the one before had not sent, and goes on from it', async () => {
  const disk = new Disk(),
    server = new Server(),
    before = window(disk, server);
  server.line = async () => {
    throw new ApiError('The server cannot be reached.', 0);
  };
  before.add(edit('a'), 0);
  before.add(edit('a'), 0);
  await new Promise((later) => setImmediate(later));
  close(before);
  server.line = async () => {};
  const after = window(disk, server);
  await after.load();
  after.adopt('a');
  after.add(edit('a'), 0);
  await settled(after);
  assert.equal(server.heads.get('a'), 3);
  assert.equal(disk.kept.size, 0);
  close(after);
});

test('two windows that edit one answer meet as a conflict, and nothing is overwritten', async () => {
  const disk = new Disk(),
    server = new Server(),
    one = window(disk, server),
    two = window(disk, server);
  one.add(edit('a'), 0);
  await settled(one);
  two.add(edit('a'), 0); // it has not seen what the first window saved
  await settled(two);
  assert.deepEqual(two.told.conflicts, ['a']);
  assert.equal(two.state, 'halted');
  assert.equal(server.heads.get('a'), 1);
  two.add(edit('b'), 0); // another answer need not wait for the decision
  await settled(two);
  assert.equal(server.heads.get('b'), 1);
  two.add(edit('a'), 1, { instead: true });
  await settled(two);
  assert.equal(server.heads.get('a'), 2);
  assert.equal(disk.kept.size, 0);
  close(one, two);
});

test('what the server refuses waits for a person; what it cannot do now is tried again', async () => {
  const disk = new Disk(),
    server = new Server(),
    queue = window(disk, server);
  const failures = {
    refused: new ApiError('No.', 422, { detail: 'No.' }),
    gone: new ApiError('Gone.', 404, { detail: 'Gone.' }),
    busy: new ApiError('Busy.', 503, { detail: 'The disk is full.' }),
    out: new ApiError('Log in.', 401, { detail: 'Log in.' }),
  };
  server.line = async (item) => {
    const failure = failures[item.annotation];
    if (['busy', 'out'].includes(item.annotation)) delete failures[item.annotation];
    if (failure) throw failure;
  };
  for (const name of ['refused', 'gone', 'busy', 'out']) queue.add(edit(name), 0);
  await settled(queue);
  assert.deepEqual(
    [...queue.halted].map(([name, { kind }]) => [name, kind]),
    [
      ['refused', 'refused'],
      ['gone', 'gone'],
    ],
  );
  assert.deepEqual([...server.heads.keys()].sort(), ['busy', 'out']);
  assert.equal(queue.told.loggedOut, 1);
  assert.equal(disk.kept.size, 2);
  await queue.discard('gone');
  assert.deepEqual(await disk.all().then((items) => items.map((item) => item.annotation)), ['refused']);
  close(queue);
});

test('a mark waits for the words that it names, and a decision on these holds it too', async () => {
  const disk = new Disk(),
    server = new Server(),
    queue = window(disk, server);
  const mark = { words: [7], mask: { box: [0, 0, 1, 1], counts: [0, 1] }, points: [], boxes: [] };
  server.heads.set('words:p', 5); // somebody else has changed the words
  const words = { kind: 'words', annotation: 'words:p', page: 'p', document: 'd', edits: [], created: [7] };
  queue.add(words, 4);
  queue.add(edit('a', { pages: { p: mark }, edits: [{ op: 'words', page: 'p', add: [7], remove: [] }] }), 0);
  await settled(queue);
  assert.deepEqual([...queue.halted.keys()], ['words:p']);
  assert.equal(server.heads.get('a'), undefined);
  await queue.discard('words:p');
  queue.renumber('p', (number) => (number === 7 ? null : number));
  queue.flush();
  await settled(queue);
  assert.equal(server.heads.get('a'), 1);
  close(queue);
});

test('renumbered words leave the pixels, and drop the words that never came to be', async () => {
  const disk = new Disk(),
    server = new Server(),
    queue = window(disk, server);
  server.line = async () => {
    throw new ApiError('The server cannot be reached.', 0);
  };
  const mark = { words: [1, 7, 9], mask: { box: [0, 0, 2, 1], counts: [0, 2] }, points: [], boxes: [] };
  queue.add(edit('a', { pages: { p: mark }, edits: [{ op: 'words', page: 'p', add: [1, 7, 9], remove: [] }] }), 0);
  await new Promise((later) => setImmediate(later));
  queue.renumber(
    'p',
    (number) =>
      new Map([
        [7, null],
        [9, 12],
      ]).get(number) ?? (number === 7 ? null : number),
  );
  const [item] = queue.of('a');
  assert.deepEqual(item.pages.p.words, [1, 12]);
  assert.deepEqual(item.edits, [{ op: 'mask', page: 'p', words: [1, 12], mask: mark.mask }]);
  close(queue);
});

test('an edit that is on no disk is at risk until it is stored', async () => {
  const disk = new Disk(),
    server = new Server(),
    queue = window(disk, server);
  disk.full = true;
  let free;
  server.line = (_, way) => (way === 'there' ? new Promise((done) => (free = done)) : null);
  queue.add(edit('a'), 0);
  await new Promise((later) => setImmediate(later));
  assert.equal(queue.atRisk, true);
  assert.equal(queue.lasting, false);
  assert.ok(queue.told.notKept >= 1);
  disk.full = false;
  free();
  await settled(queue);
  assert.equal(queue.atRisk, false);
  assert.equal(queue.lasting, true);
  close(queue);
});

test('another person who logs in in the same browser does not send the first one’s edits', async () => {
  const disk = new Disk(),
    server = new Server(),
    ada = window(disk, server);
  server.line = async () => {
    throw new ApiError('Log in.', 401, { detail: 'Log in.' });
  };
  ada.add(edit('a'), 0);
  await new Promise((later) => setImmediate(later));
  close(ada);
  server.line = async () => {};
  const ben = window(disk, server, 'ben');
  await ben.load();
  await settled(ben);
  assert.equal(server.stored.size, 0);
  assert.equal(disk.kept.size, 1);
  close(ben);
});
