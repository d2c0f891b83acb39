"""Pages of a given number of words, drawn: generated pages below each other on one sheet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from PIL import Image

from engine.synthetic import generate
from model.boxes import Box
from model.examples import Word

LONG_SIDE = 1754  # pixels: A4 at 150 dpi, as PDF pages are rendered
QUESTIONS = (
    "What is the total due?",
    "Who signed this?",
    "invoice number",
    "What is the date of this letter?",
    "Where is the signature?",
    "What is the customer's phone number?",
    "address of the company",
    "How much tax was paid?",
)


@dataclass(frozen=True, slots=True)
class BusyPage:
    """A page as a person would open it."""

    image: Image.Image
    words: Sequence[Word]


def busy_page(seed: int, count: int) -> BusyPage:
    """A page of `count` words, cut after the last of them. Of the proportions of a sheet of paper where that holds them."""
    words: list[Word] = []
    pictures: list[Image.Image] = []
    columns, heights, widths = 2, [0, 0], [0, 0]
    for page in islice(generate(seed), 200):
        column = heights.index(min(heights))
        x, y = column * 1300, heights[column]
        picture = page.render()
        pictures.append(picture)
        words += [Word(w.text, (w.box[0] + x, w.box[1] + y, w.box[2] + x, w.box[3] + y)) for w in page.page.words]
        heights[column] += picture.height
        widths[column] = max(widths[column], picture.width)
        if len(words) >= count:
            break
    sheet = Image.new(
        "RGB", (1300 * (columns - 1) + max(1, widths[1]) if widths[1] else widths[0], max(heights)), "white"
    )
    at = [0, 0]
    for picture in pictures:
        column = at.index(min(at))
        sheet.paste(picture, (column * 1300, at[column]))
        at[column] += picture.height
    scale = LONG_SIDE / max(sheet.size)
    scaled = sheet.resize((round(sheet.width * scale), round(sheet.height * scale)), Image.Resampling.LANCZOS)
    return BusyPage(scaled, [Word(w.text, _scaled(w.box, scale)) for w in words[:count]])


def _scaled(box: Box, scale: float) -> Box:
    x0, y0, x1, y1 = (round(edge * scale) for edge in box)
    return x0, y0, max(x1, x0 + 1), max(y1, y0 + 1)
