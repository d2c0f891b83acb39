"""Letters set wide apart: "I N V O I C E" is one word.

Programs that read a PDF take a gap of a fifth of an em for a space. Where single letters follow each other with even
gaps, those gaps are the way the word is set.
"""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Any

from engine.documents.reading.source_words import is_right_to_left

_LEAST, _MOST = 0.12, 1.2  # ems, of a gap between two letters of a spaced word
_MOST_OF_DIGITS = 0.6  # ems; digits further apart are columns
_EVEN = 1.35  # of the widest gap over the median one of a word
_GAPS = 3  # that show the setting of a line; with it, shorter words of the line are joined, too
_FIRST_EASTERN = 0x2E80  # Chinese, Japanese and Korean have characters apart by nature
_SHARE = 0.6  # of letters and digits among what is joined


def join_spaced_letters(
    characters: Sequence[dict[str, Any]], direction: tuple[float, float], size: float
) -> list[dict[str, Any]]:
    """Return the characters of a line without the spaces inside words that are set in spaced letters.

    Args:
        characters: Of a "rawdict", in reading order.
        direction: Of the line.
        size: Of its font, in points.
    """
    letters = [character for character in characters if not character["c"].isspace()]
    if len(letters) <= _GAPS or len(letters) == len(characters):
        return list(characters)
    ends = [_extent(letter, direction) for letter in letters]
    gaps = [(after[0] - before[1]) / size for before, after in pairwise(ends)]
    wide = [_LEAST <= gap <= _MOST for gap in gaps]
    if sum(wide) < _GAPS:
        return list(characters)
    single = [
        (at == 0 or gaps[at - 1] >= _LEAST) and (at == len(gaps) or gaps[at] >= _LEAST) for at in range(len(letters))
    ]
    typed = _typed_spaces(characters)
    inside = [
        wide[at] and single[at] and single[at + 1] and _joins(letters[at]["c"], letters[at + 1]["c"], typed[at])
        for at in range(len(gaps))
    ]
    joined: set[int] = set()  # letters that follow the one before them without a space
    widths: list[float] = []
    for first, last in _even_stretches(gaps, inside):
        text = "".join(letter["c"] for letter in letters[first : last + 1])
        if last - first >= _GAPS and _is_word(text, gaps[first:last]):
            joined.update(range(first + 1, last + 1))
            widths += gaps[first:last]
    if not joined:
        return list(characters)
    usual = median(widths)
    joined.update(at + 1 for at, gap in enumerate(gaps) if inside[at] and usual / _EVEN <= gap <= usual * _EVEN)
    kept: list[dict[str, Any]] = []
    at = -1
    waiting: list[dict[str, Any]] = []
    for character in characters:
        if character["c"].isspace():
            waiting.append(character)
            continue
        at += 1
        kept += [character] if at in joined else [*waiting, character]
        waiting = []
    return kept + waiting


def _extent(character: dict[str, Any], direction: tuple[float, float]) -> tuple[float, float]:
    """Return where a character begins and ends along its line."""
    x0, y0, x1, y1 = character["bbox"]
    dx, dy = direction
    if abs(dx) >= abs(dy):
        return (x0, x1) if dx >= 0 else (-x1, -x0)
    return (y0, y1) if dy >= 0 else (-y1, -y0)


def _even_stretches(gaps: Sequence[float], inside: Sequence[bool]) -> list[tuple[int, int]]:
    """Return the first and the last letter of each stretch with even gaps."""
    stretches = []
    first = 0
    while first < len(gaps):
        last = first
        while last < len(gaps) and inside[last] and _is_even(gaps[first : last + 1]):
            last += 1
        if last > first:
            stretches.append((first, last))
        first = max(last, first + 1)
    return stretches


def _is_even(gaps: Sequence[float]) -> bool:
    usual = median(gaps)
    return max(gaps) <= _EVEN * usual and min(gaps) * _EVEN >= usual


def _typed_spaces(characters: Sequence[dict[str, Any]]) -> list[bool]:
    """Return for each gap between two letters whether the file has a space there, and not only MuPDF."""
    typed: list[bool] = []
    for character in characters:
        if not character["c"].isspace():
            typed.append(False)
        elif typed:
            typed[-1] |= not character.get("synthetic", False)
    return typed[:-1]


def _joins(before: str, after: str, is_typed: bool) -> bool:
    """Return whether two characters can be of one spaced word: no dots of a leader, no Chinese, no Arabic.

    With a typed space between them, they are letters: formulas and columns of digits have such spaces.
    """
    if is_typed and not (before.isalpha() and after.isalpha()):
        return False
    if not before.isalnum() and not after.isalnum():
        return False
    return all(ord(c[0]) < _FIRST_EASTERN and not is_right_to_left(c) for c in (before, after))


def _is_word(text: str, gaps: Sequence[float]) -> bool:
    """Return whether spaced letters are a word, and no list of letters or digits: A B C D, 1 2 3 4 5."""
    if sum(c.isalnum() for c in text) < _SHARE * len(text):
        return False
    if all(ord(after) - ord(before) == 1 for before, after in pairwise(text)):
        return False
    return any(c.isalpha() for c in text) or median(gaps) <= _MOST_OF_DIGITS
