import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';

import { ApiError } from '../../../annotator/static/core/api.js';
import { Changes } from '../../../annotator/static/sync/changes.js';

/** A server: its changes, and how its lines stand. */
class Server {
  next = 10;
  streams = [];
  asked = [];
  line = 'up'; // 'down', 'polls' (no stream gets through), 'held' (streams open, and nothing comes through), 'out'
  told = [];

  view(since) {
    const changes = since === null ? [] : this.told.filter(({ at }) => at > since).map(({ line }) => line);
    return { next: this.next, all: false, changes };
  }

  async ask(since) {
    this.asked.push(since);
    if (this.line === 'out') throw new ApiError('Log in first.', 401);
    if (this.line === 'down') throw new ApiError('The server cannot be reached.', 0);
    return this.view(since);
  }

  open(since) {
    const hears = {};
    const stream = {
      since,
      closed: false,
      addEventListener: (type, hear) => (hears[type] = hear),
      close: () => (stream.closed = true),
      fire: (type, view) => stream.closed || hears[type]?.({ data: JSON.stringify(view) }),
    };
    this.streams.push(stream);
    queueMicrotask(() => {
      if (this.line === 'up') stream.fire('message', this.view(since));
      else if (this.line !== 'held') stream.fire('error');
    });
    return stream;
  }

  get open_() {
    return this.streams.filter((each) => !each.closed);
  }

  tell(topic, subjects = null, project_id = 'p') {
    const line = { project_id, topic, subjects };
    this.told.push({ at: ++this.next, line });
    for (const each of this.open_) each.fire('message', { next: this.next, all: false, changes: [line] });
  }

  beat() {
    for (const each of this.open_) each.fire('message', { next: this.next, all: false, changes: [] });
  }
}

/** What the windows of one browser share. */
class Browser {
  constructor({ locks = true } = {}) {
    this.queue = []; // of the lock: who holds it stands first
    this.channels = new Set();
    this.hasLocks = locks;
  }

  async request(_name, options, hold) {
    const { signal, ifAvailable } = options;
    if (ifAvailable && this.queue.length) return hold(null);
    const place = {};
    place.turn = new Promise((turn) => (place.begin = turn));
    this.queue.push(place);
    const leave = () => {
      this.queue.splice(this.queue.indexOf(place), 1);
      this.queue[0]?.begin();
    };
    if (this.queue[0] === place) place.begin();
    const aborted = new Promise((_, no) => signal?.addEventListener('abort', () => no(signal.reason)));
    try {
      await (signal ? Promise.race([place.turn, aborted]) : place.turn);
      await hold({});
    } finally {
      leave();
    }
  }

  channel() {
    const own = {
      addEventListener: (_type, hear) => (own.hear = hear),
      postMessage: (data) => {
        for (const each of this.channels)
          if (each !== own) queueMicrotask(() => each.hear({ data: structuredClone(data) }));
      },
      close: () => this.channels.delete(own),
    };
    this.channels.add(own);
    return own;
  }
}

/** A window of a browser that shows a page of the server, and notes what it hears. */
class Window {
  heard = [];
  hidden = false;

  constructor(server, browser = new Browser(), topics = ['answers', 'jobs']) {
    this.changes = new Changes({
      hidden: () => this.hidden,
      watch: (look, hurry) => Object.assign(this, { look, hurry }),
      locks: () => (browser.hasLocks ? browser : null),
      channel: () => browser.channel(),
      open: (since) => server.open(since),
      ask: (since) => server.ask(since),
    });
    this.stop = this.changes.follow(topics, (told) =>
      this.heard.push(told.all ? 'all' : (told.subjects ?? [told.topic])[0]),
    );
  }

  hide(hidden) {
    this.hidden = hidden;
    this.look();
  }

  get state() {
    return this.changes.connection.state;
  }
}

/** Lets everything happen that needs no time. */
const rest = async () => {
  for (let round = 0; round < 50; round++) await Promise.resolve();
};

/** Lets time pass in small steps, as timers begin other timers. */
async function pass(seconds) {
  for (let step = 0; step < seconds * 10; step++) {
    mock.timers.tick(100);
    await rest();
  }
}

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout', 'Date'] });
});

test('a change reaches those who follow its topic, and nobody else', async () => {
  const server = new Server();
  const window = new Window(server);
  await rest();
  assert.equal(window.state, 'live');
  server.tell('answers', ['a']);
  server.tell('models', ['m']);
  window.stop();
  server.tell('answers', ['b']);
  assert.deepEqual(window.heard, ['a']);
  assert.equal(server.open_.length, 0, 'nobody follows, so nothing is held');
  assert.deepEqual(server.asked, []);
});

test('windows of a browser share one stream, and the next takes over', async () => {
  const server = new Server(),
    browser = new Browser();
  const [one, two, three] = [1, 2, 3].map(() => new Window(server, browser));
  await rest();
  assert.equal(server.streams.length, 1);
  server.tell('answers', ['a']);
  await rest();
  assert.deepEqual([one.heard, two.heard, three.heard], [['a'], ['a'], ['a']]);
  one.hide(true);
  await rest();
  assert.equal(server.open_.length, 1);
  server.tell('answers', ['b']);
  await rest();
  assert.deepEqual([one.heard, two.heard, three.heard], [['a'], ['a', 'b'], ['a', 'b']]);
  await pass(120);
  assert.deepEqual(server.streams.map(({ since }) => since).slice(0, 2), [null, 11]);
});

