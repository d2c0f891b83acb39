// Mouse, pen and fingers over the stage: strokes, panning (space, middle button, two fingers), zooming (wheel, pinch).

const WHEEL_PAUSE = 200; // milliseconds after which a turn of the wheel is a new gesture

export class Pointer {
  constructor(stage) {
    this.stage = stage;
    this.fingers = new Map();
    this.panning = null;
    this.space = false;
    this.wheel = { at: 0, kind: 'zoom' };
    this.listening = new AbortController();
    const on = (type, listener, more) =>
      stage.canvas.addEventListener(type, listener, { signal: this.listening.signal, ...more });
    on('pointerdown', (event) => this.down(event));
    on('pointermove', (event) => this.move(event));
    on('pointerup', (event) => this.up(event));
    on('pointercancel', (event) => this.lost(event));
    on('pointerleave', () => this.left());
    on('wheel', (event) => this.turn(event), { passive: false });
    on('contextmenu', (event) => event.preventDefault());
    on('auxclick', (event) => event.preventDefault());
  }

  place(event) {
    const box = this.stage.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  // Points of the page; Chromium bundles several positions into one event.
  points(event) {
    const events = event.getCoalescedEvents?.() ?? [];
    return (events.length ? events : [event]).map((each) => this.stage.view.toPage(...this.place(each)));
  }

  down(event) {
    const { stage } = this;
    stage.canvas.focus({ preventScroll: true });
    if (!stage.page) return;
    stage.cursor = null;
    stage.canvas.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, this.place(event));
    if (this.fingers.size === 2) {
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

  move(event) {
    const { stage } = this;
    if (!stage.page) return;
    const here = this.place(event);
    if (this.fingers.has(event.pointerId)) this.fingers.set(event.pointerId, here);
    if (this.pinch && this.fingers.size >= 2) return this.pinched();
    if (this.panning) {
      stage.pan(here[0] - this.panning[0], here[1] - this.panning[1]);
      this.panning = here;
      return;
    }
    stage.at = stage.view.toPage(...here);
    const hover = ['word', 'mend'].includes(stage.tool) ? stage.grid.at(...stage.at, 2) : -1;
    if (hover !== stage.hover || stage.tool === 'brush' || stage.tool === 'eraser') stage.draw();
    stage.hover = hover;
    stage.move(this.points(event));
  }

  up(event) {
    this.fingers.delete(event.pointerId);
    if (this.fingers.size < 2) this.pinch = null;
    if (this.panning) {
      this.panning = null;
      delete this.stage.canvas.dataset.panning;
      return;
    }
    this.stage.end();
  }

  lost(event) {
    this.fingers.delete(event.pointerId);
    this.pinch = this.panning = null;
    this.stage.abandon();
  }

  left() {
    this.stage.at = null;
    this.stage.hover = -1;
    this.stage.draw();
  }

  spread() {
    const [[x0, y0], [x1, y1]] = [...this.fingers.values()];
    return { x: (x0 + x1) / 2, y: (y0 + y1) / 2, distance: Math.max(1, Math.hypot(x1 - x0, y1 - y0)) };
  }

  pinched() {
    const now = this.spread(),
      before = this.pinch;
    this.stage.pan(now.x - before.x, now.y - before.y);
    this.stage.zoom(now.distance / before.distance, now.x, now.y);
    this.pinch = now;
  }

  // A mouse wheel zooms; two fingers on a touchpad pan, and zoom when they pinch (the browser then says ctrlKey).
  turn(event) {
    event.preventDefault();
    const { stage } = this;
    if (!stage.page) return;
    const lines = event.deltaMode === 1 ? 32 : event.deltaMode === 2 ? 400 : 1;
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

  holdSpace(held) {
    if (held && !this.space) this.panned = false;
    this.space = held;
    if (held) this.stage.canvas.dataset.space = 'on';
    else delete this.stage.canvas.dataset.space;
  }

  cancel() {
    this.panning = this.pinch = null;
    this.fingers.clear();
    if (this.stage.page && this.stage.stroking) this.stage.abandon();
  }

  destroy() {
    this.listening.abort();
  }
}
