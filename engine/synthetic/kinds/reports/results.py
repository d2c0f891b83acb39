"""Results in reports: tables of measurements with units and limits, and checklists of pass and fail."""

from __future__ import annotations

from collections.abc import Sequence

from engine.synthetic.kinds import ledger, paper
from engine.synthetic.kinds.forms.choices import READ_AS, mark_box
from engine.synthetic.kinds.forms.style import Form
from engine.synthetic.kinds.reports.parts import Numbering
from engine.synthetic.kinds.reports.words import ANALYTES
from engine.synthetic.values import UNITS
from engine.synthetic.vocabulary import phrase, word

_RESULT = (
    "What is the result of {what}?", "{what}", "result for {what}", "What is the {what} value?", "How much {what} was found?", "{what} result",
    "value of {what}", "What was measured for {what}?",
)  # fmt: skip
_OF = (
    "{head} of {what}",
    "What is the {head} of {what}?",
    "{what} {head}",
    "{head} for {what}",
    "Which {head} is given for {what}?",
)
_ABOVE = ("H", "HIGH", "High", "*", "Above")
_BELOW = ("L", "LOW", "Low", "*", "Below")


def blood(form: Form, number: Numbering, y: float) -> float:
    """Set blood values with reference ranges and flags for outliers, in one or two panels."""
    rng, em = form.rng, form.em
    if rng.random() < 0.6:
        y = paper.subtitle(
            form,
            number.next()
            + form.case(rng.choice(("Results", "Chemistry", "Hematology", "Test results", "Clinical chemistry"))),
            y,
        )
    mark = rng.randrange(len(_ABOVE))
    rows = []
    chosen = rng.sample(ANALYTES, rng.randint(4, 16))
    for name, unit, least, most in chosen:
        places = 0 if most >= 60 else 1
        level = least + (most - least) * rng.uniform(-0.3, 1.4)
        level = max(level, 0.1)
        flag = _ABOVE[mark] if round(level, places) > most else _BELOW[mark] if round(level, places) < least else ""
        rows.append((name, f"{level:.{places}f}", flag, unit, f"{least:.{places}f} - {most:.{places}f}"))
    heads = (
        rng.choice(("Test", "Analyte", "Parameter", "Examination")), rng.choice(("Result", "Value", "Found")), rng.choice(("Flag", "", "Abn.")),
        rng.choice(("Unit", "Units")), rng.choice(("Reference range", "Normal range", "Limits", "Reference interval")),
    )  # fmt: skip
    order = rng.choice(((0, 1, 2, 3, 4), (0, 1, 3, 2, 4), (0, 1, 2, 4, 3), (0, 1, 3, 4, 2)))
    return _table(form, heads, rows, order, y, asked=(1, 3, 4)) + 0.8 * em


def set_measurements(form: Form, number: Numbering, y: float) -> float:
    """Set properties with requirement, measurement and verdict."""
    rng, em = form.rng, form.em
    if rng.random() < 0.7:
        y = paper.subtitle(
            form,
            number.next()
            + form.case(rng.choice(("Results", "Test results", "Measurements", "Data", "Results of the tests"))),
            y,
        )
    verdicts = rng.choice(
        (("Pass", "Fail"), ("PASS", "FAIL"), ("Conforms", "Does not conform"), ("OK", "NOK"), ("Yes", "No"))
    )
    rows, names = [], set()
    for _ in range(rng.randint(3, 10)):
        name = phrase(rng, 1, 3).capitalize()
        if name in names:
            continue
        names.add(name)
        limit = rng.uniform(0.5, 10 ** rng.randint(1, 3))
        upper = rng.random() < 0.5
        measurement = limit * rng.uniform(0.6, 1.12) if upper else limit * rng.uniform(0.9, 1.5)
        good = measurement <= limit if upper else measurement >= limit
        sign = rng.choice(("max.", "<=", "<")) if upper else rng.choice(("min.", ">=", ">"))
        rows.append((name, rng.choice(UNITS), f"{sign} {limit:.2f}", f"{measurement:.2f}", verdicts[not good]))
    heads = (
        rng.choice(("Property", "Parameter", "Test", "Characteristic")), rng.choice(("Unit", "Units")),
        rng.choice(("Requirement", "Specification", "Limit", "Required")), rng.choice(("Result", "Measured", "Found", "Test value")),
        rng.choice(("Verdict", "Evaluation", "Assessment", "Conforms")),
    )  # fmt: skip
    order = rng.choice(((0, 1, 2, 3, 4), (0, 3, 1, 2, 4), (0, 2, 3, 4), (0, 1, 2, 3), (0, 3, 1)))
    return _table(form, heads, rows, order, y, asked=(2, 3, 4)) + 0.8 * em


