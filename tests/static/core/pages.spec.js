import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Pages } from '../../../annotator/static/core/pages.js';

/** A server with items of falling numbers, which sends some at once. */
class Server {
  /** @param {number} items */
  constructor(items) {
    this.items = Array.from({ length: items }, (_, at) => ({ id: `i${items - at}` }));
    this.asked = [];
  }

  fetch = async ({ limit, cursor }) => {
    this.asked.push({ limit, cursor });
    const begin = cursor === null ? 0 : this.items.findIndex(({ id }) => id === cursor) + 1;
    const items = this.items.slice(begin, begin + limit);
    return { items, next: begin + limit < this.items.length ? items.at(-1).id : null };
  };
}

const idsOf = ({ items }) => items.map(({ id }) => id);

test('pages follow each other to the end', async () => {
  const server = new Server(5),
    pages = new Pages(server.fetch, 2, 4);
  await pages.load();
  assert.deepEqual(idsOf(pages), ['i5', 'i4']);
  while (pages.next) await pages.more();
  assert.deepEqual(idsOf(pages), ['i5', 'i4', 'i3', 'i2', 'i1']);
  await pages.more();
  assert.equal(server.asked.length, 3);
});

test('a list is fetched anew as far as it was known', async () => {
  const server = new Server(20),
    pages = new Pages(server.fetch, 3, 4);
  await pages.load();
  await pages.more();
  server.items.unshift({ id: 'new' });
  await pages.load();
  assert.deepEqual(idsOf(pages), ['new', 'i20', 'i19', 'i18', 'i17', 'i16']);
  assert.deepEqual(
    server.asked.slice(2).map(({ limit }) => limit),
    [4, 2],
  );
});

test('a page that arrives after the list was fetched anew is dropped', async () => {
  const server = new Server(6),
    pages = new Pages(server.fetch, 2, 10);
  await pages.load();
  const late = pages.more();
  server.items.unshift({ id: 'new' });
  await pages.load();
  await late;
  assert.deepEqual(idsOf(pages), ['new', 'i6']);
  await pages.more();
  assert.deepEqual(idsOf(pages), ['new', 'i6', 'i5', 'i4']);
});
