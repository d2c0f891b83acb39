"""Simulated corrective clicks: position of the next click, from the predicted and the right mask.

As in SAM (https://arxiv.org/abs/2304.02643, section 7.1, evaluation with points): the click lies in the largest error
region, at the pixel farthest from its edge. It is positive where the mask misses the answer, negative where it exceeds
it.
"""

import numpy as np

from model.masks import Mask

Click = tuple[float, float, bool]  # x, y in pixels of the page; True: answer, False: background
_LONGEST = 256  # cells of the grid on which a large error region is eroded


def next_click(mask: Mask, right: Mask) -> Click | None:
    """Return the click that corrects the larger kind of error; None when the mask is right."""
    missed, wrong = right & ~mask, mask & ~right
    if not missed.any() and not wrong.any():
        return None
    positive = np.count_nonzero(missed) >= np.count_nonzero(wrong)
    x, y = _middle(missed if positive else wrong)
    return x, y, bool(positive)


def _middle(region: Mask) -> tuple[float, float]:
    """Return the centre of a deepest pixel of a region: one that survives erosion longest."""
    rows, columns = np.flatnonzero(region.any(axis=1)), np.flatnonzero(region.any(axis=0))
    top, left = int(rows[0]), int(columns[0])
    part = region[top : rows[-1] + 1, left : columns[-1] + 1]
    step = max(1, -(-max(part.shape) // _LONGEST))
    coarse = part[::step, ::step]
    if not coarse.any():  # thinner than the grid
        coarse, step = part, 1
    left_over = np.pad(coarse, 1)
    while True:
        inner = left_over.copy()
        inner[1:] &= left_over[:-1]
        inner[:-1] &= left_over[1:]
        inner[:, 1:] &= left_over[:, :-1]
        inner[:, :-1] &= left_over[:, 1:]
        if not inner.any():
            break
        left_over = inner
    ys, xs = np.nonzero(left_over)
    at = len(ys) // 2
    return left + (int(xs[at]) - 1) * step + 0.5, top + (int(ys[at]) - 1) * step + 0.5
