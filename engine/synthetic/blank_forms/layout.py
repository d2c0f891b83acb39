"""Geometry of a blank page: lines of words, rules and fields, and what lies between two places."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from engine.synthetic.blank_forms.template import FormField, PrintedWord
from model.boxes import FloatBox

_MARKER = re.compile(r"\(?(\d{1,2}\.?[a-z]{0,2}|[a-zA-Z]|[ivx]{1,4})[.)]{0,2}")
_NUMBERED = re.compile(r"\(?\d{1,2}\.?[a-z]{0,2}[.)]{0,2}")
_FULL_LINE = 0.4  # distance of the middles of words of one line, in font sizes
_GUTTER = 0.02  # share of words that may cross the gap between two columns of text


@dataclass(frozen=True, slots=True)
class Rules:
    """Straight lines of a page, in points: `upright` as (x, top, bottom), `level` as (y, left, right)."""

    upright: tuple[tuple[float, float, float], ...] = ()
    level: tuple[tuple[float, float, float], ...] = ()


def is_leader(text: str) -> bool:
    """Return whether a word is dots, underscores or an arrow that leads to a field."""
    return not any(sign.isalnum() for sign in text)


def is_marker(text: str) -> bool:
    """Return whether a word may number a line: "7", "7a", "b", "(2)", "5.d."."""
    return _MARKER.fullmatch(text) is not None


def is_number(text: str) -> bool:
    """Return whether a word may number a line and begins with a digit."""
    return _NUMBERED.fullmatch(text) is not None


class Layout:
    """Page with its words by line; all lengths in points."""

    def __init__(self, words: Sequence[PrintedWord], fields: Sequence[FormField], rules: Rules) -> None:
        self.words = words
        self.fields = fields
        self.rules = rules
        self.size = median([word.size for word in words]) if words else 8.0
        self.by_height = sorted(range(len(words)), key=lambda at: words[at].middle)
        self._heights = [words[at].middle for at in self.by_height]
        self.gutter = self._gutter()

    def line(self, at: int) -> list[int]:
        """Return the words on the line of a word, from left to right."""
        word = self.words[at]
        reach = _FULL_LINE * word.size
        indices = self.between(word.middle - reach, word.middle + reach)
        return sorted(indices, key=lambda index: self.words[index].box[0])

    def between(self, top: float, bottom: float) -> list[int]:
        """Return the words with their middle between two heights."""
        return self.by_height[bisect_left(self._heights, top) : bisect_right(self._heights, bottom)]

    def rule_between(self, left: float, right: float, y: float) -> bool:
        """Return whether an upright rule stands between two places of a height."""
        return any(left + 0.5 < x < right - 0.5 and top - 1 <= y <= bottom + 1 for x, top, bottom in self.rules.upright)

    def level_between(self, top: float, bottom: float, left: float, right: float) -> bool:
        """Return whether a level rule lies between two heights, over more than half of a width."""
        return any(
            top < y < bottom and min(x1, right) - max(x0, left) > 0.5 * (right - left) for y, x0, x1 in self.rules.level
        )

    def field_between(self, left: float, right: float, y: float, but: FormField | None = None) -> FormField | None:
        """Return the rightmost field between two places of a height."""
        fields = [
            field for field in self.fields if field is not but and field.box[1] <= y <= field.box[3]
            and field.box[2] > left + 1 and field.box[0] < right - 1 and field.box[0] >= left - 4
        ]  # fmt: skip
        return max(fields, key=lambda field: field.box[2], default=None)

    def in_cell(self, box: FloatBox, y: float) -> bool:
        """Return whether upright rules at both sides of a box reach a height: both are in one column of a table."""
        return all(
            any(abs(x - side) < 5 and top - 1 <= y <= bottom + 1 for x, top, bottom in self.rules.upright)
            for side in (box[0], box[2])
        )

    def field_over(self, box: FloatBox, top: float, bottom: float, but: FormField) -> FormField | None:
        """Return the lowest field between two heights that shares some width with a box."""
        fields = [
            field for field in self.fields if field is not but and field.box[1] < bottom and field.box[3] > top
            and (field.box[1] + field.box[3]) / 2 < bottom
            and min(field.box[2], box[2]) - max(field.box[0], box[0]) > 2
        ]  # fmt: skip
        return max(fields, key=lambda field: field.box[3], default=None)

    def run_around(
        self, start: int, *, leading: bool, gap: float = 1.1, right: bool = True, left: bool = True
    ) -> list[int]:
        """Return the words of the line around a word, up to a gap, a rule or a field.

        `leading`: dots bridge gaps to the left; they are no part of the run. `gap`: in font sizes.
        """
        line = self.line(start)
        at = line.index(start)
        run_words = [start]
        if left:
            run_words = self._left_of(line[:at], start, leading, gap) + run_words
        if right:
            before = start
            for after in line[at + 1 :]:
                if (
                    is_leader(self.words[after].text)
                    and len(self.words[after].text) < 2
                    and self.words[after].text in ".►"
                ):
                    break
                if self._apart(before, after, gap):
                    break
                run_words.append(after)
                before = after
        return [index for index in run_words if not is_leader(self.words[index].text)]

    def _left_of(self, line: list[int], start: int, leading: bool, gap: float) -> list[int]:
        run_words: list[int] = []
        after = start
        for before in reversed(line):
            lead = is_leader(self.words[before].text) or is_leader(self.words[after].text)
            if self._apart(before, after, 3.2 if lead and leading else gap):
                break
            if lead and not leading and self.words[before].text in ".►":
                break
            run_words.insert(0, before)
            after = before
        return run_words

    def _apart(self, before: int, after: int, gap: float) -> bool:
        left, right = self.words[before], self.words[after]
        return (
            right.box[0] - left.box[2] > gap * min(left.size, right.size)
            or self.rule_between(left.box[2] - 1, right.box[0] + 1, left.middle)
            or self.field_between(left.box[2] - 1, right.box[0] + 1, left.middle) is not None
        )

    def box(self, words: Iterable[int]) -> FloatBox:
        """Return the box around words."""
        boxes = [self.words[at].box for at in words]
        return (min(b[0] for b in boxes), min(b[1] for b in boxes), max(b[2] for b in boxes), max(b[3] for b in boxes))

    def letters(self, words: Iterable[int]) -> int:
        """Return the number of letters of words."""
        return sum(sign.isalpha() for at in words for sign in self.words[at].text)

    def same_column(self, box: FloatBox, other: FloatBox) -> bool:
        """Return whether two boxes are on the same side of the gap between two columns of text, if there is one."""
        if self.gutter is None:
            return True
        return not (box[2] <= self.gutter <= other[0] or other[2] <= self.gutter <= box[0])

    def _gutter(self) -> float | None:
        """Return the place of an empty upright strip in the middle of the page."""
        if len(self.words) < 40:
            return None
        left, right = min(word.box[0] for word in self.words), max(word.box[2] for word in self.words)
        boxes = [word.box for word in self.words] + [field.box for field in self.fields]
        for share in (0.5, 0.49, 0.51, 0.48, 0.52, 0.47, 0.53):
            x = left + share * (right - left)
            crossing = sum(box[0] - 3 < x < box[2] + 3 for box in boxes)
            beside = sum(box[0] > x for box in boxes)
            if crossing <= _GUTTER * len(boxes) and 0.2 < beside / len(boxes) < 0.8:
                return x
        return None
