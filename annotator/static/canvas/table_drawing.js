// Draws the grid of a table over its page: cells, bands, edges, the numbers of the rows, and an edge under the hand.

/** @import { Box } from '../types' */
/** @import { Stage } from './stage.js' */
/** @import { StageTable } from './stage_table.js' */

import { COLOURS, css } from './palettes.js';
import { MARGIN } from './stage_table.js';

const NUMBER = 13; // screen pixels that the number of a row needs in height

/**
 * @param {Stage} stage
 * @param {number} thin one screen pixel, in page pixels
 */
export function drawTable(stage, thin) {
  const { context, table } = stage,
    box = table?.grid.box;
  if (!table || !box) return;
  const { cells, lines } = (table.paths ??= pathsOf(table, box));
  context.save();
  context.fillStyle = css(COLOURS.person, 0.1);
  context.fill(cells);
  drawHand(stage, table, box, thin);
  context.strokeStyle = css(COLOURS.here, 0.6);
  context.lineWidth = thin;
  context.stroke(lines);
  drawNumbers(stage, table, box, thin);
  drawEdge(stage, table, box, thin);
  context.restore();
}

/**
 * One path for all cells and one for all edges, kept as long as the table is the same: hundreds of each at a stroke.
 *
 * @param {StageTable} table
 * @param {Box} box
 */
function pathsOf({ grid }, [x0, y0, x1, y1]) {
  const cells = new Path2D(),
    lines = new Path2D();
  for (const { cell, box } of grid.cells) {
    if (cell.row === grid.hand?.row && cell.column === grid.hand.column) continue;
    cells.rect(box[0], box[1], box[2] - box[0], box[3] - box[1]);
  }
  for (const y of grid.rowEdges) {
    lines.moveTo(x0, y);
    lines.lineTo(x1, y);
  }
  for (const x of grid.columnEdges) {
    lines.moveTo(x, y0);
    lines.lineTo(x, y1);
  }
  return { cells, lines };
}

/**
 * The row and the cell in hand.
 *
 * @param {Stage} stage
 * @param {StageTable} table
 * @param {Box} box
 * @param {number} thin one screen pixel, in page pixels
 */
function drawHand({ context }, { grid }, [x0, y0, x1, y1], thin) {
  const { row, column } = grid.inHand;
  const [top, bottom] = row < 0 ? [y0, y0] : [grid.rowEdges[row], grid.rowEdges[row + 1]];
  context.strokeStyle = css(COLOURS.here);
  if (row >= 0) {
    context.fillStyle = css(COLOURS.here, 0.1);
    context.fillRect(x0, top, x1 - x0, bottom - top);
    context.lineWidth = 1.5 * thin;
    context.strokeRect(x0, top, x1 - x0, bottom - top);
  }
  const own = grid.handBox;
  if (column < 0 || (own && !inside(own, grid.columnEdges, column))) {
    // The column lies in another one: the cell is framed alone.
    if (!own) return;
    context.lineWidth = 3 * thin;
    context.strokeRect(own[0] - 3 * thin, own[1] - 3 * thin, own[2] - own[0] + 6 * thin, own[3] - own[1] + 6 * thin);
    return;
  }
  const [left, right] = [grid.columnEdges[column], grid.columnEdges[column + 1]];
  if (row >= 0) {
    context.lineWidth = 3 * thin;
    context.strokeRect(left, top, right - left, bottom - top);
  } else {
    // The row in hand is not on this page yet: its column shows where the next word goes.
    context.fillStyle = css(COLOURS.here, 0.06);
    context.fillRect(left, y0, right - left, y1 - y0);
  }
}

/** @type {(box: Box, edges: readonly number[], column: number) => boolean} */
const inside = ([x0, , x1], edges, column) => x0 >= edges[column] - 1 && x1 <= edges[column + 1] + 1;

/**
 * The numbers of the rows at the left edge; of low rows only some, so that they can be read.
 *
 * @param {Stage} stage
 * @param {StageTable} table
 * @param {Box} box
 * @param {number} thin one screen pixel, in page pixels
 */
function drawNumbers({ context }, { grid }, [x0], thin) {
  const { row: hand } = grid.inHand;
  context.font = `600 ${11 * thin}px system-ui, sans-serif`;
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  let free = -Infinity; // y from which there is room for the next number
  grid.rows.forEach(({ key }, at) => {
    const y = (grid.rowEdges[at] + grid.rowEdges[at + 1]) / 2,
      half = (NUMBER / 2) * thin;
    if (at !== hand && y - half < free) return;
    free = y + half;
    const text = String(grid.numbers.get(key) ?? '');
    const width = context.measureText(text).width + 8 * thin;
    context.fillStyle = at === hand ? css(COLOURS.here) : 'rgba(255, 255, 255, .88)';
    context.fillRect(x0 - 4 * thin - width, y - half, width, 2 * half);
    context.fillStyle = at === hand ? '#fff' : css(COLOURS.here);
    context.fillText(text, x0 - 8 * thin, y);
  });
}

/**
 * The edge under the hand, where it would go, with the words that it takes along.
 *
 * @param {Stage} stage
 * @param {StageTable} table
 * @param {Box} box
 * @param {number} thin one screen pixel, in page pixels
 */
function drawEdge({ context, grid: words }, { edge, to, moves }, [x0, y0, x1, y1], thin) {
  if (!edge) return;
  context.fillStyle = css(COLOURS.here, 0.3);
  for (const [left, top, right, bottom] of words.boxesOf([...moves.keys()]))
    context.fillRect(left, top, right - left, bottom - top);
  const margin = MARGIN * thin;
  context.beginPath();
  if (edge.axis === 'row') {
    context.moveTo(x0 - margin, to);
    context.lineTo(x1, to);
  } else {
    context.moveTo(to, y0 - margin);
    context.lineTo(to, y1);
  }
  context.strokeStyle = '#fff';
  context.lineWidth = 5 * thin;
  context.stroke();
  context.strokeStyle = css(COLOURS.here);
  context.lineWidth = 2.5 * thin;
  context.stroke();
}
