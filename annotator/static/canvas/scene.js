// Draws one frame of the stage: ground, page, marks, then what is under somebody's hand.

/** @import { PageLine } from '../types' */
/** @import { Stage } from './stage.js' */

import { COLOURS, css } from './palettes.js';
import { drawTable } from './table_drawing.js';

/**
 * Draws the stage as it is now.
 *
 * @param {Stage} stage
 */
export function drawScene(stage) {
  const { context, canvas, view, page, ratio } = stage;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = stage.ground ??= getComputedStyle(stage.container).backgroundColor;
  context.fillRect(0, 0, canvas.width, canvas.height);
  if (!page) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawPaper(stage, page);
  context.setTransform(ratio * view.scale, 0, 0, ratio * view.scale, ratio * view.x, ratio * view.y);
  drawPicture(stage, page);
  const thin = 1 / view.scale; // one screen pixel
  drawDoubts(stage, thin);
  drawUnpainted(stage, thin);
  drawOtherValues(stage, thin);
  drawTable(stage, thin);
  if (stage.tool === 'mend') drawOutlines(stage, thin);
  drawBoxes(stage, thin);
  if (stage.tool === 'mend' || (stage.tool === 'word' && !stage.locked)) drawWordUnderHand(stage, thin);
  drawRubber(stage, thin);
  drawBrush(stage, thin);
  drawPoints(stage, thin);
  drawCross(stage, thin);
}

/**
 * The image of the page with the colours of its mark.
 *
 * @param {Stage} stage
 * @param {PageLine} page
 */
function drawPicture(stage, page) {
  const { context, view, image, layer, ratio } = stage,
    scale = view.scale * ratio;
  if (!image) return;
  context.imageSmoothingQuality = 'high';
  if (scale >= 1) {
    context.imageSmoothingEnabled = scale < 2;
    context.drawImage(image, 0, 0, page.width, page.height);
  }
  const small =
    scale < 1 ? shrunk(stage, image, Math.round(page.width * scale), Math.round(page.height * scale)) : null;
  const [left, top] = [ratio * view.x, ratio * view.y];
  context.save();
  context.setTransform(1, 0, 0, 1, 0, 0);
  if (small) {
    // Pixel by pixel: between two pixels of the screen, letters would blur.
    context.imageSmoothingEnabled = false;
    context.drawImage(small, Math.round(left), Math.round(top));
    layer.resize(small.width, small.height);
    layer.draw(context, Math.round(left), Math.round(top), 1);
  } else {
    layer.resize(page.width, page.height);
    layer.draw(context, left, top, scale);
  }
  context.restore();
}

/**
 * The image at the size of the screen. Shrinking a large page costs more than all the rest of a frame: what was shrunk
 * once is kept while the zoom stays.
 *
 * @param {Stage} stage
 * @param {CanvasImageSource} image
 * @param {number} width pixels of the canvas
 * @param {number} height pixels of the canvas
 */
function shrunk(stage, image, width, height) {
  if (stage.small?.width === width && stage.small.height === height) return stage.small;
  const small = new OffscreenCanvas(Math.max(1, width), Math.max(1, height)),
    context = small.getContext('2d', { alpha: false });
  if (context) {
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, 0, 0, width, height);
  }
  return (stage.small = small);
}

/**
 * @param {Stage} stage
 * @param {PageLine} page
 */
function drawPaper({ context, view }, page) {
  context.save();
  context.shadowColor = 'rgba(15, 20, 30, .22)';
  context.shadowBlur = 18;
  context.shadowOffsetY = 3;
  context.fillStyle = '#fff';
  context.fillRect(view.x, view.y, page.width * view.scale, page.height * view.scale);
  context.restore();
}

/**
 * Words that are marked while half of their pixels are not: a dashed frame.
 *
 * @param {Stage} stage
 * @param {number} thin one screen pixel, in page pixels
 */
function drawUnpainted(stage, thin) {
  const { context, grid, marks, origin } = stage;
  context.save();
  context.strokeStyle = css(COLOURS[origin], 0.9);
  context.lineWidth = 1.5 * thin;
  context.setLineDash([4 * thin, 3 * thin]);
  for (const [x0, y0, x1, y1] of grid.boxesOf([...marks.bare])) context.strokeRect(x0, y0, x1 - x0, y1 - y0);
  context.restore();
}

