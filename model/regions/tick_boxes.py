"""Find boxes to tick: small frames, empty or marked, alone or in a ruled form."""

import cv2
import numpy as np
from numpy.typing import NDArray

from model.boxes import Box
from model.regions.ink import Bits, Ink, close_bits, open_bits, parts

Boxes = NDArray[np.int32]  # [P, 4]: x0, y0, x1, y1 in working pixels, right and lower edge exclusive

_SIDE = 0.4  # line heights: a side is at least so long
_LEAST, _MOST = 0.45, 2.2  # line heights: width and height of a box
_FLATTEST = 2.0  # the longer side by the shorter
_FILLED = 0.75  # share of its bounding box that the inside of a frame fills
_SIDES = 0.6  # share of a side that is ink
_EDGE, _EDGED = 0.12, 0.85  # depth of a side as a share of the box, and how much of the side has ink
_BESIDE, _ALIGNED = 1.5, 0.25  # line heights: from a box to its label, and between the labels of one column
_SOME_INK = 0.06  # share of a box
_MOST_COPIES = 150
_RING = 0.35  # share of its bounding box that the hole of a ring fills


def tick_boxes(ink: Ink, words: Boxes) -> Boxes:
    """Return the boxes to tick of a page, square and round.

    Args:
        ink: ink of the page.
        words: boxes of its words, [N, 4] in working pixels.
    """
    frames, rings = _array(_frames(ink)), _array(_rings(ink))
    return np.unique(np.concatenate([frames, rings, _copies(frames, words, ink)]), axis=0)


def _copies(frames: Boxes, words: Boxes, ink: Ink) -> Boxes:
    """Return boxes like a found one in the same column: a tick or a bad copy has broken their frame.

    Each frame is copied to the other words that begin as far to the right of its column as the word beside it does,
    where some ink is.
    """
    candidates: set[Box] = set()
    for x0, y0, x1, y1 in frames.tolist():
        level = np.minimum(words[:, 3], y1) - np.maximum(words[:, 1], y0) > 0.5 * (y1 - y0)
        beside = level & (words[:, 0] >= x1 - 1) & (words[:, 0] - x1 <= _BESIDE * ink.unit)
        if not beside.any():
            continue
        label = words[np.flatnonzero(beside)[words[beside, 0].argmin()]]
        others = words[np.abs(words[:, 0] - label[0]) <= _ALIGNED * ink.unit]
        for word in others:
            top = y0 + int(word[1] + word[3] - label[1] - label[3]) // 2
            box = (x0, top, x1, top + y1 - y0)
            if top >= 0 and ink.dark[top : box[3], x0:x1].size and ink.dark[top : box[3], x0:x1].mean() >= _SOME_INK:
                candidates.add(box)
    copies = _array(list(candidates))
    if not len(copies):
        return copies
    x, y = (frames[:, 0] + frames[:, 2]) / 2, (frames[:, 1] + frames[:, 3]) / 2
    taken = (
        (copies[:, None, 0] <= x) & (x <= copies[:, None, 2]) & (copies[:, None, 1] <= y) & (y <= copies[:, None, 3])
    )
    large = (frames[:, 2] - frames[:, 0])[None] >= 0.7 * (copies[:, 2] - copies[:, 0])[:, None]
    return copies[~(taken & large).any(1)][:_MOST_COPIES]


def _array(boxes: list[Box]) -> Boxes:
    return np.array(boxes, np.int32).reshape(-1, 4)


def _frames(ink: Ink) -> list[Box]:
    """Return small frames by their insides.

    Only straight strokes count, so that a tick through a frame does not divide its inside.
    """
    side = max(5, round(_SIDE * ink.unit))
    straight = close_bits(open_bits(ink.dark, side, 1) | open_bits(ink.dark, 1, side), 3, 3)
    inside = parts((1 - straight).astype(np.uint8), connectivity=4)
    frames = []
    for x0, y0, x1, y1, area in inside.tolist():
        width, height = x1 - x0, y1 - y0
        if not _has_box_size(width + 4, height + 4, ink.unit) or area < _FILLED * width * height:
            continue
        box = _with_frame(straight, x0, y0, x1, y1)
        if box is not None:
            frames.append(box)
    return frames


def _with_frame(straight: Bits, x0: int, y0: int, x1: int, y1: int) -> Box | None:
    """Return the box with the strokes around it, or None where one of its sides is open."""
    thick = max(2, round(0.15 * (y1 - y0)))
    left, right = (
        _stroke(straight[y0:y1, max(0, x0 - thick) : x0][:, ::-1].T),
        _stroke(straight[y0:y1, x1 : x1 + thick].T),
    )
    up, down = _stroke(straight[max(0, y0 - thick) : y0, x0:x1][::-1]), _stroke(straight[y1 : y1 + thick, x0:x1])
    if not (left and right and up and down):
        return None
    return x0 - left, y0 - up, x1 + right, y1 + down


def _stroke(rows: Bits) -> int:
    """Return how many rows, from the first, are mostly ink."""
    full = rows.mean(1) >= _SIDES if rows.size else np.zeros(0, bool)
    return len(full) if full.all() else int(full.argmin())


def _rings(ink: Ink) -> list[Box]:
    """Return closed outlines that stand alone: round boxes, and frames whose sides are too short or too slanted."""
    contours, levels = cv2.findContours(ink.dark, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE)
    if levels is None:
        return []
    holes: dict[int, float] = {}
    for at, (contour, (_, _, _, parent)) in enumerate(zip(contours, levels[0], strict=True)):
        if parent >= 0:
            holes[parent] = holes.get(parent, 0.0) + cv2.contourArea(contour)
        else:
            holes.setdefault(at, 0.0)
    rings = []
    for at, hole in holes.items():
        x, y, width, height = cv2.boundingRect(contours[at])
        if _has_box_size(width, height, ink.unit):
            own = ink.dark[y : y + height, x : x + width]
            if hole >= _RING * width * height or _has_edges(own):
                rings.append((x, y, x + width, y + height))
    return rings


def _has_edges(own: Bits) -> bool:
    """Return whether ink runs along all four sides, as in a ticked box whose inside is in pieces."""
    thick = max(2, round(_EDGE * min(own.shape)))
    sides = own[:thick].max(0), own[-thick:].max(0), own[:, :thick].max(1), own[:, -thick:].max(1)
    return all(side.mean() >= _EDGED for side in sides)


def _has_box_size(width: int, height: int, unit: float) -> bool:
    long, short = max(width, height), min(width, height)
    return short >= _LEAST * unit and long <= _MOST * unit and long <= _FLATTEST * short
