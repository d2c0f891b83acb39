"""Text of words as it is printed: Chinese and Japanese, whose characters are words here, without blanks between them.

annotator/static/words/printed_text.js joins by the same rules.
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import Protocol

from model.boxes import Box

# Han, kana, and the signs and wide letters among them. Korean has blanks between its words.
_UNSPACED = (
    (0x2E80, 0x30FF),
    (0x31F0, 0x9FFF),
    (0xF900, 0xFAFF),
    (0xFE30, 0xFE4F),
    (0xFF00, 0xFFEF),
    (0x20000, 0x3FFFF),
)
_SAME_ROW = 0.5  # share of the lower word's height
_PRINTED_BLANK = 0.6  # heights: a gap between two such characters that is a blank
_TOUCHING = 0.3  # heights: a gap to a number or a Latin word that is none


class PrintedWord(Protocol):
    """Word with its box in pixels."""

    @property
    def text(self) -> str:
        """Return the text."""

    @property
    def box(self) -> Box:
        """Return (x0, y0, x1, y1)."""


def printed_text(words: Iterable[PrintedWord]) -> str:
    """Return the text of words of one page, in reading order."""
    ordered = [word for word in words if word.text]
    if not ordered:
        return ""
    pieces = [ordered[0].text]
    for before, after in pairwise(ordered):
        pieces += ["" if _follows_closely(before, after) else " ", after.text]
    return "".join(pieces)


def is_unspaced(character: str) -> bool:
    """Return whether a character is of a writing without blanks between words: Chinese or Japanese."""
    code = ord(character)
    return any(first <= code <= last for first, last in _UNSPACED)


def _follows_closely(before: PrintedWord, after: PrintedWord) -> bool:
    """Return whether there is no blank between two words."""
    ends = before.text[-1], after.text[0]
    if ends[0].isascii() and ends[1].isascii():
        return False
    unspaced = [is_unspaced(end) for end in ends]
    if not any(unspaced):
        return False
    (ax0, ay0, ax1, ay1), (bx0, by0, bx1, by1) = before.box, after.box
    height = max(1, min(ay1 - ay0, by1 - by0))
    if min(ay1, by1) - max(ay0, by0) < _SAME_ROW * height:
        return all(unspaced)  # the text goes on in the next line, or below
    gap = max(bx0 - ax1, ax0 - bx1) / height
    return gap < (_PRINTED_BLANK if all(unspaced) else _TOUCHING)
