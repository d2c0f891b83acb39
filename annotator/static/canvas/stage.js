// The page on the screen: image, marks, prompts, and the pointer that changes them. Knows nothing of servers or queues.

import { Raster, isEmpty } from './mask.js';
import { EMPTY_MARK } from '../state/marks.js';
import { Overlay } from './overlay.js';
import { drawScene } from './scene.js';
import { makeTools } from './tools.js';
import { View } from './view.js';
import { WordGrid } from './word_grid.js';
import { Pointer } from './pointer.js';
import { h } from '../core/dom.js';

export class Stage {
  // hear: { stroke(stroke, before), mend(wish), originOf(mark), moved(), drawn(), locked() }. before: the mark that stood when
  // the stroke began.
  constructor(container, hear) {
    this.hear = hear;
    this.canvas = h('canvas', {
      class: 'g-canvas',
      tabindex: '0',
      role: 'img',
      'aria-label': 'Page',
      'aria-roledescription': 'page; arrow keys read the words',
    });
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
    this.selected = new Set(); // numbers of the marked words
    this.bare = new Set(); // those of them that are not painted
    this.chosen = new Set(); // numbers of the words that are being mended
    this.busy = false;
    this.mark = EMPTY_MARK;
    this.origin = 'model';
    this.locked = true;
    this.pointer = new Pointer(this);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(container);
    this.listening = new AbortController();
    this.onScreen();
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw(), {
      signal: this.listening.signal,
    });
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
    this.small = null;
    this.setWordList(words);
    if (another) {
      this.mask = new Raster(page.width, page.height);
      this.under = new Raster(page.width, page.height);
      this.overlay = new Overlay(page.width, page.height);
      this.view.setPage(page.width, page.height);
      this.cursor = null;
      this.chosen = new Set();
    }
    this.draw();
    this.hear.moved();
  }

  // The words of the page as they stand now. The mark has to be set again after it.
  setWordList(words) {
    this.grid = new WordGrid(words);
    this.hover = -1;
    this.outlines = null;
    this.dirty = true;
    this.chosen = new Set([...this.chosen].filter((number) => this.grid.position.has(number)));
    if (this.cursor?.word >= words.numbers.length) this.cursor = null;
    this.canvas.setAttribute('aria-label', `Page ${this.page.number}, ${words.numbers.length} words`);
    this.draw();
  }

  blank() {
    this.pointer.cancel();
    this.page = null;
    this.draw();
  }

  // Puts a mark on the page that is open, whole. locked: look, do not touch.
  setMark(mark, origin, locked = false) {
    this.locked = locked;
    if (mark === this.mark && !this.dirty && origin === this.origin) return; // as a stroke has left it
    this.mark = mark;
    this.origin = origin;
    this.dirty = false;
    this.selected = new Set(this.grid.living(mark.words));
    this.mask.load(mark.mask);
    this.under.bytes.fill(0);
    for (const box of this.grid.boxesOf([...this.selected])) this.under.fillBox(box, 1);
    this.disagreement = null;
    this.bare = new Set();
    this.weigh(this.selected);
    this.overlay.clear();
    if (!isEmpty(mark.mask)) this.overlay.repaint(this.mask, this.under, mark.mask.box, origin);
    if (this.stroking) this.restroke();
    this.draw();
  }

  // What came while the hand was on the page lies under its stroke: the model's late answer, or what the server holds.
  restroke() {
    this.before = this.mark;
    if (['word', 'brush', 'eraser'].includes(this.tool)) this.setOrigin('person');
    this.tools[this.tool].again?.(this);
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
    this.chosen = new Set();
    this.draw();
  }

  // A stroke is done: what stands on the page is the mark from now on.
  commit() {
    this.mark = this.current();
    this.dirty = false;
    return this.mark;
  }

  // What stands on the page now, as a mark; the prompts are those of the mark that was set.
  current() {
    const orphans = [...this.selected].filter((number) => !this.grid.position.has(number));
    const words = [...this.grid.numbers.filter((number) => this.selected.has(number)), ...orphans];
    return { ...this.mark, words, mask: this.mask.patch() };
  }

  // Marks or unmarks words. An unmarked word takes its pixels with it, save those of words that stay.
  setWords(numbers, on) {
    for (const number of numbers) {
      const box = this.grid.boxOf(number);
      if (on) this.selected.add(number);
      else this.selected.delete(number);
      this.mask.fillBox(box, on ? 1 : 0);
      this.under.fillBox(box, on ? 1 : 0);
      if (!on) this.refill(box);
      this.touched(box);
    }
  }

  refill([x0, y0, x1, y1]) {
    for (const at of this.grid.within([x0, y0, x1, y1])) {
      if (!this.selected.has(this.grid.numbers[at])) continue;
      const other = this.grid.boxes[at];
      const part = [Math.max(x0, other[0]), Math.max(y0, other[1]), Math.min(x1, other[2]), Math.min(y1, other[3])];
      if (part[0] >= part[2] || part[1] >= part[3]) continue;
      this.mask.fillBox(part, 1);
      this.under.fillBox(part, 1);
    }
  }

  // Repaints the dirty rectangle of a change that has just happened in the rasters.
  touched(box) {
    this.dirty = true;
    this.disagreement = null;
    this.weigh(this.grid.within(box).map((at) => this.grid.numbers[at]));
    this.overlay.repaint(this.mask, this.under, box, this.origin);
    this.draw();
  }

  // --- strokes, called by Pointer and by the keyboard cursor

  begin(point, event) {
    if (this.locked && this.tool !== 'mend') return this.hear.locked();
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
    if (stroke?.mend) this.hear.mend(stroke.mend);
    else if (stroke) this.hear.stroke(this.exact(stroke), this.before);
    else this.setMark(this.before, this.hear.originOf(this.before), this.locked);
  }

  abandon() {
    if (!this.stroking) return;
    this.stroking = false;
    this.tools[this.tool].cancel(this);
    this.setMark(this.before, this.hear.originOf(this.before), this.locked);
  }

  // The server refills words that stay marked and overlap one that is taken out. Where somebody has erased inside one of these,
  // that would bring back what was erased: then the whole mark travels instead.
  exact(stroke) {
    const [edit] = stroke.edits ?? [];
    if (!edit) return stroke;
    // A mark that names words which were split or merged since is written down with those that stand there now.
    const known = this.before.words.every((number) => this.grid.position.has(number));
    if (
      known &&
      (edit.op !== 'words' ||
        !edit.remove.length ||
        this.grid.boxesOf([...this.selected]).every((box) => this.mask.covered(box) === 1))
    )
      return stroke;
    const { words, mask } = this.current();
    return { ...stroke, edits: [{ op: 'mask', page: this.page.id, words, mask }] };
  }

  // Marked words that are not even half painted, kept up to date as the hand goes: a dense page has thousands of words.
  weigh(numbers) {
    for (const number of numbers) {
      const box = this.grid.boxOf(number);
      if (this.selected.has(number) && box && this.mask.covered(box) < 0.5) this.bare.add(number);
      else this.bare.delete(number);
    }
  }

  // Where words and pixels disagree: { bare: how many marked words are hardly painted, loose: share of the painted pixels
  // that lie on no marked word }.
  disagree() {
    if (this.disagreement) return this.disagreement;
    const { bytes, width } = this.mask,
      under = this.under.bytes;
    const [x0, y0, x1, y1] = this.dirty ? [0, 0, width, this.mask.height] : this.mark.mask.box;
    let painted = 0,
      loose = 0;
    for (let y = y0; y < y1; y++) {
      for (let at = y * width + x0; at < y * width + x1; at++) {
        if (!bytes[at]) continue;
        painted++;
        if (!under[at]) loose++;
      }
    }
    return (this.disagreement = { bare: this.bare.size, loose: painted ? loose / painted : 0 });
  }

  // --- the view

  // Another screen, or another zoom of the browser, has another density of pixels; nothing else tells of it.
  onScreen() {
    const query = matchMedia(`(resolution: ${window.devicePixelRatio || 1}dppx)`);
    query.addEventListener('change', () => (this.resize(), this.onScreen()), {
      once: true,
      signal: this.listening.signal,
    });
  }

  resize() {
    const { width, height } = this.canvas.parentElement.getBoundingClientRect();
    if (!width || !height) return;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.view.resize(width, height);
    drawScene(this); // at once: a resized canvas is blank until somebody draws
    this.hear.drawn();
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

  // Brings a box as large as possible into the middle.
  frame(box) {
    this.view.frame(box);
    this.draw();
    this.hear.moved();
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
      this.hear.drawn();
    });
  }

  destroy() {
    this.observer.disconnect();
    this.listening.abort();
    this.pointer.destroy();
    cancelAnimationFrame(this.pending);
  }
}
