// The page on the screen: image, marks, prompts, and the pointer that changes them. Knows nothing of servers or queues.

/** @import { Box, Cell, CursorPlace, Mark, Origin, PageLine, Press, Stroke, Words, WordWish, XY } from '../types' */

/** @import { StageTable } from './stage_table.js' */

import { EMPTY_MARK } from './mask.js';
import { MarkLayer } from './mark_layer.js';
import { MarkedPage } from './marked_page.js';
import { drawScene } from './scene.js';
import { MARGIN } from './stage_table.js';
import { makeTools } from './tools.js';
import { View } from './view.js';
import { Pointer } from './pointer.js';
import { NO_WORDS } from '../words/words.js';
import { h } from '../core/dom.js';

/**
 * What the stage tells.
 *
 * @typedef {object} StageListener
 * @property {(stroke: Stroke, before: Mark) => void} stroke a stroke is done; `before` stood there when it began
 * @property {(wish: WordWish) => void} mend the tool for words asks for something
 * @property {(mark: Mark) => Origin} originOf who drew a mark
 * @property {(mark: Mark) => boolean} proposed whether a mark is a proposal that nobody has touched or accepted
 * @property {(cell: Cell) => void} cell a cell of the table is taken in hand
 * @property {() => void} moved the view is another
 * @property {() => void} drawn a frame is drawn
 * @property {() => void} locked a tool was used where nothing can be changed
 */

const PAINTING = ['word', 'brush', 'eraser']; // tools that change the mark as they go
const THINNEST = 2,
  THICKEST = 120; // radius of the brush, page pixels

