"""Application of edits to the mask of a page, inside the boxes that they touch. Pure.

Steps are recorded first and painted at the end in one pass, so the amount of work is known before any pixel is touched.
Cost depends on the marked area, not on the size of the page.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from model.boxes import AnyBox as Box
from model.masks import Mask, encode_patch, is_encoded, pixels_inside

Boxes = Sequence[Box]


@dataclass(frozen=True, slots=True)
class _Stroke:
    value: bool
    box: Box
    counts: Sequence[int]


@dataclass(frozen=True, slots=True)
class _Words:
    """Boxes to clear, boxes whose overlap with cleared ones is filled again, and boxes to fill."""

    emptied: Boxes
    kept: Boxes
    filled: Boxes


@dataclass(slots=True)
class Painting:
    """Mask of a page as a patch, and the steps to paint on it; boxes lie inside the page."""

    box: Box
    counts: Sequence[int]
    _steps: list[_Stroke | _Words] = field(default_factory=list)
    area: int = 0  # pixels covered by the steps
    runs: int = 0  # runs of the strokes

    def stroke(self, value: bool, box: Box, counts: Sequence[int]) -> None:
        """Record a stroke: set or clear the pixels of a non-empty patch."""
        self._steps.append(_Stroke(value, box, counts))
        self.area += _area(box)
        self.runs += len(counts)

    def words(self, emptied: Boxes, kept: Boxes, filled: Boxes) -> None:
        """Record word boxes: clear `emptied`, refill their overlap with `kept`, fill `filled`."""
        self._steps.append(_Words(emptied, kept, filled))
        self.area += sum(map(_area, emptied)) + sum(map(_area, filled))
        if kept:
            self.area += _area(_around(emptied))

    @property
    def whole(self) -> int:
        """Return the pixels of the box that encloses every possible mark; 0 when the mask stays as it is."""
        return 0 if self._stays else _area(self._window())

    @property
    def _stays(self) -> bool:
        return not self._steps and is_encoded(self.box, self.counts)

    def paint(self) -> dict[str, list[int]]:
        """Paint all steps; return the mask as a patch."""
        if self._stays:
            return {"box": list(self.box), "counts": list(self.counts)}
        left, top, right, bottom = window = self._window()
        mask = np.zeros((bottom - top, right - left), dtype=bool)
        if self.counts:
            _part(mask, window, self.box)[...] = pixels_inside(self.box, self.counts)
        for step in self._steps:
            if isinstance(step, _Stroke):
                _draw(mask, window, step)
            else:
                _fill(mask, window, step)
        patch = encode_patch(mask)
        if patch["counts"]:
            x0, y0, x1, y1 = patch["box"]
            patch["box"] = [x0 + left, y0 + top, x1 + left, y1 + top]
        return patch

    def _window(self) -> Box:
        """Return the box around the mask and everything set; pixels outside it are clear already."""
        boxes = [self.box] if self.counts else []
        for step in self._steps:
            if isinstance(step, _Words):
                boxes += [*step.filled, *step.kept]
            elif step.value:
                boxes.append(step.box)
        return _around(boxes)


def _draw(mask: Mask, window: Box, stroke: _Stroke) -> None:
    part = _part(mask, window, stroke.box)
    if not part.size:
        return
    x, y = max(0, window[0] - stroke.box[0]), max(0, window[1] - stroke.box[1])
    drawn = pixels_inside(stroke.box, stroke.counts)[y : y + part.shape[0], x : x + part.shape[1]]
    (np.logical_or if stroke.value else np.greater)(part, drawn, out=part)  # a > b: set in a and not in b


def _fill(mask: Mask, window: Box, step: _Words) -> None:
    if step.kept:
        around = _around(step.emptied)
        gone = np.zeros((around[3] - around[1], around[2] - around[0]), dtype=bool)
        for box in step.emptied:
            _part(gone, around, box)[...] = True
    for box in step.emptied:
        _part(mask, window, box)[...] = False
    for box in step.kept:  # only the overlap: pixels erased elsewhere in a kept word stay erased
        common = (
            max(box[0], around[0]),
            max(box[1], around[1]),
            min(box[2], around[2]),
            min(box[3], around[3]),
        )
        here = _part(mask, window, common)
        np.logical_or(here, _part(gone, around, common), out=here)
    for box in step.filled:
        _part(mask, window, box)[...] = True


def _part(mask: Mask, window: Box, box: Box) -> Mask:
    """Return the part of a mask, which covers `window` of the page, inside a box of the page."""
    left, top = window[0], window[1]
    return mask[max(0, box[1] - top) : max(0, box[3] - top), max(0, box[0] - left) : max(0, box[2] - left)]


def _around(boxes: Boxes) -> Box:
    """Return the box that encloses all boxes; empty without any."""
    if not boxes:
        return (0, 0, 0, 0)
    x0, y0, x1, y1 = zip(*boxes, strict=True)
    return min(x0), min(y0), max(x1), max(y1)


def _area(box: Box) -> int:
    return max(0, box[2] - box[0]) * max(0, box[3] - box[1])
