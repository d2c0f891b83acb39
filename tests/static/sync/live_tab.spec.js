import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';

import { LiveTab } from '../../../annotator/static/sync/live_tab.js';

/** A tab of the project "bills", its window, and the stream of changes. */
class Screen {
  hidden = false;
  live = true;
  wanted = 'bills';
  shown = null;
  fetched = [];
  ends = 0;

  constructor(topics = ['answers']) {
    const ended = () => () => this.ends++;
    this.tab = new LiveTab(
      null,
      { topics, shown: () => this.shown, wanted: () => this.wanted, fetch: (heard) => this.fetch(heard) },
      {
        follow: (asked, heard) => ((this.topics = asked), (this.heard = heard), ended()),
        live: () => this.live,
        sight: (_, seen) => ((this.seen = seen), ended()),
        hidden: () => this.hidden,
        unhide: (look) => ((this.look = look), ended()),
      },
    );
  }

  fetch(heard) {
    return new Promise((resolve) => {
      this.fetched.push([...heard].sort().join(' '));
      this.arrive = async (went = true) => {
        if (went) this.shown = this.wanted;
        resolve(went);
        await settled();
      };
    });
  }

  tell(topic = 'answers', project = 'bills') {
    this.heard({ topic, project_id: project, subjects: null });
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

async function wait(milliseconds) {
  mock.timers.tick(milliseconds);
  await settled();
}

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout'] });
});

test('it is fetched when it first comes into sight, and coming back fetches nothing', async () => {
  const screen = new Screen();
  assert.deepEqual(screen.fetched, []);
  assert.deepEqual(screen.topics, ['answers', 'projects', 'members']);
  screen.seen(true);
  await screen.arrive();
  screen.seen(false);
  screen.seen(true);
  await wait(60_000);
  assert.equal(screen.fetched.length, 1);
});

test('out of sight it fetches nothing, and once when it comes back', async () => {
  const screen = new Screen(['answers', 'tasks']);
  screen.seen(true);
  await screen.arrive();
  screen.seen(false);
  for (let number = 0; number < 9; number++) screen.tell(number % 2 ? 'answers' : 'tasks');
  await wait(60_000);
  assert.equal(screen.fetched.length, 1);
  screen.seen(true);
  await screen.arrive();
  await wait(60_000);
  assert.deepEqual(screen.fetched, ['', 'answers tasks']);
});

test('changes made together are fetched once, those that come meanwhile once more, after a pause', async () => {
  const screen = new Screen(['answers', 'tasks']);
  screen.seen(true);
  await screen.arrive();
  await wait(1000);
  screen.tell('answers');
  screen.tell('tasks');
  assert.equal(screen.fetched.length, 1);
  await wait(30);
  assert.deepEqual(screen.fetched.slice(1), ['answers tasks']);
  for (let number = 0; number < 20; number++) screen.tell('tasks');
  await screen.arrive();
  assert.equal(screen.fetched.length, 2);
  await wait(500);
  assert.deepEqual(screen.fetched.slice(2), ['tasks']);
});

test('changes of other projects are not its own, but those of projects and of everything are', async () => {
  const screen = new Screen();
  screen.seen(true);
  screen.tell('answers', 'bills'); // of the project that it is to show, while that is on its way
  await screen.arrive();
  await wait(500);
  await screen.arrive();
  await wait(1000);
  assert.equal(screen.fetched.length, 2);
  screen.tell('answers', 'letters');
  await wait(1000);
  assert.equal(screen.fetched.length, 2);
  screen.tell('projects', 'letters');
  await wait(30);
  await screen.arrive();
  await wait(1000);
  screen.heard({ all: true });
  await wait(30);
  assert.deepEqual(screen.fetched, ['', 'answers', 'projects', 'all']);
});

test('another project that was chosen meanwhile is fetched when the tab is opened', async () => {
  const screen = new Screen();
  screen.seen(true);
  await screen.arrive();
  screen.seen(false);
  screen.wanted = 'letters';
  screen.seen(true);
  assert.equal(screen.fetched.length, 2);
});

test('a hidden window does nothing, and catches up when it is seen', async () => {
  const screen = new Screen();
  screen.seen(true);
  await screen.arrive();
  await wait(1000);
  screen.hidden = true;
  screen.tell();
  await wait(60_000);
  assert.equal(screen.fetched.length, 1);
  screen.hidden = false;
  screen.look();
  assert.equal(screen.fetched.length, 2);
});

test('what could not be fetched is tried again when the tab is opened, not for ever', async () => {
  const screen = new Screen();
  screen.seen(true);
  await screen.arrive(false);
  await wait(60_000);
  assert.equal(screen.fetched.length, 1);
  screen.shown = 'bills';
  screen.seen(false);
  screen.seen(true);
  assert.equal(screen.fetched.length, 2);
});

test('what a person asks for meanwhile comes at once after what is on its way', async () => {
  const screen = new Screen();
  screen.seen(true);
  screen.tab.refresh();
  screen.tab.refresh();
  await screen.arrive();
  assert.equal(screen.fetched.length, 2);
  await screen.arrive();
  await wait(60_000);
  assert.equal(screen.fetched.length, 2);
});

test('an act is followed by the stream; without it, the tab is fetched at once', async () => {
  const screen = new Screen();
  screen.seen(true);
  await screen.arrive();
  screen.tab.acted();
  assert.equal(screen.fetched.length, 1);
  screen.live = false;
  screen.tab.acted();
  assert.equal(screen.fetched.length, 2);
  screen.tab.destroy();
  assert.equal(screen.ends, 3);
});

test('a project that is chosen while another one is fetched is fetched afterwards, and once', async () => {
  const screen = new Screen();
  screen.seen(true);
  const shows = () => (screen.shown = 'bills');
  screen.wanted = 'letters';
  screen.look();
  await screen.arrive(false);
  shows();
  assert.equal(screen.fetched.length, 1);
  await wait(600);
  assert.equal(screen.fetched.length, 2);
  await screen.arrive();
  assert.equal(screen.shown, 'letters');
  await wait(60_000);
  assert.equal(screen.fetched.length, 2);
});
