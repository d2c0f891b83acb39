"""Edits as the page sends them: clicks on words and strokes of the brush."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from model.masks import encode_patch


def some_edit(
    rng: random.Random, page: str, numbers: Sequence[int], marked: set[int], strokes: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Return an edit: seven clicks on words to three strokes of the brush.

    Args:
        rng: chooses it.
        page: id of the page.
        numbers: of the words on it.
        marked: those that are marked; follows the edit.
        strokes: from `draw_strokes`.
    """
    if rng.random() < 0.7:
        number = rng.choice(numbers)
        if number in marked:
            marked.discard(number)
            return {"op": "words", "page": page, "add": [], "remove": [number]}
        marked.add(number)
        return {"op": "words", "page": page, "add": [number], "remove": []}
    return {"op": "patch", "page": page, "value": int(rng.random() < 0.8), "patch": rng.choice(strokes)}


def draw_strokes(rng: random.Random, size: tuple[int, int]) -> list[dict[str, Any]]:
    """Return strokes of the brush, made before the clock runs: a pen of 28 pixels, 150 long.

    Args:
        rng: places them.
        size: height and width of the page, in pixels; at least 81 and 241.
    """
    strokes = []
    for _ in range(40):
        y, x = rng.randrange(20, size[0] - 60), rng.randrange(20, size[1] - 220)
        rows, columns = np.ogrid[: size[0], : size[1]]
        across = np.clip(columns - x, 0, 150)
        strokes.append(dict(encode_patch((columns - x - across) ** 2 + (rows - y) ** 2 <= 14**2)))
    return strokes
