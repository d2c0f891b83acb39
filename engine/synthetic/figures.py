"""Drawing of figures inside their boxes: checkboxes, signatures, stamps, seals, logos, charts."""

from __future__ import annotations

import math
import random
from itertools import pairwise

from PIL import Image, ImageChops, ImageDraw

from engine.synthetic.canvas import Figure
from engine.synthetic.fonts import Fonts

_FINE = 3  # figures are drawn larger and scaled down, for smooth edges


def draw_figure(image: Image.Image, figure: Figure, fonts: Fonts) -> None:
    """Draw a figure onto the image, inside its box. Raises ValueError for an unknown kind."""
    x0, y0, x1, y1 = (round(edge) for edge in figure.box)
    width, height = max(3, x1 - x0), max(3, y1 - y0)
    mask = Image.new("L", (width * _FINE, height * _FINE), 0)
    rng = random.Random(figure.seed)
    if figure.kind.startswith("tick-"):
        _tick(mask, figure, rng)
    elif figure.kind == "signature":
        _signature(mask, rng)
    elif figure.kind == "stamp":
        mask = _stamp(mask, figure.text, rng, fonts)
    elif figure.kind == "seal":
        mask = _seal(mask, figure.text, rng, fonts)
    elif figure.kind == "barcode":
        _barcode(mask, rng)
    elif figure.kind == "chart":
        _chart(mask, rng)
    elif figure.kind == "logo":
        _logo(mask, figure.text, rng, fonts)
    else:
        raise ValueError(f"There is no way to draw a {figure.kind!r}.")
    image.paste(figure.ink, (x0, y0), mask.resize((width, height), Image.Resampling.BOX))


