"""Keys of fields: the print left of a field, above it, below it, or right of a box to tick.

Fields whose key is not plain get none: a wrong key would teach a wrong answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from engine.synthetic.blank_forms.headings import heading_of, headings
from engine.synthetic.blank_forms.layout import Layout, Rules, is_leader, is_marker, is_number
from engine.synthetic.blank_forms.template import FormField, PrintedWord

LONGEST = 48  # words of a key
_LINES = 6  # of a key
_NEAR = 1.7  # distance of a key left of its field, in font sizes
_NO_HINT = re.compile(r"undefined|untitled|field|text\b|\[\d*\]|^\W*$", re.IGNORECASE)
_SMALL = frozenset("the of and to in a is for on or your you if any as by no".split())  # noqa: SIM905


@dataclass(slots=True)
class _Found:
    """Print left of a field: words of its key, its line number, and the field that stands between."""

    words: list[int]
    line: str = ""
    neighbour: FormField | None = None


def with_keys(
    words: Sequence[PrintedWord], fields: Sequence[FormField], rules: Rules, hints: Sequence[str]
) -> list[FormField]:
    """Return the fields with their keys; `hints` are further names of the fields in the file."""
    layout = Layout(words, fields, rules)
    captions = {at: field for field in fields if field.kind != "check" for at in _below(layout, field)}
    named = [_named(layout, field, hint, captions) for field, hint in zip(fields, hints, strict=True)]
    named = _rows_named(layout, fields, named)
    titles = headings(layout, {at for field in named for at in (*field.key, *field.column)})
    return [replace(field, heading=tuple(heading_of(layout, titles, field))) if field.key else field for field in named]


def _named(layout: Layout, field: FormField, hint: str, captions: Mapping[int, FormField]) -> FormField:
    if field.kind == "check":
        return _box_named(layout, field)
    if _has_print(layout, field):
        return field
    left = _left(layout, field)
    if _after_boxes(layout, left.words):
        return field
    above, over = _above(layout, field)
    below = _below(layout, field)
    if any(captions.get(at, field) is not field for at in above):
        above, over = [], None  # small print under another field
    wanted = _tokens(field.tooltip) if not _NO_HINT.search(field.tooltip) else set()
    wanted |= _tokens(" ".join(re.findall(r"[A-Z]?[a-z]{2,}", hint.rpartition(".")[2])))
    options = [words for words in (left.words, above, below) if words]
    best = max(options, key=lambda option: _agreement(layout, option, wanted), default=[])
    if (best and best is below and _agreement(layout, best, wanted) < 0.5) or best is not below:
        best = left.words or above
    if best is left.words and layout.letters(best) <= 2 and above:
        best = above
    if not _plain(layout, best):
        return replace(field, line=left.line)
    if best is above and over is not None:  # a cell of a table, under the key of its column
        return replace(field, key=tuple(above), line=left.line, table=layout.fields.index(over))
    return replace(field, key=tuple(best), line=left.line if best is left.words else _line_of(layout, best, left.line))


def _has_print(layout: Layout, field: FormField) -> bool:
    """Return whether letters are printed inside a field, as "MM" is: a value would lie over them."""
    x0, top, x1, bottom = field.box
    return any(
        x0 < (layout.words[at].box[0] + layout.words[at].box[2]) / 2 < x1 and not is_leader(layout.words[at].text)
        for at in layout.between(top + 1, bottom - 1)
    )


def _after_boxes(layout: Layout, words: Sequence[int]) -> bool:
    """Return whether print labels the last of several boxes to tick: a field after it belongs to all of them."""
    if not words:
        return False
    start, y = layout.box(words)[0], layout.words[words[0]].middle
    last = layout.field_between(start - 24, start + 1, y)
    if last is None or last.kind != "check":
        return False
    before = layout.field_between(last.box[0] - 80, last.box[0] + 1, y, last)
    return before is not None and before.kind == "check"


def _plain(layout: Layout, words: Sequence[int]) -> bool:
    return 0 < len(words) <= LONGEST and layout.letters(words) >= 2


def _left(layout: Layout, field: FormField) -> _Found:
    """Return the print left of a field: on its line, over dots and a column of line numbers."""
    x0, top, _, bottom = field.box
    foot = min(bottom, top + 2.2 * layout.size) if field.kind == "multiline" or bottom - top > 30 else bottom
    beside = [at for at in layout.between(top - 1.5, foot + 1.5) if layout.words[at].box[2] <= x0 + 6
              and layout.words[at].box[0] < x0 - 2]  # fmt: skip
    if not beside:
        return _Found([], neighbour=layout.field_between(x0 - 8, x0, (top + bottom) / 2, field))
    middle = (top + foot) / 2
    anchor = max(beside, key=lambda at: (round(layout.words[at].box[2] / 3), -abs(layout.words[at].middle - middle)))
    word = layout.words[anchor]
    y = word.middle
    between = layout.field_between(word.box[2] - 1, x0 + 1, min(max(y, top + 1), bottom - 1), field)
    if between is not None:
        return _Found([], neighbour=between)
    line, far = "", False
    text = word.text
    reach = _NEAR * max(word.size, 7)
    if is_marker(text) and x0 - word.box[2] < 2.5 * reach:
        line = text
        row = layout.line(anchor)
        further = row[: row.index(anchor)]
        if not further:
            return _Found([], line)
        nearest = further[-1]
        other = layout.words[nearest]
        between = layout.field_between(other.box[2] - 1, word.box[0] + 1, y, field)
        if between is not None:
            return _Found([], line, between)
        far = not is_leader(other.text) and word.box[0] - other.box[2] > 3.5 * word.size
        if not is_number(text):  # the letter of a row
            return _Found([], line)
        anchor = nearest
    elif x0 - word.box[2] > reach or layout.rule_between(word.box[2], x0 - 2.5, y):
        return _Found([], neighbour=None)
    run = layout.run(anchor, leading=True, right=False)
    run, number = _without_marker(layout, run)
    if not run:
        return _Found([], line or number)
    number = number or _marker_before(layout, run)
    lines = _lines_above(layout, field, run, bool(number))
    first, found_number = _without_marker(layout, lines)
    number = number or found_number or _marker_before(layout, first)
    if far and number.strip("().") not in (line.strip("()."), line.strip("().")[-1:]):
        return _Found([], line)  # text of another column of the page
    return _Found(first, _joined(line, number))


def _joined(line: str, number: str) -> str:
    """Return the fuller one of two numbers of a line: "1b" in the column of numbers, "b" before the text."""
    line, number = line.strip("()."), number.strip("()")
    return line if is_number(line) or not number else number.rstrip(".")


def _without_marker(layout: Layout, run: Sequence[int]) -> tuple[list[int], str]:
    """Return a run without the number of its line, and the number."""
    if len(run) > 1 and is_marker(layout.words[run[0]].text):
        first, second = layout.words[run[0]], layout.words[run[1]]
        number = is_number(first.text) or first.text.endswith((")", "."))
        wide = second.box[0] - first.box[2] > 0.55 * first.size
        if wide or (number and first.text.endswith((")", "."))) or (first.bold and not second.bold):
            return list(run[1:]), first.text
    return list(run), ""


def _marker_before(layout: Layout, run: Sequence[int]) -> str:
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
    found = list(run)
    while not numbered and len(found) <= LONGEST:
        first = layout.words[found[0]]
        start = layout.box(found)[0]
        over = [
            at for at in layout.between(first.middle - 1.5 * first.size, first.middle - 0.7 * first.size)
            if abs(layout.words[at].box[0] - start) < 2.5 and abs(layout.words[at].size - first.size) < 0.15 * first.size
            and not is_leader(layout.words[at].text)
        ]  # fmt: skip
        if not over:
            break
        above = layout.run(over[-1], leading=False, left=False)
        word = layout.words[over[-1]]
        if layout.level_between(word.middle, first.middle, *(layout.box(above)[0::2])):
            break
        end = layout.box(above)[2]
        owner = layout.field_between(word.box[0] - 14, end + 60, word.middle, field)
        if owner is not None or (word.bold != first.bold and word.bold and not _ends_open(layout, above)):
            break
        numbered = bool(_marker_before(layout, above)) or bool(_without_marker(layout, above)[1])
        found = above + found
        if not _ends_open(layout, above) and not numbered and layout.words[above[-1]].text[-1] in ".:?":
            found = found[len(above) :]
            break
        if found.count(found[0]) > 1:
            break
    return found


def _ends_open(layout: Layout, run: Sequence[int]) -> bool:
    return layout.words[run[-1]].text[-1] not in ".:?!"


def _above(layout: Layout, field: FormField) -> tuple[list[int], FormField | None]:
    """Return the print above a field, and the topmost field of its column when others stand between."""
    top_of_column: FormField | None = None
    box = field.box
    while True:
        near = layout.between(box[1] - 48, box[1] + 0.35 * layout.size)
        beneath = [at for at in near if layout.words[at].box[0] < box[2] - 1 and layout.words[at].box[2] > box[0] + 1
                   and not is_leader(layout.words[at].text)]  # fmt: skip
        foot = max((layout.words[at].middle for at in beneath), default=box[1] - 48)
        other = layout.field_over(box, foot, box[1] + 1, field)
        if other is None:
            break
        same = abs(other.box[0] - field.box[0]) < 3 and abs(other.box[2] - field.box[2]) < 3
        if not same or other.kind == "check" or box[1] - other.box[3] > 2.5 * layout.size or other.box[3] >= box[3]:
            return [], None
        top_of_column, box = other, other.box
    if not beneath:
        return [], None
    row = [at for at in beneath if layout.words[at].middle > foot - 0.4 * layout.size]
    cell = layout.in_cell(box, layout.words[row[0]].middle)
    bold = layout.words[row[0]].bold
    near_limit = 45 if cell else 2.4 * layout.size if bold else 0.9 * layout.size + 4
    if box[1] - max(layout.words[at].box[3] for at in row) > near_limit:
        return [], None
    run = layout.run(row[0], leading=False)
    run_box = layout.box(run)
    if not cell and layout.level_between(
        run_box[3] - 1, box[1] - 2.5, max(run_box[0], box[0]), min(run_box[2], box[2])
    ):
        return [], None
    if _shared(layout, field, run_box) and top_of_column is None:
        return [], None
    run = _column_head(layout, box, run)
    return _without_marker(layout, run)[0], top_of_column


def _shared(layout: Layout, field: FormField, run: tuple[float, float, float, float]) -> bool:
    """Return whether the print above a field stands above another one, too."""
    y = (field.box[1] + field.box[3]) / 2
    others = [
        other for other in layout.fields
        if other is not field and other.box[1] <= y <= other.box[3] and min(other.box[2], run[2]) - max(other.box[0], run[0]) > 6
    ]  # fmt: skip
    return bool(others)


def _column_head(layout: Layout, box: tuple[float, float, float, float], run: list[int]) -> list[int]:
    """Return a run above a field with the lines above that it continues."""
    found = list(run)
    for _ in range(_LINES):
        first = layout.words[found[0]]
        extent = layout.box(found)
        wide = (min(extent[0], box[0]), max(extent[2], box[2]))
        over = [
            at for at in layout.between(first.middle - 1.6 * first.size, first.middle - 0.7 * first.size)
            if layout.words[at].box[0] >= wide[0] - 3 and layout.words[at].box[2] <= wide[1] + 3
            and abs(layout.words[at].size - first.size) < 0.2 * first.size and not is_leader(layout.words[at].text)
        ]  # fmt: skip
        if not over or layout.level_between(layout.words[over[0]].middle, first.middle, *wide):
            break
        above = layout.run(over[0], leading=False)
        outline = layout.box(above)
        if (
            outline[0] < wide[0] - 4
            or outline[2] > wide[1] + 4
            or layout.field_between(*wide, layout.words[over[0]].middle)
        ):
            break
        if layout.words[above[-1]].text[-1] in ".?:" and abs(outline[0] - extent[0]) < 2:
            break
        found = above + found
    return found


def _below(layout: Layout, field: FormField) -> list[int]:
    """Return small print right under a field."""
    x0, _, x1, bottom = field.box
    under = [
        at for at in layout.between(bottom - 2, bottom + 1.4 * layout.size)
        if layout.words[at].box[0] > x0 - 3 and layout.words[at].box[0] < x1 - 4 and layout.words[at].size <= 1.05 * layout.size
        and layout.words[at].box[1] > bottom - 4 and not is_leader(layout.words[at].text)
    ]  # fmt: skip
    if not under:
        return []
    first = min(under, key=lambda at: (round(layout.words[at].middle / 4), layout.words[at].box[0]))
    line = [
        at
        for at in layout.line(first)
        if x0 - 3 < layout.words[at].box[0] < x1 - 4 and layout.words[at].box[2] < x1 + 40
    ]
    return line if len(line) < 8 else []


def _box_named(layout: Layout, field: FormField) -> FormField:
    """Return a box to tick with the print right of it as its key, else the print left of it."""
    x0, top, x1, bottom = field.box
    middle = (top + bottom) / 2
    right = [at for at in layout.between(top - 1, bottom + 1)
             if -4 <= layout.words[at].box[0] - x1 < 1.5 * layout.size and not is_leader(layout.words[at].text)]  # fmt: skip
    if right:
        start = min(
            right, key=lambda at: (round(layout.words[at].box[0] - x1) // 4, abs(layout.words[at].middle - middle))
        )
        run = layout.run(start, leading=False, left=False, gap=0.9)
        label = _continued(layout, field, run)
        return replace(field, key=tuple(label)) if _plain(layout, label) else field
    found = _left(layout, field)
    return replace(field, key=tuple(found.words), line=found.line) if _plain(layout, found.words) else field


def _continued(layout: Layout, field: FormField, run: list[int]) -> list[int]:
    """Return the label of a box with the lines below that continue it."""
    found = list(run)
    last = run
    for _ in range(3):
        word = layout.words[last[0]]
        start = layout.words[run[0]].box[0]
        under = [
            at for at in layout.between(word.middle + 0.7 * word.size, word.middle + 1.35 * word.size)
            if start - 2 < layout.words[at].box[0] < start + 1.2 * word.size and abs(layout.words[at].size - word.size) < 0.15 * word.size
        ]  # fmt: skip
        if not under or (not _ends_open(layout, last) and len(last) < 4):
            break
        beside = layout.field_between(field.box[0] - 4, start + 1, layout.words[under[0]].middle, field)
        if beside is not None or is_leader(layout.words[under[0]].text):
            break
        last = layout.run(under[0], leading=False, left=False, gap=0.9)
        found += last
    return found


def _rows_named(layout: Layout, fields: Sequence[FormField], named: Sequence[FormField]) -> list[FormField]:
    """Give the cells of a row its key and the head of their column; cells without a head lose the row's key."""
    place = {id(field): at for at, field in enumerate(fields)}
    row_of: dict[int, int] = {}  # field -> first field of its row
    for at in sorted(range(len(fields)), key=lambda at: fields[at].box[0]):
        if fields[at].kind == "check":
            continue
        left = _left(layout, fields[at])
        other = left.neighbour
        if other is None or other.kind == "check" or left.words:
            continue
        before = place[id(other)]
        first = row_of.get(before, before)
        if (
            fields[at].box[0] - other.box[2] < 14
            and abs(other.box[3] - fields[at].box[3]) < 3
            and _from_left(layout, fields[first], named[first])
        ):
            row_of[at] = first
    rows = {first: [first, *(at for at in row_of if row_of[at] == first)] for first in row_of.values()}
    found = list(named)
    for first, members in rows.items():
        heads = [_above(layout, fields[at])[0] for at in members]
        whole = all(heads) and len({layout_text(layout, head) for head in heads}) == len(heads)
        for at, head in zip(members, heads, strict=True):
            key = named[first].key if whole else ()
            if at != first and named[at].key and not whole:
                continue
            found[at] = replace(
                named[at], key=key, line=named[first].line, column=tuple(head) if whole else (), table=-1
            )
    return found


def _from_left(layout: Layout, field: FormField, named: FormField) -> bool:
    return bool(named.key) and layout.box(named.key)[2] <= field.box[0] + 3


def layout_text(layout: Layout, words: Sequence[int]) -> str:
    """Return the text of words."""
    return " ".join(layout.words[at].text for at in words)


def _line_of(layout: Layout, words: Sequence[int], line: str) -> str:
    return _marker_before(layout, words).strip("().") or line.strip("().")


def _tokens(text: str) -> set[str]:
    return {token for token in re.findall(r"[a-z]{2,}", text.lower()) if token not in _SMALL}


def _agreement(layout: Layout, words: Sequence[int], wanted: set[str]) -> float:
    """Return the share of a key's words that a field's names in the file have, too."""
    own = _tokens(layout_text(layout, words))
    return len(own & wanted) / len(own) if own else 0.0
