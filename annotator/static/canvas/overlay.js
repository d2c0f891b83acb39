// The colours of a mark, at page resolution: a fill with an outline; hatched where painted pixels lie under no marked word.

import { COLOURS } from './palettes.js';

const EDGE = 2; // width of the outline in page pixels
const HATCH = 14; // period of the hatching in page pixels

const rgba = ([red, green, blue], alpha) => ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;

export class Overlay {
  constructor(width, height) {
    this.width = width;
    this.height = height;
    this.canvas = document.createElement('canvas');
    this.canvas.width = width;
    this.canvas.height = height;
    this.context = this.canvas.getContext('2d');
  }

  // mask, words: Raster of the painted pixels, and of the boxes of the marked words. dirty: what may have changed.
  repaint(mask, words, dirty, origin) {
    const [x0, y0, x1, y1] = mask.clip([dirty[0] - EDGE, dirty[1] - EDGE, dirty[2] + EDGE, dirty[3] + EDGE]);
    const width = x1 - x0,
      height = y1 - y0;
    if (width <= 0 || height <= 0) return;
    const image = new ImageData(width, height),
      pixels = new Uint32Array(image.data.buffer);
    const colour = COLOURS[origin],
      fill = rgba(colour, 72),
      edge = rgba(colour, 225),
      faint = rgba(colour, 34),
      stripe = rgba(colour, 120);
    const bytes = mask.bytes,
      under = words.bytes,
      row = mask.width;
    for (let y = y0; y < y1; y++) {
      for (let x = x0; x < x1; x++) {
        const at = y * row + x;
        if (!bytes[at]) continue;
        const inner =
          x >= EDGE &&
          x < row - EDGE &&
          y >= EDGE &&
          y < mask.height - EDGE &&
          bytes[at - 1] &&
          bytes[at + 1] &&
          bytes[at - EDGE] &&
          bytes[at + EDGE] &&
          bytes[at - row] &&
          bytes[at + row] &&
          bytes[at - EDGE * row] &&
          bytes[at + EDGE * row];
        if (!inner) pixels[(y - y0) * width + x - x0] = edge;
        else if (under[at]) pixels[(y - y0) * width + x - x0] = fill;
        else pixels[(y - y0) * width + x - x0] = (x + y) % HATCH < HATCH / 2 ? stripe : faint;
      }
    }
    this.context.putImageData(image, x0, y0);
  }

  clear() {
    this.context.clearRect(0, 0, this.width, this.height);
  }
}
