"""Encode masks as run-length patches and convert between masks and word boxes; NumPy only.

A patch is the one wire and storage form: `{"box": [x0, y0, x1, y1], "counts": [n0, n1, ...]}`. The counts are run
lengths of the mask inside the box, row by row. They start with a run of zeros (`n0` may be 0), so `sum(counts)` is the
area of the box. Boxes are integers in pixels of the rendered page; `x1` and `y1` are exclusive. The empty mask is
`{"box": [0, 0, 0, 0], "counts": []}`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model.boxes import AnyBox

Mask = NDArray[np.bool_]


def encode_patch(mask: Mask) -> dict[str, list[int]]:
    """Encode a mask as a patch inside its tight bounding box.

    Args:
        mask: bool [H, W].

    Returns:
        The patch, in plain integers.

    Raises:
        ValueError: the array is not two-dimensional.
    """
    if mask.ndim != 2:
        raise ValueError(f"A mask has two dimensions, rows and columns; this array has {mask.ndim}.")
    mask = np.asarray(mask, dtype=bool)
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not rows.size:
        return {"box": [0, 0, 0, 0], "counts": []}
    x0, y0, x1, y1 = int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1
    flat = mask[y0:y1, x0:x1].ravel()
    edges = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    counts = np.diff(np.concatenate([[0], edges, [flat.size]])).tolist()
    return {"box": [x0, y0, x1, y1], "counts": [0, *counts] if flat[0] else counts}


def decode_patch(patch: Mapping[str, Any], size: tuple[int, int]) -> Mask:
    """Decode a patch into a mask.

    Args:
        patch: a mapping with the keys "box" and "counts".
        size: height and width of the page in pixels.

    Returns:
        Mask, bool [H, W].

    Raises:
        ValueError: the patch has wrong keys or types. Its box is empty, inverted or outside the page. Its counts are
            negative or do not sum to the area of the box. The message is one sentence for a person.
    """
    if not isinstance(patch, Mapping) or set(patch) != {"box", "counts"}:
        raise ValueError('A patch has exactly the keys "box" and "counts".')
    box = _integers(patch["box"], "box", length=4)
    counts = _integers(patch["counts"], "counts")
    check_patch(box, counts, size)
    mask = np.zeros(size, dtype=bool)
    x0, y0, x1, y1 = box
    mask[y0:y1, x0:x1] = pixels_inside(box, counts)
    return mask


def check_patch(box: AnyBox, counts: Sequence[int], size: tuple[int, int]) -> None:
    """Check that a patch of integers fits a page.

    Args:
        box: (x0, y0, x1, y1) in pixels.
        counts: run lengths inside the box.
        size: height and width of the page in pixels.

    Raises:
        ValueError: it does not fit. The message is one sentence for a person.
    """
    x0, y0, x1, y1 = box
    height, width = size
    if not counts:
        if (x0, y0, x1, y1) != (0, 0, 0, 0):
            raise ValueError("A patch without counts is the empty mask, and its box must be [0, 0, 0, 0].")
        return
    if not (0 <= x0 < x1 <= width and 0 <= y0 < y1 <= height):
        raise ValueError(f"The box [{x0}, {y0}, {x1}, {y1}] does not lie inside the page of {width} x {height} pixels.")
    if min(counts) < 0:
        raise ValueError("The counts of a patch cannot be negative.")
    area = (x1 - x0) * (y1 - y0)
    if sum(counts) != area:
        raise ValueError(f"The counts of a patch sum to {sum(counts)}, but its box has {area} pixels.")


def pixels_inside(box: AnyBox, counts: Sequence[int]) -> Mask:
    """Return the pixels of a checked patch inside its box, bool [y1 - y0, x1 - x0]."""
    x0, y0, x1, y1 = box
    values = np.arange(len(counts)) % 2 == 1
    return np.repeat(values, counts).reshape(y1 - y0, x1 - x0)


def is_encoded(box: AnyBox, counts: Sequence[int]) -> bool:
    """Return whether a checked patch is in the form that `encode_patch` writes, without decoding it."""
    if not counts:
        return True
    width = box[2] - box[0]
    runs = np.array(counts)
    ends = np.cumsum(runs)
    first, last = ends[:-1:2], ends[1::2]  # start and end of each run of ones
    if not first.size or (runs[1:] == 0).any():
        return False
    across = first // width != (last - 1) // width  # the run wraps from the right edge to the left
    touches_left, touches_right = across | (first % width == 0), across | (last % width == 0)
    return bool(first[0] < width and last[-1] > ends[-1] - width and touches_left.any() and touches_right.any())


def rasterise(boxes: Iterable[AnyBox], size: tuple[int, int]) -> Mask:
    """Return the union of integer boxes as a mask.

    Args:
        boxes: (x0, y0, x1, y1) in pixels; parts outside the page are cut off.
        size: height and width of the page in pixels.

    Returns:
        Mask, bool [H, W].
    """
    mask = np.zeros(size, dtype=bool)
    for x0, y0, x1, y1 in boxes:
        mask[max(0, y0) : max(0, y1), max(0, x0) : max(0, x1)] = True
    return mask


def words_under(mask: Mask, boxes: Sequence[AnyBox]) -> list[int]:
    """Return the indices of the boxes of which the mask covers at least half.

    Args:
        mask: bool [H, W].
        boxes: (x0, y0, x1, y1) in pixels. A box without area on the page is never covered.
    """
    under = []
    for index, (x0, y0, x1, y1) in enumerate(boxes):
        part = mask[max(0, y0) : max(0, y1), max(0, x0) : max(0, x1)]
        if part.size and 2 * np.count_nonzero(part) >= part.size:
            under.append(index)
    return under


def _integers(values: object, name: str, length: int | None = None) -> list[int]:
    """Return the values as a list; ValueError unless all are integers (bool and float are not)."""
    if not isinstance(values, (list, tuple)) or not set(map(type, values)) <= {int}:
        raise ValueError(f'"{name}" of a patch must be a list of integers.')
    if length is not None and len(values) != length:
        raise ValueError(f'"{name}" of a patch must hold {length} integers, not {len(values)}.')
    return list(values)


def iou(first: Mask, second: Mask) -> float:
    """Return the intersection over union of two masks of the same shape; 0 where both are empty."""
    both = int(np.count_nonzero(first & second))
    union = int(np.count_nonzero(first)) + int(np.count_nonzero(second)) - both
    return both / union if union else 0.0
