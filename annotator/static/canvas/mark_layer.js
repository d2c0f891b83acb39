// The colours of the mark of the open page, at the resolution of the screen and in tiles: an edit repaints its own few
// pixels, and a frame copies what is in sight. A picture of the page's size would be shrunk whole at every frame.

/** @import { Box, Origin } from '../types' */
/** @import { Raster } from './mask.js' */
/** @import { Axis } from './shading.js' */

import { union } from './mask.js';
import { REACH, axis, coloured, shades } from './shading.js';

const TILE = 256; // cells
const MANY = 65536; // more tiles than a row has

/**
 * A part of the layer; without a picture nothing is marked there.
 *
 * @typedef {object} Tile
 * @property {Box} area cells of the layer
 * @property {OffscreenCanvas | null} canvas
 * @property {Box | null} stale what has to be painted anew, cells of the layer
 */

/**
 * The colours of a mark, shrunk to the screen: a cell is a pixel of the screen, or one of the page where the page is
 * shown larger than it is.
 */
export class MarkLayer {
  /**
   * @param {Raster} mask the painted pixels
   * @param {Raster} under the boxes of the marked words
   */
  constructor(mask, under) {
    this.mask = mask;
    this.under = under;
    /** @type {Origin} */
    this.origin = 'model';
    /** @type {Axis} */
    this.columns = axis(mask.width, mask.width);
    /** @type {Axis} */
    this.rows = axis(mask.height, mask.height);
    /** @type {Map<number, Tile>} those that have been in sight */
    this.tiles = new Map();
  }

  /**
   * Takes the size of the page on the screen.
   *
   * @param {number} width cells
   * @param {number} height cells
   */
  resize(width, height) {
    const { mask, columns, rows } = this;
    const across = Math.max(1, Math.min(mask.width, width)),
      down = Math.max(1, Math.min(mask.height, height));
    if (across === columns.length && down === rows.length) return;
    this.columns = axis(mask.width, across);
    this.rows = axis(mask.height, down);
    this.tiles.clear();
  }

  /** Everything has to be painted anew: it has another colour. */
  refresh() {
    this.tiles.clear();
  }

  /**
   * A part of the page has to be painted anew.
   *
   * @param {Box} box page pixels
   */
  touch([left, top, right, bottom]) {
    const { mask, columns, rows } = this;
    const [x0, y0, x1, y1] = mask.clip([left - REACH, top - REACH, right + REACH, bottom + REACH]);
    if (x0 >= x1 || y0 >= y1) return;
    /** @type {Box} */
    const area = [columns.cell[x0], rows.cell[y0], columns.cell[x1 - 1] + 1, rows.cell[y1 - 1] + 1];
    for (const tile of this.tiles.values()) {
      const part = intersection(tile.area, area);
      if (part) tile.stale = union(tile.stale, part);
    }
  }

  /**
   * Draws what is in sight, and paints before what has to be painted anew.
   *
   * @param {CanvasRenderingContext2D} context in pixels of its canvas
   * @param {number} left where the page begins, pixels of the canvas
   * @param {number} top
   * @param {number} size of a cell, pixels of the canvas
   */
  draw(context, left, top, size) {
    const { width, height } = context.canvas;
    const x1 = Math.min(this.columns.length, Math.ceil((width - left) / size)),
      y1 = Math.min(this.rows.length, Math.ceil((height - top) / size));
    for (let y = tileOf(-top / size); y * TILE < y1; y++) {
      for (let x = tileOf(-left / size); x * TILE < x1; x++) {
        const tile = this.tile(x, y),
          [x0, y0, right, bottom] = tile.area;
        if (tile.stale) this.paint(tile, tile.stale);
        if (!tile.canvas) continue;
        // Between whole pixels the seams of the tiles would show.
        const [from, to] = [Math.round(left + x0 * size), Math.round(left + right * size)],
          [above, below] = [Math.round(top + y0 * size), Math.round(top + bottom * size)];
        context.drawImage(tile.canvas, from, above, to - from, below - above);
      }
    }
  }

  /**
   * @param {number} x tiles
   * @param {number} y tiles
   */
  tile(x, y) {
    const key = y * MANY + x,
      known = this.tiles.get(key);
    if (known) return known;
    /** @type {Box} */
    const area = [
      x * TILE,
      y * TILE,
      Math.min(this.columns.length, (x + 1) * TILE),
      Math.min(this.rows.length, (y + 1) * TILE),
    ];
    /** @type {Tile} */
    const tile = { area, canvas: null, stale: area };
    this.tiles.set(key, tile);
    return tile;
  }

  /**
   * @param {Tile} tile
   * @param {Box} part cells
   */
  paint(tile, part) {
    tile.stale = null;
    const opacities = shades(this.mask, this.under, this.columns, this.rows, part);
    if (!opacities && !tile.canvas) return;
    const [left, top, right, bottom] = tile.area,
      [x0, y0, x1, y1] = part;
    tile.canvas ??= new OffscreenCanvas(right - left, bottom - top);
    const context = tile.canvas.getContext('2d');
    if (opacities) context?.putImageData(coloured(opacities, part, this.origin), x0 - left, y0 - top);
    else context?.clearRect(x0 - left, y0 - top, x1 - x0, y1 - y0);
  }
}

/** @param {number} cells */
const tileOf = (cells) => Math.max(0, Math.floor(cells / TILE));

/**
 * @param {Box} one
 * @param {Box} other
 * @returns {Box | null}
 */
function intersection(one, other) {
  const [x0, y0] = [Math.max(one[0], other[0]), Math.max(one[1], other[1])],
    [x1, y1] = [Math.min(one[2], other[2]), Math.min(one[3], other[3])];
  return x0 < x1 && y0 < y1 ? [x0, y0, x1, y1] : null;
}
