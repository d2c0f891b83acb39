"""Keys of fields: the print left of a field, above it, below it, or right of a box to tick.

Fields whose key is not plain get none: a wrong key would teach a wrong answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from engine.synthetic.blank_forms.above import above_of, below_of
from engine.synthetic.blank_forms.beside import is_plain, left_of, marker_before
from engine.synthetic.blank_forms.boxes import box_named, with_groups
from engine.synthetic.blank_forms.headings import heading_of, headings
from engine.synthetic.blank_forms.layout import Layout, Rules, is_leader, is_number
from engine.synthetic.blank_forms.template import FormField, PrintedWord

_NO_HINT = re.compile(r"undefined|untitled|field|text\b|\[\d*\]|^\W*$", re.IGNORECASE)
_ALIGNED = 4.0  # points: greatest distance of the left edges of a field and of its key above
_SHORT = 4  # letters of the label of a box, as "Flr."
_FEWEST_TOOLTIPS = 3  # beside printed keys, to judge the tooltips of a page
_TRUSTED = 0.85  # share of tooltips that have a word of the printed key
_CAPTION = 0.95  # size of small print, relative to the print of the page
_SMALL = frozenset("the of and to in a is for on or your you if any as by no".split())  # noqa: SIM905


def with_keys(
    words: Sequence[PrintedWord], fields: Sequence[FormField], rules: Rules, hints: Sequence[str]
) -> list[FormField]:
    """Return the fields with their keys; `hints` are further names of the fields in the file."""
    layout = Layout(words, fields, rules)
    wanted = [_read_hints(field, hint) for field, hint in zip(fields, hints, strict=True)]
    captions = _captions(layout, fields, wanted)
    named = [_name_field(layout, field, names, captions) for field, names in zip(fields, wanted, strict=True)]
    named = _name_rows(layout, fields, named)
    named = _with_tooltips(layout, with_groups(layout, named))
    titles = headings(layout, {at for field in named for at in (*field.key, *field.column)})
    return [
        replace(field, heading=tuple(heading_of(layout, titles, field)), money=_is_money(layout, field))
        if field.is_named and field.kind != "check"
        else field
        for field in named
    ]


def _read_hints(field: FormField, hint: str) -> set[str]:
    """Return the words of a field's names in the file: its tooltip, and the last part of its path."""
    words = _tokens(field.tooltip) if not _NO_HINT.search(field.tooltip) else set()
    return words | _tokens(" ".join(re.findall(r"[A-Z]?[a-z]{2,}", hint.rpartition(".")[2])))


def _captions(layout: Layout, fields: Sequence[FormField], wanted: Sequence[set[str]]) -> dict[int, FormField] | None:
    """Return the small print under fields, by its words; None where keys stand above, as the fields' names tell."""
    captions: dict[int, FormField] = {}
    under = over = 0
    for field, names in zip(fields, wanted, strict=True):
        if field.kind == "check" or not names:
            continue
        below, above = below_of(layout, field), above_of(layout, field)[0]
        agreed = _agreement(layout, below, names), _agreement(layout, above, names)
        under += agreed[0] >= 0.5 and agreed[0] > agreed[1]
        over += agreed[1] >= 0.5 and agreed[1] > agreed[0]
    if under < 2 or under <= over:
        return None
    for field in fields:
        if field.kind != "check":
            captions |= dict.fromkeys(below_of(layout, field), field)
    return captions


def _name_field(
    layout: Layout, field: FormField, wanted: set[str], captions: Mapping[int, FormField] | None
) -> FormField:
    if field.kind == "check":
        return box_named(layout, field)
    if _has_print(layout, field):
        return field
    left = left_of(layout, field)
    if _after_boxes(layout, left.words):
        return field
    above, over = above_of(layout, field)
    below = below_of(layout, field) if captions is not None else []
    if captions is not None and any(captions.get(at, field) is not field for at in above):
        above, over = [], None  # small print under another field
    beside = left.words if layout.letters(left.words) > 2 or not above else []
    if beside and above and not left.line and abs(layout.box(above)[0] - field.box[0]) < _ALIGNED:
        # Print of the column beside, or the key: the names in the file tell.
        agreed = _agreement(layout, beside, wanted), _agreement(layout, above, wanted)
        if agreed[0] == agreed[1]:
            return field
        beside = beside if agreed[0] > agreed[1] else []
    best = beside or ([] if left.apart else above)
    matched = _agreement(layout, below, wanted)
    if matched >= 0.5 and matched > _agreement(layout, best, wanted):
        best = below
    elif best is above and captions is None and _has_caption(layout, field) and not _agreement(layout, above, wanted):
        return field  # print above and small print under it: either may be its key
    if not is_plain(layout, best):
        return replace(field, line=left.line)
    if best is above and over is not None and is_number(left.line):
        return replace(field, line=left.line)  # its row has a key of its own
    if best is above and over is not None:  # a cell of a table, under the key of its column
        return replace(field, key=tuple(above), line=left.line, table=layout.fields.index(over))
    line = left.line if best is left.words else marker_before(layout, best).strip("().") or left.line.strip("().")
    return replace(field, key=tuple(best), line=line)


