"""Boxes on a page: (x0, y0, x1, y1) in pixels of the rendered page, x1 and y1 exclusive, unless said otherwise."""

from collections.abc import Sequence

Box = tuple[int, int, int, int]
FloatBox = tuple[float, float, float, float]
AnyBox = Sequence[int]  # as it came from JSON, or a row of an array
