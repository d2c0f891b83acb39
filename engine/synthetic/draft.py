"""Draft of a page: the result of a layout, and choices that all kinds of pages share."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from engine.synthetic.ocr import Reading
from engine.synthetic.sheet import Face, Sheet


@dataclass(frozen=True, slots=True)
class Draft:
    """Sheet with its questions; `absent` returns further, negative questions."""

    sheet: Sheet
    absent: Callable[[], str]
    reading: Reading | None = None  # None: OCR of random quality


def body_face(chance: random.Random, size: float) -> Face:
    """Return the face of running text, `size` pixels an em."""
    family = chance.choice(("sans", "sans", "serif", "mono"))
    stretch = chance.uniform(0.86, 1.06) if family != "mono" else chance.uniform(0.82, 1.0)
    return Face(family, size, stretch=stretch)


def page_width(chance: random.Random) -> int:
    """Return a page width in pixels: small scans are common, large ones occur."""
    return chance.choice((chance.randint(700, 860), chance.randint(700, 1000), chance.randint(900, 1300)))


def cased(chance: random.Random, text: str) -> str:
    """Return the text in a random case."""
    return chance.choice((str.upper, str.upper, str.title, str.capitalize, str))(text)
