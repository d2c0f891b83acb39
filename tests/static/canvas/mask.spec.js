import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { EMPTY_PATCH, Raster, isEmpty, union } from '../../../annotator/static/canvas/mask.js';
import { seeded } from '../seeded.js';

/** The patch of the pixels that are 1, pixel by pixel: what Raster must write, however it gets there. */
function reference({ bytes, width, height }) {
  const set = [];
  for (let at = 0; at < bytes.length; at++) if (bytes[at]) set.push([at % width, Math.floor(at / width)]);
  if (!set.length) return { box: [0, 0, 0, 0], counts: [] };
  const xs = set.map(([x]) => x),
    ys = set.map(([, y]) => y);
  const [x0, y0, x1, y1] = [Math.min(...xs), Math.min(...ys), Math.max(...xs) + 1, Math.max(...ys) + 1];
  const inside = [];
  for (let y = y0; y < y1; y++) inside.push(...bytes.slice(y * width + x0, y * width + x1));
  assert.equal(inside.length, (x1 - x0) * (y1 - y0));
  assert.ok(x1 <= width && y1 <= height);
  const counts = [0];
  let value = 0;
  for (const here of inside) {
    if (here !== value) {
      counts.push(0);
      value = here;
    }
    counts[counts.length - 1]++;
  }
  return { box: [x0, y0, x1, y1], counts };
}

/** The smallest box around the pixels in which two rasters differ; null where they are the same. */
function difference(left, right, width) {
  let box = null;
  left.forEach((each, at) => {
    const x = at % width,
      y = Math.floor(at / width);
    if (each !== right[at]) box = union(box, [x, y, x + 1, y + 1]);
  });
  return box;
}

/** A random mask: noise, boxes, lines along the edges, all or nothing. */
function drawn(rng, width, height) {
  const raster = new Raster(width, height);
  const kind = rng.whole(0, 5),
    share = rng.one([0.02, 0.5, 0.98]);
  for (let at = 0; at < raster.bytes.length; at++) {
    const x = at % width,
      y = Math.floor(at / width);
    const edge = x === 0 || y === 0 || x === width - 1 || y === height - 1;
    raster.bytes[at] = [rng.share() < share, edge, true, false, x > width / 3 && y > height / 2][kind] ? 1 : 0;
  }
  raster.rows.fill(undefined); // written past the raster's own methods
  return raster;
}

const copy = (raster) => Uint8Array.from(raster.bytes);

