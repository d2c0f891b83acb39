import assert from 'node:assert/strict';
import { test } from 'node:test';

import { OpenAnswer } from '../../../annotator/static/state/answer.js';
import { EMPTY_MARK } from '../../../annotator/static/state/marks.js';
import { deleteRow } from '../../../annotator/static/state/table.js';

const mark = (word) => ({ ...EMPTY_MARK, words: [word], mask: { box: [word, 0, word + 1, 1], counts: [0, 1] } });

/** An answer on a document of five pages, with a proposal on page 3 and page 4 open; `sent` is what would be saved. */
function asked({ head = 0, status = 'draft' } = {}) {
  const sent = [],
    said = [];
  const pages = [1, 2, 3, 4, 5].map((number) => ({ id: `p${number}`, number }));
  const place = { document: { id: 'd', pages }, page: pages[3], submits: false };
  const queue = { of: () => [], adopt() {}, add: (item) => sent.push(item) };
  const effort = { reset() {}, count() {}, take: () => ({}) }; // the real one listens to a window
  const on = { changed() {}, mark() {}, tell: (sentence) => said.push(sentence), locked: () => false, open() {} };
  const answer = new OpenAnswer({ queue, effort, place, on });
  const proposal = { ...mark(7), page_id: 'p3', prediction_id: 'x', candidates: [] };
  const state = { no_answer: false, pages: { p3: mark(7) } };
  answer.take({ id: 'a', document_id: 'd', head, status, question: { text: 'Total?' }, state, proposal });
  return { answer, sent, said, pages, place };
}

/** A person marks a word on a page. */
const draw = (answer, page, word) =>
  answer.stroke({ tool: 'word', edits: [{ op: 'words', page: page.id, add: [word], remove: [] }] }, mark(word), page);

test('the first mark by hand replaces a proposal on another page, and one undo brings it back', () => {
  const { answer, sent, said, pages } = asked();
  draw(answer, pages[3], 9);
  assert.deepEqual([answer.markOn('p3'), answer.markOn('p4')], [EMPTY_MARK, mark(9)]);
  assert.deepEqual(sent[0].edits.at(-1), { op: 'clear', page: 'p3' });
  assert.deepEqual(Object.keys(sent[0].pages).sort(), ['p3', 'p4'], 'what waits in the queue has both pages');
  assert.match(said[0], /page 3/);
  answer.step(true);
  assert.deepEqual([answer.markOn('p3'), answer.markOn('p4')], [mark(7), EMPTY_MARK]);
  answer.step(false);
  assert.deepEqual([answer.markOn('p3'), answer.markOn('p4')], [EMPTY_MARK, mark(9)]);
  assert.equal(said.length, 1);
});

test('a proposal that a person has touched, chosen or accepted stays', () => {
  const touched = asked();
  touched.answer.stroke(
    { tool: 'word', edits: [{ op: 'words', page: 'p3', add: [8], remove: [] }] },
    { ...mark(8), words: [7, 8] },
    touched.pages[2],
  );
  draw(touched.answer, touched.pages[3], 9);
  assert.deepEqual(touched.answer.markOn('p3').words, [7, 8]);

  const accepted = asked();
  accepted.answer.accept();
  accepted.answer.step(true);
  draw(accepted.answer, accepted.pages[3], 9);
  assert.deepEqual(accepted.answer.markOn('p3'), mark(7));

  for (const saved of [asked({ head: 2 }), asked({ head: 2, status: 'accepted' })]) {
    draw(saved.answer, saved.pages[3], 9);
    assert.deepEqual(saved.answer.markOn('p3'), mark(7));
  }
});

test('a stroke that keeps what the model marked leaves it on every page', () => {
  const { answer, said, pages } = asked();
  const edits = [{ op: 'words', page: 'p4', add: [9], remove: [] }];
  answer.stroke({ tool: 'word', edits, keeps: true }, mark(9), pages[3]);
  assert.deepEqual([answer.markOn('p3'), answer.markOn('p4')], [mark(7), mark(9)]);
  assert.deepEqual(said, []);
});

test('taking a word away, clearing and “not answered” replace nothing', () => {
  const { answer, said, pages } = asked();
  answer.stroke({ tool: 'word', edits: [{ op: 'words', page: 'p4', add: [], remove: [9] }] }, EMPTY_MARK, pages[3]);
  answer.clear();
  assert.equal(said.at(-1), 'Nothing is marked on page 4. Still marked: page 3.');
  answer.noAnswer();
  assert.deepEqual(answer.markOn('p3'), mark(7));
});

test('clearing says which page it cleared, and what is still marked', () => {
  const { answer, said, pages } = asked({ head: 1 });
  draw(answer, pages[3], 9);
  answer.clear();
  assert.equal(said.at(-1), 'Cleared the mark on page 4. Still marked: page 3.');
});

test('an undo of a row on one page takes back first what was marked on another, and redo brings back both', () => {
  const { answer, pages, place } = asked({ head: 3 });
  const cells = [
    ['p1', 1],
    ['p1', 2],
    ['p2', 3],
  ];
  const values = cells.map(([page, word], row) => ({ pages: { [page]: mark(word) }, cell: { row, column: 'a' } }));
  const field = { type: 'table', columns: [{ name: 'a', question: 'A' }] };
  const table = { id: 't', document_id: 'd', head: 3, status: 'draft', question: { text: 'Rows?' }, proposal: null };
  answer.take({ ...table, state: { no_answer: false, pages: {}, values }, field });
  const words = () => answer.storedParts.map((part) => Object.values(part.pages).flatMap((each) => each.words));
  place.page = pages[0];
  answer.becomeTable(deleteRow(answer.storedParts, 1), { row: 1, column: 'a' }, 'row');
  place.page = pages[1];
  answer.takeCell({ row: 1, column: 'a' });
  const edits = [{ op: 'words', page: 'p2', add: [4], remove: [] }];
  answer.stroke({ tool: 'word', edits }, { ...mark(3), words: [3, 4] }, pages[1]);
  place.page = pages[0];
  answer.step(true);
  assert.deepEqual(words(), [[1], [3]]);
  answer.step(true);
  assert.deepEqual(words(), [[1], [2], [3]]);
  answer.step(false);
  answer.step(false);
  assert.deepEqual(words(), [[1], [3, 4]]);
  assert.equal(answer.can.redo, false);
});
