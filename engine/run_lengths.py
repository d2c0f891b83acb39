"""COCO's run lengths (column by column, compressed to text) and masks, by pycocotools."""

from collections.abc import Mapping
from typing import Any, TypedDict

import numpy as np
from pycocotools import mask as coco

from model.masks import Mask


class Rle(TypedDict):
    """A mask as COCO writes it: size [height, width] in pixels, and compressed counts."""

    size: list[int]
    counts: str


def encode_rle(mask: Mask) -> Rle:
    """Return the compressed run lengths of `mask`, bool [H, W]."""
    encoded = coco.encode(np.asfortranarray(mask, dtype=np.uint8))
    return {"size": [int(side) for side in encoded["size"]], "counts": encoded["counts"].decode("ascii")}


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
        decoded = coco.decode({"size": [height, width], "counts": counts.encode("ascii")})
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"A mask cannot be read as COCO run lengths: {error}.") from None
    return np.asarray(decoded, dtype=bool)
