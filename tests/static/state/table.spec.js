import assert from 'node:assert/strict';
import { test } from 'node:test';

import { EMPTY_MARK } from '../../../annotator/static/canvas/mask.js';
import { TableGrid } from '../../../annotator/static/canvas/table_grid.js';
import {
  deleteRow,
  lineTops,
  mergeRowUp,
  moveCell,
  moveWords,
  settle,
  splitRow,
  tableRows,
  withoutWords,
} from '../../../annotator/static/state/table.js';
import {
  mergeProposal,
  ownRows,
  proposedParts,
  rowKeys,
  wordsGone,
  wordsOfRow,
} from '../../../annotator/static/state/table_proposal.js';
import { seeded } from '../seeded.js';

const COLUMNS = ['item', 'amount'];
const HEIGHT = 20,
  WIDTH = 100;

/** Words stand in a raster of ten columns: number 10 * line + column. */
const SHEET = {
  page: 'p',
  width: 1000,
  height: 1000,
  boxOf: (number) => {
    const x = (number % 10) * WIDTH,
      y = Math.floor(number / 10) * HEIGHT;
    return [x + 10, y + 4, x + 60, y + 16];
  },
};

const cellOf = (row, column, words, correction = null) => {
  const [part] = moveWords([], new Map(words.map((word) => [word, { row, column }])), SHEET);
  return { ...part, correction };
};

/** Three rows: item in the words 0 and 1 of a line, amount in word 5. */
const table = () =>
  [0, 1, 2].flatMap((row) => [
    cellOf(row, 'item', [10 * row, 10 * row + 1]),
    cellOf(row, 'amount', [10 * row + 5], { text: `${row}.00`, reading: null }),
  ]);

/** The same, of which nobody has said anything. */
const unsaid = () => table().map((part) => ({ ...part, correction: null }));

const cellsOf = (parts) =>
  parts.map(({ cell, pages }) => ({ ...cell, page_id: 'p', words: pages.p.words, mask: pages.p.mask }));

const inRow = (part, row) => ({ ...part, cell: { ...part.cell, row } });

const said = (parts) =>
  Object.fromEntries(parts.map(({ cell, pages }) => [`${cell.row} ${cell.column}`, pages.p?.words]));

test('the mask of a cell is the boxes of its words', () => {
  const { mask } = cellOf(0, 'item', [0, 11]).pages.p;
  assert.deepEqual(mask.box, [10, 4, 160, 36]);
  assert.equal(
    mask.counts.filter((_, at) => at % 2).reduce((sum, run) => sum + run, 0),
    2 * 50 * 12,
  );
});

test('settled rows are numbered without gaps, and an empty row in hand lies between its neighbours', () => {
  const parts = [cellOf(4, 'amount', [45]), cellOf(1, 'item', [10]), cellOf(4, 'item', [40])];
  const { parts: settled, cell } = settle(
    [...parts, { pages: {}, correction: null, cell: { row: 2, column: 'item' } }],
    COLUMNS,
    {
      row: 2,
      column: 'item',
    },
  );
  assert.deepEqual(said(settled), { '0 item': [10], '1 item': [40], '1 amount': [45] });
  assert.deepEqual(cell, { row: 0.5, column: 'item' });
});

test('a row that goes takes its cells along, and the rows below move up', () => {
  const { parts } = settle(deleteRow(table(), 1), COLUMNS, { row: 1, column: 'item' });
  assert.deepEqual(Object.keys(said(parts)), ['0 item', '0 amount', '1 item', '1 amount']);
  assert.deepEqual(said(parts)['1 item'], [20, 21]);
});

test('a row merges with the one above, and what was said of a text goes with other words', () => {
  const { parts, row } = mergeRowUp(
    deleteRow(table(), 0).filter(({ cell }) => cell.row !== 1 || cell.column !== 'amount'),
    2,
  );
  assert.equal(row, 1);
  assert.deepEqual(said(parts), { '1 item': [10, 11, 20, 21], '1 amount': [25] });
  assert.deepEqual(parts.find(({ cell }) => cell.column === 'amount').correction, { text: '2.00', reading: null });
  assert.equal(parts.find(({ cell }) => cell.column === 'item').correction, null);
  assert.equal(mergeRowUp(table(), 0), null);
});

test('a row splits at a printed line, and not where one of the two would be empty', () => {
  const wrapped = [cellOf(0, 'item', [0, 10, 11]), cellOf(0, 'amount', [5], { text: '5', reading: null })];
  assert.deepEqual(lineTops(wrapped, 0, SHEET), [4, 24]);
  const { parts } = settle(splitRow(wrapped, 0, 24, SHEET, []), COLUMNS, { row: 0, column: 'item' });
  assert.deepEqual(said(parts), { '0 item': [0], '0 amount': [5], '1 item': [10, 11] });
  assert.deepEqual(parts[1].correction, { text: '5', reading: null });
  assert.equal(splitRow(wrapped, 0, Infinity, SHEET, []), null);
  assert.equal(splitRow(wrapped, 0, 0, SHEET, []), null);
});

