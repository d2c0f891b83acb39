import assert from 'node:assert/strict';
import { test } from 'node:test';

import { TablePages } from '../../../annotator/static/tabs/answer_table_pages.js';
import { LatestCells, cellSaved } from '../../../annotator/static/tabs/answer_table_latest.js';
import {
  EVERYTHING,
  chipsOf,
  directionOf,
  exportAddress,
  nextSort,
  ordersOf,
  queryOf,
  rowsOfPage,
  showColumn,
  turnFilter,
  withoutLost,
} from '../../../annotator/static/tabs/answer_table_query.js';
import { brokenWords, placeOf, statesOf, wordsOf } from '../../../annotator/static/tabs/answer_table_words.js';

const field = (name, more = {}) => ({ name, type: 'string', confidence: null, question: `${name}?`, ...more });
const FIELDS = [field('number'), field('total', { type: 'currency' }), field('due', { type: 'date' })];
const cell = (more = {}) => ({
  annotation_id: 'a',
  page_id: 'p',
  status: 'accepted',
  state: 'value',
  printed: '',
  text: '',
  shown: '',
  values: [],
  changed: false,
  broken: false,
  confidence: null,
  validated_by: 'person',
  ...more,
});
const words = (given, of = FIELDS[0], rules = []) => wordsOf(given, of, rules, 'en');
const signs = (given, of = FIELDS[0]) => statesOf(cell(given), of).map((each) => each.words);

test('values are shown as people read them, several with a point between them', () => {
  const dates = cell({ values: ['2026-03-14', '2026-03-15'], printed: '14.3. 15.3.' });
  assert.equal(words(dates, FIELDS[2]).text, 'March 14, 2026 · March 15, 2026');
  assert.equal(words(cell({ values: [{ amount: '5.00', currency: 'EUR' }] }), FIELDS[1]).text, '€5.00');
});

test('a table says how many rows it has', () => {
  const lines = field('lines', { type: 'table' });
  assert.equal(words(cell({ values: [12], text: '12 rows', printed: '12 rows' }), lines).text, '12 rows');
});

test('a value with several readings is shown as it is printed', () => {
  const { text, state, title } = words(cell({ state: 'ambiguous', text: '3/4/26', values: ['2026-03-04'] }), FIELDS[2]);
  assert.deepEqual([text, state.sign, state.look], ['3/4/26', 'question', 'doubt']);
  assert.equal(title, '3/4/26\nambiguous, accepted');
});

test('the title of a cell says its states, its confidence, the print and the broken rules', () => {
  const proposal = cell({ status: 'proposal', text: 'A-1', printed: 'A-l', confidence: 0.4, broken: true });
  const rules = [
    { field: 'number', sentence: 'number is short.' },
    { field: 'due', sentence: 'due is early.' },
  ];
  const { title, state } = words(proposal, FIELDS[0], rules);
  const states = 'rule broken, unsure, only proposed, confidence 40 %';
  assert.deepEqual(title.split('\n'), ['A-1', states, 'Printed: A-l', 'number is short.']);
  assert.equal(state.look, 'bad');
});

test('empty, absent and missing cells differ in words', () => {
  assert.deepEqual(words(null), { text: '', state: null, title: 'Not read yet' });
  assert.deepEqual(words(cell({ state: 'empty', status: '' })), { text: '', state: null, title: 'Empty' });
  assert.equal(words(cell({ state: 'absent' })).text, '—');
  assert.equal(words(cell({ state: 'absent' })).title, 'Not in the document\naccepted');
  const required = words(cell({ state: 'empty', status: '' }), FIELDS[0], [{ field: 'number', sentence: 'Missing.' }]);
  assert.deepEqual([required.state.sign, required.title], ['warn', 'Empty\nrule broken\nMissing.']);
});

test('an answer of a model is unsure below the confidence of its field', () => {
  assert.deepEqual(signs({ status: 'automatic', confidence: 0.7 }), ['unsure', 'automatic']);
  assert.deepEqual(signs({ status: 'automatic', confidence: 0.7 }, field('x', { confidence: 0.6 })), ['automatic']);
  assert.deepEqual(signs({ status: 'accepted', confidence: 0.1, changed: true }), ['accepted', 'corrected']);
});