/**
 * The answer's other values on this page: a frame with the number of the value, so that none is marked twice.
 *
 * @param {Stage} stage
 * @param {number} thin one screen pixel, in page pixels
 */
function drawOtherValues(stage, thin) {
  const { context, others } = stage;
  if (!others.length) return;
  context.save();
  context.strokeStyle = css(COLOURS.person, 0.85);
  context.lineWidth = 1.5 * thin;
  context.font = `600 ${12 * thin}px system-ui, sans-serif`;
  context.textBaseline = 'bottom';
  for (const { box, number } of others) {
    const [x0, y0, x1, y1] = box,
      text = String(number);
    context.fillStyle = css(COLOURS.person, 0.1);
    context.fillRect(x0, y0, x1 - x0, y1 - y0);
    context.strokeRect(x0, y0, x1 - x0, y1 - y0);
    const width = context.measureText(text).width + 8 * thin;
    context.fillStyle = css(COLOURS.person, 0.95);
    context.fillRect(x0, y0 - 15 * thin, width, 15 * thin);
    context.fillStyle = '#fff';
    context.fillText(text, x0 + 4 * thin, y0 - thin);
  }
  context.restore();
}

/**
 * All words while they are mended; the chosen ones stand out. One path for the page: thousands of frames at one
 * stroke.
 *
 * @param {Stage} stage
 * @param {number} thin one screen pixel, in page pixels
 */
function drawOutlines(stage, thin) {
  const { context, grid, chosen } = stage;
  if (!stage.outlines) {
    stage.outlines = new Path2D();
    for (const [x0, y0, x1, y1] of grid.boxes) stage.outlines.rect(x0, y0, x1 - x0, y1 - y0);
  }
  context.strokeStyle = css(COLOURS.here, 0.75);
  context.lineWidth = thin;
  context.stroke(stage.outlines);
  context.fillStyle = css(COLOURS.here, 0.14);
  context.lineWidth = 2 * thin;
  context.strokeStyle = css(COLOURS.here);
  for (const [x0, y0, x1, y1] of grid.boxesOf([...chosen])) {
    context.fillRect(x0, y0, x1 - x0, y1 - y0);
    context.strokeRect(x0 - thin, y0 - thin, x1 - x0 + 2 * thin, y1 - y0 + 2 * thin);
  }
}

/**
 * A dotted line below each word of low confidence; a stronger one on a tinted ground while words are mended. It keeps
 * to the edge of the word, so the ink and the colour of a mark stay as they are. One path for all, kept until the words
 * change.
 *
 * @param {Stage} stage
 * @param {number} thin one screen pixel, in page pixels
 */
function drawDoubts(stage, thin) {
  const { context, grid, tool } = stage,
    mending = tool === 'mend';
  if (!grid.doubtful.size) return;
  if (!stage.doubts) {
    stage.doubts = { grounds: new Path2D(), lines: new Path2D() };
    for (const [x0, y0, x1, y1] of grid.boxesOf(grid.words.doubtful)) {
      stage.doubts.grounds.rect(x0, y0, x1 - x0, y1 - y0);
      stage.doubts.lines.moveTo(x0, y1);
      stage.doubts.lines.lineTo(x1, y1);
    }
  }
  context.save();
  if (mending) {
    context.fillStyle = css(COLOURS.doubt, 0.2);
    context.fill(stage.doubts.grounds);
  }
  context.strokeStyle = css(COLOURS.doubt, mending ? 1 : 0.8);
  context.lineWidth = (mending ? 2.5 : 1.5) * thin;
  if (!mending) context.setLineDash([2 * thin, 2 * thin]);
  context.stroke(stage.doubts.lines);
  context.restore();
}

/**
 * @param {Stage} stage
 * @param {number} thin one screen pixel, in page pixels
 */
function drawBoxes({ context, mark }, thin) {
  context.save();
  context.strokeStyle = css(COLOURS.here, 0.85);
  context.lineWidth = 1.5 * thin;
  context.setLineDash([7 * thin, 4 * thin]);
  for (const [x0, y0, x1, y1] of mark.boxes) context.strokeRect(x0, y0, x1 - x0, y1 - y0);
  context.restore();
}

