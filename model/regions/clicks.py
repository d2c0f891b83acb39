"""Move the edges of regions to what a person's clicks say.

A click corrects an error, and people click into its middle. So a click beside a region moves the nearest edge twice as
far as to the click, and a click "not here" inside it takes away the strip of which the click is the middle.
"""

from collections.abc import Sequence

import numpy as np

from model.examples import Point
from model.layout import Floats

LEAST_KEPT = 0.25  # IoU of a moved region with itself; a larger move means another region


def move_edges(boxes: Floats, points: Sequence[Point], size: tuple[int, int]) -> Floats:
    """Return the regions with their edges moved, click after click; those that agree with the clicks stay.

    Args:
        boxes: [P, 4] in pixels of the page.
        points: clicks, in their order.
        size: width and height of the page in pixels.
    """
    regions = boxes.astype(np.float32).copy()
    for x, y, positive in points:
        regions = _extend(regions, x, y) if positive else _cut_strip(regions, x, y)
    limits = np.array([*size, *size], np.float32)
    result: Floats = regions.clip(0, limits)
    return result


def _extend(boxes: Floats, x: float, y: float) -> Floats:
    """Extend the boxes to a click on the answer."""
    extended = boxes.copy()
    for low, at in ((0, x), (1, y)):
        high = low + 2
        extended[:, low] = np.where(at < boxes[:, low], 2 * at - boxes[:, low], boxes[:, low])
        extended[:, high] = np.where(at > boxes[:, high], 2 * at - boxes[:, high], boxes[:, high])
    return extended


def _cut_strip(boxes: Floats, x: float, y: float) -> Floats:
    """Cut from the boxes the thinnest strip whose middle is a click beside the answer."""
    x0, y0, x1, y1 = boxes.T
    inside = (x0 < x) & (x < x1) & (y0 < y) & (y < y1)
    wide, high = np.maximum(x1 - x0, 1e-3), np.maximum(y1 - y0, 1e-3)
    # The share that remains when the left, upper, right or lower strip is taken away.
    left = np.stack([(x1 - 2 * x + x0) / wide, (y1 - 2 * y + y0) / high, (2 * x - x1 - x0) / wide,
                     (2 * y - y1 - y0) / high], 1)  # fmt: skip
    side = left.argmax(1)
    edge = np.where(side == 0, 2 * x - x0, np.where(side == 1, 2 * y - y0, np.where(side == 2, 2 * x - x1, 2 * y - y1)))
    remaining = boxes.copy()
    rows = np.flatnonzero(inside & (left.max(1) > 0))
    remaining[rows, side[rows]] = edge[rows]
    return remaining
