"""Words as found in a source, before they are put in reading order."""

import unicodedata
from dataclasses import dataclass

from model.boxes import Box, FloatBox


@dataclass(frozen=True, slots=True)
class FoundWord:
    """Word in pixels of the rendered page, not yet clipped or rounded.

    `hidden`: the file has it, and does not show it: drawn invisibly, or under an image. OCR programs write words so.
    `unreadable`: number of its characters for which the file has no letter; the text may be empty then. `doubted_font`:
    name of its font, where that may have a wrong map to letters.
    """

    text: str
    box: FloatBox
    confidence: float | None = None
    hidden: bool = False
    unreadable: int = 0
    doubted_font: str | None = None


@dataclass(frozen=True, slots=True)
class FoundLine:
    """Words that the source holds to be one line, in any order.

    `heading` is the direction of the text on the rendered page: 0 right, 90 down, 180 left (upside down), 270 up.
    Vertical writing (Chinese, Japanese) has 90: its characters follow each other downwards.
    """

    words: tuple[FoundWord, ...]
    heading: int = 0


def union(boxes: list[FloatBox]) -> FloatBox:
    """Return the box that encloses all boxes."""
    return (
        min(box[0] for box in boxes),
        min(box[1] for box in boxes),
        max(box[2] for box in boxes),
        max(box[3] for box in boxes),
    )


def turned_box(box: FloatBox, turn: int, size: tuple[int, int]) -> FloatBox:
    """Return the box after its image was turned clockwise by 0, 90, 180 or 270 degrees.

    `size`: (width, height) of the image before the turn, in pixels.
    """
    width, height = size
    x0, y0, x1, y1 = box
    return {
        0: box,
        90: (height - y1, x0, height - y0, x1),
        180: (width - x1, height - y1, width - x0, height - y0),
        270: (y0, width - x1, y1, width - x0),
    }[turn]


def overlap(a: FloatBox, b: FloatBox) -> float:
    """Return the area of the intersection over the area of the smaller box, 0..1."""
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    smaller = min((a[2] - a[0]) * (a[3] - a[1]), (b[2] - b[0]) * (b[3] - b[1]))
    return width * height / smaller if width > 0 and height > 0 and smaller > 0 else 0.0


def clip(box: FloatBox, size: tuple[int, int]) -> Box | None:
    """Clip a box to whole pixels of the page, at least one each way; None for a word off the page."""
    width, height = size
    if box[2] < 0 or box[3] < 0 or box[0] >= width or box[1] >= height:
        return None
    x0, y0 = min(width - 1, max(0, int(box[0]))), min(height - 1, max(0, int(box[1])))
    x1, y1 = min(width, max(x0 + 1, round(box[2] + 0.3))), min(height, max(y0 + 1, round(box[3] + 0.3)))
    return x0, y0, x1, y1


def is_right_to_left(text: str) -> bool | None:
    """Return the direction of a word's letters; None without letters (numbers, signs)."""
    kinds = [unicodedata.bidirectional(c) for c in text]
    right_to_left = sum(kind in ("R", "AL") for kind in kinds)
    left_to_right = sum(kind == "L" for kind in kinds)
    if not right_to_left and not left_to_right:
        return None
    return right_to_left > left_to_right
