// What a stroke does: word, box, brush, eraser, point. Each tool gets points of the page and paints at once on the stage.
//
// A tool is { begin(stage, point, event), move(stage, points), end(stage) -> stroke or null, cancel(stage) }. A stroke is
// { tool, edits } for a change that is already on the stage, or { tool, prompt } for one that the model has to answer.

import { Raster, union } from './mask.js';

const between = (from, to, step) => {
  const steps = Math.max(1, Math.ceil(Math.hypot(to[0] - from[0], to[1] - from[1]) / step));
  return Array.from({ length: steps }, (_, at) => [
    from[0] + ((to[0] - from[0]) * (at + 1)) / steps, from[1] + ((to[1] - from[1]) * (at + 1)) / steps,
  ]);
};

class WordTool {
  begin(stage, point, event) {
    this.touched = new Set();
    this.selecting = null; // the first word decides whether the stroke marks or unmarks
    this.wholeLine = event.shiftKey;
    this.last = point;
    this.take(stage, point);
  }

  move(stage, points) {
    for (const point of points) {
      for (const step of between(this.last, point, 4)) this.take(stage, step);
      this.last = point;
    }
  }

  take(stage, [x, y]) {
    const at = stage.grid.at(x, y, 2);
    if (at < 0) return;
    const wanted = (this.wholeLine ? stage.grid.line(at) : [at]).map((position) => stage.grid.numbers[position]);
    this.selecting ??= !stage.selected.has(stage.grid.numbers[at]);
    const changed = wanted.filter((number) => !this.touched.has(number) && stage.selected.has(number) !== this.selecting);
    for (const number of wanted) this.touched.add(number);
    if (changed.length) stage.setWords(changed, this.selecting);
    this.changed = [...(this.changed ?? []), ...changed];
  }

  end(stage) {
    const changed = this.changed ?? [];
    this.changed = [];
    if (!changed.length) return null;
    return { tool: 'word', edits: [{ op: 'words', page: stage.page.id, add: this.selecting ? changed : [], remove: this.selecting ? [] : changed }] };
  }

  cancel() {
    this.changed = [];
  }
}

class BrushTool {
  constructor(name, value) {
    this.name = name;
    this.value = value;
  }

  begin(stage, point) {
    this.painted = new Raster(stage.page.width, stage.page.height);
    this.last = point;
    this.dab(stage, [point]);
  }

  move(stage, points) {
    for (const point of points) {
      this.dab(stage, between(this.last, point, Math.max(1, stage.radius / 3)));
      this.last = point;
    }
  }

  dab(stage, centres) {
    let dirty = null;
    for (const [x, y] of centres) {
      const box = this.painted.fillDisc(x, y, stage.radius, 1);
      stage.mask.fillDisc(x, y, stage.radius, this.value);
      if (box[2] > box[0] && box[3] > box[1]) dirty = union(dirty, box);
    }
    if (dirty) stage.touched(dirty);
  }

  end(stage) {
    const patch = this.painted.patch();
    this.painted = null;
    if (!patch.counts.length) return null;
    return { tool: this.name, edits: [{ op: 'patch', page: stage.page.id, value: this.value, patch }] };
  }

  cancel() {
    this.painted = null;
  }
}

class BoxTool {
  begin(stage, point, event) {
    this.from = point;
    this.add = event.shiftKey; // one more region beside what is marked
    stage.rubber = [...point, ...point];
  }

  move(stage, points) {
    const to = points.at(-1);
    stage.rubber = [Math.min(this.from[0], to[0]), Math.min(this.from[1], to[1]), Math.max(this.from[0], to[0]), Math.max(this.from[1], to[1])];
    stage.draw();
  }

  end(stage) {
    const box = stage.mask.clip(stage.rubber);
    stage.rubber = null;
    stage.draw();
    // A click, or a drag of a few pixels, is no box.
    if (box[2] - box[0] < 4 || box[3] - box[1] < 4) return null;
    return { tool: 'box', prompt: { box, add: this.add } };
  }

  cancel(stage) {
    stage.rubber = null;
  }
}

class PointTool {
  constructor(positive) {
    this.positive = positive;
  }

  begin(stage, point, event) {
    this.point = [...point, event.shiftKey ? !this.positive : this.positive];
  }

  move() {}

  end(stage) {
    const [x, y, positive] = this.point;
    if (x < 0 || y < 0 || x >= stage.page.width || y >= stage.page.height) return null;
    return { tool: positive ? 'plus' : 'minus', prompt: { point: [Math.floor(x), Math.floor(y), positive] } };
  }

  cancel() {}
}

export const makeTools = () => ({
  word: new WordTool(),
  box: new BoxTool(),
  brush: new BrushTool('brush', 1),
  eraser: new BrushTool('eraser', 0),
  plus: new PointTool(true),
  minus: new PointTool(false),
});
