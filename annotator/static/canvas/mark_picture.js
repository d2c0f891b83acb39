// A small picture of a page: the part with a mark, painted as on the page.

/** @import { Box, Mark, Origin, PageLine, Words } from '../types' */

import { h } from '../core/dom.js';
import { living } from '../words/words.js';
import { Raster } from './mask.js';
import { Overlay } from './overlay.js';

/**
 * A small picture of a page with a mark on it.
 *
 * @param {PageLine} page
 * @param {CanvasImageSource} image
 * @param {Words} words
 * @param {Mark} mark
 * @param {Origin} [origin] whose the mark is
 */
export function markPicture(page, image, words, mark, origin = 'person') {
  const canvas = h('canvas', { width: '840', height: '420', role: 'img', 'aria-label': `Page ${page.number}` });
  const mask = new Raster(page.width, page.height),
    under = new Raster(page.width, page.height);
  mask.load(mark.mask);
  for (const { box } of living(words, mark.words)) under.fillBox(box, 1);
  const overlay = new Overlay(page.width, page.height);
  if (mark.mask.counts.length) overlay.repaint(mask, under, mark.mask.box, origin);
  /** @param {Box} part */
  const draw = ([x0, y0, x1, y1]) => {
    const context = canvas.getContext('2d');
    if (!context) return;
    canvas.height = Math.round((canvas.width * (y1 - y0)) / (x1 - x0));
    context.imageSmoothingQuality = 'high';
    for (const layer of [image, overlay.canvas])
      context.drawImage(layer, x0, y0, x1 - x0, y1 - y0, 0, 0, canvas.width, canvas.height);
  };
  return { canvas, draw };
}

/**
 * The part of the page that shows both marks, with room around them.
 *
 * @param {PageLine} page
 * @param {readonly Mark[]} marks
 * @returns {Box}
 */
export function frameAround(page, marks) {
  const boxes = marks.filter((mark) => mark.mask.counts.length).map((mark) => mark.mask.box);
  if (!boxes.length) return [0, 0, page.width, Math.round(page.width * 0.6)];
  const room = 90;
  let [x0, y0, x1, y1] = [
    Math.min(...boxes.map((box) => box[0])) - room,
    Math.min(...boxes.map((box) => box[1])) - room,
    Math.max(...boxes.map((box) => box[2])) + room,
    Math.max(...boxes.map((box) => box[3])) + room,
  ];
  const wanted = Math.max(x1 - x0, (y1 - y0) * 1.5, page.width / 2);
  x0 = Math.max(0, Math.min(x0, page.width - wanted, (x0 + x1 - wanted) / 2));
  x1 = Math.min(page.width, x0 + wanted);
  const height = Math.max(y1 - y0, (x1 - x0) * 0.5);
  y0 = Math.max(0, Math.min(y0, page.height - height));
  return [x0, y0, x1, Math.min(page.height, y0 + height)];
}
