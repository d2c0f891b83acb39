"""Rendering of a sheet: panels, rules, figures, and every word inside its box; `scan` adds wear."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from engine.synthetic.figures import draw_figure
from engine.synthetic.fonts import FOLDERS, Font, Fonts
from engine.synthetic.scan import scanned
from engine.synthetic.sheet import Piece, Rule, Sheet


def draw(
    sheet: Sheet,
    width: int,
    height: int,
    chance: random.Random,
    folders: Sequence[Path] = FOLDERS,
    ground: Image.Image | None = None,
) -> Image.Image:
    """Draw the sheet as an RGB image of width x height pixels, with scan wear that moves nothing.

    `ground`: printed page to draw on, of that size.
    """
    return scanned(draw_clean(sheet, width, height, chance, folders, ground), chance)


def sheared(ground: Image.Image, slope: float) -> Image.Image:
    """Return a page that was fed askew, as `engine.synthetic.assemble.tilt` moves a sheet."""
    coefficients = (1.0, 0.0, 0.0, -slope, 1.0, slope * ground.width / 2)
    return ground.transform(
        ground.size, Image.Transform.AFFINE, coefficients, Image.Resampling.BICUBIC, fillcolor=(255, 255, 255)
    )


def draw_clean(
    sheet: Sheet,
    width: int,
    height: int,
    chance: random.Random,
    folders: Sequence[Path] = FOLDERS,
    ground: Image.Image | None = None,
) -> Image.Image:
    """Draw the sheet without wear, on `ground` if given."""
    image = Image.new("RGB", (width, height), (255, 255, 255)) if ground is None else ground.convert("RGB")
    canvas = ImageDraw.Draw(image)
    for panel in sheet.panels:
        canvas.rectangle(panel.box, fill=panel.fill)
    for rule in sheet.rules:
        _draw_rule(canvas, rule)
    fonts = Fonts(chance, folders)
    for piece in sheet.pieces:
        if piece.drawn:
            _draw_piece(image, piece, fonts, chance)
    for figure in sheet.figures:
        draw_figure(image, figure, fonts)
    return image


def _draw_rule(canvas: ImageDraw.ImageDraw, rule: Rule) -> None:
    width = max(1, round(rule.width))
    if not rule.dash:
        canvas.line((rule.x0, rule.y0, rule.x1, rule.y1), fill=rule.ink, width=width)
        return
    x = rule.x0
    slope = (rule.y1 - rule.y0) / max(1.0, rule.x1 - rule.x0)
    while x < rule.x1:
        end = min(x + rule.dash, rule.x1)
        canvas.line(
            (x, rule.y0 + slope * (x - rule.x0), end, rule.y0 + slope * (end - rule.x0)), fill=rule.ink, width=width
        )
        x = end + rule.dash


def _draw_piece(image: Image.Image, piece: Piece, fonts: Fonts, chance: random.Random) -> None:
    face = piece.face
    font = fonts.font(face.family, face.size, bold=face.bold, italic=face.italic)
    up, down = round(face.size * 1.0), round(face.size * 0.35)
    if face.family == "hand":
        mask = _written_by_hand(piece, font, up, down, chance)
    else:
        mask = _set(piece.text, font, up, down)
    mask = mask.resize((max(1, round(piece.width)), mask.height), Image.Resampling.BILINEAR)
    left, top = round(piece.x), round(piece.baseline) - up
    if not piece.upright:
        mask = mask.transpose(Image.Transpose.ROTATE_90)
        left, top = round(piece.x) - up, round(piece.baseline - piece.width)
    image.paste(face.ink, (left, top), mask)


def _set(text: str, font: Font, up: int, down: int) -> Image.Image:
    """Return a word as a mask as wide as its ink: the layout's width is also the ink's."""
    box = font.getbbox(text, anchor="ls") if isinstance(font, ImageFont.FreeTypeFont) else font.getbbox(text)
    left, right = round(box[0]), max(round(box[2]), round(box[0]) + 1)
    mask = Image.new("L", (right - left, up + down), 0)
    ImageDraw.Draw(mask).text((-left, up), text, fill=255, font=font, anchor="ls")
    return mask


def _written_by_hand(piece: Piece, font: Font, up: int, down: int, chance: random.Random) -> Image.Image:
    """Return a handwritten word: letters that vary in height and slant."""
    size = piece.face.size
    mask = Image.new("L", (round(font.getlength(piece.text) + size), up + down), 0)
    canvas = ImageDraw.Draw(mask)
    x = 0.0
    for sign in piece.text:
        canvas.text(
            (x + chance.uniform(-0.04, 0.04) * size, up + chance.uniform(-0.07, 0.05) * size),
            sign,
            fill=255,
            font=font,
            anchor="ls",
        )
        x += font.getlength(sign) * chance.uniform(0.88, 1.04)
    lean = chance.uniform(0.0, 0.35)
    mask = mask.transform(mask.size, Image.Transform.AFFINE, (1, lean, -lean * up, 0, 1, 0), Image.Resampling.BILINEAR)
    box = mask.getbbox()
    return mask.crop((box[0], 0, box[2], mask.height)) if box else mask
