"""Propose regions of a page, before any question: what may be a box to tick, a table, a signature, a logo."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from model.layout import Floats, Layout
from model.regions.blocks import clusters, columned_rows, grids
from model.regions.ink import Bits, Ink, open_bits
from model.regions.tick_boxes import Boxes, tick_boxes

BOX, GRID, ROWS, DRAWN, COLOURED, BLOCK = KINDS = tuple(range(6))
_SAME = 0.9  # IoU of two proposals of which the later one is left out
_MOST_OF_KIND = 100  # proposals of one page; the largest are kept
_MOST_BOXES = 400  # to tick; a page with more is a picture full of dots
_LETTERS = 2  # characters of a word that OCR may have made of a box to tick


@dataclass(frozen=True, slots=True)
class Proposed:
    """Regions of one page that may answer a question about what no word makes.

    `boxes`: [P, 4] x0, y0, x1, y1 in pixels of the page. `kinds`: [P], of KINDS.
    """

    boxes: Floats
    kinds: NDArray[np.int64]


def nothing_proposed() -> Proposed:
    """Return no regions."""
    return Proposed(np.zeros((0, 4), np.float32), np.zeros(0, np.int64))


def propose_regions(ink: Ink, layout: Layout) -> Proposed:
    """Propose the regions of a page.

    Args:
        ink: its ink.
        layout: layout of its words.
    """
    words = np.rint(layout.boxes * layout.height * ink.scale).astype(np.int32)
    lines = open_bits(ink.dark, round(4 * ink.unit), 1) | open_bits(ink.dark, 1, round(4 * ink.unit))
    marks = (ink.dark & (1 - lines)).astype(np.uint8)
    drawn = _without(marks, words)
    boxes_by_kind = [
        (BOX, _not_in_words(tick_boxes(ink, words), words, layout)),
        (GRID, grids(ink)),
        (ROWS, columned_rows(layout, ink.scale)),
        (DRAWN, clusters(drawn, ink)),
        (COLOURED, clusters((ink.coloured & (1 - lines)).astype(np.uint8), ink)),
        (BLOCK, clusters(marks, ink)),
    ]
    boxes, kinds = [np.zeros((0, 4), np.int32)], [np.zeros(0, np.int64)]
    for kind, own in boxes_by_kind:
        area = (own[:, 2] - own[:, 0]) * (own[:, 3] - own[:, 1])
        largest = np.argsort(-area, kind="stable")[: _MOST_BOXES if kind == BOX else 2 * _MOST_OF_KIND]
        fresh = _distinct(own[largest], np.concatenate(boxes))[: _MOST_BOXES if kind == BOX else _MOST_OF_KIND]
        boxes.append(fresh)
        kinds.append(np.full(len(fresh), kind, np.int64))
    return Proposed((np.concatenate(boxes) / ink.scale).astype(np.float32), np.concatenate(kinds))


def _without(marks: Bits, words: NDArray[np.int32]) -> Bits:
    """Return the ink outside the boxes of words."""
    left = marks.copy()
    for x0, y0, x1, y1 in words.tolist():
        left[max(0, y0 - 1) : y1 + 1, max(0, x0 - 1) : x1 + 1] = 0
    return left


def _not_in_words(boxes: Boxes, words: NDArray[np.int32], layout: Layout) -> Boxes:
    """Leave out frames and rings that are letters: those amid a longer word.

    At the ends of a word they stay, because OCR often reads a box and its label as one word.
    """
    if not len(boxes) or not len(words):
        return boxes
    long = words[[len(text.strip("[](){}|_.:")) > _LETTERS for text in layout.texts]]
    x, y = (boxes[:, 0] + boxes[:, 2]) / 2, (boxes[:, 1] + boxes[:, 3]) / 2
    wide = (boxes[:, 2] - boxes[:, 0])[:, None]
    inside = (long[None, :, 0] + wide < x[:, None]) & (x[:, None] < long[None, :, 2] - wide)
    inside &= (long[None, :, 1] < y[:, None]) & (y[:, None] < long[None, :, 3])
    return boxes[~inside.any(1)]


def _distinct(own: Boxes, before: Boxes) -> Boxes:
    """Return the boxes that are like none before them."""
    distinct: list[NDArray[np.int32]] = []
    known = before
    for box in own:
        if not len(known) or overlaps(box[None], known).max() < _SAME:
            distinct.append(box)
            known = np.concatenate([known, box[None]])
    return np.array(distinct, np.int32).reshape(-1, 4)


def overlaps(one: np.ndarray, other: np.ndarray) -> Floats:
    """Return the IoU of boxes [A, 4] with boxes [B, 4], [A, B]."""
    a, b = one[:, None].astype(np.float32), other[None].astype(np.float32)
    wide = np.minimum(a[..., 2], b[..., 2]) - np.maximum(a[..., 0], b[..., 0])
    high = np.minimum(a[..., 3], b[..., 3]) - np.maximum(a[..., 1], b[..., 1])
    both = np.maximum(wide, 0) * np.maximum(high, 0)
    size_a = (a[..., 2] - a[..., 0]) * (a[..., 3] - a[..., 1])
    size_b = (b[..., 2] - b[..., 0]) * (b[..., 3] - b[..., 1])
    result: Floats = both / np.maximum(size_a + size_b - both, 1e-6)
    return result
