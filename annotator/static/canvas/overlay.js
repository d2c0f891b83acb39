// The colours of a mark on a page, as a picture at page resolution.

/** @import { Box, Origin } from '../types' */
/** @import { Raster } from './mask.js' */

import { REACH, axis, coloured, shades } from './shading.js';

/** A picture of the size of a page, which costs memory: the stage has a MarkLayer instead. */
export class Overlay {
  /**
   * @param {number} width page pixels
   * @param {number} height page pixels
   */
  constructor(width, height) {
    this.columns = axis(width, width);
    this.rows = axis(height, height);
    this.canvas = new OffscreenCanvas(width, height);
  }

  /**
   * Paints a part anew.
   *
   * @param {Raster} mask the painted pixels
   * @param {Raster} under the boxes of the marked words
   * @param {Box} dirty what may have changed, page pixels
   * @param {Origin} origin
   */
  repaint(mask, under, dirty, origin) {
    const area = mask.clip([dirty[0] - REACH, dirty[1] - REACH, dirty[2] + REACH, dirty[3] + REACH]);
    const opacities = shades(mask, under, this.columns, this.rows, area);
    const [x0, y0, x1, y1] = area,
      context = this.canvas.getContext('2d');
    context?.clearRect(x0, y0, x1 - x0, y1 - y0);
    if (opacities) context?.putImageData(coloured(opacities, area, origin), x0, y0);
  }
}