test('a row that goes on on the next page is split there', () => {
  const [part] = mergeRowUp(
    [cellOf(0, 'item', [0]), { ...cellOf(1, 'item', [3]), pages: { q: cellOf(1, 'item', [3]).pages.p } }],
    1,
  ).parts;
  const { parts } = settle(splitRow([part], 0, Infinity, SHEET, ['q']), COLUMNS, { row: 0, column: 'item' });
  assert.deepEqual(
    parts.map(({ cell, pages }) => [cell.row, Object.keys(pages)]),
    [
      [0, ['p']],
      [1, ['q']],
    ],
  );
});

test('a cell goes into an empty one as it is, and joins what stands in a full one', () => {
  const parts = table();
  const down = moveCell(parts, 1, { row: 3, column: 'amount' });
  assert.deepEqual(down[1], { ...parts[1], cell: { row: 3, column: 'amount' } });
  const joined = moveCell(parts, 1, { row: 0, column: 'item' });
  assert.deepEqual(said(joined)['0 item'], [0, 1, 5]);
  assert.equal(joined.length, parts.length - 1);
});

test('words that a cell takes leave the others, and a cell without words is no part', () => {
  const parts = table();
  const hand = cellOf(0, 'item', [0, 1, 15]);
  const others = withoutWords(parts, hand, SHEET);
  assert.deepEqual(said(others)['1 amount'], undefined);
  const settled = settle([...others.slice(1), hand], COLUMNS, hand.cell).parts;
  assert.deepEqual(said(settled), {
    '0 item': [0, 1, 15],
    '0 amount': [5],
    '1 item': [10, 11],
    '2 item': [20, 21],
    '2 amount': [25],
  });
});

test('a dragged edge takes the words along whose middle it crosses, in their columns', () => {
  const parts = table();
  const grid = new TableGrid(parts, null, 'p', SHEET.boxOf);
  assert.deepEqual(grid.rowEdges, [-2, 20, 40, 62]);
  const up = grid.moves({ axis: 'row', index: 1, at: 20 }, 32, []);
  const moved = moveWords(parts, up, SHEET);
  assert.deepEqual(said(settle(moved, COLUMNS, { row: 0, column: 'item' }).parts), {
    '0 item': [0, 1, 10, 11],
    '0 amount': [5, 15],
    '1 item': [20, 21],
    '1 amount': [25],
  });
  assert.equal(grid.moves({ axis: 'row', index: 1, at: 20 }, 26, []).size, 0);
  const column = grid.moves({ axis: 'column', index: 1, at: 335 }, 130, []);
  assert.deepEqual(said(moveWords(parts, column, SHEET))['2 amount'], [25, 21]);
});

test('an outer edge takes in words that are in no cell, and leaves others out', () => {
  const parts = table();
  const grid = new TableGrid(parts, null, 'p', SHEET.boxOf);
  const free = [30, 35, 39].map((number) => {
    const [x0, y0, x1, y1] = SHEET.boxOf(number);
    return { number, x: (x0 + x1) / 2, y: (y0 + y1) / 2 };
  });
  const grown = moveWords(parts, grid.moves({ axis: 'row', index: 3, at: 62 }, 80, free), SHEET);
  assert.deepEqual(said(grown)['2 item'], [20, 21, 30]);
  assert.deepEqual(said(grown)['2 amount'], [25, 35]);
  const less = moveWords(parts, grid.moves({ axis: 'row', index: 0, at: -2 }, 15, free), SHEET);
  assert.deepEqual(
    tableRows(less).map(({ row }) => row),
    [1, 2],
  );
});

test('whatever edge is dragged wherever, no word is lost between two rows or two columns', () => {
  const rng = seeded(5);
  for (let turn = 0; turn < 300; turn++) {
    const parts = settle(
      Array.from({ length: 6 }, (_, row) => cellOf(row, rng.one(COLUMNS), [10 * row + rng.whole(0, 9)])),
      COLUMNS,
      { row: 0, column: 'item' },
    ).parts;
    const grid = new TableGrid(parts, null, 'p', SHEET.boxOf);
    const axis = rng.one(['row', 'column']),
      edges = axis === 'row' ? grid.rowEdges : grid.columnEdges;
    if (edges.length < 3) continue;
    const index = rng.whole(1, edges.length - 1),
      edge = { axis, index, at: edges[index] };
    const moved = moveWords(parts, grid.moves(edge, grid.limit(edge, rng.whole(0, 1000)), []), SHEET);
    const words = (list) => list.flatMap(({ pages }) => pages.p.words).sort((left, right) => left - right);
    assert.deepEqual(words(moved), words(parts));
  }
});

