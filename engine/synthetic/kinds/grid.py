"""Tables with random contents: columns under headers, rows with labels, with or without rules."""

from __future__ import annotations

from dataclasses import dataclass

from engine.synthetic import questions
from engine.synthetic.canvas import Written
from engine.synthetic.keys import Key
from engine.synthetic.kinds.forms.style import Form
from engine.synthetic.values import LONG_KINDS, value
from engine.synthetic.vocabulary import phrase

_CELL_KINDS = ("number", "money", "word", "percent", "date", "decimal", "code", "number", "decimal")
_OF_CELL = (
    "{column} of {row}", "{row} {column}", "{column} for {row}", "What is the {column} of {row}?", "{column} in the row {row}",
    "What is the {column} for {row}?", "{row}: {column}", "What {column} does {row} have?", "Find the {column} of {row}.",
)  # fmt: skip


@dataclass(slots=True)
class Column:
    """Column of a table with its key, position and header pieces."""

    key: Key
    x: float
    width: float
    kind: str
    header: list[int]


def table(form: Form, y: float, most_questions: int, rows: int | None = None) -> float:
    """Set a table at `y`, with at most `most_questions` questions; return the top of its last line."""
    rng, canvas, em = form.rng, form.canvas, form.em
    first_asked = len(canvas.asked)
    columns, header_top = _header(form, y)
    labelled = rng.random() < 0.6
    count = rows if rows is not None else rng.randint(1, 8)
    align = rng.choice("lcrr")
    empty = rng.choice((0.0, 0.0, 0.1, 0.35))
    step = rng.uniform(1.3, 2.2) * max(em, min(form.value_face.size, 1.4 * em))
    cells: dict[tuple[int, int], list[int]] = {}
    labels: dict[int, str] = {}
    at = header_top + step * 1.1
    line_ys = [y - 0.3 * em, at - 0.3 * em]
    last = header_top
    for row in range(count):
        if at + 2 * em > canvas.height:
            break
        bottom = at
        for number, column in enumerate(columns):
            if number == 0 and labelled:
                labels[row] = phrase(rng, 1, rng.choice((1, 1, 2, 3, 4)))
                written = canvas.write(
                    labels[row], column.x, at, right=column.x + column.width - 0.6 * em, face=form.key_face, role="cell"
                )
                bottom = max(bottom, written.top)
            elif rng.random() >= empty:
                written = _cell(form, column, at, align)
                cells[row, number] = written.pieces if written.whole else []
                bottom = max(bottom, written.top)
        last = bottom
        at = bottom + step
        line_ys.append(at - 0.3 * em)
    _rule(form, columns, line_ys)
    left, right = _sides(form, columns)
    canvas.table((left, line_ys[0], right, min(canvas.height, max(last + 1.1 * em, line_ys[-1]))))
    _ask(form, columns, cells, labels)
    asked = canvas.asked[first_asked:]
    if len(asked) > most_questions:
        canvas.asked[first_asked:] = rng.sample(asked, most_questions)
    return last


def _header(form: Form, y: float) -> tuple[list[Column], float]:
    rng, canvas, em = form.rng, form.canvas, form.em
    count = rng.randint(2, 6)
    left, width = form.left, (form.right - form.left) * rng.choice((1.0, rng.uniform(0.5, 1.0))) / count
    widths = [width] * count
    if count > 2 and rng.random() < 0.4:
        widths = [width * 1.6, *[(width * count - width * 1.6) / (count - 1)] * (count - 1)]
    face = form.key_face.scale(1.0, bold=form.key_face.bold or rng.random() < 0.3)
    centred = rng.random() < 0.4
    columns, bottom, x = [], y, left
    for column_width in widths:
        key = form.keys.next()
        kind = key.kind if key.kind not in LONG_KINDS | {"text"} else rng.choice(_CELL_KINDS)
        text = form.case(key.text)
        shift = max(0.0, (column_width - 0.8 * em - face.width(text)) / 2) if centred else 0.0
        written = canvas.write(text, x + shift, y, right=x + column_width - 0.6 * em, face=face, role="cell")
        columns.append(Column(key, x, column_width, kind, written.pieces))
        bottom = max(bottom, written.top)
        x += column_width
    return columns, bottom


def _cell(form: Form, column: Column, y: float, align: str) -> Written:
    face = (
        form.value_face
        if form.value_face.size < 1.35 * form.em
        else form.value_face.scale(1.25 * form.em / form.value_face.size)
    )
    text = value(form.rng, column.kind)
    room = column.width - 0.8 * form.em
    spare = max(0.0, room - face.width(text))
    x = column.x + {"l": 0.0, "c": spare / 2, "r": spare}[align]
    return form.canvas.write(text, x, y, right=column.x + room, face=face, role="cell")


def _rule(form: Form, columns: list[Column], ys: list[float]) -> None:
    style = form.rng.choice(("none", "grid", "rows", "head"))
    if style == "none":
        return
    left, right = _sides(form, columns)
    for y in ys if style != "head" else ys[:2]:
        form.canvas.rule(left, y, right, y)
    if style == "grid":
        for x in [*(column.x - 0.4 * form.em for column in columns), right]:
            form.canvas.rule(x, ys[0], x, ys[-1])


def _sides(form: Form, columns: list[Column]) -> tuple[float, float]:
    return columns[0].x - 0.4 * form.em, columns[-1].x + columns[-1].width - 0.2 * form.em


def _ask(form: Form, columns: list[Column], cells: dict[tuple[int, int], list[int]], labels: dict[int, str]) -> None:
    rng, canvas = form.rng, form.canvas
    for number, column in enumerate(columns):
        if column.header and not (number == 0 and labels):
            whole = [piece for (_, at), pieces in sorted(cells.items()) if at == number for piece in pieces]
            form.ask(form.case(column.key.text), whole, column.key)
    told_apart = [row for row, label in labels.items() if list(labels.values()).count(label) == 1]
    for row in told_apart:
        whole = [piece for (at, _), pieces in sorted(cells.items()) if at == row for piece in pieces]
        form.ask(labels[row], whole)
        number = rng.randrange(1, len(columns))
        if cells.get((row, number)):
            shape = rng.choice(_OF_CELL)
            asked = shape.format(column=columns[number].key.text, row=labels[row])
            canvas.ask(questions.mistype(rng, asked), cells[row, number])
