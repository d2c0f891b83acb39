"""Convert masks to polygons through their outermost pixels and back, as PAGE XML holds them.

Holes are lost. Formats whose coordinates are edges between pixels have engine.interchange.edges. Nothing else
is lost where the reader fills a polygon with its edge, as OpenCV and Pillow do.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from contourpy import FillType, contour_generator
from PIL import Image, ImageDraw
from pycocotools import mask as coco_masks

from model.masks import Mask

Ring = list[tuple[int, int]]  # x, y of pixels on the edge, three or more
# A contour at nearly 1 runs through the outermost pixels of an answer, not between these and the others.
_INSIDE = 1 - 1e-6
_FEWEST = 3


def outlines(mask: Mask, at: tuple[int, int] = (0, 0)) -> list[Ring]:
    """Return a ring through the edge pixels of each detached part of `mask`, bool [H, W].

    Parts that touch by a corner alone are detached. `at`: x and y of the mask's first pixel.
    """
    columns, rows = np.flatnonzero(mask.any(axis=0)), np.flatnonzero(mask.any(axis=1))
    if not rows.size:
        return []
    left, top = int(columns[0]), int(rows[0])
    x0, y0 = at[0] + left - 1, at[1] + top - 1
    part = np.pad(mask[top : rows[-1] + 1, left : columns[-1] + 1], 1).astype(float)
    contours: Any = contour_generator(z=part, fill_type=FillType.OuterOffset).filled(_INSIDE, np.inf)
    points, offsets = contours
    rings = []
    for outline, starts in zip(points, offsets, strict=True):
        outer = np.rint(outline[starts[0] : starts[1]]).astype(int)
        rings.append(_simplify_ring([(int(x) + x0, int(y) + y0) for x, y in outer]))
    return rings


def fill_polygons(rings: Iterable[Sequence[tuple[float, float]]], size: tuple[int, int]) -> Mask:
    """Return the pixels, bool [height, width] of `size`, that polygons fill, their edges included."""
    height, width = size
    image = Image.new("1", (width, height))
    draw = ImageDraw.Draw(image)
    for ring in rings:
        points = [(round(x), round(y)) for x, y in ring]
        if len(set(points)) == 1:
            draw.point(points[0], fill=1)
        else:
            draw.polygon(points, fill=1, outline=1)
    return np.asarray(image, bool)


def fill_inside(rings: Iterable[Sequence[tuple[float, float]]], size: tuple[int, int]) -> Mask:
    """Return the pixels, bool [height, width] of `size`, between edges, as pycocotools rasters COCO's polygons.

    Polygons too thin to hold a pixel fill the pixels that they touch.
    """
    shapes = [list(ring) for ring in rings]
    flat = [[float(value) for point in ring for value in point] for ring in shapes]
    mask = np.asarray(coco_masks.decode(coco_masks.merge(coco_masks.frPyObjects(flat, *size))), bool)
    return mask if mask.any() else fill_polygons(shapes, size)


def _simplify_ring(ring: Ring) -> Ring:
    """Return the ring without its closing point, repeated points, and points on straight lines."""
    corners: Ring = []
    for point in ring[:-1]:
        if corners and point == corners[-1]:
            continue
        if len(corners) > 1 and _on_the_way(corners[-2], corners[-1], point):
            corners.pop()
        corners.append(point)
    return corners + [corners[-1]] * (_FEWEST - len(corners))


def _on_the_way(one: tuple[int, int], middle: tuple[int, int], other: tuple[int, int]) -> bool:
    first, second = (middle[0] - one[0], middle[1] - one[1]), (other[0] - middle[0], other[1] - middle[1])
    return first[0] * second[1] == first[1] * second[0] and first[0] * second[0] + first[1] * second[1] > 0
