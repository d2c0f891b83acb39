// The page on the screen: image, marks, prompts, and the pointer that changes them. Knows nothing of servers or queues.

import { Raster, isEmpty } from './mask.js';
import { EMPTY_MARK } from './marks.js';
import { Overlay } from './overlay.js';
import { drawScene } from './scene.js';
import { makeTools } from './tools.js';
import { View } from './view.js';
import { WordGrid } from './word_grid.js';
import { Pointer } from './pointer.js';
import { h } from './dom.js';

export class Stage {
  // hear: { stroke(stroke, before), originOf(mark), moved(), locked() }. before: the mark that stood when the stroke began.
  constructor(container, hear) {
    this.hear = hear;
    this.canvas = h('canvas', { class: 'g-canvas', tabindex: '0', role: 'img', 'aria-label': 'Page' });
    container.append(this.canvas);
    this.context = this.canvas.getContext('2d', { alpha: false });
    this.view = new View();
    this.tools = makeTools();
    this.tool = 'word';
    this.radius = 14; // of brush and eraser, page pixels
    this.page = null;
    this.hover = -1; // position of the word under the pointer
    this.cursor = null; // keyboard: { word } or { point }
    this.at = null; // pointer on the page
    this.rubber = null; // the box that is being drawn
    this.busy = false;
    this.mark = EMPTY_MARK;
    this.origin = 'model';
    this.locked = true;
    this.pointer = new Pointer(this);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(container);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
  }

  get element() {
    return this.canvas;
  }

  // page: { id, width, height, number }; words as the server sends them; image: an ImageBitmap in pixels of the page.
  show(page, image, words) {
    this.pointer.cancel();
    const another = this.page?.id !== page.id;
    this.page = page;
    this.image = image;
    this.grid = new WordGrid(words);
    if (another) {
      this.mask = new Raster(page.width, page.height);
      this.under = new Raster(page.width, page.height);
      this.overlay = new Overlay(page.width, page.height);
      this.view.setPage(page.width, page.height);
      this.cursor = null;
      this.hover = -1;
    }
    this.canvas.setAttribute('aria-label', `Page ${page.number}, ${words.numbers.length} words`);
    this.draw();
    this.hear.moved();
  }

  blank() {
    this.pointer.cancel();
    this.page = null;
    this.draw();
  }

  // Puts a mark on the page that is open, whole. locked: look, do not touch.
  setMark(mark, origin, locked = false) {
    this.mark = mark;
    this.locked = locked;
    this.origin = origin;
    this.selected = new Set(mark.words);
    this.mask.load(mark.mask);
    this.under.bytes.fill(0);
    for (const box of this.grid.boxesOf(mark.words)) this.under.fillBox(box, 1);
    this.overlay.clear();
    if (!isEmpty(mark.mask)) this.overlay.repaint(this.mask, this.under, mark.mask.box, origin);
    this.draw();
  }

  setOrigin(origin) {
    if (origin === this.origin) return;
    this.origin = origin;
    this.overlay.repaint(this.mask, this.under, this.mark.mask.box, origin);
    this.draw();
  }

  setTool(name) {
    this.pointer.cancel();
    this.tool = name;
    this.cursor = null;
    this.draw();
  }

  // What stands on the page now, as a mark; the prompts are those of the mark that was set.
  current() {
    const words = this.grid.numbers.filter((number) => this.selected.has(number));
    return { ...this.mark, words, mask: this.mask.patch() };
  }

  // Marks or unmarks words. An unmarked word takes its pixels with it, save those of words that stay.
  setWords(numbers, on) {
    for (const number of numbers) {
      const box = this.grid.boxes[this.grid.position.get(number)];
      if (on) this.selected.add(number);
      else this.selected.delete(number);
      this.mask.fillBox(box, on ? 1 : 0);
      this.under.fillBox(box, on ? 1 : 0);
      if (!on) this.refill(box);
      this.touched(box);
    }
  }

  refill([x0, y0, x1, y1]) {
    for (const other of this.grid.boxesOf([...this.selected])) {
      const part = [Math.max(x0, other[0]), Math.max(y0, other[1]), Math.min(x1, other[2]), Math.min(y1, other[3])];
      if (part[0] >= part[2] || part[1] >= part[3]) continue;
      this.mask.fillBox(part, 1);
      this.under.fillBox(part, 1);
    }
  }

  // Repaints the dirty rectangle of a change that has just happened in the rasters.
  touched(box) {
    this.overlay.repaint(this.mask, this.under, box, this.origin);
    this.draw();
  }

  // --- strokes, called by Pointer and by the keyboard cursor

  begin(point, event) {
    if (this.locked) return this.hear.locked();
    this.before = this.mark;
    if (['word', 'brush', 'eraser'].includes(this.tool)) this.setOrigin('person');
    this.tools[this.tool].begin(this, point, event);
    this.stroking = true;
  }

  move(points) {
    if (this.stroking) this.tools[this.tool].move(this, points);
  }

  end() {
    if (!this.stroking) return;
    this.stroking = false;
    const stroke = this.tools[this.tool].end(this);
    if (stroke) this.hear.stroke(this.exact(stroke), this.before);
    else this.setMark(this.before, this.hear.originOf(this.before), this.locked);
  }

  abandon() {
    if (!this.stroking) return;
    this.stroking = false;
    this.tools[this.tool].cancel(this);
    this.setMark(this.before, this.hear.originOf(this.before), this.locked);
  }

  // The server refills all words that stay marked when one is taken out. Where somebody has erased inside one of these,
  // that would bring back what was erased: then the whole mark travels instead.
  exact(stroke) {
    const [edit] = stroke.edits ?? [];
    if (edit?.op !== 'words' || !edit.remove.length) return stroke;
    const whole = this.grid.boxesOf([...this.selected]).every((box) => this.mask.covered(box) === 1);
    if (whole) return stroke;
    const { words, mask } = this.current();
    return { ...stroke, edits: [{ op: 'mask', page: this.page.id, words, mask }] };
  }

  // --- the view

  resize() {
    const { width, height } = this.canvas.parentElement.getBoundingClientRect();
    if (!width || !height) return;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.view.resize(width, height);
    drawScene(this); // at once: a resized canvas is blank until somebody draws
    this.hear.moved();
  }

  zoom(factor, x, y) {
    this.view.zoom(factor, x, y);
    this.draw();
    this.hear.moved();
  }

  fit() {
    this.view.fit();
    this.draw();
    this.hear.moved();
  }

  pan(dx, dy) {
    this.view.pan(dx, dy);
    this.draw();
  }

  reveal(box) {
    this.view.reveal(box);
    this.draw();
  }

  setRadius(radius) {
    this.radius = Math.min(120, Math.max(2, radius));
    this.draw();
  }

  draw() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = null;
      drawScene(this);
    });
  }

  destroy() {
    this.observer.disconnect();
    this.pointer.destroy();
    cancelAnimationFrame(this.pending);
  }
}
