// Zoom and pan: how pixels of the page map to pixels of the screen. No drawing here.

/** @import { Box, XY } from '../types' */

const NEAREST = 8, // screen pixels a page pixel
  FARTHEST = 0.05,
  MARGIN = 24, // screen pixels
  READABLE = 22; // screen pixels that a line of text is high when one reads it with ease

/** Which part of a page the screen shows, and how large. Screen pixels are those of CSS. */
export class View {
  constructor() {
    this.scale = 1; // screen pixels a page pixel
    this.x = 0; // where the page's left upper corner lies on the screen, screen pixels
    this.y = 0;
    this.width = 1; // of the screen part that shows the page, screen pixels
    this.height = 1;
    /** @type {XY} width and height, page pixels */
    this.page = [1, 1];
    this.fitted = true; // follow the window until somebody zooms or pans
  }

  /**
   * Shows another page: whole, or as large as somebody has made the last one, from its top on.
   *
   * @param {number} width page pixels
   * @param {number} height page pixels
   */
  setPage(width, height) {
    const { scale, x, fitted } = this,
      [before] = this.page;
    this.page = [width, height];
    if (fitted) return this.fit();
    this.scale = Math.min(NEAREST, Math.max(FARTHEST, (scale * before) / width));
    this.x = x;
    this.y = MARGIN;
    this.hold();
  }

  /**
   * Takes the size of the screen part that shows the page.
   *
   * @param {number} width screen pixels
   * @param {number} height screen pixels
   */
  resize(width, height) {
    this.width = width;
    this.height = height;
    if (this.fitted) this.fit();
    else this.hold();
  }

  /** Shows the whole page in the middle, and follows the window from now on. */
  fit() {
    const whole = Math.min((this.width - 2 * MARGIN) / this.page[0], (this.height - 2 * MARGIN) / this.page[1]);
    this.scale = Math.min(NEAREST, Math.max(FARTHEST, whole));
    this.x = (this.width - this.page[0] * this.scale) / 2;
    this.y = (this.height - this.page[1] * this.scale) / 2;
    this.fitted = true;
  }

  /**
   * Enlarges the page around a point of the screen.
   *
   * @param {number} factor
   * @param {number} [x] screen pixels, as is `y`; without them, the middle
   * @param {number} [y]
   */
  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const scale = Math.min(NEAREST, Math.max(FARTHEST, this.scale * factor));
    this.x = x - ((x - this.x) * scale) / this.scale;
    this.y = y - ((y - this.y) * scale) / this.scale;
    this.scale = scale;
    this.fitted = false;
    this.hold();
  }

  /**
   * Moves the page.
   *
   * @param {number} dx screen pixels
   * @param {number} dy screen pixels
   */
  pan(dx, dy) {
    this.x += dx;
    this.y += dy;
    this.fitted = false;
    this.hold();
  }

  /**
   * Fills the window with a box of the page, with room around it, but never beyond four screen pixels a page pixel.
   *
   * @param {Box} box page pixels
   */
  frame([x0, y0, x1, y1]) {
    const room = 4 * MARGIN;
    const scale = Math.min((this.width - room) / Math.max(1, x1 - x0), (this.height - room) / Math.max(1, y1 - y0), 4);
    this.scale = Math.min(NEAREST, Math.max(FARTHEST, scale));
    this.x = this.width / 2 - ((x0 + x1) / 2) * this.scale;
    this.y = this.height / 2 - ((y0 + y1) / 2) * this.scale;
    this.fitted = false;
    this.hold();
  }

  /**
   * Comes near enough to a box of the page to read it, and no nearer: what stands around it stays in sight.
   *
   * @param {Box} box page pixels
   * @param {number} line height of a line of text, page pixels
   */
  approach(box, line) {
    this.fit();
    const room = 4 * MARGIN,
      [x0, y0, x1, y1] = box;
    const whole = Math.min((this.width - room) / Math.max(1, x1 - x0), (this.height - room) / Math.max(1, y1 - y0));
    const scale = Math.min(NEAREST, whole, READABLE / Math.max(1, line));
    if (scale <= this.scale) return;
    this.scale = scale;
    this.x = this.centred(0, (x0 + x1) / 2);
    this.y = this.centred(1, (y0 + y1) / 2);
    this.fitted = false;
  }

  /**
   * Where the page begins on the screen for one of its points to lie in the middle, without empty room beside the page.
   *
   * @param {0 | 1} axis
   * @param {number} point page pixels
   * @returns {number} screen pixels
   */
  centred(axis, point) {
    const room = [this.width, this.height][axis],
      length = this.page[axis] * this.scale;
    if (length + 2 * MARGIN <= room) return (room - length) / 2;
    return Math.min(MARGIN, Math.max(room - MARGIN - length, room / 2 - point * this.scale));
  }

  /**
   * Brings a box of the page into sight, moving no more than needed.
   *
   * @param {Box} box page pixels
   */
  reveal([x0, y0, x1, y1]) {
    const left = x0 * this.scale + this.x,
      right = x1 * this.scale + this.x;
    const top = y0 * this.scale + this.y,
      bottom = y1 * this.scale + this.y;
    if (left >= 0 && top >= 0 && right <= this.width && bottom <= this.height) return;
    if (left < MARGIN || right > this.width - MARGIN) this.x += this.width / 2 - (left + right) / 2;
    if (top < MARGIN || bottom > this.height - MARGIN) this.y += this.height / 2 - (top + bottom) / 2;
    this.fitted = false;
    this.hold();
  }

  /** A part of the page always stays in sight. */
  hold() {
    const [width, height] = this.page.map((length) => length * this.scale),
      keep = 64;
    this.x = Math.min(this.width - Math.min(keep, width), Math.max(Math.min(keep, width) - width, this.x));
    this.y = Math.min(this.height - Math.min(keep, height), Math.max(Math.min(keep, height) - height, this.y));
  }

  /**
   * The point of the page at a point of the screen.
   *
   * @param {number} x screen pixels
   * @param {number} y screen pixels
   * @returns {XY} page pixels
   */
  toPage(x, y) {
    return [(x - this.x) / this.scale, (y - this.y) / this.scale];
  }

  /**
   * The point of the screen at a point of the page.
   *
   * @param {number} x page pixels
   * @param {number} y page pixels
   * @returns {XY} screen pixels
   */
  toScreen(x, y) {
    return [x * this.scale + this.x, y * this.scale + this.y];
  }
}
