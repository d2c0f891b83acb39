// Masks: run-length patches (wire and storage form) and the raster of one page (truth while a page is open).
//
// A patch is { box: [x0, y0, x1, y1], counts: [n0, n1, ...] }: row-major run lengths inside the box, the first run
// counts zeros. Boxes are integer pixels of the rendered page, x1 and y1 exclusive.

export const EMPTY_PATCH = Object.freeze({ box: Object.freeze([0, 0, 0, 0]), counts: Object.freeze([]) });

export const isEmpty = (patch) => patch.counts.length === 0;

// Patch of the pixels that are 1, in their tight bounding box. bytes: Uint8Array [height * width] of 0 and 1.
export function encodePatch(bytes, width, height) {
  let x0 = width,
    x1 = 0,
    y0 = -1,
    y1 = 0;
  for (let y = 0; y < height; y++) {
    const row = bytes.subarray(y * width, (y + 1) * width);
    const first = row.indexOf(1);
    if (first < 0) continue;
    if (y0 < 0) y0 = y;
    y1 = y + 1;
    x0 = Math.min(x0, first);
    x1 = Math.max(x1, row.lastIndexOf(1) + 1);
  }
  if (y0 < 0) return { box: [0, 0, 0, 0], counts: [] };
  const counts = [];
  let value = 0,
    run = 0;
  for (let y = y0; y < y1; y++) {
    for (let at = y * width + x0, end = y * width + x1; at < end; at++) {
      const here = bytes[at] ? 1 : 0;
      if (here !== value) {
        counts.push(run);
        run = 0;
        value = here;
      }
      run++;
    }
  }
  counts.push(run);
  return { box: [x0, y0, x1, y1], counts };
}

// Calls paint(y, from, to) for every run of ones, cut into rows.
function eachRun(patch, paint) {
  const [x0, y0, x1] = patch.box;
  const width = x1 - x0;
  let at = 0,
    value = 0;
  for (const length of patch.counts) {
    if (value) {
      for (let from = at; from < at + length;) {
        const row = Math.floor(from / width);
        const to = Math.min(at + length, (row + 1) * width);
        paint(y0 + row, x0 + from - row * width, x0 + to - row * width);
        from = to;
      }
    }
    at += length;
    value ^= 1;
  }
}

// One byte a pixel of a page.
export class Raster {
  constructor(width, height) {
    this.width = width;
    this.height = height;
    this.bytes = new Uint8Array(width * height);
  }

  clip([x0, y0, x1, y1]) {
    const left = Math.min(this.width, Math.max(0, Math.floor(x0)));
    const top = Math.min(this.height, Math.max(0, Math.floor(y0)));
    return [
      left,
      top,
      Math.max(left, Math.min(this.width, Math.ceil(x1))),
      Math.max(top, Math.min(this.height, Math.ceil(y1))),
    ];
  }

  load(patch) {
    this.bytes.fill(0);
    this.paint(patch, 1);
  }

  paint(patch, value) {
    eachRun(patch, (y, from, to) => this.bytes.fill(value, y * this.width + from, y * this.width + to));
  }

  fillBox(box, value) {
    const [x0, y0, x1, y1] = this.clip(box);
    for (let y = y0; y < y1; y++) this.bytes.fill(value, y * this.width + x0, y * this.width + x1);
  }

  // A disc of the brush; returns the rectangle it may have touched.
  fillDisc(x, y, radius, value) {
    const box = this.clip([x - radius, y - radius, x + radius + 1, y + radius + 1]);
    for (let row = box[1]; row < box[3]; row++) {
      const half = Math.sqrt(Math.max(0, radius * radius - (row - y) * (row - y)));
      const from = Math.max(box[0], Math.ceil(x - half));
      const to = Math.min(box[2], Math.floor(x + half) + 1);
      if (to > from) this.bytes.fill(value, row * this.width + from, row * this.width + to);
    }
    return box;
  }

  // Share of a box that is set, 0..1.
  covered(box) {
    const [x0, y0, x1, y1] = this.clip(box);
    if (x1 <= x0 || y1 <= y0) return 0;
    let set = 0;
    for (let y = y0; y < y1; y++)
      for (let at = y * this.width + x0; at < y * this.width + x1; at++) set += this.bytes[at] ? 1 : 0;
    return set / ((x1 - x0) * (y1 - y0));
  }

  patch() {
    return encodePatch(this.bytes, this.width, this.height);
  }
}

export const union = (left, right) =>
  left
    ? [
        Math.min(left[0], right[0]),
        Math.min(left[1], right[1]),
        Math.max(left[2], right[2]),
        Math.max(left[3], right[3]),
      ]
    : right;
