"""Outlines of masks along the edges between pixels: a page is 0, 0 to width, height, and a pixel is a square of 1.

Such a polygon covers exactly its mask where the reader rasters as pycocotools does (engine.interchange.polygons).
"""

from collections.abc import Iterator

import numpy as np

from model.masks import Mask

Ring = list[tuple[int, int]]  # x, y of corners between pixels, four or more
_Vertex = tuple[int, int, int]  # x, y, and which of two corners that meet at one point


def edge_rings(mask: Mask, at: tuple[int, int] = (0, 0)) -> list[Ring]:
    """Return the outer ring of each detached part of `mask`, bool [H, W]. Holes are lost.

    Parts that touch by a corner alone are detached. `at`: x and y of the mask's first pixel.

    A boundary turns where an odd number of the four pixels around a point is set, or two that touch by a corner alone,
    where two boundaries turn. Between turns it runs along the row or the column, from each turn to the next.
    """
    beside = {vertex: partner for ends in _segments(mask, 0) for vertex, partner in (ends, ends[::-1])}
    above = {vertex: partner for ends in _segments(mask, 1) for vertex, partner in (ends, ends[::-1])}
    rings = []
    for start in list(beside):
        if start not in beside:
            continue
        vertex, ring = start, Ring()
        while True:
            across = beside.pop(vertex)
            beside.pop(across)
            ring += [vertex[:2], across[:2]]
            vertex = above[across]
            if vertex == start:
                break
        if _is_outer(mask, ring):
            rings.append([(x + at[0], y + at[1]) for x, y in ring])
    return rings


def _segments(mask: Mask, axis: int) -> Iterator[tuple[_Vertex, _Vertex]]:
    """Yield both ends of each straight part of the boundary, along rows (axis 0) or columns (axis 1)."""
    padded = np.pad(mask, 1)
    top_left, top_right = padded[:-1, :-1], padded[:-1, 1:]
    bottom_left, bottom_right = padded[1:, :-1], padded[1:, 1:]
    turns = top_left ^ top_right ^ bottom_left ^ bottom_right
    falling = top_left & bottom_right & ~top_right & ~bottom_left
    rising = top_right & bottom_left & ~top_left & ~bottom_right
    both = falling | rising
    lines = turns | both
    rows, places = np.nonzero(lines if axis == 0 else lines.T)
    open_end: _Vertex | None = None
    for line, place in zip(rows.tolist(), places.tolist(), strict=True):
        x, y = (place, line) if axis == 0 else (line, place)
        if not both[y, x]:
            ends = [(x, y, 0)]
        else:
            # Corner 0 is that of the upper pixel. It owns the left edge where the pixels fall to the right, else the
            # right one, and always the edge above.
            first = 0 if axis == 1 or falling[y, x] else 1
            ends = [(x, y, first), (x, y, 1 - first)]
        for vertex in ends:
            if open_end is None:
                open_end = vertex
            else:
                yield open_end, vertex
                open_end = None


def _is_outer(mask: Mask, ring: Ring) -> bool:
    """Return whether a ring goes around pixels of the mask, and not around a hole in it."""
    x, y = min(ring)  # its leftmost corner, the uppermost of these, so that the ring's inside is right below it
    return bool(mask[y, x])
