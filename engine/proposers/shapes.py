"""Shapes that other programs mark with: boxes, polygons and run lengths, in pixels or in shares of the page."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from PIL import Image, ImageDraw
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from engine.errors import Refused
from engine.run_lengths import decode_rle
from model.masks import Mask

Coordinate = Annotated[FiniteFloat, Field(ge=-100_000, le=100_000)]


class Shape(BaseModel):
    """One of: a box (x0, y0, x1, y1), a polygon, or COCO run lengths of the page's size."""

    model_config = ConfigDict(extra="forbid")

    box: tuple[Coordinate, Coordinate, Coordinate, Coordinate] | None = Field(
        None, description="Left, upper, right and lower edge."
    )
    polygon: list[tuple[Coordinate, Coordinate]] | None = Field(
        None, min_length=3, max_length=10_000, description="Corners (x, y)."
    )
    rle: dict[str, Any] | None = Field(None, description='COCO run lengths: {"size": [height, width], "counts": ...}.')
    unit: Literal["pixels", "shares"] = Field("pixels", description="Of box and polygon: of the page, from its corner.")


def mask_of(shapes: Sequence[Shape], size: tuple[int, int], where: str) -> Mask:
    """Return the pixels of shapes together, bool [height, width] of the page.

    Args:
        shapes: The shapes.
        size: Height and width of the page in pixels.
        where: What they belong to, for sentences.

    Raises:
        Refused: A shape is not exactly one of the three, is of another size, or lies outside the page.
    """
    mask = np.zeros(size, bool)
    for shape in shapes:
        part = _pixels(shape, size, where)
        if not part.any():
            raise Refused(f"{where} has a mark outside its page of {size[1]} x {size[0]} pixels.")
        mask |= part
    return mask


def _pixels(shape: Shape, size: tuple[int, int], where: str) -> Mask:
    if sum(part is not None for part in (shape.box, shape.polygon, shape.rle)) != 1:
        raise Refused(f"{where} has a mark that is not exactly one of box, polygon and rle.")
    height, width = size
    if shape.rle is not None:
        if shape.rle.get("size") != [height, width]:
            raise Refused(f"{where} has run lengths of another size than its page, [{height}, {width}].")
        try:
            return decode_rle(shape.rle)
        except ValueError as error:
            raise Refused(f"{where} has run lengths that cannot be read: {str(error).rstrip('.')}.") from None
    across, down = (width, height) if shape.unit == "shares" else (1, 1)
    if shape.box is not None:
        x0, y0, x1, y1 = (edge * by for edge, by in zip(shape.box, (across, down, across, down), strict=True))
        mask = np.zeros(size, bool)
        mask[max(0, round(y0)) : max(0, round(y1)), max(0, round(x0)) : max(0, round(x1))] = True
        return mask
    picture = Image.new("1", (width, height))
    ImageDraw.Draw(picture).polygon([(x * across, y * down) for x, y in shape.polygon or ()], fill=1, outline=1)
    return np.asarray(picture, bool)