/** The page that is open, on a canvas. */
export class Stage {
  /**
   * @param {HTMLElement} container
   * @param {StageListener} on
   */
  constructor(container, on) {
    this.on = on;
    this.canvas = h('canvas', {
      class: 'g-canvas',
      tabindex: '0',
      role: 'img',
      'aria-label': 'Page',
      'aria-roledescription': 'page; arrow keys read the words',
    });
    container.append(this.canvas);
    this.container = container;
    this.context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext('2d', { alpha: false }));
    this.ratio = 1; // pixels of the canvas a pixel of CSS
    /** @type {string | null} the colour around the page; null where it has to be read: asking for it costs a layout */
    this.ground = null;
    this.view = new View();
    this.tools = makeTools();
    this.tool = 'word';
    this.radius = 14; // of brush and eraser, page pixels
    /** @type {PageLine | null} */
    this.page = null;
    /** @type {CanvasImageSource | null} in pixels of the page */
    this.image = null;
    /** @type {OffscreenCanvas | null} the image at the size that the screen shows, where that is smaller */
    this.small = null;
    /** @type {Path2D | null} frames around all words */
    this.outlines = null;
    /** @type {{ grounds: Path2D, lines: Path2D } | null} the ground of each doubtful word, and a line below it */
    this.doubts = null;
    this.marks = this.marked({ id: '', width: 0, height: 0 }, NO_WORDS);
    this.layer = new MarkLayer(this.marks.mask, this.marks.under);
    this.hover = -1; // position of the word under the pointer
    /** @type {CursorPlace | null} */
    this.cursor = null;
    /** @type {XY | null} the pointer on the page, page pixels */
    this.at = null;
    /** @type {Box | null} the box that is being drawn, page pixels */
    this.rubber = null;
    /** @type {Set<number>} numbers of the words that are being mended */
    this.chosen = new Set();
    /** @type {Origin} */
    this.origin = 'model';
    this.locked = true; // look, do not touch
    /** @type {{ box: Box, number: number }[]} where the answer's other values are marked, and their numbers */
    this.others = [];
    /** @type {StageTable | null} the open answer, where it is a table */
    this.table = null;
    this.holding = false; // whether an edge of the table is held
    /** @type {XY} where the stroke began, page pixels */
    this.pressed = [0, 0];
    this.dirty = false; // whether the mark has to be painted anew, whole: its colours are others
    this.stroking = false;
    this.before = EMPTY_MARK; // what stood when the stroke began
    this.proposed = false; // whether that is a proposal that nobody has touched
    this.replaced = false; // whether the stroke has taken it away
    /** @type {number | null} the frame that is asked for */
    this.pending = null;
    this.pointer = new Pointer(this);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(container);
    this.listening = new AbortController();
    this.onScreen();
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.restyle(), {
      signal: this.listening.signal,
    });
    this.themes = new MutationObserver(() => this.restyle());
    this.themes.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
  }

  /** The words of the page by place. */
  get grid() {
    return this.marks.grid;
  }

  /** The painted pixels. */
  get mask() {
    return this.marks.mask;
  }

  /** Numbers of the marked words. */
  get selected() {
    return this.marks.selected;
  }

  /** The mark that was set or committed last. */
  get mark() {
    return this.marks.mark;
  }

  /**
   * @param {Pick<PageLine, 'id' | 'width' | 'height'>} page
   * @param {Words} words
   */
  marked(page, words) {
    return new MarkedPage(page, words, (box) => {
      this.layer.touch(box);
      this.draw();
    });
  }

  /**
   * Shows a page; its mark has to be set after it.
   *
   * @param {PageLine} page
   * @param {CanvasImageSource} image in pixels of the page
   * @param {Words} words
   */
  show(page, image, words) {
    this.pointer.cancel();
    const another = this.page?.id !== page.id || this.version !== page.image; // a turned page has another size
    this.version = page.image;
    this.page = page;
    this.image = image;
    this.small = null;
    if (another) {
      this.marks = this.marked(page, words);
      this.layer = new MarkLayer(this.marks.mask, this.marks.under);
      this.view.setPage(page.width, page.height);
      this.cursor = null;
      this.chosen = new Set();
    } else this.marks.setWordList(words);
    this.reread();
    this.on.moved();
  }

  /**
   * Takes the words of the page as they stand now. The mark has to be set again after it.
   *
   * @param {Words} words
   */
  setWordList(words) {
    this.marks.setWordList(words);
    this.reread();
  }

  /** Whatever names words by their place goes. */
  reread() {
    const { position, boxes } = this.grid;
    this.hover = -1;
    this.outlines = this.doubts = null;
    this.dirty = true;
    this.chosen = new Set([...this.chosen].filter((number) => position.has(number)));
    if (this.cursor?.word !== undefined && this.cursor.word >= boxes.length) this.cursor = null;
    this.canvas.setAttribute('aria-label', `Page ${this.page?.number}, ${boxes.length} words`);
    this.draw();
  }

  /** Shows no page. */
  blank() {
    this.pointer.cancel();
    this.page = null;
    this.draw();
  }

  /**
   * Puts a mark on the page that is open, whole.
   *
   * @param {Mark} mark
   * @param {Origin} origin
   * @param {boolean} [locked] look, do not touch
   */
  setMark(mark, origin, locked = false) {
    this.locked = locked;
    this.setOrigin(origin);
    this.marks.set(mark);
    if (this.stroking) this.restroke();
    this.draw();
  }

  /**
   * Puts the grid of a table on the page, or takes it away.
   *
   * @param {StageTable | null} table
   */
  setTable(table) {
    if (!table) delete this.canvas.dataset.edge;
    this.table = table;
    this.draw();
  }

  /** The words of the page by their numbers, and its size; null: no page is shown. */
  get sheet() {
    const { page, grid } = this;
    if (!page) return null;
    const { id, width, height } = page;
    return { page: id, width, height, boxOf: (/** @type {number} */ number) => grid.boxOf(number) };
  }

  /** The box of the word under the cursor or the pointer. */
  get wordUnderHand() {
    return this.grid.boxes[this.cursor?.word ?? this.hover];
  }

  /** The tool that a stroke is made with. */
  get inHand() {
    return this.tools[this.holding ? 'edge' : this.tool];
  }

  /**
   * The pointer is over the page: an edge of the table shows that it can be dragged.
   *
   * @param {XY} point page pixels
   * @param {Press} press
   */
  over(point, press) {
    const { table, canvas } = this;
    if (!table || this.stroking || this.locked || this.tool === 'mend') return;
    const edge = table.edgeAt(point, press, this.view.scale);
    if (edge?.axis === table.edge?.axis && edge?.index === table.edge?.index) return;
    table.edge = edge;
    table.to = edge?.at ?? 0;
    if (edge) canvas.dataset.edge = edge.axis;
    else delete canvas.dataset.edge;
    this.draw();
  }

  /**
   * What came while the hand was on the page lies under its stroke: the model's late answer, or what the server holds.
   */
  restroke() {
    this.standOn(this.mark);
    if (PAINTING.includes(this.tool) && !this.holding) this.setOrigin('person');
    this.inHand.again?.(this);
  }

  /** @param {Origin} origin */
  setOrigin(origin) {
    if (origin === this.origin && !this.dirty) return;
    this.origin = this.layer.origin = origin;
    this.dirty = false;
    this.layer.refresh();
    this.draw();
  }

  /**
   * Takes another tool in hand.
   *
   * @param {string} name a key of `tools`
   */
  setTool(name) {
    this.pointer.cancel();
    this.tool = name;
    this.cursor = null;
    this.chosen = new Set();
    this.draw();
  }

  /**
   * Marks or unmarks words: see MarkedPage.
   *
   * @param {readonly number[]} numbers
   * @param {boolean} on
   */
  setWords(numbers, on) {
    if (on) this.setOrigin('person');
    this.marks.setWords(numbers, on);
  }

  /** @param {Mark} mark what stands on the page before the stroke */
  standOn(mark) {
    this.before = mark;
    this.proposed = this.on.proposed(mark);
    this.replaced = false;
  }

  /**
   * Sets the page back to what stood when the stroke began, or to nothing: the stroke goes on from there.
   *
   * @param {boolean} replaced
   */
  startOver(replaced) {
    const { points, boxes } = this.before;
    this.replaced = replaced;
    this.marks.set(replaced ? { ...EMPTY_MARK, points, boxes } : this.before);
    this.setOrigin('person');
  }

  /** What stands on the page now, as a mark. */
  current() {
    return this.marks.current();
  }

  /** A stroke is done: what stands on the page is the mark from now on. */
  commit() {
    return this.marks.commit();
  }

  /** Where words and pixels disagree: see MarkedPage. */
  disagree() {
    return this.marks.disagree();
  }

  // --- strokes, called by Pointer and by the keyboard cursor

  /**
   * @param {XY} point page pixels
   * @param {Press} press
   */
  begin(point, press) {
    if (this.locked && this.tool !== 'mend') return this.on.locked();
    this.standOn(this.mark);
    this.pressed = point;
    this.over(point, press);
    this.holding = Boolean(press.pointerType && this.table?.edge && this.tool !== 'mend');
    if (PAINTING.includes(this.tool) && !this.holding) this.setOrigin('person');
    this.inHand.begin(this, point, press);
    this.stroking = true;
  }

  /** @param {readonly XY[]} points page pixels */
  move(points) {
    if (this.stroking) this.inHand.move(this, points);
  }

  end() {
    if (!this.stroking) return;
    this.stroking = false;
    const stroke = this.inHand.end(this);
    this.holding = false;
    if (stroke?.mend) this.on.mend(stroke.mend);
    else if (stroke?.edits)
      this.on.stroke({ ...stroke, edits: this.marks.exact(stroke.edits, this.before) }, this.before);
    else if (stroke) this.on.stroke(stroke, this.before);
    else {
      this.setMark(this.before, this.on.originOf(this.before), this.locked);
      this.chooseCell();
    }
  }

  /** A click beside the words takes a cell of the table in hand. */
  chooseCell() {
    const { table, pressed, tool, grid, view } = this;
    if (!table || tool !== 'word' || grid.at(...pressed) >= 0) return;
    const cell = table.grid.cellAt(pressed, MARGIN / view.scale);
    if (cell) this.on.cell(cell);
  }

  /** Gives a stroke up. */
  abandon() {
    if (!this.stroking) return;
    this.stroking = false;
    this.inHand.cancel(this);
    this.holding = false;
    this.setMark(this.before, this.on.originOf(this.before), this.locked);
  }

  // --- the view

  /** Another screen, or another zoom of the browser, has another density of pixels; nothing else tells of it. */
  onScreen() {
    const query = matchMedia(`(resolution: ${window.devicePixelRatio || 1}dppx)`);
    query.addEventListener('change', () => (this.resize(), this.onScreen()), {
      once: true,
      signal: this.listening.signal,
    });
  }

  /** The theme is another. */
  restyle() {
    this.ground = null;
    this.draw();
  }

  resize() {
    const { width, height } = this.container.getBoundingClientRect();
    if (!width || !height) return;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.ratio = this.canvas.width / width;
    this.view.resize(width, height);
    drawScene(this); // at once: a resized canvas is blank until somebody draws
    this.on.drawn();
    this.on.moved();
  }

  /**
   * @param {number} factor
   * @param {number} [x] screen pixels, as is `y`: the point that stays where it is
   * @param {number} [y]
   */
  zoom(factor, x, y) {
    this.view.zoom(factor, x, y);
    this.draw();
    this.on.moved();
  }

  /** Shows the whole page. */
  fit() {
    this.view.fit();
    this.draw();
    this.on.moved();
  }

  /**
   * @param {number} dx screen pixels
   * @param {number} dy screen pixels
   */
  pan(dx, dy) {
    this.view.pan(dx, dy);
    this.draw();
  }

  /**
   * Brings a box as large as possible into the middle.
   *
   * @param {Box} box page pixels
   */
  frame(box) {
    this.view.frame(box);
    this.draw();
    this.on.moved();
  }

  /**
   * A page has come with a mark on it: goes there, or brings it into sight where the whole page is not.
   *
   * @param {Box} box page pixels
   * @param {boolean} zooms
   */
  showMark(box, zooms) {
    if (zooms) this.approach(box);
    else if (!this.view.fitted) this.reveal(box);
  }

  /**
   * Comes near enough to a box to read it.
   *
   * @param {Box} box page pixels
   */
  approach(box) {
    const heights = this.grid.within(box).map((at) => this.grid.boxes[at][3] - this.grid.boxes[at][1]);
    const line = heights.sort((left, right) => left - right)[heights.length >> 1] ?? box[3] - box[1];
    this.view.approach(box, line);
    this.draw();
    this.on.moved();
  }

  /**
   * Brings a box into sight.
   *
   * @param {Box} box page pixels
   */
  reveal(box) {
    this.view.reveal(box);
    this.draw();
  }

  /** @param {number} radius of brush and eraser, page pixels */
  setRadius(radius) {
    this.radius = Math.min(THICKEST, Math.max(THINNEST, radius));
    this.draw();
  }

  /** Asks for a frame. */
  draw() {
    this.pending ??= requestAnimationFrame(() => {
      this.pending = null;
      drawScene(this);
      this.on.drawn();
    });
  }

  destroy() {
    this.observer.disconnect();
    this.themes.disconnect();
    this.listening.abort();
    this.pointer.destroy();
    if (this.pending !== null) cancelAnimationFrame(this.pending);
  }
}