describe('a mask', () => {
  test('is written as the reference writes it, and read back as it was', () => {
    const rng = seeded(1);
    for (let turn = 0; turn < 300; turn++) {
      const width = rng.whole(1, 40),
        height = rng.whole(1, 30);
      const mask = drawn(rng, width, height),
        patch = mask.patch();
      assert.deepEqual(patch, reference(mask));
      const again = drawn(rng, width, height),
        before = copy(again);
      assert.deepEqual(again.load(patch), difference(before, mask.bytes, width));
      assert.deepEqual(again.bytes, mask.bytes);
      assert.deepEqual(again.patch(), patch);
    }
  });

  test('stays that of the reference through any sequence of strokes, boxes, patches and loads', () => {
    const rng = seeded(2);
    for (let turn = 0; turn < 60; turn++) {
      const width = rng.whole(5, 60),
        height = rng.whole(5, 60);
      const mask = drawn(rng, width, height);
      for (let step = 0; step < 12; step++) {
        const value = rng.whole(0, 2),
          at = [rng.whole(-9, width + 9), rng.whole(-9, height + 9)];
        const box = [...at, at[0] + rng.whole(0, 30), at[1] + rng.whole(0, 30)],
          other = drawn(rng, width, height).patch();
        const expected = copy(mask);
        const inside = (x, y) => x >= box[0] && x < box[2] && y >= box[1] && y < box[3];
        const radius = rng.whole(1, 20) / 2;
        const part = new Raster(width, height);
        part.load(other);
        const [act, hit] = rng.one([
          [() => mask.fillBox(box, value), (x, y) => inside(x, y)],
          [() => mask.fillDisc(...at, radius, value), (x, y) => Math.hypot(x - at[0], y - at[1]) <= radius],
          [() => mask.paint(other, value), (x, y) => part.bytes[y * width + x] === 1],
        ]);
        for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) if (hit(x, y)) expected[y * width + x] = value;
        act();
        assert.deepEqual(mask.bytes, expected);
        if (rng.share() < 0.6) assert.deepEqual(mask.patch(), reference(mask)); // else several strokes lie between
      }
      assert.deepEqual(mask.patch(), reference(mask));
      const wanted = drawn(rng, width, height),
        before = copy(mask);
      assert.deepEqual(mask.load(wanted.patch()), difference(before, wanted.bytes, width));
      assert.deepEqual(mask.bytes, wanted.bytes);
    }
  });

  test('takes runs of no length, which other programs write', () => {
    const mask = new Raster(6, 4);
    mask.load({ box: [1, 1, 5, 3], counts: [0, 2, 0, 3, 1, 2] });
    assert.deepEqual(mask.patch(), { box: [1, 1, 5, 3], counts: [0, 5, 1, 2] });
    assert.deepEqual([mask.runs(1), mask.runs(2)], [[1, 5], [1, 2, 3, 5]]); // prettier-ignore
  });

  test('without pixels is an empty patch, and so is one that was cleared', () => {
    const mask = new Raster(9, 7);
    assert.deepEqual(mask.patch(), EMPTY_PATCH);
    assert.equal(mask.load(EMPTY_PATCH), null);
    mask.fillDisc(4, 3, 2, 1);
    assert.ok(!isEmpty(mask.patch()));
    mask.fillBox([-5, -5, 50, 50], 0);
    assert.ok(isEmpty(mask.patch()));
    assert.deepEqual(mask.patch(), EMPTY_PATCH);
  });
});

test('a disc names a box that holds all it has touched', () => {
  const rng = seeded(3);
  for (let turn = 0; turn < 200; turn++) {
    const mask = new Raster(40, 30),
      radius = 0.5 + 20 * rng.share();
    const [x0, y0, x1, y1] = mask.fillDisc(80 * rng.share() - 20, 60 * rng.share() - 15, radius, 1);
    assert.deepEqual(mask.clip([x0, y0, x1, y1]), [x0, y0, x1, y1]);
    mask.fillBox([x0, y0, x1, y1], 0);
    assert.ok(isEmpty(mask.patch()));
  }
});

test('a box is clipped to whole pixels of the page', () => {
  const mask = new Raster(40, 30);
  assert.deepEqual(mask.clip([1.2, 2.7, 3.1, 4.9]), [1, 2, 4, 5]);
  assert.deepEqual(mask.clip([-8, -8, 100, 100]), [0, 0, 40, 30]);
  assert.deepEqual(mask.clip([50, 50, 60, 60]), [40, 30, 40, 30]);
  assert.deepEqual(mask.clip([9, 9, 3, 3]), [9, 9, 9, 9]);
});

test('the share of a box that is covered counts the pixels on the page', () => {
  const rng = seeded(4);
  for (let turn = 0; turn < 100; turn++) {
    const mask = drawn(rng, 30, 20);
    const box = [rng.whole(-5, 25), rng.whole(-5, 15)];
    box.push(box[0] + rng.whole(1, 20), box[1] + rng.whole(1, 20));
    const [x0, y0, x1, y1] = mask.clip(box);
    let set = 0;
    for (let y = y0; y < y1; y++) for (let x = x0; x < x1; x++) set += mask.bytes[y * 30 + x];
    const area = (x1 - x0) * (y1 - y0);
    assert.equal(mask.covered(box), area ? set / area : 0);
  }
});
