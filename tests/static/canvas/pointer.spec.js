import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { Pointer } from '../../../annotator/static/canvas/pointer.js';
import { View } from '../../../annotator/static/canvas/view.js';

const PEN = 1,
  PALM = 2,
  HEEL = 3; // of the hand

/** The canvas as far as pointers need it: no page of a browser stands behind it. */
class Canvas extends EventTarget {
  dataset = {};
  focus() {}
  setPointerCapture() {}
  getBoundingClientRect() {
    return { left: 0, top: 0 };
  }
}

/** Strokes as lists of points, and the real view. */
class Board {
  page = { id: 'p' };
  tool = 'brush';
  hover = -1;
  stroking = false;
  canvas = new Canvas();
  view = new View();
  strokes = [];
  line = [];
  draw() {}
  over() {}
  begin(point) {
    this.stroking = true;
    this.line = [point];
  }
  move(points) {
    if (this.stroking) this.line.push(...points);
  }
  end() {
    if (this.stroking) this.strokes.push(this.line);
    this.stroking = false;
  }
  abandon() {
    this.stroking = false;
  }
  zoom(...given) {
    this.view.zoom(...given);
  }
  pan(...given) {
    this.view.pan(...given);
  }
}

let board, clock;

beforeEach(() => {
  board = new Board();
  board.view.resize(800, 600);
  board.view.setPage(1000, 1400);
  new Pointer(board);
  clock = 10_000;
});

/**
 * @param {string} kind
 * @param {number} pointerId
 * @param {number} clientX
 * @param {number} clientY
 */
function point(kind, pointerId, clientX = 0, clientY = 0) {
  const pointerType = pointerId === PEN ? 'pen' : 'touch';
  const event = new Event(`pointer${kind}`);
  Object.defineProperty(event, 'timeStamp', { value: (clock += 10) });
  board.canvas.dispatchEvent(Object.assign(event, { pointerId, pointerType, clientX, clientY, button: 0 }));
}

const seen = () => {
  const { scale, x, y, fitted } = board.view;
  return { scale, x, y, fitted };
};

function penStroke() {
  point('down', PEN, 100, 100);
  for (let x = 110; x <= 200; x += 10) point('move', PEN, x, 100);
}

test('a hand laid down beside a pen that writes neither ends its stroke nor moves the page', () => {
  const before = seen();
  penStroke();
  point('down', PALM, 400, 400);
  point('down', HEEL, 460, 420);
  point('move', PALM, 300, 380);
  point('move', PEN, 210, 100);
  point('up', PALM, 300, 380);
  point('cancel', HEEL, 460, 420);
  point('leave', HEEL, 460, 420);
  point('move', PEN, 220, 100);
  point('up', PEN, 220, 100);
  assert.equal(board.strokes.length, 1);
  assert.equal(board.strokes[0].length, 13);
  assert.deepEqual(seen(), before);
});

test('what a hand did that came before the pen is taken back', () => {
  for (const hand of [[PALM], [PALM, HEEL]]) {
    const before = seen();
    for (const id of hand) point('down', id, 400 + 60 * id, 400);
    for (const id of hand) point('move', id, 350 + 90 * id, 380);
    if (hand.length === 2) assert.notDeepEqual(seen(), before);
    penStroke();
    for (const id of hand) point('move', id, 300 + 120 * id, 300);
    point('up', PEN, 200, 100);
    for (const id of hand) point('move', id, 420, 300);
    for (const id of hand) point('up', id, 420, 300);
    assert.equal(board.strokes.length, 1);
    assert.equal(board.strokes[0].length, 11);
    assert.deepEqual(seen(), before);
    board.strokes = [];
    clock += 5000;
  }
});

test('the first of two fingers may lift before the pen comes: the zoom is still taken back', () => {
  const before = seen();
  point('down', PALM, 400, 400);
  point('down', HEEL, 460, 400);
  point('move', HEEL, 500, 400);
  point('up', HEEL, 500, 400);
  penStroke();
  assert.deepEqual(seen(), before);
});

test('touches count again when the pen has been away for a while', () => {
  penStroke();
  point('up', PEN, 200, 100);
  point('down', PALM, 300, 300);
  point('up', PALM, 300, 300);
  assert.equal(board.strokes.length, 1); // the hand between two strokes
  clock += 1000;
  point('move', PEN, 200, 100); // over the screen, without touching it
  point('down', PALM, 300, 300);
  point('up', PALM, 300, 300);
  assert.equal(board.strokes.length, 1);
  clock += 1000;
  point('down', PALM, 300, 300);
  point('move', PALM, 320, 300);
  point('up', PALM, 320, 300);
  assert.equal(board.strokes.length, 2);
});

test('two fingers without a pen zoom and move the page, and mark nothing', () => {
  const { scale } = seen();
  point('down', PALM, 400, 300);
  point('down', HEEL, 500, 300);
  point('move', HEEL, 600, 300);
  point('up', HEEL, 600, 300);
  point('up', PALM, 400, 300);
  assert.ok(Math.abs(seen().scale / scale - 2) < 1e-9);
  assert.deepEqual(board.strokes, []);
});
