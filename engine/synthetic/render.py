"""Draws a sheet: every word inside its box, rules, and figures."""

from __future__ import annotations

import random

from PIL import Image, ImageDraw, ImageFont

from engine.synthetic.sheet import Sheet


def draw(sheet: Sheet, width: int, height: int, chance: random.Random) -> Image.Image:
    """The sheet as an RGB image of width x height pixels."""
    image = Image.new("RGB", (width, height), (255, chance.randint(250, 255), chance.randint(240, 255)))
    canvas = ImageDraw.Draw(image)
    for rule in sheet.rules:
        canvas.line((rule.x0, rule.y0, rule.x1, rule.y1), fill=rule.ink, width=max(1, round(rule.width)))
    for figure in sheet.figures:
        canvas.rectangle(figure.box, outline=figure.ink)
    for piece in sheet.pieces:
        if piece.drawn and piece.upright:
            canvas.text(
                (piece.x, piece.baseline),
                piece.text,
                fill=piece.face.ink,
                font=ImageFont.load_default(piece.face.size),
                anchor="ls",
            )
    return image
