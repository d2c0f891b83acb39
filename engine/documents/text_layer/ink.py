"""Ink of a page that looks like lines of text, and lies outside the boxes of its words."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from model.boxes import FloatBox

_CONTRAST = 70  # of 255, between ink and the page's most frequent grey
_LEAST_LEFT = 0.02  # of the page's ink; with less of it outside the words nothing is missing
_LOWEST, _HIGHEST = 5, 60  # pixels: heights of letters at the resolution of pages
_WIDEST = 2.5  # letters are no wider, in heights
_GAP = 1.2  # heights, between two letters of a line
_LIKE = 0.55  # the lower of two neighbours in a line, as a share of the higher
_LINE = 5  # letters that make a line
_LEAST_FILLED, _MOST_FILLED = 0.12, 0.9  # share of a letter's box that is ink
_MOST_PARTS = 20_000  # of a page; with more it is a picture full of dots
_AIR = 0.25  # of a word's height, around its box


def letters_outside(grey: Image.Image, boxes: Sequence[FloatBox]) -> int:
    """Return about how many letters of lines lie outside all boxes of words.

    Args:
        grey: Image of the page, mode L.
        boxes: Of the words, in pixels of the page.
    """
    paper = int(np.argmax(grey.histogram()))
    is_ink = np.abs(np.arange(256) - paper) > _CONTRAST
    coarse = is_ink[np.asarray(grey)[::2, ::2]]
    whole = np.count_nonzero(coarse)
    if np.count_nonzero(_without(coarse, boxes, 2)) <= _LEAST_LEFT * whole:
        return 0
    return _in_lines(_letters(_without(is_ink[np.asarray(grey)], boxes, 1)))


def _without(ink: NDArray[np.bool_], boxes: Sequence[FloatBox], step: int) -> NDArray[np.bool_]:
    """Clear the boxes of words in an image of which `step` pixels of the page are one, and return it."""
    for x0, y0, x1, y1 in boxes:
        air = _AIR * (y1 - y0)
        left, top = max(0, int((x0 - air) / step)), max(0, int((y0 - air) / step))
        right, bottom = max(0, int((x1 + air) / step) + 1), max(0, int((y1 + air) / step) + 1)
        ink[top:bottom, left:right] = False
    return ink


def _letters(ink: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return the parts of the ink that may be letters, int32 [N, 4]: x0, y0, width, height."""
    import cv2  # pages whose words cover their ink do not need it

    count, _, statistics, _ = cv2.connectedComponentsWithStats(ink.astype(np.uint8), connectivity=8)
    if count > _MOST_PARTS:
        return np.zeros((0, 4), dtype=np.int32)
    parts = statistics[1:]
    width, height, area = parts[:, 2], parts[:, 3], parts[:, 4]
    filled = area / (width * height)
    letter = (height >= _LOWEST) & (height <= _HIGHEST) & (width <= _WIDEST * height)
    letter &= (filled >= _LEAST_FILLED) & ((filled <= _MOST_FILLED) | (width < height / 2))
    return np.asarray(parts[letter, :4], dtype=np.int32)


def _in_lines(letters: NDArray[np.int32]) -> int:
    """Return how many letters stand in lines: beside each other, at one level and of like height."""
    if len(letters) < _LINE:
        return 0
    letters = letters[np.argsort(letters[:, 0], kind="stable")]
    line_of = np.arange(len(letters))
    sizes = np.ones(len(letters), dtype=np.int64)
    x0, y0, width, height = letters.T
    for at in range(1, len(letters)):
        # Letters are sorted by their left edges: the candidates begin at most two widths of the highest letter before.
        first = int(np.searchsorted(x0, x0[at] - (_WIDEST + _GAP) * _HIGHEST))
        before = slice(first, at)
        gap = x0[at] - (x0[before] + width[before])
        lower, higher = np.minimum(height[before], height[at]), np.maximum(height[before], height[at])
        shared = np.minimum(y0[before] + height[before], y0[at] + height[at]) - np.maximum(y0[before], y0[at])
        near = (gap <= _GAP * higher) & (gap >= -0.3 * lower) & (shared >= 0.6 * lower) & (lower >= _LIKE * higher)
        if near.any():
            places = np.flatnonzero(near)
            line = line_of[first + int(places[np.argmin(gap[places])])]
            line_of[at] = line
            sizes[line] += 1
    return int(sizes[sizes >= _LINE].sum())
