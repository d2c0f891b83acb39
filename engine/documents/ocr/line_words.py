"""Words of one recognised line: where its letters stand, where it is cut, and the box of each word.

A recogniser reads a line in columns and tells the column of each letter. The cuts come from its spaces and from gaps
in the ink, so that a space which it lost is found again; the boxes are tight on the ink of their letters.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.documents.found import FloatBox

_GAP = 0.35  # of the line's height: an ink-free gap as wide as this parts two words
_GAP_OF_SIGNS = 0.25  # behind a colon or a comma, where recognisers lose spaces most
_CONTRAST = 25  # of 255, between ink and paper
_MIDDLE = (0.25, 0.75)  # of the line's height: what touches its edge and stays outside is a neighbour's
_RULE_WIDTH, _RULE_HEIGHT = 2.5, 0.12  # of the line's height: a thing this wide and this flat is a rule or underline
_OPENS = ":;,"


@dataclass(frozen=True, slots=True)
class Letter:
    """Letter as recognised; `middle` in pixels of the line's picture, None for a space."""

    text: str
    middle: float | None
    confidence: float


@dataclass(frozen=True, slots=True)
class LineWord:
    """Word in pixels of the line's picture; `confidence` is the mean of its letters', 0..1."""

    text: str
    box: FloatBox
    confidence: float


def line_words(letters: Sequence[Letter], grey: NDArray[np.uint8]) -> list[LineWord]:
    """Cut a line into words.

    Args:
        letters: the recognised letters, from left to right.
        grey: uint8 [height, width], the line's picture.
    """
    height, width = grey.shape
    ink = ink_of(grey)
    columns = ink.any(axis=0)
    words = _cut(letters, columns, height)
    found = []
    left = 0
    for word, following in zip(words, [*words[1:], None], strict=True):
        right, start = width, width
        if following is not None:
            between = _span(word[-1], following[0], width)
            gap = _widest_gap(columns, *between)
            right, start = gap if gap is not None else (sum(between) // 2,) * 2
        found.append(
            LineWord(
                "".join(letter.text for letter in word),
                _tight(ink, left, max(right, left + 1)),
                float(np.mean([letter.confidence for letter in word])),
            )
        )
        left = min(start, width - 1)
    return found


def ink_of(grey: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return what is written in a line's picture: bool, without rules and without parts of the lines around it."""
    height, _ = grey.shape
    away = np.abs(grey.astype(np.int16) - int(np.median(grey))).astype(np.uint8)  # dark on light, or light on dark
    threshold, _ = cv2.threshold(away, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    ink = away > max(threshold, _CONTRAST)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(ink.astype(np.uint8), connectivity=8)
    foreign = np.zeros(count, dtype=bool)
    top, tall, wide = (stats[:, at] for at in (cv2.CC_STAT_TOP, cv2.CC_STAT_HEIGHT, cv2.CC_STAT_WIDTH))
    at_edge = (top == 0) | (top + tall == height)
    foreign |= at_edge & ((top + tall <= _MIDDLE[0] * height) | (top >= _MIDDLE[1] * height))
    foreign |= (wide >= _RULE_WIDTH * height) & (tall <= max(2.0, _RULE_HEIGHT * height))
    foreign |= (tall >= 0.95 * height) & (wide <= 0.15 * height)  # a vertical rule of a table
    foreign[0] = False
    kept = ink & ~foreign[labels]
    return kept if kept.any() else ink


def _cut(letters: Sequence[Letter], columns: NDArray[np.bool_], height: int) -> list[list[Letter]]:
    words: list[list[Letter]] = []
    spaced = True
    for letter in letters:
        if letter.middle is None:
            spaced = True
            continue
        if spaced or _apart(words[-1][-1], letter, columns, height):
            words.append([])
        words[-1].append(letter)
        spaced = False
    return words


def _apart(one: Letter, other: Letter, columns: NDArray[np.bool_], height: int) -> bool:
    """Return whether a gap parts two letters between which no space was recognised."""
    gap = _widest_gap(columns, *_span(one, other, len(columns)))
    if gap is None:
        return False
    least = _GAP_OF_SIGNS if one.text in _OPENS else _GAP
    return gap[1] - gap[0] >= least * height


def _span(one: Letter, other: Letter, width: int) -> tuple[int, int]:
    assert one.middle is not None and other.middle is not None
    first = min(max(0, int(one.middle)), width - 1)
    return first, min(width, max(first + 1, int(np.ceil(other.middle))))


def _widest_gap(columns: NDArray[np.bool_], first: int, last: int) -> tuple[int, int] | None:
    """Return the (start, end) of the widest run of columns without ink in [first, last); None without any."""
    free = np.flatnonzero(np.diff(np.concatenate(([1], columns[first:last], [1])).astype(np.int8)))
    if not len(free):
        return None
    starts, ends = free[::2], free[1::2]
    at = int(np.argmax(ends - starts))
    return first + int(starts[at]), first + int(ends[at])


def _tight(ink: NDArray[np.bool_], left: int, right: int) -> FloatBox:
    """Return the box of the ink between two columns; all of them where there is none."""
    part = ink[:, left:right]
    across, down = np.flatnonzero(part.any(axis=0)), np.flatnonzero(part.any(axis=1))
    if not len(across):
        return (float(left), 0.0, float(right), float(ink.shape[0]))
    return (float(left + across[0]), float(down[0]), float(left + across[-1] + 1), float(down[-1] + 1))
