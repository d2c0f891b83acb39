"""Order of the characters in lines of Arabic and Hebrew: words apart from numbers, numbers from left to right.

MuPDF reverses the stretches of a line that run from right to left, so that letters come in logical order. Numbers and
Latin words beside them follow without a space, and Arabic-Indic digits, which run from left to right as all digits do,
are reversed with the letters.
"""

import unicodedata
from collections.abc import Sequence
from typing import Any

from engine.documents.reading.source_words import is_right_to_left

_APART = 0.15  # ems between two characters, from which they are not of one word
_WITHIN = "./,:\u066b\u066c"  # signs that stand between the digits of a number


def words_in_logical_order(word: list[dict[str, Any]], size: float) -> list[list[dict[str, Any]]]:
    """Divide what MuPDF gives as a word of a horizontal line, and put each part in logical order.

    Args:
        word: Characters of a "rawdict", without spaces.
        size: Of the font, in points.
    """
    if not any(is_right_to_left(c["c"]) or _is_eastern(c["c"]) for c in word):
        return [word]
    parts: list[list[dict[str, Any]]] = []
    for stretch in _stretches(word, size):
        if parts and not _is_apart(parts[-1], stretch, size):
            parts[-1] += stretch
        else:
            parts.append(stretch)
    return parts


def _stretches(word: list[dict[str, Any]], size: float) -> list[list[dict[str, Any]]]:
    """Return stretches of letters from right to left, of numbers, and of others, each in logical order."""
    stretches: list[list[dict[str, Any]]] = []
    kinds: list[str] = []
    for at, character in enumerate(word):
        is_mark = unicodedata.category(character["c"][0]) in ("Mn", "Cf")
        kind = kinds[-1] if is_mark and kinds else _kind(word, at)
        if kinds and kind == kinds[-1] and (is_mark or not _is_apart(stretches[-1][-1:], [character], size)):
            stretches[-1].append(character)
        else:
            kinds.append(kind)
            stretches.append([character])
    return [_order(stretch, kind) for stretch, kind in zip(stretches, kinds, strict=True)]


def _kind(word: Sequence[dict[str, Any]], at: int) -> str:
    c = word[at]["c"]
    if c.isdecimal():
        return "number"
    between = 0 < at < len(word) - 1 and word[at - 1]["c"].isdecimal() and word[at + 1]["c"].isdecimal()
    if between and c in _WITHIN:
        return "number"
    return {True: "right", False: "left", None: "neutral"}[is_right_to_left(c)]


def _order(stretch: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    if kind == "number" and any(_is_eastern(c["c"]) for c in stretch):
        return sorted(stretch, key=lambda character: character["bbox"][0])
    return _with_ligatures(stretch) if kind == "right" else stretch


def _is_eastern(c: str) -> bool:
    """Return whether a character is an Arabic-Indic digit, which MuPDF takes for a letter."""
    return "\u0660" <= c <= "\u066c" and c != "\u066a"


def _is_apart(before: Sequence[dict[str, Any]], after: Sequence[dict[str, Any]], size: float) -> bool:
    """Return whether there is air between two stretches of characters."""
    left, right = _span(before), _span(after)
    return max(left[0] - right[1], right[0] - left[1]) > _APART * size


def _span(characters: Sequence[dict[str, Any]]) -> tuple[float, float]:
    return min(c["bbox"][0] for c in characters), max(c["bbox"][2] for c in characters)


def _with_ligatures(word: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Undo MuPDF's reordering of ligatures when it reverses a right-to-left line.

    A ligature (lam-alef) is expanded into its first letter, which gets the width, and further letters without width at
    its right edge. Reversing the line puts these in front of it: "إل" for "لإ". They are swapped back here.
    """
    ordered: list[dict[str, Any]] = []
    waiting: list[dict[str, Any]] = []
    for character in word:
        x0, _, x1, _ = character["bbox"]
        if x1 - x0 < 0.01 and is_right_to_left(character["c"]):
            waiting.append(character)
            continue
        if waiting and abs(x1 - waiting[0]["bbox"][0]) < 0.05:
            ordered += [character, *reversed(waiting)]
        else:
            ordered += [*waiting, character]
        waiting = []
    return ordered + waiting
