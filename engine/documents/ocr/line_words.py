"""Words of one recognised line: where its letters stand, where it is cut, and the box of each word.

A recogniser reads a line in columns and tells the column of each letter. The cuts come from its spaces and from gaps
in the ink, so that a space which it lost is found again; the boxes are tight on the ink of their letters.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from model.boxes import FloatBox

# Beyond the line's median gap between two letters, in heights of its ink: a gap this wide parts two words, ...
_GAP = 0.35
# ... and a narrower one does where the letters stand this far apart, in the line's median distances of two letters.
_NARROW_GAP, _FAR = 0.18, 1.5
_SHORTEST_KEY = 2  # letters before a colon that make it the end of a key
_CONTRAST = 25  # of 255, between ink and paper
_MIDDLE = (0.25, 0.75)  # of the line's height: what touches its edge and stays outside is a neighbour's
_RULE_WIDTH, _RULE_HEIGHT = 2.5, 0.12  # of the line's height: a thing this wide and this flat is a rule or underline
_PIECE_WIDTH, _FOOT = 0.2, 0.65  # of the line's height: narrower flat things so low are pieces of a dotted underline


@dataclass(frozen=True, slots=True)
class Letter:
    """Letter as recognised; `middle` in pixels of the line's picture, None for a space."""

    text: str
    middle: float | None
    confidence: float


@dataclass(frozen=True, slots=True)
class LineWord:
    """Word in pixels of the line's picture; `confidence` is that of its least sure letter, 0..1."""

    text: str
    box: FloatBox
    confidence: float


def line_words(letters: Sequence[Letter], grey: NDArray[np.uint8]) -> list[LineWord]:
    """Cut a line into words.

    Args:
        letters: the recognised letters, from left to right.
        grey: uint8 [height, width], the line's picture.
    """
    width = grey.shape[1]
    ink = ink_of(grey)
    rows = np.flatnonzero(ink.any(axis=1))
    columns: NDArray[np.bool_] = np.asarray(ink.any(axis=0))
    words = _split_at_spaces(letters, columns, int(rows[-1] - rows[0]) + 1 if len(rows) else grey.shape[0])
    placed_words = []
    left = 0
    for word, following in zip(words, [*words[1:], None], strict=True):
        right, start = width, width
        if following is not None:
            between = _span(word[-1], following[0], width)
            gap = _widest_gap(columns, *between)
            right, start = gap if gap is not None else (sum(between) // 2,) * 2
        placed_words.append(
            LineWord(
                "".join(letter.text for letter in word),
                _tight(ink, left, max(right, left + 1)),
                # As Tesseract counts: the mean hides one misread letter in a long word.
                min(letter.confidence for letter in word),
            )
        )
        left = min(start, width - 1)
    return placed_words


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
    flat = tall <= max(2.0, _RULE_HEIGHT * height)
    foreign |= flat & ((wide >= _RULE_WIDTH * height) | ((wide >= _PIECE_WIDTH * height) & (top >= _FOOT * height)))
    foreign |= (tall >= 0.95 * height) & (wide <= 0.15 * height)  # a vertical rule of a table
    foreign[0] = False
    own_ink = ink & ~foreign[labels]
    return own_ink if own_ink.any() else ink


def _split_at_spaces(letters: Sequence[Letter], columns: NDArray[np.bool_], height: int) -> list[list[Letter]]:
    """Part the letters at spaces, and where a space was lost: the ink tells. `height` is that of the ink."""
    printed = [letter for letter in letters if letter.middle is not None]
    gaps = [_gap(letter_before, letter_after, columns) for letter_before, letter_after in pairwise(printed)]
    steps = [_middle(letter_after) - _middle(letter_before) for letter_before, letter_after in pairwise(printed)]
    usual_gap, usual_step = (float(np.median(values)) if values else 0.0 for values in (gaps, steps))
    words: list[list[Letter]] = []
    spaced = True
    at = -1  # of the gap before the letter
    for letter in letters:
        if letter.middle is None:
            spaced = True
            continue
        if words and not spaced and _ends_key(words[-1], letter):
            spaced = True
        if at >= 0 and not spaced:
            beyond = (gaps[at] - usual_gap) / height
            spaced = beyond >= _GAP or (beyond >= _NARROW_GAP and steps[at] >= _FAR * usual_step)
        if spaced:
            words.append([])
        words[-1].append(letter)
        spaced = False
        at += 1
    return words


def _ends_key(word: Sequence[Letter], following: Letter) -> bool:
    """Return whether a word is a key with its colon, and a value follows, as in "Name:Smith" but not in "10:30"."""
    return (
        len(word) > _SHORTEST_KEY
        and word[-1].text == ":"
        and all(letter.text.isalpha() for letter in word[-1 - _SHORTEST_KEY : -1])
        and following.text.isalnum()
    )


def _gap(one: Letter, other: Letter, columns: NDArray[np.bool_]) -> int:
    """Return the width in pixels of the widest gap in the ink between two letters."""
    gap = _widest_gap(columns, *_span(one, other, len(columns)))
    return 0 if gap is None else gap[1] - gap[0]


def _middle(letter: Letter) -> float:
    assert letter.middle is not None
    return letter.middle


def _span(one: Letter, other: Letter, width: int) -> tuple[int, int]:
    first = min(max(0, int(_middle(one))), width - 1)
    return first, min(width, max(first + 1, int(np.ceil(_middle(other)))))


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
