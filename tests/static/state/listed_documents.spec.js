import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ListedDocuments } from '../../../annotator/static/state/listed_documents.js';

const name = (number) => String(number).padStart(6, '0');

/** A server with documents, newest first, that answers as REST does; `hold` keeps answers back. */
function served(number) {
  const server = { documents: [], asked: [], hold: null };
  server.add = (id, title = `note ${id}`) => server.documents.push({ id, name: title, accepted: 0 });
  for (let at = 0; at < number; at++) server.add(name(at));
  globalThis.location = { href: 'http://here/app/' };
  globalThis.fetch = async (address) => {
    const { searchParams: asked } = new URL(address, 'http://here/'),
      ids = asked.getAll('id'),
      limit = Number(asked.get('limit') ?? 1000);
    server.asked.push(ids.length ? `id ${ids}` : `${asked.get('q') ?? ''}|${asked.get('cursor') ?? ''}|${limit}`);
    const found = server.documents.filter((each) => each.name.includes(asked.get('q') ?? ''));
    const order = [...found].sort((one, other) => (one.id < other.id ? 1 : -1));
    const cursor = asked.get('cursor');
    const rest = order.filter(({ id }) => (!cursor || id < cursor) && (!ids.length || ids.includes(id)));
    const page = structuredClone(rest.slice(0, limit)),
      headers = new Headers({ 'X-Total-Count': String(found.length) });
    if (rest.length > limit) headers.set('Link', `</api/x?cursor=${page.at(-1).id}>; rel="next"`);
    if (server.hold) await server.hold(asked);
    return { ok: true, status: 200, headers, text: async () => JSON.stringify(page) };
  };
  return server;
}

const ids = (listed) => listed.rows.map(({ id }) => id);

test('pages follow each other without a gap while documents arrive', async () => {
  const server = served(250),
    listed = new ListedDocuments(() => {});
  await listed.load('p');
  assert.equal(listed.rows.length, 100);
  server.add(name(250));
  await listed.refresh([name(250)]);
  await Promise.all([listed.more(), listed.more()]);
  await listed.more();
  await listed.more();
  assert.deepEqual(ids(listed), server.documents.map(({ id }) => id).reverse());
  assert.equal(listed.total, 251);
  assert.deepEqual(server.asked, ['||100', 'id 000250', `|${name(150)}|100`, `|${name(50)}|100`]);
});

test('a change further down than was fetched changes the total alone', async () => {
  const server = served(200),
    listed = new ListedDocuments(() => {});
  await listed.load('p');
  server.documents[5].accepted = 1;
  server.documents[195].accepted = 1;
  await listed.refresh([name(5), name(195)]);
  assert.equal(listed.rows.length, 100);
  assert.equal(listed.rows.find(({ id }) => id === name(195)).accepted, 1);
});

test('the open document stands first where it is further down than was fetched', async () => {
  const server = served(200),
    listed = new ListedDocuments(() => {});
  await listed.load('p');
  await listed.hold(name(3));
  assert.deepEqual(ids(listed).slice(0, 2), [name(3), name(199)]);
  server.documents[3].accepted = 4;
  await listed.refresh([name(3)]);
  assert.equal(listed.rows[0].accepted, 4);
  await listed.more();
  assert.deepEqual(ids(listed), server.documents.map(({ id }) => id).reverse());
  await listed.hold(undefined);
  assert.equal(listed.rows.length, 200);
});

test('a search is asked once after the last key, and knows no document apart', async () => {
  const server = served(150),
    listed = new ListedDocuments(() => {});
  await listed.load('p');
  await listed.hold(name(3));
  await Promise.all(['n', 'no', 'note 00012'].map((text) => listed.search(text)));
  assert.deepEqual(
    server.asked.filter((each) => /^\w/.test(each) && !each.startsWith('id')),
    ['note 00012|'].map((each) => `${each}|100`),
  );
  assert.equal(listed.rows.length, 10);
  assert.equal(listed.query, 'note 00012');
  server.add(name(500), 'other');
  server.add(name(501), 'note 000129 again');
  await listed.refresh([name(500), name(501)]);
  assert.deepEqual(ids(listed).slice(0, 2), [name(501), name(129)]);
  await listed.search('');
  await new Promise((later) => setImmediate(later));
  assert.equal(listed.rows[0].id, name(3));
});

test('what changes while a list is on its way is not missing in it', async () => {
  const server = served(20),
    listed = new ListedDocuments(() => {});
  await listed.load('p');
  let free;
  const held = new Promise((go) => (free = go));
  server.hold = (asked) => (asked.has('id') ? null : held);
  const load = listed.load('p');
  server.documents[7].accepted = 2;
  await listed.refresh([name(7)]);
  free();
  await load;
  await new Promise((later) => setTimeout(later, 5));
  assert.equal(listed.rows.find(({ id }) => id === name(7)).accepted, 2);
});

test('a list that is fetched anew is as long as before, and without a gap', async () => {
  const server = served(500),
    listed = new ListedDocuments(() => {});
  await listed.load('p');
  await listed.more();
  await listed.more();
  for (let at = 500; at < 560; at++) server.add(name(at));
  const late = listed.more();
  await listed.load('p');
  await late;
  assert.ok(listed.rows.length >= 300);
  const newest = server.documents.map(({ id }) => id).reverse();
  assert.deepEqual(ids(listed), newest.slice(0, listed.rows.length));
});

test('another project begins without a search, and a late answer of the one before is dropped', async () => {
  const server = served(3),
    listed = new ListedDocuments(() => {});
  await listed.load('p');
  const searching = listed.search('note');
  await listed.load('q');
  await searching;
  assert.deepEqual([listed.project, listed.query, listed.wish], ['q', '', '']);
  assert.equal(server.asked.length, 2);
});