test('the rows of a person are those that no proposal has shown, whatever their numbers', () => {
  const parts = unsaid(),
    proposed = new Set(rowKeys(parts).values());
  assert.deepEqual(ownRows(parts, proposed), []);
  assert.deepEqual(ownRows(settle(deleteRow(parts, 0), COLUMNS, { row: 0, column: 'item' }).parts, proposed), []);
  const corrected = moveWords(parts, new Map([[11, { row: 1, column: 'amount' }]]), SHEET);
  assert.deepEqual(ownRows(corrected, proposed), [1]);
  assert.deepEqual(wordsOfRow(corrected, 1), { cells: { item: { p: [10] }, amount: { p: [15, 11] } } });
});

test('a proposal keeps what was said of the cells that it leaves as they are', () => {
  const stood = table();
  const cells = [...stood.slice(0, 2), cellOf(7, 'item', [70])].map(({ cell, pages }) => ({
    row: cell.row + 1,
    column: cell.column,
    page_id: 'p',
    words: [...pages.p.words].reverse(),
    mask: pages.p.mask,
  }));
  const parts = proposedParts(cells, stood);
  assert.deepEqual(parts[1], { ...stood[1], cell: { row: 1, column: 'amount' } });
  assert.deepEqual(parts[2].pages.p, { ...EMPTY_MARK, words: [70], mask: cells[2].mask });
});

test('a row is the person’s own once its text is corrected, its reading picked, or a cell marked by brush alone', () => {
  const parts = unsaid(),
    proposed = new Set(rowKeys(parts).values());
  parts[1] = { ...parts[1], correction: { text: '1.00', reading: null } };
  parts[5] = { ...parts[5], correction: { text: null, reading: { value: 2, convention: {} } } };
  const { mask } = parts[0].pages.p;
  parts.push({ pages: { p: { ...EMPTY_MARK, mask } }, correction: null, cell: { row: 3, column: 'item' } });
  assert.deepEqual(ownRows(parts, proposed), [0, 2, 3]);
  assert.deepEqual(wordsOfRow(parts, 3), { cells: {} });
});

test('a proposal leaves own rows as they are, takes no words of theirs, and brings no deleted row back', () => {
  const stood = unsaid();
  const own = { ...stood[2], correction: { text: 'Pens', reading: null } };
  const { mask } = own.pages.p;
  const brushed = { pages: { p: { ...EMPTY_MARK, mask } }, correction: null, cell: { row: 2, column: 'item' } };
  const mine = [...stood.slice(0, 2), own, stood[3], brushed]; // the third row, words 20, 21 and 25, was deleted
  const deleted = new Set(wordsGone(stood, mine));
  assert.deepEqual([...deleted], ['p 20', 'p 21', 'p 25']);
  const rows = [[cellOf(0, 'item', [0]), cellOf(0, 'amount', [5])], [cellOf(1, 'item', [10, 15])]];
  const more = [[cellOf(2, 'item', [20])], [cellOf(3, 'item', [30]), cellOf(3, 'amount', [35])]];
  const cells = cellsOf([...rows, ...more].flat());
  const merged = mergeProposal(cells, mine, [1, 2], deleted);
  assert.deepEqual(said(merged.parts), {
    '0 item': [0],
    '0 amount': [5],
    '1 item': [10, 11],
    '1 amount': [15],
    '2 item': [],
    '3 item': [30],
    '3 amount': [35],
  });
  assert.equal(merged.parts[2], own, 'an own part is the same one');
  assert.deepEqual(
    [[...merged.rows], merged.deleted],
    [
      [
        [1, 1],
        [2, 2],
      ],
      1,
    ],
  );
  const undone = mergeProposal(cells, [...mine, ...stood.slice(4).map((part) => inRow(part, 3))], [1, 2], deleted);
  assert.deepEqual(undone.deleted, 0, 'a deleted row that stands again is not deleted');
});

test('a proposal never makes a table larger than an answer may be', () => {
  const mask = { box: [0, 0, 1, 1], counts: [0, 1] };
  const cells = Array.from({ length: 1000 }, (_, row) => ({ row, column: 'item', page_id: 'p', words: [row], mask }));
  const own = { pages: { p: { ...EMPTY_MARK, mask } }, correction: null, cell: { row: 0, column: 'item' } };
  const { parts } = mergeProposal(cells, [own], [0], new Set());
  assert.deepEqual([parts.length, parts[0], parts.at(-1).cell.row], [1000, own, 999]);
});
