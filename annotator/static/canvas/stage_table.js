// The table of the open answer on the stage: its grid, and the hand that drags an edge of it.

/** @import { AnswerPart, Cell, Press, Stroke, XY } from '../types' */
/** @import { Edge, WordMoves } from './table_grid.js' */
/** @import { Hand, Tool } from './tools.js' */
/** @import { WordGrid } from './word_grid.js' */

import { TableGrid } from './table_grid.js';

export const MARGIN = 30; // screen pixels beside the table in which its rows have numbers and its edges can be held
const REACH = 5; // screen pixels from an edge in which a mouse or a pen holds it
const REACH_TOUCH = 14; // the same for a finger

export class StageTable {
  /** @type {Edge | null} the one that is held, or under the hand */
  edge = null;
  /** @type {number} where the hand holds it, page pixels */
  to = 0;
  /** @type {WordMoves} words that change their cell if it is let go there */
  moves = new Map();
  /** @type {{ number: number, x: number, y: number }[] | null} words of the page that are in no cell */
  unmarked = null;
  /** @type {{ cells: Path2D, lines: Path2D } | null} as they are drawn */
  paths = null;

  /**
   * @param {readonly AnswerPart[]} parts
   * @param {Cell | null} hand the cell in hand
   * @param {string} page id
   * @param {WordGrid} words of the page
   */
  constructor(parts, hand, page, words) {
    this.words = words;
    this.grid = new TableGrid(parts, hand, page, (number) => words.boxOf(number));
  }

  /** Words of the page that are in no cell: sought once an edge is held. */
  get free() {
    if (this.unmarked) return this.unmarked;
    const taken = new Set(this.grid.words.map(({ number }) => number));
    const { numbers, boxes } = this.words;
    return (this.unmarked = numbers.flatMap((number, at) => {
      const [x0, y0, x1, y1] = boxes[at];
      return taken.has(number) ? [] : [{ number, x: (x0 + x1) / 2, y: (y0 + y1) / 2 }];
    }));
  }

  /**
   * The edge that a hand takes at a point: not where a word lies, which is marked.
   *
   * @param {XY} point page pixels
   * @param {Press} press
   * @param {number} scale screen pixels a page pixel
   */
  edgeAt(point, { pointerType }, scale) {
    if (!pointerType || this.words.at(...point) >= 0) return null;
    const reach = pointerType === 'touch' ? REACH_TOUCH : REACH;
    return this.grid.edgeAt(point, reach / scale, MARGIN / scale);
  }

  /** @param {XY} point page pixels */
  drag([x, y]) {
    const { edge, grid } = this;
    if (!edge) return;
    this.to = grid.limit(edge, edge.axis === 'row' ? y : x);
    this.moves = grid.moves(edge, this.to, this.free);
  }

  drop() {
    this.edge = null;
    this.moves = new Map();
  }
}

/**
 * Drags an edge of the table. Only while it is held: no button takes it in hand.
 *
 * @implements {Tool}
 */
export class EdgeTool {
  /** @type {StageTable | null} as it stood when the edge was taken: a save may bring another meanwhile */
  table = null;

  /** @type {Tool['begin']} */
  begin(hand, point) {
    this.table = hand.table;
    this.table?.drag(point);
  }

  /** @type {Tool['move']} */
  move(hand, points) {
    const { table } = this;
    if (!table) return;
    table.drag(points[points.length - 1]);
    hand.table = table;
    hand.draw();
  }

  /**
   * @param {Hand} hand
   * @returns {Stroke | null}
   */
  end(hand) {
    const moves = this.table?.moves ?? new Map();
    this.cancel(hand);
    return moves.size ? { tool: 'edge', moves } : null;
  }

  /** @type {Tool['cancel']} */
  cancel(hand) {
    this.table?.drop();
    this.table = null;
    hand.draw();
  }
}