test('the first cell counts broken rules beyond those that are listed', () => {
  assert.equal(brokenWords({ broken: 0, rules: [] }), '');
  const said = brokenWords({ broken: 3, rules: [{ field: 'due', sentence: 'due is early.' }] });
  assert.equal(said, '3 broken rules\ndue is early.\nand 2 more');
});

test('a cell leads to its answer, and to the document alone without one', () => {
  assert.equal(placeOf('o', 'd', cell()), '#project=o&document=d&annotation=a&page=p');
  assert.equal(placeOf('o', 'd', cell({ annotation_id: null, page_id: null })), '#project=o&document=d');
});

test('a header sorts up, down, then not; names of documents only rise', () => {
  const walk = ['total', 'total', 'total'].reduce((sorts, name) => [...sorts, nextSort(sorts.at(-1), name)], ['name']);
  assert.deepEqual(walk, ['name', 'value:total', '-value:total', '-created']);
  assert.deepEqual([nextSort('-created', null), nextSort('name', null)], ['name', '-created']);
  assert.deepEqual([directionOf('-value:total', 'total'), directionOf('name', null)], ['descending', 'ascending']);
  assert.equal(directionOf('-value:total', 'due'), 'none');
});

test('rows and files are asked for with the same filters, order and columns', () => {
  const view = showColumn(FIELDS, turnFilter({ ...EVERYTHING, sort: '-value:total' }, 'due:empty'), 'number', false);
  const asked = { project_id: 'o', field: ['total', 'due'], filter: ['due:empty'], sort: '-value:total' };
  assert.deepEqual(queryOf('o', FIELDS, view), asked);
  const query = 'field=total&field=due&filter=due%3Aempty&sort=-value%3Atotal&format=csv';
  assert.equal(exportAddress('o', FIELDS, view, 'csv'), `/api/projects/o/values/export?${query}`);
  assert.deepEqual(queryOf('o', FIELDS, EVERYTHING).field, []);
});

test('the last column stays, and wide rows come in smaller pages', () => {
  const one = showColumn(FIELDS.slice(0, 2), EVERYTHING, 'total', false);
  assert.equal(showColumn(FIELDS.slice(0, 2), one, 'number', false), one);
  assert.deepEqual([rowsOfPage(3), rowsOfPage(60), rowsOfPage(200)], [100, 50, 20]);
});

test('five filters are combined, and a sixth is not', () => {
  const five = ['empty', 'broken', 'changed', 'accepted', 'due:empty'].reduce(turnFilter, EVERYTHING);
  assert.equal(turnFilter(five, 'unsure'), five);
  assert.deepEqual(turnFilter(five, 'broken').filters, ['empty', 'changed', 'accepted', 'due:empty']);
  const chips = new Map(chipsOf(null, five, '').map((chip) => [chip.filter, chip]));
  assert.deepEqual([chips.get('unsure').full, chips.get('empty').full], [true, false]);
});

test('chips count documents, and filters of other fields stay in sight', () => {
  const counts = { documents: 4, counts: [{ field: 'due', flag: 'broken', documents: 2 }] };
  const chips = chipsOf(counts, turnFilter(EVERYTHING, 'total:empty'), 'due');
  const broken = chips.find(({ filter }) => filter === 'due:broken');
  assert.deepEqual([broken.text, broken.documents, broken.pressed], ['Rule broken', 2, false]);
  assert.deepEqual([chips.at(-1).text, chips.at(-1).documents, chips.at(-1).pressed], ['total: Empty', 0, true]);
});

test('filters, orders and columns of a field that is gone go with it', () => {
  const hidden = new Set(['number', 'due']);
  const view = { filters: ['total:empty', 'due:broken', 'empty'], sort: '-value:total', hidden };
  const left = withoutLost(view, [FIELDS[0], FIELDS[2]]);
  assert.deepEqual(left, { filters: ['due:broken', 'empty'], sort: '-created', hidden: null });
});

/** Rows by number, two on a page; the cursor is the last number seen. */
class Server {
  numbers = [1, 2, 3, 4, 5, 6];
  asked = [];

  read = async (cursor) => {
    this.asked.push(cursor);
    const behind = this.numbers.filter((number) => number > Number(cursor ?? 0));
    const items = behind.slice(0, 2).map((number) => ({ document_id: String(number) }));
    return { items, next: behind.length > 2 ? items.at(-1).document_id : null, total: this.numbers.length };
  };
}

