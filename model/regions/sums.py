"""Sums over many boxes of a map at once (summed-area tables)."""

import cv2
import numpy as np
from numpy.typing import NDArray

from model.layout import Floats


class BoxSums:
    """Sums of a map [h, w] over boxes; edges between cells take their share of a cell."""

    def __init__(self, values: NDArray[np.generic]) -> None:
        of_bits = values.dtype in (np.uint8, np.bool_)
        self._table = cv2.integral(values.astype(np.uint8 if of_bits else np.float64, copy=False))

    @property
    def total(self) -> float:
        """Sum of the whole map."""
        return float(self._table[-1, -1])

    def __call__(self, boxes: Floats) -> Floats:
        """Return the sums [P] over boxes [P, 4] in cells, cut to the map."""
        high, wide = self._table.shape
        x0, x1 = (boxes[:, at].clip(0, wide - 1) for at in (0, 2))
        y0, y1 = (boxes[:, at].clip(0, high - 1) for at in (1, 3))
        sums: Floats = (self._at(y1, x1) - self._at(y0, x1) - self._at(y1, x0) + self._at(y0, x0)).astype(np.float32)
        return sums

    def _at(self, y: Floats, x: Floats) -> NDArray[np.float64]:
        """Return the table between its cells, bilinearly."""
        low, left = np.floor(y).astype(int), np.floor(x).astype(int)
        down, right = np.minimum(low + 1, self._table.shape[0] - 1), np.minimum(left + 1, self._table.shape[1] - 1)
        dy, dx = y - low, x - left
        upper = self._table[low, left] * (1 - dx) + self._table[low, right] * dx
        lower = self._table[down, left] * (1 - dx) + self._table[down, right] * dx
        result: NDArray[np.float64] = upper * (1 - dy) + lower * dy
        return result


class SliceSums:
    """The same sums without the table, for a few boxes; edges are rounded to cells."""

    def __init__(self, values: NDArray[np.generic]) -> None:
        self._values = values

    def __call__(self, boxes: Floats) -> Floats:
        """Return the sums [P] over boxes [P, 4] in cells, cut to the map."""
        edges = np.rint(boxes).astype(int).clip(0)
        return np.array([self._values[y0:y1, x0:x1].sum() for x0, y0, x1, y1 in edges.tolist()], np.float32)


def mean_over(sums: BoxSums | SliceSums, boxes: Floats) -> Floats:
    """Return the means over boxes [P, 4] in cells."""
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    return np.asarray(sums(boxes) / np.maximum(area, 1e-3), np.float32)
