// Draws one frame of the stage: ground, page, marks, then what is under somebody's hand.

import { COLOURS } from './palettes.js';

const css = ([red, green, blue], alpha = 1) => `rgba(${red}, ${green}, ${blue}, ${alpha})`;

export function drawScene(stage) {
  const { context, canvas, view, page } = stage;
  const ratio = canvas.width / Math.max(1, canvas.clientWidth);
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = getComputedStyle(canvas.parentElement).backgroundColor; // follows light and dark
  context.fillRect(0, 0, canvas.width, canvas.height);
  if (!page) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawPaper(stage);
  context.setTransform(ratio * view.scale, 0, 0, ratio * view.scale, ratio * view.x, ratio * view.y);
  drawImage(stage, ratio);
  context.drawImage(stage.overlay.canvas, 0, 0);
  const thin = 1 / view.scale; // one screen pixel
  drawUnpainted(stage, thin);
  if (stage.tool === 'mend') drawOutlines(stage, thin);
  drawBoxes(stage, thin);
  if (stage.tool === 'mend' || (stage.tool === 'word' && !stage.locked)) drawWordUnderHand(stage, thin);
  drawRubber(stage, thin);
  drawBrush(stage, thin);
  drawPoints(stage, thin);
  drawCross(stage, thin);
}

// Shrinking a large page costs more than all the rest of a frame: what was shrunk once is kept while the zoom stays.
function drawImage(stage, ratio) {
  const { context, view, page, image } = stage,
    scale = view.scale * ratio;
  context.imageSmoothingQuality = 'high';
  if (scale >= 1) {
    context.imageSmoothingEnabled = scale < 2;
    return context.drawImage(image, 0, 0, page.width, page.height);
  }
  context.imageSmoothingEnabled = true;
  const width = Math.round(page.width * scale),
    height = Math.round(page.height * scale);
  if (stage.small?.width !== width || stage.small?.height !== height) {
    stage.small = new OffscreenCanvas(width, height);
    const small = stage.small.getContext('2d', { alpha: false });
    small.imageSmoothingQuality = 'high';
    small.drawImage(image, 0, 0, width, height);
  }
  context.save();
  context.setTransform(1, 0, 0, 1, 0, 0); // pixel by pixel: between two pixels of the screen, letters would blur
  context.imageSmoothingEnabled = false;
  context.drawImage(stage.small, Math.round(view.x * ratio), Math.round(view.y * ratio));
  context.restore();
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
function drawUnpainted(stage, thin) {
  const { context, grid, origin } = stage;
  context.save();
  context.strokeStyle = css(COLOURS[origin], 0.9);
  context.lineWidth = 1.5 * thin;
  context.setLineDash([4 * thin, 3 * thin]);
  for (const [x0, y0, x1, y1] of grid.boxesOf([...stage.bare])) context.strokeRect(x0, y0, x1 - x0, y1 - y0);
  context.restore();
}

// All words while they are mended; the chosen ones stand out. One path for the page: thousands of frames at one stroke.
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

function drawBoxes({ context, mark }, thin) {
  context.save();
  context.strokeStyle = css(COLOURS.here, 0.85);
  context.lineWidth = 1.5 * thin;
  context.setLineDash([7 * thin, 4 * thin]);
  for (const [x0, y0, x1, y1] of mark.boxes) context.strokeRect(x0, y0, x1 - x0, y1 - y0);
  context.restore();
}

function drawWordUnderHand(stage, thin) {
  const { context, grid, hover, cursor, selected, tool } = stage;
  const at = cursor?.word ?? hover;
  if (at < 0 || at >= grid.boxes.length) return;
  const [x0, y0, x1, y1] = grid.boxes[at];
  const colour = tool === 'mend' ? COLOURS.here : COLOURS.person;
  if (tool === 'mend' && stage.chosen.has(grid.numbers[at])) return;
  context.fillStyle = css(colour, selected?.has(grid.numbers[at]) ? 0.1 : 0.16);
  context.fillRect(x0 - thin, y0 - thin, x1 - x0 + 2 * thin, y1 - y0 + 2 * thin);
  if (!cursor) return;
  context.strokeStyle = css(colour);
  context.lineWidth = 2 * thin;
  context.strokeRect(x0 - 2 * thin, y0 - 2 * thin, x1 - x0 + 4 * thin, y1 - y0 + 4 * thin);
}

function drawRubber({ context, rubber }, thin) {
  if (!rubber) return;
  const [x0, y0, x1, y1] = rubber;
  context.fillStyle = css(COLOURS.here, 0.1);
  context.strokeStyle = css(COLOURS.here);
  context.lineWidth = 1.5 * thin;
  context.fillRect(x0, y0, x1 - x0, y1 - y0);
  context.strokeRect(x0, y0, x1 - x0, y1 - y0);
}

function drawBrush(stage, thin) {
  const at = stage.cursor?.point ?? stage.at;
  if (!at || stage.locked || !['brush', 'eraser'].includes(stage.tool)) return;
  const { context } = stage;
  for (const [colour, width] of [
    ['#fff', 3],
    [stage.tool === 'brush' ? css(COLOURS.person) : '#3a3f47', 1.5],
  ]) {
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

// The keyboard's cursor for the tools that work on points.
function drawCross({ context, cursor }, thin) {
  if (!cursor?.point) return;
  const [x, y] = cursor.point;
  for (const [colour, width] of [
    ['#fff', 4],
    ['#11151c', 1.5],
  ]) {
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
