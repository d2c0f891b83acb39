// The keyboard's hand on the stage: arrow keys move it, Space uses the tool there.

/** @import { XY } from '../types' */
/** @import { Stage } from './stage.js' */

const STEP = 12,
  FAR = 60; // screen pixels an arrow key moves the cross; with Shift
const ROOM = 20; // page pixels around the cross that are kept in sight

/** @typedef {'left' | 'right' | 'up' | 'down'} Direction */

/** @type {Record<string, { direction: Direction, vector: XY } | undefined>} */
const ARROWS = {
  ArrowLeft: { direction: 'left', vector: [-1, 0] },
  ArrowRight: { direction: 'right', vector: [1, 0] },
  ArrowUp: { direction: 'up', vector: [0, -1] },
  ArrowDown: { direction: 'down', vector: [0, 1] },
};

/** Moves over words or over points of the page, and uses the tool there. */
export class Cursor {
  /**
   * @param {Stage} stage
   * @param {(text: string) => void} tell says it to screen readers
   */
  constructor(stage, tell) {
    this.stage = stage;
    this.tell = tell;
    /** @type {XY | null} first corner of a box; it counts only as long as the stage draws that box */
    this.corner = null;
  }

  /**
   * Moves by an arrow key; returns false where there is nothing to move.
   *
   * @param {KeyboardEvent} event
   */
  move(event) {
    const { stage } = this,
      arrow = ARROWS[event.key];
    if (!stage.page || !arrow) return false;
    if (this.reads(event)) this.overWords(arrow.direction);
    else this.overPage(stage.page, arrow.vector, event.shiftKey ? FAR : STEP);
    stage.draw();
    return true;
  }

  /**
   * Words, or the cross: with Shift the cross comes out in mending too, to draw a word that is missing.
   *
   * @param {KeyboardEvent} event
   */
  reads(event) {
    const { tool, cursor } = this.stage;
    return tool === 'word' || (tool === 'mend' && !event.shiftKey && !cursor?.point);
  }

  /** @param {Direction} direction */
  overWords(direction) {
    const { stage } = this,
      { grid } = stage;
    if (!grid.boxes.length) return;
    const marked = grid.position.get([...stage.chosen, ...stage.selected][0]);
    const start = marked ?? grid.within(stage.mark.mask.box)[0] ?? 0;
    const word = stage.cursor?.word === undefined ? start : grid.neighbour(stage.cursor.word, direction);
    stage.cursor = { word };
    stage.reveal(grid.boxes[word]);
    this.tell(`${grid.texts[word]}${stage.selected.has(grid.numbers[word]) ? ', marked' : ''}`);
  }

  /**
   * @param {{ width: number, height: number }} page page pixels
   * @param {XY} vector
   * @param {number} step screen pixels
   */
  overPage(page, [dx, dy], step) {
    const { stage } = this,
      { view } = stage;
    const from = stage.cursor?.point ?? view.toPage(view.width / 2, view.height / 2);
    /** @type {(value: number, most: number) => number} */
    const hold = (value, most) => Math.min(most - 1, Math.max(0, Math.round(value)));
    /** @type {XY} */
    const point = [
      hold(from[0] + (dx * step) / view.scale, page.width),
      hold(from[1] + (dy * step) / view.scale, page.height),
    ];
    stage.cursor = { point };
    if (this.drawing) stage.move([point]);
    stage.reveal([point[0] - ROOM, point[1] - ROOM, point[0] + ROOM, point[1] + ROOM]);
  }

  /** Whether a box is being drawn: another page or another tool gives it up without a word to this hand. */
  get drawing() {
    return this.corner !== null && this.stage.stroking;
  }

  /**
   * Space, or Shift and Space, without a drag.
   *
   * @param {KeyboardEvent} event
   */
  apply(event) {
    const { stage } = this,
      { cursor } = stage;
    if (!stage.page || !cursor) return;
    const [x0, y0, x1, y1] = cursor.point ? [...cursor.point, ...cursor.point] : stage.grid.boxes[cursor.word];
    /** @type {XY} */
    const at = [(x0 + x1) / 2, (y0 + y1) / 2];
    const draws = stage.tool === 'box' || (stage.tool === 'mend' && cursor.point);
    if (draws && !this.drawing) {
      stage.begin(at, { shiftKey: event.shiftKey, altKey: event.altKey, drawing: true });
      this.corner = stage.stroking ? at : null;
      return this.tell('First corner set. Move to the opposite corner and press Space.');
    }
    if (draws) stage.move([at]);
    else stage.begin(at, event);
    this.corner = null;
    stage.end();
  }

  /** Leaves the page to the pointer. */
  drop() {
    this.corner = null;
    this.stage.cursor = null;
    this.stage.abandon();
    this.stage.draw();
  }
}
