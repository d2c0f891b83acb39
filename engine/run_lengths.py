"""COCO's run lengths (column by column, compressed to text) and masks, by pycocotools."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import numpy as np
from pycocotools import mask as coco

from model.boxes import AnyBox as Box
from model.masks import Mask, check_patch, pixels_inside


class Rle(TypedDict):
    """A mask as COCO writes it: size [height, width] in pixels, and compressed counts."""

    size: list[int]
    counts: str


def encode_rle(mask: Mask) -> Rle:
    """Return the compressed run lengths of `mask`, bool [H, W]."""
    encoded = coco.encode(np.asfortranarray(mask, dtype=np.uint8))
    return {"size": [int(side) for side in encoded["size"]], "counts": encoded["counts"].decode("ascii")}


def rle_of_patch(box: Box, counts: Sequence[int], size: tuple[int, int]) -> Rle:
    """Return what `encode_rle` returns for the mask of a patch, without painting the page.

    Args:
        box: (x0, y0, x1, y1) in pixels.
        counts: run lengths inside the box, row by row (model.masks); at least one pixel is set.
        size: height and width of the page in pixels.

    Raises:
        ValueError: the patch does not fit the page.
    """
    check_patch(box, counts, size)
    (x0, y0, x1, y1), height = box, size[0]
    columns = np.zeros((x1 - x0, y1 - y0 + 2), np.int8)  # with a border, so that each run begins and ends
    columns[:, 1:-1] = pixels_inside(box, counts).T
    steps = np.diff(columns, axis=1)
    starts, ends = (
        (x0 + column) * height + y0 + row for column, row in (np.nonzero(steps == change) for change in (1, -1))
    )
    apart = starts[1:] != ends[:-1]  # a run may go on at the top of the next column
    starts, ends = starts[np.concatenate([[True], apart])], ends[np.concatenate([apart, [True]])]
    edges = np.concatenate([[0], np.stack([starts, ends], axis=1).ravel(), [height * size[1]]])
    runs = np.diff(edges).tolist()
    encoded = coco.frPyObjects({"size": list(size), "counts": runs if runs[-1] else runs[:-1]}, *size)
    return {"size": list(size), "counts": encoded["counts"].decode("ascii")}


def decode_rle(rle: Mapping[str, Any]) -> Mask:
    """Return the mask of run lengths.

    Args:
        rle: COCO run lengths with compressed or plain counts.

    Returns:
        bool [H, W].

    Raises:
        ValueError: the run lengths are malformed.
    """
    try:
        height, width = (int(side) for side in rle["size"])
        counts = rle["counts"]
        if isinstance(counts, list):
            if sum(counts) != height * width or min(counts, default=0) < 0:
                raise ValueError("its counts do not sum to its size")
            values = np.arange(len(counts)) % 2 == 1
            return np.repeat(values, counts).reshape(width, height).T
        if sum(_runs(counts)) != height * width:  # of too few, the library would leave the rest unwritten
            raise ValueError("its counts do not sum to its size")
        decoded = coco.decode({"size": [height, width], "counts": counts.encode("ascii")})
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"A mask cannot be read as COCO run lengths: {error}.") from None
    return np.asarray(decoded, dtype=bool)


def _runs(counts: str) -> list[int]:
    """Return the run lengths of compressed counts (rleFrString of COCO's maskApi.c)."""
    runs: list[int] = []
    value = shift = 0
    for sign in counts.encode("ascii"):
        part = sign - 48
        value |= (part & 31) << shift
        shift += 5
        if part & 32:
            continue
        if part & 16:
            value -= 1 << shift
        runs.append(value + runs[-2] if len(runs) > 2 else value)
        value = shift = 0
    if shift or min(runs, default=0) < 0:
        raise ValueError("its counts are cut off")
    return runs