/**
 * @param {Stage} stage
 * @param {number} thin one screen pixel, in page pixels
 */
function drawWordUnderHand(stage, thin) {
  const { context, grid, hover, cursor, selected, tool } = stage;
  const at = cursor?.word ?? hover;
  if (at < 0 || at >= grid.boxes.length) return;
  const [x0, y0, x1, y1] = grid.boxes[at];
  const colour = tool === 'mend' ? COLOURS.here : COLOURS.person;
  if (tool === 'mend' && stage.chosen.has(grid.numbers[at])) return;
  context.fillStyle = css(colour, selected.has(grid.numbers[at]) ? 0.1 : 0.16);
  context.fillRect(x0 - thin, y0 - thin, x1 - x0 + 2 * thin, y1 - y0 + 2 * thin);
  if (!cursor) return;
  context.strokeStyle = css(colour);
  context.lineWidth = 2 * thin;
  context.strokeRect(x0 - 2 * thin, y0 - 2 * thin, x1 - x0 + 4 * thin, y1 - y0 + 4 * thin);
}

/**
 * @param {Stage} stage
 * @param {number} thin one screen pixel, in page pixels
 */
function drawRubber({ context, rubber }, thin) {
  if (!rubber) return;
  const [x0, y0, x1, y1] = rubber;
  context.fillStyle = css(COLOURS.here, 0.1);
  context.strokeStyle = css(COLOURS.here);
  context.lineWidth = 1.5 * thin;
  context.fillRect(x0, y0, x1 - x0, y1 - y0);
  context.strokeRect(x0, y0, x1 - x0, y1 - y0);
}

/**
 * @param {Stage} stage
 * @param {number} thin one screen pixel, in page pixels
 */
function drawBrush(stage, thin) {
  const at = stage.cursor?.point ?? stage.at;
  if (!at || stage.locked || !['brush', 'eraser'].includes(stage.tool)) return;
  const { context } = stage;
  context.beginPath();
  context.arc(at[0], at[1], stage.radius, 0, 2 * Math.PI);
  strokeTwice(context, thin, '#fff', 3, stage.tool === 'brush' ? css(COLOURS.person) : '#3a3f47');
}

/**
 * @param {Stage} stage
 * @param {number} thin one screen pixel, in page pixels
 */
function drawPoints({ context, mark }, thin) {
  for (const [x, y, positive] of mark.points) {
    context.beginPath();
    context.arc(x, y, 8 * thin, 0, 2 * Math.PI);
    context.fillStyle = css(positive ? COLOURS.here : COLOURS.not);
    context.fill();
    context.lineWidth = 2 * thin;
    context.strokeStyle = '#fff';
    context.stroke();
    context.beginPath();
    context.moveTo(x - 4 * thin, y);
    context.lineTo(x + 4 * thin, y);
    if (positive) {
      context.moveTo(x, y - 4 * thin);
      context.lineTo(x, y + 4 * thin);
    }
    context.stroke();
  }
}

/**
 * The keyboard's cursor for the tools that work on points.
 *
 * @param {Stage} stage
 * @param {number} thin one screen pixel, in page pixels
 */
function drawCross({ context, cursor }, thin) {
  if (!cursor?.point) return;
  const [x, y] = cursor.point;
  context.beginPath();
  context.moveTo(x - 14 * thin, y);
  context.lineTo(x + 14 * thin, y);
  context.moveTo(x, y - 14 * thin);
  context.lineTo(x, y + 14 * thin);
  strokeTwice(context, thin, '#fff', 4, '#11151c');
}

/**
 * A line on a ground of another colour stands out from any page.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {number} thin one screen pixel, in page pixels
 * @param {string} ground
 * @param {number} width of the ground, screen pixels
 * @param {string} colour
 */
function strokeTwice(context, thin, ground, width, colour) {
  context.strokeStyle = ground;
  context.lineWidth = width * thin;
  context.stroke();
  context.strokeStyle = colour;
  context.lineWidth = 1.5 * thin;
  context.stroke();
}
