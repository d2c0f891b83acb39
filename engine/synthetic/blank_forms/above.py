"""Print above a field, the head of its column in a table, and small print under a field."""

from __future__ import annotations

from itertools import pairwise

from engine.synthetic.blank_forms.beside import marker_before, without_marker
from engine.synthetic.blank_forms.layout import Layout, is_leader
from engine.synthetic.blank_forms.template import FormField
from model.boxes import FloatBox

_LINES = 6  # of a key
_PLACEHOLDERS = frozenset(("mm", "dd", "yyyy", "yy"))


def above_of(layout: Layout, field: FormField) -> tuple[list[int], FormField | None]:
    """Return the print above a field, and the topmost field of its column when others stand between."""
    top_of_column: FormField | None = None
    box = field.box
    while True:
        near = layout.between(box[1] - 48, box[1] + 0.35 * layout.size)
        beneath = [at for at in near if layout.words[at].box[0] < box[2] - 1 and layout.words[at].box[2] > box[0] + 1
                   and not is_leader(layout.words[at].text)]  # fmt: skip
        foot = max((layout.words[at].middle for at in beneath), default=box[1] - 48)
        upper = layout.field_over(box, foot, box[1] + 1, field)
        if upper is None:
            break
        same = abs(upper.box[0] - field.box[0]) < 3 and abs(upper.box[2] - field.box[2]) < 3
        if not same or upper.kind == "check" or box[1] - upper.box[3] > 4.5 * layout.size or upper.box[3] >= box[3]:
            return [], None
        top_of_column, box = upper, upper.box
    if not beneath:
        return [], None
    row = [at for at in beneath if layout.words[at].middle > foot - 0.4 * layout.size]
    cell = layout.in_cell(box, layout.words[row[0]].middle)
    bold = layout.words[row[0]].bold
    near_limit = 45 if cell else 2.4 * layout.size if bold else 0.9 * layout.size + 4
    if box[1] - max(layout.words[at].box[3] for at in row) > near_limit:
        return [], None
    text_run = layout.run_around(row[0], leading=False)
    run_box = layout.box(text_run)
    if not cell and layout.level_between(
        run_box[3] - 1, box[1] - 2.5, max(run_box[0], box[0]), min(run_box[2], box[2])
    ):
        return [], None
    if _is_shared(layout, top_of_column or field, run_box):
        return [], None
    if top_of_column is not None and not (box[0] - 12 <= run_box[0] and run_box[2] <= box[2] + 12):
        return [], None  # not the head of this column
    text_run = _column_head(layout, box, text_run)
    return without_marker(layout, text_run)[0], top_of_column


def _is_shared(layout: Layout, field: FormField, run: FloatBox) -> bool:
    """Return whether the print above a field stands above another one, too."""
    y = (field.box[1] + field.box[3]) / 2
    neighbours = [
        neighbour for neighbour in layout.fields
        if neighbour is not field and neighbour.box[1] <= y <= neighbour.box[3] and min(neighbour.box[2], run[2]) - max(neighbour.box[0], run[0]) > 6
    ]  # fmt: skip
    return bool(neighbours)


def _column_head(layout: Layout, box: FloatBox, run: list[int]) -> list[int]:
    """Return a run above a field with the lines above that it continues."""
    head = list(run)
    for _ in range(_LINES):
        first = layout.words[head[0]]
        extent = layout.box(head)
        if marker_before(layout, head):  # the first line of an item
            break
        wide = (min(extent[0], box[0]), max(extent[2], box[2]))
        over = [
            at for at in layout.between(first.middle - 1.6 * first.size, first.middle - 0.7 * first.size)
            if layout.words[at].box[0] >= wide[0] - 3 and layout.words[at].box[2] <= wide[1] + 3
            and abs(layout.words[at].size - first.size) < 0.2 * first.size and not is_leader(layout.words[at].text)
        ]  # fmt: skip
        if not over or layout.level_between(layout.words[over[0]].middle, first.middle, *wide):
            break
        above = layout.run_around(over[0], leading=False)
        outline = layout.box(above)
        if (
            outline[0] < wide[0] - 4
            or outline[2] > wide[1] + 4
            or layout.field_between(*wide, layout.words[over[0]].middle)
        ):
            break
        if layout.words[above[-1]].text[-1] in ".?:" and abs(outline[0] - extent[0]) < 2:
            break
        head = above + head
    return head


def below_of(layout: Layout, field: FormField) -> list[int]:
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
    if not line:
        return []
    if any(layout.words[b].box[0] - layout.words[a].box[2] > 24 for a, b in pairwise(line)):
        line = layout.run_around(first, leading=False)
    whole = set(layout.run_around(line[0], leading=False)) | set(layout.run_around(line[-1], leading=False))
    names = {layout.words[at].text.lower() for at in line if not is_leader(layout.words[at].text)}
    return line if len(line) < 8 and whole <= set(line) and not names <= _PLACEHOLDERS else []
