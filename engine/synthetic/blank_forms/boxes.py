"""Boxes to tick: their labels, and the questions that several of them answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.synthetic.blank_forms.beside import ends_open, is_plain, left_of, marker_before
from engine.synthetic.blank_forms.layout import Layout, is_leader, is_number
from engine.synthetic.blank_forms.template import FormField

_LONGEST_LABEL = 6  # words of an answer to a question with several boxes
_ROW = 4.0  # points: difference of heights of boxes on a line


def box_named(layout: Layout, field: FormField) -> FormField:
    """Return a box to tick with the print right of it as its key, else the print left of it."""
    _, top, x1, bottom = field.box
    middle = (top + bottom) / 2
    right = [at for at in layout.between(top - 1, bottom + 1)
             if -4 <= layout.words[at].box[0] - x1 < 1.5 * layout.size and not is_leader(layout.words[at].text)]  # fmt: skip
    if right:
        start = min(
            right, key=lambda at: (round(layout.words[at].box[0] - x1) // 4, abs(layout.words[at].middle - middle))
        )
        run = layout.run_around(start, leading=False, left=False, gap=0.9)
        label = _continue_label(layout, field, run) if is_plain(layout, run) else []
        return replace(field, key=tuple(label)) if is_plain(layout, label) else field
    left = left_of(layout, field)
    if left.words and abs(layout.words[left.words[-1]].middle - middle) > 0.6 * layout.size:
        return field
    return replace(field, key=tuple(left.words), line=left.line) if is_plain(layout, left.words) else field


def _continue_label(layout: Layout, field: FormField, run: list[int]) -> list[int]:
    """Return the label of a box with the lines below that continue it."""
    label = list(run)
    last = run
    for _ in range(3):
        word = layout.words[last[0]]
        start = layout.words[run[0]].box[0]
        under = [
            at for at in layout.between(word.middle + 0.7 * word.size, word.middle + 1.35 * word.size)
            if start - 2 < layout.words[at].box[0] < start + 1.2 * word.size and abs(layout.words[at].size - word.size) < 0.15 * word.size
        ]  # fmt: skip
        if not under or (not ends_open(layout, last) and len(last) < 4):
            break
        beside = layout.field_between(field.box[0] - 4, start + 1, layout.words[under[0]].middle, field)
        if beside is not None or is_leader(layout.words[under[0]].text):
            break
        last = layout.run_around(under[0], leading=False, left=False, gap=0.9)
        label += last
    return label


def with_groups(layout: Layout, fields: Sequence[FormField]) -> list[FormField]:
    """Return the fields; boxes on one line that answer one question have its words as their group."""
    grouped = list(fields)
    boxes = sorted(
        (at for at, field in enumerate(fields) if field.kind == "check" and field.key),
        key=lambda at: (round(fields[at].box[1] / _ROW), fields[at].box[0]),
    )
    rows: list[list[int]] = []
    for at in boxes:
        last = rows[-1][-1] if rows else None
        if last is not None and _neighbours(layout, fields[last], fields[at]):
            rows[-1].append(at)
        else:
            rows.append([at])
    for row in rows:
        if len(row) < 2 or any(len(fields[at].key) > _LONGEST_LABEL for at in row):
            continue
        question = _question(layout, fields[row[0]])
        if question:
            for at in row:
                grouped[at] = replace(grouped[at], group=tuple(question))
    return grouped


def _neighbours(layout: Layout, left: FormField, right: FormField) -> bool:
    """Return whether a box follows the label of another one on its line."""
    end = layout.box(left.key)[2]
    return (
        abs(left.box[1] - right.box[1]) < _ROW
        and -2 < right.box[0] - end < 90
        and layout.same_column(left.box, right.box)
        and not layout.rule_between(end, right.box[0], (right.box[1] + right.box[3]) / 2)
    )


def _question(layout: Layout, first: FormField) -> list[int]:
    """Return the question left of the first box of a line, else the one above it."""
    beside = left_of(layout, first)
    if beside.words:
        asked = bool(beside.line) or layout.words[beside.words[-1]].text[-1] in "?:"
        return beside.words if is_plain(layout, beside.words) and asked else []
    y = first.box[1]
    over = [
        at for at in layout.between(y - 2.2 * layout.size, y)
        if first.box[0] - 40 < layout.words[at].box[0] < first.box[0] + 200 and not is_leader(layout.words[at].text)
        and layout.same_column(layout.words[at].box, first.box)
    ]  # fmt: skip
    if not over or beside.apart:
        return []
    run = layout.run_around(over[-1], leading=False)
    labelled = any(field.kind == "check" and set(field.key) & set(run) for field in layout.fields)
    asks = layout.words[run[-1]].text[-1] in "?:" or is_number(marker_before(layout, run))
    return run if asks and not labelled and is_plain(layout, run) and layout.box(run)[0] < first.box[0] + 5 else []