def _tick(mask: Image.Image, figure: Figure, rng: random.Random) -> None:
    drawing = ImageDraw.Draw(mask)
    right, foot = mask.width - 1, mask.height - 1
    pen = max(_FINE, round(mask.height * 0.08))
    if figure.kind == "tick-box":
        drawing.rectangle((0, 0, right, foot), outline=255, width=pen)
    elif figure.kind == "tick-round":
        drawing.ellipse((0, 0, right, foot), outline=255, width=pen)
    elif figure.kind != "tick-alone":  # its box is printed on the paper
        drawing.line((0, foot - pen // 2, right, foot - pen // 2), fill=255, width=pen)
    if not figure.ticked:
        return
    side = mask.height * 0.72
    left, top = (mask.width - side) / 2, (mask.height - side) / 2
    pen = max(_FINE, round(mask.height * rng.uniform(0.1, 0.17)))
    form = rng.random()
    if form < 0.6:
        drawing.line((left, top, left + side, top + side), fill=255, width=pen)
        drawing.line((left + side, top, left, top + side), fill=255, width=pen)
    elif form < 0.85:
        drawing.line(
            (left, top + side * 0.55, left + side * 0.35, top + side, left + side, top),
            fill=255,
            width=pen,
            joint="curve",
        )
    else:
        drawing.ellipse((left, top, left + side, top + side), fill=255)


def _signature(mask: Image.Image, rng: random.Random) -> None:
    """Draw a hasty name: tall letters, then lower and flatter ones, some loops, a final stroke."""
    drawing = ImageDraw.Draw(mask)
    letters = rng.randint(6, 14)
    slant = rng.uniform(0.15, 0.5)
    rise = rng.uniform(-0.12, 0.12)
    knots: list[tuple[float, float]] = []
    for at in range(letters):
        along = 0.04 + 0.82 * (at + rng.uniform(-0.25, 0.25)) / letters
        tall = at == 0 or rng.random() < 0.18
        height = rng.uniform(0.5, 0.62) if tall else rng.uniform(0.08, 0.24) * (1.2 - 0.6 * at / letters)
        depth = rng.uniform(0.2, 0.32) if rng.random() < 0.15 else rng.uniform(0.0, 0.05)
        foot = 0.66 + rise * (along - 0.5)
        step = 0.82 / letters
        knots += [(along, foot + depth), (along + step * 0.3 + slant * height * 0.3, foot - height)]
        if tall or rng.random() < 0.3:
            knots += [(along + step * 0.1 + slant * height * 0.2, foot - height * 0.9), (along + step * 0.35, foot)]
    if rng.random() < 0.6:
        knots += [(0.97, 0.6 + rise), (0.7, 0.9), (rng.uniform(0.05, 0.4), rng.uniform(0.84, 0.94))]
    points = [
        (min(max(x, 0.01), 0.985) * mask.width, min(max(y, 0.03), 0.96) * mask.height) for x, y in _smooth(knots, 10)
    ]
    pen = mask.height * rng.uniform(0.018, 0.04)
    for at, (start, end) in enumerate(pairwise(points)):
        width = pen * (1.0 + 0.5 * math.sin(at * 0.13 + rise))
        drawing.line((start, end), fill=255, width=max(_FINE, round(width)))


def _smooth(knots: list[tuple[float, float]], steps: int) -> list[tuple[float, float]]:
    """Return a Catmull-Rom curve through the knots."""
    padded = [knots[0], *knots, knots[-1]]
    curve = []
    for before, start, end, after in zip(padded, padded[1:], padded[2:], padded[3:], strict=False):
        for step in range(steps):
            t = step / steps
            curve.append(
                tuple(
                    0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t * t + (3 * b - a - 3 * c + d) * t**3)
                    for a, b, c, d in zip(before, start, end, after, strict=True)
                )
            )
    return [(point[0], point[1]) for point in curve]


def _stamp(mask: Image.Image, text: str, rng: random.Random, fonts: Fonts) -> Image.Image:
    """Draw a word and a date in a frame or an oval, slanted and unevenly inked; more lines make an office's stamp."""
    if text.count("|") > 1:
        return _office_stamp(mask, text.split("|"), rng, fonts)
    drawing = ImageDraw.Draw(mask)
    inset = mask.height * 0.14
    frame = (inset, inset, mask.width - inset, mask.height - inset)
    pen = max(_FINE, round(mask.height * 0.045))
    round_one = rng.random() < 0.35
    if round_one:
        drawing.ellipse(frame, outline=255, width=pen)
    else:
        drawing.rounded_rectangle(frame, radius=mask.height * 0.1, outline=255, width=pen)
    lines = text.split("|")
    room = (frame[2] - frame[0]) * (0.7 if round_one else 0.88)
    for at, line in enumerate(lines):
        size = mask.height * (0.26 if at == 0 else 0.17)
        font = fonts.font("sans", size, bold=True)
        length = font.getlength(line)
        if length > room:
            font = fonts.font("sans", size * room / length, bold=True)
        middle = mask.height * (0.5 if len(lines) == 1 else (0.4, 0.67)[at])
        drawing.text((mask.width / 2, middle), line, fill=255, font=font, anchor="mm")
    # Turned slightly, to stay within its box.
    most = math.degrees(math.atan(1.6 * inset / mask.width))
    return _patchy(mask.rotate(rng.uniform(-most, most), Image.Resampling.BILINEAR), rng, 110)


def _office_stamp(mask: Image.Image, lines: list[str], rng: random.Random, fonts: Fonts) -> Image.Image:
    """Draw lines of a hand stamp without a frame, set along the longer side of the box, with worn letters."""
    turned = mask.height > mask.width
    width, height = (mask.height, mask.width) if turned else mask.size
    drawn = Image.new("L", (width, height), 0)
    drawing = ImageDraw.Draw(drawn)
    sizes = [rng.uniform(0.75, 1.0) for _ in lines]
    sizes[len(lines) // 2] *= 1.35  # the date
    step, foot = 0.94 * height / sum(sizes), 0.03 * height
    for line, size in zip(lines, sizes, strict=True):
        font = fonts.font("sans", 0.8 * size * step, bold=rng.random() < 0.7)
        length = font.getlength(line)
        if length > 0.96 * width:
            font = fonts.font("sans", 0.8 * size * step * 0.96 * width / length, bold=True)
        drawing.text((width / 2, foot + 0.5 * size * step), line, fill=255, font=font, anchor="mm")
        foot += size * step
    drawn = _patchy(drawn.rotate(rng.uniform(-1.5, 1.5), Image.Resampling.BILINEAR), rng, 40)
    return drawn.transpose(rng.choice((Image.Transpose.ROTATE_90, Image.Transpose.ROTATE_270))) if turned else drawn


def _patchy(mask: Image.Image, rng: random.Random, least: int) -> Image.Image:
    """Take ink away in patches, down to a share of `least` / 255."""
    patches = Image.new("L", (8, 4))
    patches.putdata([rng.randint(least, 255) for _ in range(32)])
    return ImageChops.multiply(mask, patches.resize(mask.size, Image.Resampling.BICUBIC))


def _seal(mask: Image.Image, text: str, rng: random.Random, fonts: Fonts) -> Image.Image:
    """Draw rings with notches or rays around a few letters, unevenly pressed."""
    drawing = ImageDraw.Draw(mask)
    x, y = mask.width / 2, mask.height / 2
    radius = min(x, y) - 2
    pen = max(_FINE, round(radius * 0.05))
    rays = rng.choice((0, 24, 36, 48))
    rim = radius * (0.9 if rays else 1.0)
    for at in range(rays):
        turn = 2 * math.pi * at / rays
        across, down = math.cos(turn), math.sin(turn)
        drawing.line((x + rim * across, y + rim * down, x + radius * across, y + radius * down), fill=255, width=pen)
    for ring in (rim, rng.uniform(0.82, 0.9) * rim, rng.uniform(0.5, 0.62) * rim):
        drawing.ellipse((x - ring, y - ring, x + ring, y + ring), outline=255, width=pen)
    for at in range(points := rng.choice((0, 12, 20))):
        turn = 2 * math.pi * at / points
        dot = 0.035 * radius
        across, down = x + 0.72 * rim * math.cos(turn), y + 0.72 * rim * math.sin(turn)
        drawing.ellipse((across - dot, down - dot, across + dot, down + dot), fill=255)
    room = 0.85 * rim
    font = fonts.font("serif", 0.34 * radius, bold=True)
    if (length := font.getlength(text)) > room:
        font = fonts.font("serif", 0.34 * radius * room / length, bold=True)
    drawing.text((x, y), text, fill=255, font=font, anchor="mm")
    patches = Image.new("L", (6, 6))
    patches.putdata([rng.randint(120, 255) for _ in range(36)])
    return ImageChops.multiply(mask, patches.resize(mask.size, Image.Resampling.BICUBIC))


def _barcode(mask: Image.Image, rng: random.Random) -> None:
    drawing = ImageDraw.Draw(mask)
    unit = max(_FINE, mask.width // 95)
    x = 0
    while x < mask.width:
        bar = unit * rng.randint(1, 3)
        drawing.rectangle((x, 0, min(x + bar, mask.width) - 1, mask.height), fill=255)
        x += bar + unit * rng.randint(1, 3)


def _chart(mask: Image.Image, rng: random.Random) -> None:
    """Draw bars or a line over two axes."""
    drawing = ImageDraw.Draw(mask)
    width, height = mask.size
    pen = _FINE * 2
    foot = height - pen
    drawing.line((pen, 0, pen, foot, width - 1, foot), fill=255, width=pen)
    count = rng.randint(4, 12)
    step = (width - 4 * pen) / count
    tops = [foot - rng.uniform(0.08, 0.95) * (height - 2 * pen) for _ in range(count)]
    if rng.random() < 0.6:
        for at, top in enumerate(tops):
            x = 2 * pen + at * step
            drawing.rectangle(
                (x, top, x + 0.65 * step, foot), fill=rng.choice((255, 150, 90)), outline=255, width=_FINE
            )
    else:
        points = [(2 * pen + (at + 0.5) * step, top) for at, top in enumerate(tops)]
        drawing.line(points, fill=255, width=pen)
        for x, y in points:
            drawing.ellipse((x - 2 * pen, y - 2 * pen, x + 2 * pen, y + 2 * pen), fill=255)


def _logo(mask: Image.Image, text: str, rng: random.Random, fonts: Fonts) -> None:
    """Draw a plain shape with a letter or two cut out of it."""
    drawing = ImageDraw.Draw(mask)
    width, height = mask.size
    form = rng.random()
    if form < 0.3:
        drawing.ellipse((0, 0, width - 1, height - 1), fill=255)
    elif form < 0.55:
        drawing.rounded_rectangle((0, 0, width - 1, height - 1), radius=height * rng.uniform(0, 0.3), fill=255)
    elif form < 0.75:
        drawing.polygon((width / 2, 0, width - 1, height - 1, 0, height - 1), fill=255)
    else:
        for ring in range(3):
            edge = ring * height / 7
            drawing.ellipse((edge, edge, width - 1 - edge, height - 1 - edge), outline=255, width=max(2, height // 16))
        return
    letters = text[: rng.choice((1, 1, 2))]
    size = height * 0.55
    font = fonts.font("serif" if rng.random() < 0.5 else "sans", size, bold=True)
    drawing.text((width / 2, height * (0.66 if 0.55 <= form < 0.75 else 0.5)), letters, fill=0, font=font, anchor="mm")
