"""Masks of figures: pixel answers of a page, as COCO run lengths at page size."""

from __future__ import annotations

from typing import Any

from pycocotools import mask as coco

from model.boxes import FloatBox


def region_mask(box: FloatBox, size: tuple[int, int]) -> dict[str, Any]:
    """Return a figure's box as {"size": [height, width], "counts": "..."}, clipped to the page.

    `size`: (width, height) of the page in pixels.
    """
    width, height = size
    x0, x1 = (min(max(round(edge), 0), width) for edge in (box[0], box[2]))
    y0, y1 = (min(max(round(edge), 0), height) for edge in (box[1], box[3]))
    corners = [float(edge) for edge in (x0, y0, x1, y0, x1, y1, x0, y1)]
    encoded = coco.frPyObjects([corners], height, width)[0]
    return {"size": [height, width], "counts": encoded["counts"].decode("ascii")}
