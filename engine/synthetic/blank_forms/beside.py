"""Print left of a field: its key, over dots and a column of line numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.synthetic.blank_forms.layout import Layout, is_leader, is_marker, is_number
from engine.synthetic.blank_forms.template import FormField

LONGEST = 48  # words of a key
_NEAR = 1.7  # distance of a key left of its field, in font sizes
_FAR = 200.0  # points: distance of a key at the left edge of its column from a field at the right edge
_ALIGNED = 3.0  # points
_STACK = 60.0  # points between two fields one under the other
_SIGNS = ("$", "+", "–", "-", "(", "►", "+$", "–$", "-$", "=")


@dataclass(slots=True)
class Beside:
    """Print left of a field: words of its key, and its line number.

    `neighbour`: field that stands between. `apart`: there is print on the line, and it is no key.
    """

    words: list[int]
    line: str = ""
    neighbour: FormField | None = None
    apart: bool = False


def left_of(layout: Layout, field: FormField) -> Beside:
    """Return the print left of a field: on its line, over dots and a column of line numbers."""
    x0, top, _, bottom = field.box
    foot = min(bottom, top + 2.2 * layout.size) if field.kind == "multiline" or bottom - top > 30 else bottom
    beside = [at for at in layout.between(top - 1.5, foot + 1.5) if layout.words[at].box[2] <= x0 + 6
              and layout.words[at].box[0] < x0 - 2]  # fmt: skip
    if not beside:
        return Beside([], neighbour=layout.field_between(x0 - 8, x0, (top + bottom) / 2, field))
    middle = (top + foot) / 2
    anchor = max(beside, key=lambda at: (round(layout.words[at].box[2] / 3), -abs(layout.words[at].middle - middle)))
    while layout.words[anchor].text in _SIGNS:
        row = layout.line(anchor)
        before = [
            at
            for at in row[: row.index(anchor)]
            if layout.words[anchor].box[0] - layout.words[at].box[2] < 3 * layout.size
        ]
        if not before:
            break
        anchor = before[-1]
    word = layout.words[anchor]
    y = word.middle
    between = layout.field_between(word.box[2] - 1, x0 + 1, min(max(y, top + 1), bottom - 1), field)
    if between is not None:
        return Beside([], neighbour=between)
    line, far = "", False
    text = word.text
    reach = _NEAR * max(word.size, 7)
    if is_marker(text) and x0 - word.box[2] < 2.5 * reach and not _in_text(layout, anchor):
        line = text
        row = layout.line(anchor)
        further = row[: row.index(anchor)]
        if not further:
            return Beside([], line)
        nearest = further[-1]
        nearest_word = layout.words[nearest]
        between = layout.field_between(nearest_word.box[2] - 1, word.box[0] + 1, y, field)
        if between is not None:
            return Beside([], line, between)
        far = not is_leader(nearest_word.text) and word.box[0] - nearest_word.box[2] > 3.5 * word.size
        if not is_number(text) or not layout.same_column(
            nearest_word.box, field.box
        ):  # the letter of a row, or its first line
            return Beside([], line)
        anchor = nearest
    elif layout.rule_between(word.box[2], x0 - 2.5, y):
        return Beside([])
    elif x0 - word.box[2] > reach:
        far = True
        if x0 - word.box[2] > _FAR or not layout.same_column(word.box, field.box) or is_leader(text):
            return Beside([])
    run = layout.run_around(anchor, leading=True, right=False)
    run, number = without_marker(layout, run)
    if not run:
        return Beside([], line or number, apart=far)
    number = number or marker_before(layout, run)
    lines = _lines_above(layout, field, run, bool(number))
    first, inner_number = without_marker(layout, lines)
    number = number or inner_number or marker_before(layout, first)
    if far and not (line or is_number(number) or _is_stacked(layout, field, first)):
        return Beside([], apart=True)
    if far and line and number.strip("().") not in (line.strip("()."), line.strip("().")[-1:]):
        return Beside([], line)  # text of another column of the page
    return Beside(first, _choose_number(line, number))


def _is_stacked(layout: Layout, field: FormField, run: Sequence[int]) -> bool:
    """Return whether a field and a key some way left of it are one of several aligned pairs."""
    if not run or field.kind == "check":
        return False
    start = layout.box(run)[0]
    for other_field in layout.fields:
        near = 0 < abs(other_field.box[1] - field.box[1]) < _STACK and abs(other_field.box[0] - field.box[0]) < _ALIGNED
        if (
            near
            and other_field.kind != "check"
            and any(
                abs(layout.words[at].box[0] - start) < _ALIGNED
                for at in layout.between(other_field.box[1], other_field.box[3])
            )
        ):
            return True
    return False


def _in_text(layout: Layout, at: int) -> bool:
    """Return whether a word follows another one at the distance of a space, as "1" in "Debtor 1"."""
    row = layout.line(at)
    before = row[: row.index(at)]
    word = layout.words[at]
    return (
        bool(before)
        and word.box[0] - layout.words[before[-1]].box[2] < 0.45 * word.size
        and not is_leader(layout.words[before[-1]].text)
    )


def _choose_number(line: str, number: str) -> str:
    """Return the fuller one of two numbers of a line: "1b" in the column of numbers, "b" before the text."""
    line, number = line.strip("()."), number.strip("()")
    return line if is_number(line) or not number else number.rstrip(".")


def without_marker(layout: Layout, run: Sequence[int]) -> tuple[list[int], str]:
    """Return a run without the number of its line, and the number."""
    if len(run) > 1 and is_marker(layout.words[run[0]].text):
        first, second = layout.words[run[0]], layout.words[run[1]]
        number = is_number(first.text) or first.text.endswith((")", "."))
        wide = second.box[0] - first.box[2] > 0.55 * first.size
        if wide or (number and first.text.endswith((")", "."))) or (first.bold and not second.bold):
            return list(run[1:]), first.text
    return list(run), ""


def marker_before(layout: Layout, run: Sequence[int]) -> str:
    """Return the number of a line that stands some way left of its text."""
    if not run:
        return ""
    first = layout.words[run[0]]
    before = [at for at in layout.line(run[0]) if layout.words[at].box[2] <= first.box[0]]
    if not before:
        return ""
    word = layout.words[before[-1]]
    near = first.box[0] - word.box[2] < 4 * first.size
    return word.text if near and is_marker(word.text) and (is_number(word.text) or word.bold) else ""


def _lines_above(layout: Layout, field: FormField, run: list[int], numbered: bool) -> list[int]:
    """Return a run with the lines above that it continues."""
    words = list(run)
    while not numbered and len(words) <= LONGEST:
        first = layout.words[words[0]]
        start = layout.box(words)[0]
        over = [
            at for at in layout.between(first.middle - 1.5 * first.size, first.middle - 0.7 * first.size)
            if abs(layout.words[at].box[0] - start) < 2.5 and abs(layout.words[at].size - first.size) < 0.15 * first.size
            and not is_leader(layout.words[at].text)
        ]  # fmt: skip
        if not over:
            break
        above = layout.run_around(over[-1], leading=False, left=False)
        word = layout.words[over[-1]]
        if layout.level_between(word.middle, first.middle, *(layout.box(above)[0::2])):
            break
        end = layout.box(above)[2]
        owner = layout.field_between(word.box[0] - 14, end + 60, word.middle, field)
        if owner is not None or (word.bold and not first.bold and not ends_open(layout, above)):
            break
        numbered = bool(marker_before(layout, above)) or bool(without_marker(layout, above)[1])
        words = above + words
        if not ends_open(layout, above) and not numbered and layout.words[above[-1]].text[-1] in ".:?":
            words = words[len(above) :]
            break
        if words.count(words[0]) > 1:
            break
    return words


def ends_open(layout: Layout, run: Sequence[int]) -> bool:
    """Return whether a line of print goes on in the next one."""
    return layout.words[run[-1]].text[-1] not in ".:?!"


def is_plain(layout: Layout, words: Sequence[int]) -> bool:
    """Return whether words are a key that a person could name."""
    return 0 < len(words) <= LONGEST and layout.letters(words) >= 2
