// Mouse, pen and fingers over the stage: strokes, panning (space, middle button, two fingers), zooming (wheel, pinch).
// The pen wins: a hand that rests on the screen beside it neither marks, moves nor zooms, whichever came first.

/** @import { XY } from '../types' */
/** @import { Stage } from './stage.js' */

const WHEEL_PAUSE = 200; // milliseconds after which a turn of the wheel is a new gesture

const PEN_REST = 500; // milliseconds after the pen was seen last in which a touch is the hand that holds it

const LINE = 32,
  SCREEN = 400; // screen pixels that a wheel means by a line, and by a page

/**
 * Two fingers: the point between them, and how far they are apart. Screen pixels.
 *
 * @typedef {{ x: number, y: number, distance: number }} Spread
 */

/** Turns what mouse, pen and fingers do into strokes and moves of the stage. */
export class Pointer {
  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    /** @type {Map<number, XY>} where each finger is that counts, or mouse or pen, screen pixels */
    this.fingers = new Map();
    /** @type {Set<number>} fingers that are the hand beside the pen, until they leave the screen */
    this.resting = new Set();
    this.penSeen = -Infinity; // when the pen touched the screen, or was over it, milliseconds as events have them
    this.penDown = false;
    /** @type {{ scale: number, x: number, y: number, fitted: boolean } | null} the view before the fingers moved it */
    this.before = null;
    /** @type {XY | null} where the hand that moves the page is, screen pixels */
    this.panning = null;
    /** @type {Spread | null} */
    this.pinch = null;
    this.space = false; // whether it is held
    this.panned = false; // whether the page was moved since it is held
    this.wheel = { at: 0, kind: 'zoom' };
    this.listening = new AbortController();
    const { canvas } = stage,
      { signal } = this.listening;
    canvas.addEventListener('pointerdown', (event) => this.down(event), { signal });
    canvas.addEventListener('pointermove', (event) => this.move(event), { signal });
    canvas.addEventListener('pointerup', (event) => this.up(event), { signal });
    canvas.addEventListener('pointercancel', (event) => this.lost(event), { signal });
    canvas.addEventListener('pointerleave', (event) => this.left(event), { signal });
    canvas.addEventListener('wheel', (event) => this.turn(event), { signal, passive: false });
    canvas.addEventListener('contextmenu', (event) => event.preventDefault(), { signal });
    canvas.addEventListener('auxclick', (event) => event.preventDefault(), { signal });
  }

  /**
   * Where an event happened on the stage.
   *
   * @param {MouseEvent} event
   * @returns {XY} screen pixels
   */
  place(event) {
    const box = this.stage.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  /**
   * Points of the page, in its pixels; Chromium bundles several positions into one event.
   *
   * @param {PointerEvent} event
   */
  points(event) {
    const events = event.getCoalescedEvents?.() ?? []; // Safari had none before 18.2
    return (events.length ? events : [event]).map((each) => this.stage.view.toPage(...this.place(each)));
  }

  /** @param {PointerEvent} event */
  down(event) {
    const { stage } = this;
    stage.canvas.focus({ preventScroll: true });
    if (!stage.page) return;
    if (event.pointerType === 'pen') this.takeOver(event);
    else if (this.isHand(event)) return void this.resting.add(event.pointerId);
    stage.cursor = null;
    stage.canvas.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, this.place(event));
    if (this.fingers.size === 2) {
      const { scale, x, y, fitted } = stage.view;
      this.before ??= { scale, x, y, fitted };
      stage.abandon();
      this.pinch = this.spread();
      return;
    }
    if (this.fingers.size > 2) return;
    if (event.button === 1 || (event.button === 0 && this.space)) {
      event.preventDefault();
      this.panning = this.place(event);
      this.panned = true;
      stage.canvas.dataset.panning = 'on';
      return;
    }
    if (event.button !== 0) return;
    stage.begin(stage.view.toPage(...this.place(event)), event);
  }

  /** @param {PointerEvent} event */
  move(event) {
    const { stage } = this;
    if (!stage.page || this.resting.has(event.pointerId)) return;
    if (event.pointerType === 'pen') this.penSeen = event.timeStamp;
    const here = this.place(event);
    if (this.fingers.has(event.pointerId)) this.fingers.set(event.pointerId, here);
    if (this.pinch && this.fingers.size >= 2) return this.pinched(this.pinch);
    if (this.panning) {
      stage.pan(here[0] - this.panning[0], here[1] - this.panning[1]);
      this.panning = here;
      return;
    }
    stage.at = stage.view.toPage(...here);
    const hover = ['word', 'mend'].includes(stage.tool) ? stage.grid.at(...stage.at, 2) : -1;
    if (hover !== stage.hover || stage.tool === 'brush' || stage.tool === 'eraser') stage.draw();
    stage.hover = hover;
    stage.over(stage.at, event);
    stage.move(this.points(event));
  }

  /** @param {PointerEvent} event */
  up(event) {
    if (this.rested(event)) return;
    this.fingers.delete(event.pointerId);
    if (this.fingers.size < 2) this.pinch = null;
    if (!this.fingers.size) this.before = null;
    if (this.panning) {
      this.panning = null;
      delete this.stage.canvas.dataset.panning;
      return;
    }
    this.stage.end();
  }

  /** @param {PointerEvent} event */
  lost(event) {
    if (this.rested(event)) return;
    this.fingers.delete(event.pointerId);
    this.pinch = this.panning = null;
    if (!this.fingers.size) this.before = null;
    this.stage.abandon();
  }

  /**
   * Whether a touch is the hand that holds the pen: the pen is on the screen, or was so a moment ago.
   *
   * @param {PointerEvent} event
   */
  isHand({ pointerType, timeStamp }) {
    return pointerType === 'touch' && (this.penDown || timeStamp - this.penSeen < PEN_REST);
  }

  /**
   * The pen comes down: what lies on the screen is the hand that holds it, and what it did is taken back.
   *
   * @param {PointerEvent} event
   */
  takeOver({ timeStamp }) {
    this.penDown = true;
    this.penSeen = timeStamp;
    const { stage, before } = this;
    if (!this.fingers.size) return;
    for (const id of this.fingers.keys()) this.resting.add(id);
    if (before) {
      Object.assign(stage.view, before);
      stage.zoom(1); // draws, and tells the scale
      stage.view.fitted = before.fitted;
    }
    delete stage.canvas.dataset.panning;
    this.cancel();
  }

  /**
   * Whether a pointer that leaves the screen was the hand beside the pen; a pen that leaves is remembered for a moment.
   *
   * @param {PointerEvent} event
   */
  rested({ pointerId, pointerType, timeStamp }) {
    if (pointerType === 'pen') {
      this.penDown = false;
      this.penSeen = timeStamp;
    }
    return this.resting.delete(pointerId);
  }

  /** @param {PointerEvent} event */
  left(event) {
    if (this.penDown && event.pointerType !== 'pen') return;
    this.stage.at = null;
    this.stage.hover = -1;
    this.stage.draw();
  }

  /** @returns {Spread} */
  spread() {
    const [[x0, y0], [x1, y1]] = this.fingers.values();
    return { x: (x0 + x1) / 2, y: (y0 + y1) / 2, distance: Math.max(1, Math.hypot(x1 - x0, y1 - y0)) };
  }

  /** @param {Spread} before */
  pinched(before) {
    const now = this.spread();
    this.stage.pan(now.x - before.x, now.y - before.y);
    this.stage.zoom(now.distance / before.distance, now.x, now.y);
    this.pinch = now;
  }

  /**
   * A mouse wheel zooms; two fingers on a touchpad pan, and zoom when they pinch (the browser then says ctrlKey).
   *
   * @param {WheelEvent} event
   */
  turn(event) {
    event.preventDefault();
    const { stage } = this;
    if (!stage.page) return;
    const lines = event.deltaMode === 1 ? LINE : event.deltaMode === 2 ? SCREEN : 1;
    const dx = event.deltaX * lines,
      dy = event.deltaY * lines;
    if (event.timeStamp - this.wheel.at > WHEEL_PAUSE) {
      const notched = dx === 0 && (event.deltaMode !== 0 || (Number.isInteger(event.deltaY) && Math.abs(dy) >= 40));
      this.wheel.kind = event.ctrlKey || notched ? 'zoom' : 'pan';
    }
    this.wheel.at = event.timeStamp;
    if (event.ctrlKey || (this.wheel.kind === 'zoom' && !event.shiftKey)) {
      stage.zoom(Math.exp(-dy / (event.ctrlKey ? 120 : 400)), ...this.place(event));
    } else if (event.shiftKey) stage.pan(-(dx || dy), 0);
    else stage.pan(-dx, -dy);
  }

  /**
   * Space is held, or let go.
   *
   * @param {boolean} held
   */
  holdSpace(held) {
    if (held && !this.space) this.panned = false;
    this.space = held;
    if (held) this.stage.canvas.dataset.space = 'on';
    else delete this.stage.canvas.dataset.space;
  }

  /** Gives up what a hand is doing. */
  cancel() {
    this.panning = this.pinch = this.before = null;
    this.fingers.clear();
    if (this.stage.page && this.stage.stroking) this.stage.abandon();
  }

  destroy() {
    this.listening.abort();
  }
}
