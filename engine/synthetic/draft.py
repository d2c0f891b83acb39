"""Draft of a page: the result of a layout, and choices that all kinds of pages share."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from engine.synthetic.canvas import Canvas, Face
from engine.synthetic.ocr import Reading


@dataclass(frozen=True, slots=True)
class Draft:
    """Canvas with its questions; `absent` returns further, negative questions."""

    canvas: Canvas
    absent: Callable[[], str]
    reading: Reading | None = None  # None: OCR of random quality


def body_face(rng: random.Random, size: float) -> Face:
    """Return the face of running text, `size` pixels an em."""
    family = rng.choice(("sans", "sans", "serif", "mono"))
    stretch = rng.uniform(0.86, 1.06) if family != "mono" else rng.uniform(0.82, 1.0)
    return Face(family, size, stretch=stretch)


def page_width(rng: random.Random) -> int:
    """Return a page width in pixels: small scans are common, large ones occur."""
    return rng.choice((rng.randint(700, 860), rng.randint(700, 1000), rng.randint(900, 1300)))


def vary_case(rng: random.Random, text: str) -> str:
    """Return the text in a random case."""
    return rng.choice((str.upper, str.upper, str.title, str.capitalize, str))(text)