test('a window out of sight asks nothing, and hears on its return what it missed', async () => {
  const server = new Server(),
    browser = new Browser();
  const [leads, beside] = [new Window(server, browser), new Window(server, browser)];
  await rest();
  for (const each of [beside, leads]) each.hide(true);
  await rest();
  const before = server.asked.length;
  server.tell('answers', ['a']);
  await pass(600);
  assert.equal(server.open_.length, 0);
  assert.equal(server.asked.length, before);
  for (const each of [leads, beside]) each.hide(false);
  await rest();
  assert.deepEqual([leads.heard, beside.heard], [['a'], ['a']]);
  assert.equal(server.open_.length, 1);
});

test('without locks each visible window has its own stream', async () => {
  const server = new Server(),
    browser = new Browser({ locks: false });
  const [one, two] = [new Window(server, browser), new Window(server, browser)];
  await rest();
  assert.equal(server.open_.length, 2);
  one.hide(true);
  server.tell('jobs', ['j']);
  assert.deepEqual([one.heard, two.heard], [[], ['j']]);
});

test('a lost connection is told, tried with growing waits, and nothing is missed', async () => {
  const server = new Server(),
    browser = new Browser();
  const [leads, beside] = [new Window(server, browser), new Window(server, browser)];
  await rest();
  server.line = 'down';
  for (const each of server.open_) each.fire('error');
  await pass(2);
  assert.deepEqual([leads.state, beside.state], ['offline', 'offline']);
  await pass(300);
  assert.ok(server.asked.length < 18, `${server.asked.length} requests in five minutes`);
  server.line = 'up';
  server.tell('answers', ['a']);
  leads.hurry();
  await pass(2);
  assert.deepEqual([leads.state, beside.state, leads.heard, beside.heard], ['live', 'live', ['a'], ['a']]);
});

for (const line of ['polls', 'held']) {
  test(`where no stream gets through (${line}) changes are asked for every two seconds`, async () => {
    const server = new Server();
    server.line = line;
    const window = new Window(server);
    await pass(20);
    assert.equal(window.state, 'polling');
    server.tell('answers', ['a']);
    await pass(2.2);
    assert.deepEqual(window.heard, ['a']);
    const [streams, asked] = [server.streams.length, server.asked.length];
    await pass(120);
    assert.ok(server.streams.length - streams <= 3, 'the stream is tried again once a minute');
    assert.ok(server.asked.length - asked <= 62);
    server.line = 'up';
    await pass(66);
    assert.equal(window.state, 'live');
    const after = server.asked.length;
    for (let beats = 0; beats < 20; beats++) await pass(15).then(() => server.beat());
    assert.equal(server.asked.length, after);
  });
}

test('a stream that fell silent is left for a new one', async () => {
  const server = new Server();
  const window = new Window(server);
  await pass(40);
  assert.equal(server.streams.length, 1);
  server.next += 1;
  server.told.push({ at: server.next, line: { project_id: 'p', topic: 'answers', subjects: ['a'] } });
  await pass(8);
  assert.deepEqual([window.heard, server.streams.length, server.open_.length], [['a'], 2, 1]);
});

test('the end of the login ends everything in all windows, until somebody is there again', async () => {
  const server = new Server(),
    browser = new Browser();
  const [leads, beside] = [new Window(server, browser), new Window(server, browser)];
  await rest();
  server.line = 'out';
  for (const each of server.open_) each.fire('end');
  await pass(1);
  assert.deepEqual(
    [leads, beside].map(({ changes }) => changes.loggedOut.state),
    [true, true],
  );
  const asked = server.asked.length;
  await pass(29);
  assert.equal(server.asked.length, asked);
  server.line = 'up';
  server.tell('answers', ['a']);
  leads.look(); // it got the focus
  await rest();
  assert.deepEqual([leads.changes.loggedOut.state, leads.state, leads.heard], [false, 'live', ['a']]);
});

test('a window beside one that hangs asks by itself', async () => {
  const server = new Server(),
    browser = new Browser();
  const [leads, beside] = [new Window(server, browser), new Window(server, browser)];
  await rest();
  leads.changes.pass = () => {}; // it passes nothing on
  await pass(46);
  server.tell('answers', ['a']);
  await pass(2.2);
  assert.deepEqual(beside.heard, ['a']);
});

test('what was asked for and then passed on late does not set the cursor back', async () => {
  const server = new Server(),
    browser = new Browser();
  const [leads, beside] = [new Window(server, browser), new Window(server, browser)];
  await rest();
  beside.changes.source.cursor = 20;
  leads.changes.pass({
    view: { next: 15, all: false, changes: [{ project_id: 'p', topic: 'answers', subjects: ['old'] }] },
  });
  await rest();
  assert.deepEqual([beside.heard, beside.changes.source.cursor], [[], 20]);
  leads.changes.pass({ view: { next: 3, all: true, changes: [] } }); // another database
  await rest();
  assert.deepEqual([beside.heard, beside.changes.source.cursor], [['all'], 3]);
});
