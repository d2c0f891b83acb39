// What a stroke does: word, box, brush, eraser, point. Each tool gets points of the page and paints at once on the stage.
//
// A tool is { begin(stage, point, event), move(stage, points), end(stage) -> stroke or null, cancel(stage) }; one that changes
// the mark as it goes has again(stage), too, which does that on a mark that came under the stroke meanwhile. A stroke is
// { tool, edits } for a change that is already on the stage, { tool, prompt } for one that the model has to answer, or
// { tool, mend } for a wish to mend words.

import { Raster, union } from './mask.js';
import { alongLine, aroundWords, intoLine } from './snapping.js';

const between = (from, to, step) => {
  const steps = Math.max(1, Math.ceil(Math.hypot(to[0] - from[0], to[1] - from[1]) / step));
  return Array.from({ length: steps }, (_, at) => [
    from[0] + ((to[0] - from[0]) * (at + 1)) / steps,
    from[1] + ((to[1] - from[1]) * (at + 1)) / steps,
  ]);
};

const SNAP = 5; // screen pixels within which the edge of a frame goes to the edge of a word

const spanned = (from, to) => [
  Math.min(from[0], to[0]),
  Math.min(from[1], to[1]),
  Math.max(from[0], to[0]),
  Math.max(from[1], to[1]),
];

class WordTool {
  begin(stage, point, event) {
    this.touched = new Set();
    this.changed = [];
    this.selecting = null; // the first word decides whether the stroke marks or unmarks
    this.wholeLine = event.shiftKey;
    this.last = point;
    this.start = stage.grid.at(...point, 2);
    this.take(stage, point);
  }

  // A hand wavers: a drag that began on a word stays in its line until it clearly leaves it.
  move(stage, points) {
    for (const each of points) {
      const point = this.start < 0 ? each : alongLine(stage.grid, this.start, each);
      for (const step of between(this.last, point, 4)) this.take(stage, step);
      this.last = point;
    }
  }

  take(stage, [x, y]) {
    const at = stage.grid.at(x, y, 2);
    if (at < 0) return;
    const wanted = (this.wholeLine ? stage.grid.line(at) : [at]).map((position) => stage.grid.numbers[position]);
    this.selecting ??= !stage.selected.has(stage.grid.numbers[at]);
    const changed = wanted.filter(
      (number) => !this.touched.has(number) && stage.selected.has(number) !== this.selecting,
    );
    for (const number of wanted) this.touched.add(number);
    if (changed.length) stage.setWords(changed, this.selecting);
    this.changed.push(...changed);
  }

  end(stage) {
    const { changed } = this;
    if (!changed.length) return null;
    return {
      tool: 'word',
      edits: [
        { op: 'words', page: stage.page.id, add: this.selecting ? changed : [], remove: this.selecting ? [] : changed },
      ],
    };
  }

  again(stage) {
    stage.setWords(this.changed ?? [], this.selecting);
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

  again(stage) {
    const patch = this.painted.patch();
    stage.mask.paint(patch, this.value);
    if (patch.counts.length) stage.touched(patch.box);
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
    this.free = event.altKey;
    stage.rubber = [...point, ...point];
  }

  move(stage, points) {
    const to = points.at(-1);
    const drawn = spanned(this.from, to);
    stage.rubber = this.free ? drawn : aroundWords(stage.grid, drawn, SNAP / stage.view.scale);
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

// Click: write; Shift and click, or a drag over words: choose; a drag over empty paper: a new word.
class MendTool {
  begin(stage, point, event) {
    const at = event.drawing ? -1 : stage.grid.at(...point, 2); // drawing: the keyboard's cross, which may begin on a word
    this.from = point;
    this.start = at;
    this.several = event.shiftKey;
    this.dragged = false;
    if (at < 0) stage.rubber = [...point, ...point];
    this.before = new Set(stage.chosen);
  }

  move(stage, points) {
    if (this.start < 0) {
      stage.rubber = intoLine(stage.grid, spanned(this.from, points.at(-1)));
    } else {
      const at = stage.grid.at(...alongLine(stage.grid, this.start, points.at(-1)), 2);
      if (at < 0 || (at === this.start && !this.dragged)) return;
      const [first, last] = [Math.min(at, this.start), Math.max(at, this.start)];
      this.dragged = true;
      stage.chosen = new Set([...(this.several ? this.before : []), ...stage.grid.numbers.slice(first, last + 1)]);
    }
    stage.draw();
  }

  end(stage) {
    if (this.start < 0) {
      const box = stage.mask.clip(stage.rubber);
      stage.rubber = null;
      if (box[2] - box[0] < 4 || box[3] - box[1] < 4) return { tool: 'mend', mend: { choose: [] } };
      return { tool: 'mend', mend: { add: box } };
    }
    const number = stage.grid.numbers[this.start];
    if (this.dragged) return { tool: 'mend', mend: { choose: [...stage.chosen] } };
    if (!this.several) return { tool: 'mend', mend: { open: number } };
    const chosen = new Set(this.before);
    if (!chosen.delete(number)) chosen.add(number);
    return { tool: 'mend', mend: { choose: [...chosen] } };
  }

  cancel(stage) {
    stage.rubber = null;
    stage.chosen = this.before ?? new Set();
  }
}

export const makeTools = () => ({
  mend: new MendTool(),
  word: new WordTool(),
  box: new BoxTool(),
  brush: new BrushTool('brush', 1),
  eraser: new BrushTool('eraser', 0),
  plus: new PointTool(true),
  minus: new PointTool(false),
});