const ids = (pages) => pages.rows.map(({ document_id: id }) => Number(id));

test('a change fetches the pages in sight alone, and the others when they are seen', async () => {
  const server = new Server(),
    pages = new TablePages(server.read);
  await pages.begin();
  await pages.more();
  await pages.more();
  assert.deepEqual([ids(pages), pages.total, pages.open], [[1, 2, 3, 4, 5, 6], 6, false]);
  server.asked = [];
  pages.spoil();
  await pages.freshen(2, 4);
  assert.deepEqual(server.asked, ['2']);
  await pages.freshen(3, 6);
  assert.deepEqual(server.asked, ['2', '4']);
});

test('rows that move over the end of a page are fetched again, and none stands twice', async () => {
  const server = new Server(),
    pages = new TablePages(server.read);
  await pages.begin();
  await pages.more();
  server.numbers = [1, 1.5, 2, 3, 4, 5, 6];
  pages.spoil();
  await pages.freshen(0, 2);
  assert.deepEqual([ids(pages), pages.open], [[1, 1.5], true]);
  await pages.more();
  assert.deepEqual(ids(pages), [1, 1.5, 2, 3]);
});

test('an answer to what was asked for before is dropped', async () => {
  const server = new Server(),
    pages = new TablePages(server.read);
  await pages.begin();
  const late = pages.more();
  server.numbers = [7, 8];
  await pages.begin();
  await late;
  assert.deepEqual([ids(pages), pages.busy], [[7, 8], false]);
});

test('the order by a column is among those to choose from while it holds', () => {
  assert.deepEqual(
    ordersOf('created').map(([sort]) => sort),
    ['-created', 'created', 'name'],
  );
  assert.deepEqual(ordersOf('-value:total').at(-1), ['-value:total', 'total, largest first']);
});

/** What the server answers to a saved revision. */
const saved = (text, more = {}) => ({
  revision: 2,
  status: 'accepted',
  saved_at: '2026-01-01T00:00:00Z',
  state: { no_answer: false },
  text,
  values: [{ printed: 'A-1', text, corrected: true, value: text, rule: '', readings: [], reason: '' }],
  ...more,
});
const row = (of) => ({ document_id: 'd', name: '', created_at: '', broken: 0, rules: [], cells: { number: of } });
const shownIn = (cells, of) => cells.of(row(of)).cells.number;

test('a saved cell is shown until the server has derived it, and the server’s from then on', () => {
  const cells = new LatestCells(),
    before = cell({ text: 'A-1', values: ['A-1'] }),
    there = cell({ text: 'A-2', values: ['A-2'], broken: true });
  cells.put('d', 'number', before, { ...cellSaved('a', saved('A-2')), waits: 'unsaved' });
  assert.equal(shownIn(cells, there).waits, 'unsaved'); // the same, typed by somebody else
  cells.put('d', 'number', before, cellSaved('a', saved('A-2')));
  assert.deepEqual([shownIn(cells, before).text, shownIn(cells, before).waits], ['A-2', 'behind']);
  assert.equal(shownIn(cells, there), there);
  assert.equal(shownIn(cells, before), before); // nothing is kept
});

test('rows on the way to the last change are not shown, and those of somebody else are', () => {
  const [one, two, other] = ['A-1', 'A-2', 'B-9'].map((text) => cell({ text, values: [text] }));
  const cells = new LatestCells();
  cells.put('d', 'number', one, cellSaved('a', saved('A-2')));
  cells.put('d', 'number', one, cellSaved('a', saved('A-3')));
  assert.equal(shownIn(cells, one).text, 'A-3');
  assert.equal(shownIn(cells, two).text, 'A-3');
  assert.equal(shownIn(cells, other), other);
});

test('a saved cell says whether its text is ambiguous, unreadable, absent or cleared', () => {
  const reading = { value: '2026-03-04', words: 'day first', convention: {} };
  const stateOf = (value, readings) =>
    cellSaved('a', saved('', { values: [{ ...saved('x').values[0], value, readings }] })).state;
  assert.deepEqual(
    [stateOf('x', []), stateOf(null, [reading]), stateOf(null, [])],
    ['value', 'ambiguous', 'unreadable'],
  );
  const none = (answers) => cellSaved('a', saved('', { values: [], state: { no_answer: answers } })).state;
  assert.deepEqual([none(true), none(false)], ['absent', 'empty']);
});