def _is_money(layout: Layout, field: FormField) -> bool:
    """Return whether a sign of currency is printed at the left edge of a field."""
    return any(
        layout.words[at].text.endswith(("$", "€", "£")) and -12 < field.box[0] - layout.words[at].box[2] < 12
        for at in layout.between(field.box[1], field.box[3])
    )


def _with_tooltips(layout: Layout, fields: Sequence[FormField]) -> list[FormField]:
    """Return the fields with the tooltips that name them; none on a page where tooltips contradict the print."""
    telling = [bool(_tokens(field.tooltip)) and not _NO_HINT.search(field.tooltip) for field in fields]
    both = [
        bool(_tokens(field.tooltip) & _tokens(layout_text(layout, field.key)))
        for field, tells in zip(fields, telling, strict=True)
        if tells and field.key
    ]
    trusted = len(both) >= _FEWEST_TOOLTIPS and sum(both) >= _TRUSTED * len(both)
    return [
        field if trusted and tells and (field.key or len(_tokens(field.tooltip)) > 1) else replace(field, tooltip="")
        for field, tells in zip(fields, telling, strict=True)
    ]


def _has_caption(layout: Layout, field: FormField) -> bool:
    """Return whether small print stands right under a field, and over no other one."""
    words = below_of(layout, field)
    if not words or layout.words[words[0]].size > _CAPTION * layout.size:
        return False
    x0, _, x1, foot = layout.box(words)
    return not any(
        -3 < neighbour.box[1] - foot < 2 * layout.size and neighbour.box[0] < x1 and neighbour.box[2] > x0
        for neighbour in layout.fields
    )


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
    if layout.letters(words) <= _SHORT:
        return True
    before = layout.field_between(last.box[0] - 80, last.box[0] + 1, y, last)
    return before is not None and before.kind == "check"


def _name_rows(layout: Layout, fields: Sequence[FormField], named: Sequence[FormField]) -> list[FormField]:
    """Give the cells of a row its key and the head of their column; cells without a head lose the row's key."""
    place = {id(field): at for at, field in enumerate(fields)}
    row_of: dict[int, int] = {}  # field -> first field of its row
    for at in sorted(range(len(fields)), key=lambda at: fields[at].box[0]):
        if fields[at].kind == "check":
            continue
        left = left_of(layout, fields[at])
        neighbour = left.neighbour
        if neighbour is None or neighbour.kind == "check" or left.words:
            continue
        before = place[id(neighbour)]
        first = row_of.get(before, before)
        if (
            fields[at].box[0] - neighbour.box[2] < 110
            and abs(neighbour.box[3] - fields[at].box[3]) < 3
            and _from_left(layout, fields[first], named[first])
        ):
            row_of[at] = first
    rows = {first: [first, *(at for at in row_of if row_of[at] == first)] for first in row_of.values()}
    cells = list(named)
    for first, members in rows.items():
        heads = [above_of(layout, fields[at])[0] for at in members]
        whole = all(heads) and len({layout_text(layout, head) for head in heads}) == len(heads)
        for at, head in zip(members, heads, strict=True):
            key = named[first].key if whole else ()
            if at != first and named[at].key and not whole:
                continue
            cells[at] = replace(
                named[at], key=key, line=named[first].line, column=tuple(head) if whole else (), table=-1
            )
    return cells


def _from_left(layout: Layout, field: FormField, named: FormField) -> bool:
    return bool(named.key) and layout.box(named.key)[2] <= field.box[0] + 3


def layout_text(layout: Layout, words: Sequence[int]) -> str:
    """Return the text of words."""
    return " ".join(layout.words[at].text for at in words)


def _tokens(text: str) -> set[str]:
    return {token for token in re.findall(r"[a-z]{2,}", text.lower()) if token not in _SMALL}


def _agreement(layout: Layout, words: Sequence[int], wanted: set[str]) -> float:
    """Return the share of a key's words that a field's names in the file have, too."""
    own = _tokens(layout_text(layout, words))
    return len(own & wanted) / len(own) if own else 0.0
