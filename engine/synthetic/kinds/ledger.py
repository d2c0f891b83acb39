"""Tables with given contents, which must be consistent: running balances, sums, limits.

`grid` makes tables with random contents; here the kind of page determines each cell and asks about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from engine.synthetic import questions
from engine.synthetic.canvas import Face, Panel, Written, break_lines
from engine.synthetic.kinds.forms.style import Form

Ruling = Literal["none", "head", "rows", "grid", "bands", "columns"]
RULINGS: tuple[Ruling, ...] = ("none", "head", "head", "rows", "grid", "bands", "columns")


@dataclass(frozen=True, slots=True)
class Column:
    """Column; `flexible` takes the remaining width and wraps its text."""

    head: str
    align: str = "r"  # one of "lrc"
    flexible: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """Row of a table; `strong` rows (totals) are bold under a line."""

    cells: tuple[str, ...]
    strong: bool = False


@dataclass(slots=True)
class Ledger:
    """Table after layout: pieces of cells by (row, column), of heads, column edges, and its foot."""

    columns: Sequence[Column]
    heads: list[list[int]] = field(default_factory=list)
    cells: dict[tuple[int, int], list[int]] = field(default_factory=dict)
    edges: list[float] = field(default_factory=list)
    rows: int = 0
    foot: float = 0.0

    def column(self, number: int, rows: Sequence[int]) -> list[int]:
        """Return the pieces of one column in the given rows, from the top."""
        return [piece for row in rows for piece in self.cells.get((row, number), ())]

    def row(self, number: int) -> list[int]:
        """Return the pieces of one row, from the left."""
        return [piece for at in range(len(self.columns)) for piece in self.cells.get((number, at), ())]


def set_table(
    form: Form,
    columns: Sequence[Column],
    rows: Sequence[Row],
    y: float,
    *,
    left: float | None = None,
    right: float | None = None,
    face: Face | None = None,
    ruling: Ruling | None = None,
    step: float | None = None,
    least: float = 0.0,
    above: float = 0.0,
    head_case: bool = True,
) -> Ledger:
    """Set a table with its heads at `y`; rows below the foot of the page are left out.

    `step`: distance of rows in ems; `least`: least height of an open frame in pixels, as on printed forms.
    `above`: pixels above the heads that belong to the table, for an upper row of heads.
    """
    rng, canvas = form.rng, form.canvas
    left = form.left if left is None else left
    right = form.right if right is None else right
    face = face or form.value_face
    ruling_style: Ruling = rng.choice(RULINGS) if ruling is None else ruling
    step = (step or rng.uniform(1.35, 1.9)) * face.size
    heads = [form.case(column.head) if head_case else column.head for column in columns]
    head_face = form.key_face.scale(min(1.0, face.size / form.key_face.size), bold=rng.random() < 0.6)
    widths, face, head_face = _widths(columns, heads, rows, right - left, face, head_face)
    ledger = Ledger(columns, edges=[left])
    for width in widths:
        ledger.edges.append(ledger.edges[-1] + width)
    top = y - 0.35 * face.size
    lines = [
        break_lines(head_face, head, width - _pad(face)) or [""] for head, width in zip(heads, widths, strict=True)
    ]
    tallest = max(len(head_lines) for head_lines in lines)
    for at, head_lines in enumerate(lines):
        ledger.heads.append([])
        for number, text in enumerate(head_lines):
            down = (tallest - len(head_lines) + number) * 1.15 * head_face.size
            ledger.heads[-1] += _write_aligned(form, ledger, at, text, y + down, head_face).pieces
    at_y = y + (tallest - 1) * 1.15 * head_face.size + step * 1.12
    line_ys = [top, at_y - 0.35 * face.size]
    if ruling_style in ("bands", "head") and rng.random() < 0.5:
        grey = rng.randint(205, 232)
        canvas.panels.append(Panel((left, top, right, line_ys[1]), (grey, grey, min(255, grey + rng.randint(0, 12)))))
    for number, row in enumerate(rows):
        in_face = face.scale(1.0, bold=True) if row.strong else face
        texts = [
            break_lines(in_face, text, width - _pad(face)) or [""]
            for text, width in zip(row.cells, widths, strict=True)
        ]
        height = (max(len(cell_lines) for cell_lines in texts) - 1) * 1.2 * face.size
        if at_y + height + 2.2 * face.size > canvas.height:
            break
        for at, cell_lines in enumerate(texts):
            pieces: list[int] = []
            for nth, text in enumerate(cell_lines):
                pieces += _write_aligned(form, ledger, at, text, at_y + nth * 1.2 * face.size, in_face).pieces
            ledger.cells[number, at] = pieces
        if ruling_style == "bands" and number % 2:
            canvas.panels.append(
                Panel((left, line_ys[-1], right, at_y + height + step - 0.35 * face.size), (240, 241, 244))
            )
        if row.strong and ruling_style in ("none", "head", "bands"):
            canvas.rule(left, line_ys[-1], right, line_ys[-1])
        at_y += height + step
        line_ys.append(at_y - 0.35 * face.size)
        ledger.rows = number + 1
    ledger.foot = (
        max(line_ys[-1], min(top + least, canvas.height - 2 * face.size))
        if ruling_style in ("grid", "columns")
        else line_ys[-1]
    )
    _rule(form, ledger, ruling_style, line_ys)
    canvas.table((left, top - above, right, ledger.foot))
    return ledger


def _pad(face: Face) -> float:
    """Return the padding of a cell, left and right together, in pixels."""
    return 0.9 * face.size


def _widths(
    columns: Sequence[Column], heads: Sequence[str], rows: Sequence[Row], room: float, face: Face, head_face: Face
) -> tuple[list[float], Face, Face]:
    """Return column widths that fill the room, and smaller faces when it is narrow."""
    while True:
        bold = face.scale(1.0, bold=True)
        needed = []
        for at, (column, head) in enumerate(zip(columns, heads, strict=True)):
            words = max((head_face.width(word) for word in head.split()), default=0.0)
            widest = max(((bold if row.strong else face).width(row.cells[at]) for row in rows), default=0.0)
            if column.flexible:
                widest = min(widest, 9 * face.size)
                words = max(words, *(face.width(word) for row in rows for word in row.cells[at].split()), 0.0)
            needed.append(max(words, widest) + _pad(face))
        spare = room - sum(needed)
        if spare >= 0 or face.size < 7:
            break
        face, head_face = face.scale(0.94), head_face.scale(0.94)
    flexible = [at for at, column in enumerate(columns) if column.flexible] or list(range(len(columns)))
    if spare < 0:
        return [width * room / sum(needed) for width in needed], face, head_face
    if len(flexible) < len(columns):
        # Remaining width goes mostly to texts, the rest to figures.
        shared = 0.3 * spare / len(columns)
        needed = [width + shared for width in needed]
        spare *= 0.7
    return (
        [width + (spare / len(flexible) if at in flexible else 0.0) for at, width in enumerate(needed)],
        face,
        head_face,
    )


def _write_aligned(form: Form, ledger: Ledger, column: int, text: str, y: float, face: Face) -> Written:
    canvas = form.canvas
    x, right = ledger.edges[column] + 0.45 * face.size, ledger.edges[column + 1] - 0.45 * face.size
    align = ledger.columns[column].align
    wide = face.width(text)
    if align == "r":
        x = max(x, right - wide)
    elif align == "c":
        x = max(x, (x + right - wide) / 2)
    return canvas.write_fitted(text, x, y, right, face=face, role="cell")


def _rule(form: Form, ledger: Ledger, ruling: Ruling, ys: list[float]) -> None:
    canvas = form.canvas
    left, right = ledger.edges[0], ledger.edges[-1]
    if ruling == "none":
        return
    shown = ys if ruling in ("rows", "grid") else [ys[0], ys[1], ys[-1]] if ruling == "columns" else ys[:2]
    for y in shown:
        canvas.rule(left, y, right, y)
    if ruling in ("grid", "columns"):
        for x in ledger.edges:
            canvas.rule(x, ys[0], x, ledger.foot)
        if ledger.foot > ys[-1]:
            canvas.rule(left, ledger.foot, right, ledger.foot)
    elif ruling == "head" and form.rng.random() < 0.5:
        canvas.rule(left, ys[-1], right, ys[-1])


def ask_cell(form: Form, shapes: Sequence[str], answer: list[int], **named: str) -> None:
    """Ask for a cell in one of several phrasings with names in braces; whole questions stay unchanged."""
    if not answer:
        return
    asked = form.rng.choice(shapes).format(**named)
    whole = asked[-1] in "?." or form.rng.random() < 0.5
    form.canvas.ask(questions.mistype(form.rng, asked if whole else questions.around(form.rng, asked)), answer)


def ask_column(form: Form, ledger: Ledger, number: int, rows: Sequence[int], name: str | None = None) -> None:
    """Ask for the contents of a column."""
    pieces = ledger.column(number, rows)
    if len(rows) > 1 and pieces:
        head = name or ledger.columns[number].head
        shapes = (
            "{head} column",
            "What is listed under {head}?",
            "all values of {head}",
            "the column {head}",
            "entries under {head}",
        )
        ask_cell(form, shapes, pieces, head=form.rng.choice((head, head.lower())))
