// Draws one frame of the stage: ground, page, marks, then what is under somebody's hand.

import { COLOURS } from './overlay.js';

const css = ([red, green, blue], alpha = 1) => `rgba(${red}, ${green}, ${blue}, ${alpha})`;
const SURE = [0, 114, 96]; // a point that says "here"; the one that says "not here" is told apart by its sign too
const NOT = [176, 32, 84];

export function drawScene(stage) {
  const { context, canvas, view, page } = stage;
  const ratio = canvas.width / Math.max(1, canvas.clientWidth);
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = getComputedStyle(canvas).getPropertyValue('--g-ground').trim() || '#eceef1';
  context.fillRect(0, 0, canvas.width, canvas.height);
  if (!page) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawPaper(stage);
  context.setTransform(ratio * view.scale, 0, 0, ratio * view.scale, ratio * view.x, ratio * view.y);
  context.imageSmoothingEnabled = view.scale * ratio < 2;
  context.imageSmoothingQuality = 'high';
  context.drawImage(stage.image, 0, 0, page.width, page.height);
  context.drawImage(stage.overlay.canvas, 0, 0);
  const thin = 1 / view.scale; // one screen pixel
  drawUnpainted(stage, thin);
  drawBoxes(stage, thin);
  if (stage.tool === 'word' && !stage.locked) drawWordUnderHand(stage, thin);
  drawRubber(stage, thin);
  drawBrush(stage, thin);
  drawPoints(stage, thin);
  drawCross(stage, thin);
}

function drawPaper({ context, view, page }) {
  context.save();
  context.shadowColor = 'rgba(15, 20, 30, .22)';
  context.shadowBlur = 18;
  context.shadowOffsetY = 3;
  context.fillStyle = '#fff';
  context.fillRect(view.x, view.y, page.width * view.scale, page.height * view.scale);
  context.restore();
}

// Words that are marked while half of their pixels are not: a dashed frame.
function drawUnpainted({ context, grid, selected, mask, origin }, thin) {
  context.save();
  context.strokeStyle = css(COLOURS[origin], 0.9);
  context.lineWidth = 1.5 * thin;
  context.setLineDash([4 * thin, 3 * thin]);
  for (const [x0, y0, x1, y1] of grid.boxesOf([...(selected ?? [])])) {
    if (mask.covered([x0, y0, x1, y1]) < 0.5) context.strokeRect(x0, y0, x1 - x0, y1 - y0);
  }
  context.restore();
}

function drawBoxes({ context, mark }, thin) {
  context.save();
  context.strokeStyle = css(SURE, 0.85);
  context.lineWidth = 1.5 * thin;
  context.setLineDash([7 * thin, 4 * thin]);
  for (const [x0, y0, x1, y1] of mark.boxes) context.strokeRect(x0, y0, x1 - x0, y1 - y0);
  context.restore();
}

function drawWordUnderHand({ context, grid, hover, cursor, selected }, thin) {
  const at = cursor?.word ?? hover;
  if (at < 0 || at >= grid.boxes.length) return;
  const [x0, y0, x1, y1] = grid.boxes[at];
  context.fillStyle = css(COLOURS.person, selected.has(grid.numbers[at]) ? 0.1 : 0.16);
  context.fillRect(x0 - thin, y0 - thin, x1 - x0 + 2 * thin, y1 - y0 + 2 * thin);
  if (!cursor) return;
  context.strokeStyle = css(COLOURS.person);
  context.lineWidth = 2 * thin;
  context.strokeRect(x0 - 2 * thin, y0 - 2 * thin, x1 - x0 + 4 * thin, y1 - y0 + 4 * thin);
}

function drawRubber({ context, rubber }, thin) {
  if (!rubber) return;
  const [x0, y0, x1, y1] = rubber;
  context.fillStyle = css(SURE, 0.1);
  context.strokeStyle = css(SURE);
  context.lineWidth = 1.5 * thin;
  context.fillRect(x0, y0, x1 - x0, y1 - y0);
  context.strokeRect(x0, y0, x1 - x0, y1 - y0);
}

function drawBrush(stage, thin) {
  const at = stage.cursor?.point ?? stage.at;
  if (!at || stage.locked || !['brush', 'eraser'].includes(stage.tool)) return;
  const { context } = stage;
  for (const [colour, width] of [['#fff', 3], [stage.tool === 'brush' ? css(COLOURS.person) : '#3a3f47', 1.5]]) {
    context.beginPath();
    context.arc(at[0], at[1], stage.radius, 0, 2 * Math.PI);
    context.strokeStyle = colour;
    context.lineWidth = width * thin;
    context.stroke();
  }
}

function drawPoints({ context, mark }, thin) {
  for (const [x, y, positive] of mark.points) {
    context.beginPath();
    context.arc(x, y, 8 * thin, 0, 2 * Math.PI);
    context.fillStyle = css(positive ? SURE : NOT);
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

// The keyboard's cursor for the tools that work on points.
function drawCross({ context, cursor }, thin) {
  if (!cursor?.point) return;
  const [x, y] = cursor.point;
  for (const [colour, width] of [['#fff', 4], ['#11151c', 1.5]]) {
    context.beginPath();
    context.moveTo(x - 14 * thin, y);
    context.lineTo(x + 14 * thin, y);
    context.moveTo(x, y - 14 * thin);
    context.lineTo(x, y + 14 * thin);
    context.strokeStyle = colour;
    context.lineWidth = width * thin;
    context.stroke();
  }
}
