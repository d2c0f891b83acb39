import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Raster } from '../../../annotator/static/canvas/mask.js';
import { axis, shades } from '../../../annotator/static/canvas/shading.js';
import { seeded } from '../seeded.js';

/**
 * The opacity of each pixel of a page, looked at one by one: fill, outline of two pixels, hatching beside the words.
 */
function opacities(mask, under) {
  const { width, height, bytes } = mask;
  const set = (x, y) => x >= 0 && y >= 0 && x < width && y < height && bytes[y * width + x] === 1;
  return Array.from(bytes, (here, at) => {
    const x = at % width,
      y = Math.floor(at / width);
    if (!here) return 0;
    if ([-2, -1, 1, 2].some((step) => !set(x + step, y) || !set(x, y + step))) return 225;
    if (under.bytes[at]) return 72;
    return (x + y) % 14 < 7 ? 120 : 34;
  });
}

function drawn(rng, width, height) {
  const raster = new Raster(width, height);
  for (let more = rng.whole(0, 5); more; more--) {
    const x = rng.whole(-10, width),
      y = rng.whole(-10, height);
    if (rng.share() < 0.5) raster.fillBox([x, y, x + rng.whole(1, 60), y + rng.whole(1, 40)], rng.whole(0, 2));
    else raster.fillDisc(x, y, rng.whole(1, 15), rng.one([1, 1, 0]));
  }
  return raster;
}

test('a cell has the mean opacity of its pixels, and colour wherever one of them is painted', () => {
  const rng = seeded(1);
  for (let turn = 0; turn < 150; turn++) {
    const width = rng.whole(8, 90),
      height = rng.whole(8, 70);
    const mask = drawn(rng, width, height),
      under = drawn(rng, width, height);
    const columns = axis(width, rng.one([width, rng.whole(1, width)])),
      rows = axis(height, rng.one([height, rng.whole(1, height)]));
    const x0 = rng.whole(0, columns.length),
      y0 = rng.whole(0, rows.length);
    const area = [x0, y0, rng.whole(x0 + 1, columns.length + 1), rng.whole(y0 + 1, rows.length + 1)];
    const cells = (area[2] - x0) * (area[3] - y0);
    const sums = new Array(cells).fill(0),
      pixels = new Array(cells).fill(0);
    opacities(mask, under).forEach((opacity, at) => {
      const x = Math.floor(((at % width) * columns.length) / width),
        y = Math.floor((Math.floor(at / width) * rows.length) / height);
      if (x < x0 || y < y0 || x >= area[2] || y >= area[3]) return;
      const cell = (y - y0) * (area[2] - x0) + x - x0;
      sums[cell] += opacity;
      pixels[cell]++;
    });
    const expected = sums.map((sum, at) => (sum ? Math.max(1, Math.round(sum / pixels[at])) : 0));
    const found = shades(mask, under, columns, rows, area);
    assert.deepEqual(found ? Array.from(found) : new Array(cells).fill(0), expected);
  }
});

test('a single pixel of a large page is seen, however small the page is shown', () => {
  const mask = new Raster(300, 300);
  mask.fillBox([7, 8, 8, 9], 1);
  assert.deepEqual(shades(mask, mask, axis(300, 2), axis(300, 2), [0, 0, 2, 2]), Uint8Array.of(1, 0, 0, 0));
  assert.equal(shades(mask, mask, axis(300, 2), axis(300, 2), [1, 0, 2, 2]), null);
});

test('each pixel of an axis lies in one cell, and each cell has one at least', () => {
  for (const [pixels, length] of [
    [10, 10],
    [10, 3],
    [4204, 715],
    [7, 1],
  ]) {
    const { cell, start } = axis(pixels, length);
    for (let at = 0; at < pixels; at++) assert.ok(start[cell[at]] <= at && at < start[cell[at] + 1]);
    for (let at = 0; at < length; at++) assert.ok(start[at] < start[at + 1]);
    assert.deepEqual([start[0], start[length]], [0, pixels]);
  }
});