def _table(
    form: Form,
    heads: tuple[str, ...],
    rows: Sequence[tuple[str, ...]],
    order: tuple[int, ...],
    y: float,
    asked: tuple[int, ...],
) -> float:
    """Set rows with ordered columns, and questions on some cells, mainly results; return the foot."""
    rng = form.rng
    results = {"Result", "Value", "Found", "Measured", "Test value"}
    columns = [ledger.Column(heads[at], "l" if at == 0 else rng.choice("lccr"), at == 0) for at in order]
    table = ledger.set_table(form, columns, [ledger.Row(tuple(row[at] for at in order)) for row in rows], y)
    for row in rng.sample(range(table.rows), min(table.rows, 5)):
        what = rows[row][0]
        place = next(at for at, column in enumerate(columns) if column.head in results)
        ledger.ask_cell(form, _RESULT, table.cells[row, place], what=rng.choice((what, what.lower())))
        at = rng.choice([at for at in range(len(order)) if order[at] in asked])
        if rng.random() < 0.5 and at != place:
            ledger.ask_cell(form, _OF, table.cells[row, at], head=columns[at].head.lower(), what=what)
    at = rng.randrange(1, len(columns))
    if rng.random() < 0.5 and columns[at].head:
        ledger.ask_column(form, table, at, range(table.rows))
    return table.foot


def checks(form: Form, number: Numbering, y: float) -> float:
    """Set checked points with boxes for pass and fail, sometimes with a remark."""
    rng, canvas, em = form.rng, form.canvas, form.em
    heading = rng.choice(
        [
            name
            for name in ("Checklist", "Items inspected", "Points checked", "Inspection items", "Safety check")
            if name not in form.keys.used
        ]
    )
    form.keys.used.add(heading)
    y = paper.subtitle(form, number.next() + form.case(heading), y)
    labels = rng.choice(
        (
            ("Pass", "Fail"),
            ("Yes", "No"),
            ("OK", "Not OK"),
            ("Pass", "Fail", "N/A"),
            ("Good", "Fair", "Poor"),
            ("Yes", "No", "N/A"),
        )
    )
    read_as = rng.choice(READ_AS)
    shape = rng.choice(("box", "box", "round")) if read_as[0] else "box"
    remarked = rng.random() < 0.45
    start = form.left + (form.right - form.left) * (0.42 if remarked else rng.uniform(0.5, 0.72))
    room = (form.right - start) * (0.5 if remarked else 1.0) / len(labels)
    headed = rng.random() < 0.6
    remark_x = start + room * len(labels) + em
    step = rng.uniform(1.5, 2.0) * em
    if headed:
        for at, label in enumerate(labels):
            canvas.write(label, start + at * room, y, face=form.key_face, role="key")
        if remarked:
            canvas.write(
                rng.choice(("Remarks", "Comment", "Notes")),
                remark_x,
                y,
                right=form.right,
                face=form.key_face,
                role="key",
            )
        y += 1.7 * em
    ruled = rng.random() < 0.5
    for _ in range(rng.randint(4, 11)):
        if y > canvas.height - 8 * em:
            break
        item = f"{word(rng, 0.1)} {phrase(rng, 1, 2).lower()}".capitalize()
        printed = canvas.write(item, form.left, y, right=start - em, face=form.key_face, role="key")
        picked = rng.choices(range(len(labels)), (6, 2, 1)[: len(labels)])[0]
        for at, label in enumerate(labels):
            ticked = at == picked
            figure, mark, right = mark_box(form, start + at * room, y, shape, ticked, read_as)
            pieces = list(mark)
            if not headed:
                written = canvas.write(label, right + 0.35 * em, y, right=start + (at + 1) * room, face=form.key_face)
                pieces += written.pieces
            if ticked and rng.random() < 0.6:
                shapes = (
                    "What is the result for {what}?",
                    "{what}",
                    "Which box is ticked for {what}?",
                    "Did {what} pass?",
                    "assessment of {what}",
                )
                canvas.ask(rng.choice(shapes).format(what=item), pieces, figures=[figure], region_type="checkbox")
        bottom = printed.top
        if remarked and rng.random() < 0.35:
            written = form.write_value(phrase(rng, 1, 4), remark_x, y, form.right)
            bottom = max(bottom, written.top)
            if written.whole and rng.random() < 0.5:
                ledger.ask_cell(
                    form,
                    ("remark on {what}", "What was noted for {what}?", "comment on {what}"),
                    written.pieces,
                    what=item,
                )
        y = bottom + step
        if ruled:
            canvas.rule(form.left, y - 0.4 * em, form.right, y - 0.4 * em)
    return y - 0.4 * em
