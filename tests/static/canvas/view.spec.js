import assert from 'node:assert/strict';
import { test } from 'node:test';

import { View } from '../../../annotator/static/canvas/view.js';
import { seeded } from '../seeded.js';

const KEEP = 64; // screen pixels of the page that always stay in sight

function some(rng) {
  const view = new View();
  view.resize(rng.whole(200, 2000), rng.whole(200, 1400));
  view.setPage(rng.whole(50, 6000), rng.whole(50, 6000));
  return view;
}

const near = (left, right, message) =>
  left.forEach((each, at) => assert.ok(Math.abs(each - right[at]) < 1e-6 * Math.max(1, Math.abs(each)), message));

const state = ({ scale, x, y }) => [scale, x, y];

const span = (view) => view.page.map((length) => length * view.scale);

/** A box that lies on the page. */
function boxOn(view, rng) {
  const [width, height] = view.page,
    x = rng.whole(0, width - 1),
    y = rng.whole(0, height - 1);
  return [x, y, rng.whole(x + 1, width + 1), rng.whole(y + 1, height + 1)];
}

const onScreen = (view, [x0, y0, x1, y1]) => [...view.toScreen(x0, y0), ...view.toScreen(x1, y1)];

const inSight = (view, box) => {
  const [left, top, right, bottom] = onScreen(view, box);
  return left >= 0 && top >= 0 && right <= view.width && bottom <= view.height;
};

function anyMove(view, rng) {
  rng.one([
    () => view.zoom(Math.exp(6 * rng.share() - 3), view.width * rng.share(), view.height * rng.share()),
    () => view.pan(4000 * rng.share() - 2000, 4000 * rng.share() - 2000),
    () => view.frame(boxOn(view, rng)),
    () => view.reveal(boxOn(view, rng)),
    () => view.resize(rng.whole(200, 2000), rng.whole(200, 1400)),
    () => view.fit(),
  ])();
}

test('zooming keeps the point of the page that is under the pointer', () => {
  const rng = seeded(1);
  let zoomed = 0;
  for (let turn = 0; turn < 2000; turn++) {
    const view = some(rng);
    for (let move = 0; move < 3; move++) anyMove(view, rng);
    const x = rng.whole(KEEP, view.width - KEEP),
      y = rng.whole(KEEP, view.height - KEEP);
    const point = view.toPage(x, y);
    if (point.some((each, axis) => each < 0 || each > view.page[axis])) continue;
    const before = view.scale;
    view.zoom(Math.exp(6 * rng.share() - 3), x, y);
    near(view.toPage(x, y), point);
    assert.ok(view.scale >= 0.05 && view.scale <= 8);
    assert.equal(view.fitted, false);
    if (view.scale !== before) zoomed++;
  }
  assert.ok(zoomed > 500);
});

test('a part of the page stays in sight, whatever is done', () => {
  const rng = seeded(2);
  for (let turn = 0; turn < 300; turn++) {
    const view = some(rng);
    for (let move = 0; move < 10; move++) {
      anyMove(view, rng);
      const [width, height] = span(view);
      const across = Math.min(view.width, view.x + width) - Math.max(0, view.x);
      const down = Math.min(view.height, view.y + height) - Math.max(0, view.y);
      assert.ok(across >= Math.min(KEEP, width) - 1e-6 && down >= Math.min(KEEP, height) - 1e-6);
      const point = [rng.share() * view.page[0], rng.share() * view.page[1]];
      near(view.toPage(...view.toScreen(...point)), point);
    }
  }
});

test('a fitted page lies in the middle with a margin, and follows the window until it is moved', () => {
  const rng = seeded(3);
  for (let turn = 0; turn < 200; turn++) {
    const view = some(rng);
    view.resize(rng.whole(500, 2000), rng.whole(500, 1400));
    const [width, height] = span(view);
    near([2 * view.x + width, 2 * view.y + height], [view.width, view.height]);
    assert.ok(width <= view.width - 48 + 1e-6 && height <= view.height - 48 + 1e-6);
    if (view.scale < 8) assert.ok(Math.min(view.width - 48 - width, view.height - 48 - height) < 1e-6);
    view.pan(1, 0);
    const { scale } = view;
    view.resize(rng.whole(500, 2000), rng.whole(500, 1400));
    assert.equal(view.scale, scale);
  }
});

test('a framed box stands in the middle with room around it, four screen pixels a page pixel at most', () => {
  const rng = seeded(4);
  for (let turn = 0; turn < 300; turn++) {
    const view = some(rng),
      box = boxOn(view, rng);
    view.frame(box);
    const [left, top, right, bottom] = onScreen(view, box);
    near([left + right, top + bottom], [view.width, view.height]);
    assert.ok(view.scale <= 4);
    if (view.scale > 0.05) assert.ok(right - left <= view.width - 96 + 1e-6 && bottom - top <= view.height - 96 + 1e-6);
  }
});

test('what is in sight is left where it is; what is not comes into sight without another zoom', () => {
  const rng = seeded(5);
  const seen = { stayed: 0, moved: 0 };
  for (let turn = 0; turn < 1000; turn++) {
    const view = some(rng);
    for (let move = 0; move < 3; move++) anyMove(view, rng);
    const box = boxOn(view, rng),
      before = state(view),
      stays = inSight(view, box);
    const [left, top, right, bottom] = onScreen(view, box);
    view.reveal(box);
    if (stays) {
      assert.deepEqual(state(view), before);
      seen.stayed++;
    } else if (right - left <= view.width - 48 && bottom - top <= view.height - 48) {
      assert.equal(view.scale, before[0]);
      assert.ok(inSight(view, box));
      seen.moved++;
    }
  }
  assert.ok(seen.stayed > 50 && seen.moved > 50, JSON.stringify(seen));
});

test('another page keeps the zoom that somebody has chosen, and begins at its top', () => {
  const view = new View();
  view.resize(1000, 800);
  view.setPage(1000, 1400);
  view.zoom(3);
  view.pan(-50, -900);
  const across = view.page[0] * view.scale,
    { x } = view;
  view.setPage(2000, 2800);
  near([view.page[0] * view.scale, view.x], [across, x], 'as wide, and as far to the side');
  assert.ok(view.y > 0 && !view.fitted);
  view.fit();
  view.setPage(500, 700);
  assert.ok(view.fitted, 'who looks at whole pages goes on to do so');
});

test('a mark is approached until it can be read, with what stands around it, and the page fills the window', () => {
  const rng = seeded(3);
  for (let turn = 0; turn < 300; turn++) {
    const view = some(rng),
      line = rng.whole(6, 60),
      box = boxOn(view, rng);
    view.fit();
    const whole = view.scale;
    view.approach(box, line);
    assert.ok(view.scale >= whole && view.scale <= Math.max(whole, 22 / line) + 1e-9);
    const [left, top] = view.toScreen(box[0], box[1]),
      [right, bottom] = view.toScreen(box[2], box[3]);
    assert.ok(left >= 0 && top >= 0 && right <= view.width && bottom <= view.height, 'the whole mark is in sight');
    for (const axis of [0, 1]) {
      const room = [view.width, view.height][axis],
        begin = [view.x, view.y][axis],
        end = begin + span(view)[axis];
      assert.ok(end - begin < room || (begin <= 24.001 && end >= room - 24.001), 'no empty room beside the page');
    }
  }
});
