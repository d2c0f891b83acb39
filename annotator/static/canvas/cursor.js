// The keyboard's hand on the stage: arrow keys move it, Space uses the tool there.

const STEP = 12,
  FAR = 60; // screen pixels an arrow key moves the cross; with Shift

const DIRECTION = { ArrowLeft: 'left', ArrowRight: 'right', ArrowUp: 'up', ArrowDown: 'down' };
const VECTOR = { left: [-1, 0], right: [1, 0], up: [0, -1], down: [0, 1] };

export class Cursor {
  // tell(text): for screen readers
  constructor(stage, tell) {
    this.stage = stage;
    this.tell = tell;
    this.corner = null; // first corner of a box; it counts only as long as the stage draws that box
  }

  move(event) {
    const { stage } = this,
      direction = DIRECTION[event.key];
    if (!stage.page || !direction) return false;
    if (this.reads(event)) this.overWords(direction);
    else this.overPage(VECTOR[direction], event.shiftKey ? FAR : STEP);
    stage.draw();
    return true;
  }

  // Words, or the cross: with Shift the cross comes out in mending too, to draw a word that is missing.
  reads(event) {
    const { tool, cursor } = this.stage;
    return tool === 'word' || (tool === 'mend' && !event.shiftKey && !cursor?.point);
  }

  overWords(direction) {
    const { stage } = this,
      { grid } = stage;
    if (!grid.boxes.length) return;
    const start = grid.position.get([...stage.chosen, ...(stage.selected ?? [])][0]) ?? 0;
    const word = stage.cursor?.word === undefined ? start : grid.neighbour(stage.cursor.word, direction);
    stage.cursor = { word };
    stage.reveal(grid.boxes[word]);
    this.tell(`${grid.texts[word]}${stage.selected.has(grid.numbers[word]) ? ', marked' : ''}`);
  }

  overPage([dx, dy], step) {
    const { stage } = this,
      { view, page } = stage;
    const from = stage.cursor?.point ?? view.toPage(view.width / 2, view.height / 2);
    const hold = (value, most) => Math.min(most - 1, Math.max(0, Math.round(value)));
    const point = [
      hold(from[0] + (dx * step) / view.scale, page.width),
      hold(from[1] + (dy * step) / view.scale, page.height),
    ];
    stage.cursor = { point };
    if (this.drawing) stage.move([point]);
    stage.reveal([point[0] - 20, point[1] - 20, point[0] + 20, point[1] + 20]);
  }

  // Another page or another tool gives the box up without a word to this hand.
  get drawing() {
    return this.corner !== null && this.stage.stroking;
  }

  // Space, or Shift and Space, without a drag.
  apply(event) {
    const { stage } = this,
      { cursor } = stage;
    if (!stage.page || !cursor) return;
    const [x0, y0, x1, y1] = cursor.point ? [...cursor.point, ...cursor.point] : stage.grid.boxes[cursor.word];
    const at = [(x0 + x1) / 2, (y0 + y1) / 2];
    const draws = stage.tool === 'box' || (stage.tool === 'mend' && cursor.point);
    if (draws && !this.drawing) {
      stage.begin(at, { shiftKey: event.shiftKey, altKey: true, drawing: true });
      this.corner = stage.stroking ? at : null;
      return this.tell('First corner set. Move to the opposite corner and press Space.');
    }
    if (draws) stage.move([at]);
    else stage.begin(at, event);
    this.corner = null;
    stage.end();
  }

  drop() {
    this.corner = null;
    this.stage.cursor = null;
    this.stage.abandon();
    this.stage.draw();
  }
}
