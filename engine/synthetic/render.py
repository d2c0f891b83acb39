"""Rendering of a canvas: panels, rules, figures, and every word inside its box; `scan` adds wear."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from engine.synthetic.canvas import Canvas, Piece, Rule
from engine.synthetic.figures import draw_figure
from engine.synthetic.fonts import FOLDERS, Font, Fonts
from engine.synthetic.scan import apply_wear


def draw(
    canvas: Canvas,
    width: int,
    height: int,
    rng: random.Random,
    folders: Sequence[Path] = FOLDERS,
    ground: Image.Image | None = None,
) -> Image.Image:
    """Draw the canvas as an RGB image of width x height pixels, with scan wear that moves nothing.

    `ground`: printed page to draw on, of that size.
    """
    return apply_wear(draw_clean(canvas, width, height, rng, folders, ground), rng)


def shear(ground: Image.Image, slope: float) -> Image.Image:
    """Return a page that was fed askew, as `engine.synthetic.assemble.tilt` moves a canvas."""
    coefficients = (1.0, 0.0, 0.0, -slope, 1.0, slope * ground.width / 2)
    return ground.transform(
        ground.size, Image.Transform.AFFINE, coefficients, Image.Resampling.BICUBIC, fillcolor=(255, 255, 255)
    )


def draw_clean(
    canvas: Canvas,
    width: int,
    height: int,
    rng: random.Random,
    folders: Sequence[Path] = FOLDERS,
    ground: Image.Image | None = None,
) -> Image.Image:
    """Draw the canvas without wear, on `ground` if given."""
    image = Image.new("RGB", (width, height), (255, 255, 255)) if ground is None else ground.convert("RGB")
    drawing = ImageDraw.Draw(image)
    for panel in canvas.panels:
        drawing.rectangle(panel.box, fill=panel.fill)
    for rule in canvas.rules:
        _draw_rule(drawing, rule)
    fonts = Fonts(rng, folders)
    for piece in canvas.pieces:
        if piece.drawn:
            _draw_piece(image, piece, fonts, rng)
    for figure in canvas.figures:
        draw_figure(image, figure, fonts)
    return image


def _draw_rule(drawing: ImageDraw.ImageDraw, rule: Rule) -> None:
    width = max(1, round(rule.width))
    if not rule.dash:
        drawing.line((rule.x0, rule.y0, rule.x1, rule.y1), fill=rule.ink, width=width)
        return
    x = rule.x0
    slope = (rule.y1 - rule.y0) / max(1.0, rule.x1 - rule.x0)
    while x < rule.x1:
        end = min(x + rule.dash, rule.x1)
        drawing.line(
            (x, rule.y0 + slope * (x - rule.x0), end, rule.y0 + slope * (end - rule.x0)), fill=rule.ink, width=width
        )
        x = end + rule.dash


def _draw_piece(image: Image.Image, piece: Piece, fonts: Fonts, rng: random.Random) -> None:
    face = piece.face
    font = fonts.font(face.family, face.size, bold=face.bold, italic=face.italic)
    up, down = round(face.size * 1.0), round(face.size * 0.35)
    if face.family == "hand":
        mask = _render_handwriting(piece, font, up, down, rng)
    else:
        mask = _render_word(piece.text, font, up, down)
    mask = mask.resize((max(1, round(piece.width)), mask.height), Image.Resampling.BILINEAR)
    left, top = round(piece.x), round(piece.baseline) - up
    if not piece.upright:
        mask = mask.transpose(Image.Transpose.ROTATE_90)
        left, top = round(piece.x) - up, round(piece.baseline - piece.width)
    image.paste(face.ink, (left, top), mask)


def _render_word(text: str, font: Font, up: int, down: int) -> Image.Image:
    """Return a word as a mask as wide as its ink: the layout's width is also the ink's."""
    box = font.getbbox(text, anchor="ls") if isinstance(font, ImageFont.FreeTypeFont) else font.getbbox(text)
    left, right = round(box[0]), max(round(box[2]), round(box[0]) + 1)
    mask = Image.new("L", (right - left, up + down), 0)
    ImageDraw.Draw(mask).text((-left, up), text, fill=255, font=font, anchor="ls")
    return mask


def _render_handwriting(piece: Piece, font: Font, up: int, down: int, rng: random.Random) -> Image.Image:
    """Return a handwritten word: letters that vary in height and slant."""
    size = piece.face.size
    mask = Image.new("L", (round(font.getlength(piece.text) + size), up + down), 0)
    drawing = ImageDraw.Draw(mask)
    x = 0.0
    for sign in piece.text:
        drawing.text(
            (x + rng.uniform(-0.04, 0.04) * size, up + rng.uniform(-0.07, 0.05) * size),
            sign,
            fill=255,
            font=font,
            anchor="ls",
        )
        x += font.getlength(sign) * rng.uniform(0.88, 1.04)
    lean = rng.uniform(0.0, 0.35)
    mask = mask.transform(mask.size, Image.Transform.AFFINE, (1, lean, -lean * up, 0, 1, 0), Image.Resampling.BILINEAR)
    box = mask.getbbox()
    return mask.crop((box[0], 0, box[2], mask.height)) if box else mask
