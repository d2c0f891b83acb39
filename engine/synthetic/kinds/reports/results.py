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
    chance, em = form.chance, form.em
    if chance.random() < 0.6:
        y = paper.subtitle(
            form,
            number.next()
            + form.case(chance.choice(("Results", "Chemistry", "Hematology", "Test results", "Clinical chemistry"))),
            y,
        )
    mark = chance.randrange(len(_ABOVE))
    rows = []
    chosen = chance.sample(ANALYTES, chance.randint(4, 16))
    for name, unit, least, most in chosen:
        places = 0 if most >= 60 else 1
        found = least + (most - least) * chance.uniform(-0.3, 1.4)
        found = max(found, 0.1)
        flag = _ABOVE[mark] if round(found, places) > most else _BELOW[mark] if round(found, places) < least else ""
        rows.append((name, f"{found:.{places}f}", flag, unit, f"{least:.{places}f} - {most:.{places}f}"))
    heads = (
        chance.choice(("Test", "Analyte", "Parameter", "Examination")), chance.choice(("Result", "Value", "Found")), chance.choice(("Flag", "", "Abn.")),
        chance.choice(("Unit", "Units")), chance.choice(("Reference range", "Normal range", "Limits", "Reference interval")),
    )  # fmt: skip
    order = chance.choice(((0, 1, 2, 3, 4), (0, 1, 3, 2, 4), (0, 1, 2, 4, 3), (0, 1, 3, 4, 2)))
    return _table(form, heads, rows, order, y, asked=(1, 3, 4)) + 0.8 * em


def measured(form: Form, number: Numbering, y: float) -> float:
    """Set properties with requirement, measurement and verdict."""
    chance, em = form.chance, form.em
    if chance.random() < 0.7:
        y = paper.subtitle(
            form,
            number.next()
            + form.case(chance.choice(("Results", "Test results", "Measurements", "Data", "Results of the tests"))),
            y,
        )
    verdicts = chance.choice(
        (("Pass", "Fail"), ("PASS", "FAIL"), ("Conforms", "Does not conform"), ("OK", "NOK"), ("Yes", "No"))
    )
    rows, names = [], set()
    for _ in range(chance.randint(3, 10)):
        name = phrase(chance, 1, 3).capitalize()
        if name in names:
            continue
        names.add(name)
        limit = chance.uniform(0.5, 10 ** chance.randint(1, 3))
        upper = chance.random() < 0.5
        found = limit * chance.uniform(0.6, 1.12) if upper else limit * chance.uniform(0.9, 1.5)
        good = found <= limit if upper else found >= limit
        sign = chance.choice(("max.", "<=", "<")) if upper else chance.choice(("min.", ">=", ">"))
        rows.append((name, chance.choice(UNITS), f"{sign} {limit:.2f}", f"{found:.2f}", verdicts[not good]))
    heads = (
        chance.choice(("Property", "Parameter", "Test", "Characteristic")), chance.choice(("Unit", "Units")),
        chance.choice(("Requirement", "Specification", "Limit", "Required")), chance.choice(("Result", "Measured", "Found", "Test value")),
        chance.choice(("Verdict", "Evaluation", "Assessment", "Conforms")),
    )  # fmt: skip
    order = chance.choice(((0, 1, 2, 3, 4), (0, 3, 1, 2, 4), (0, 2, 3, 4), (0, 1, 2, 3), (0, 3, 1)))
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
    chance = form.chance
    results = {"Result", "Value", "Found", "Measured", "Test value"}
    columns = [ledger.Column(heads[at], "l" if at == 0 else chance.choice("lccr"), at == 0) for at in order]
    table = ledger.set_table(form, columns, [ledger.Row(tuple(row[at] for at in order)) for row in rows], y)
    for row in chance.sample(range(table.rows), min(table.rows, 5)):
        what = rows[row][0]
        place = next(at for at, column in enumerate(columns) if column.head in results)
        ledger.ask_cell(form, _RESULT, table.cells[row, place], what=chance.choice((what, what.lower())))
        at = chance.choice([at for at in range(len(order)) if order[at] in asked])
        if chance.random() < 0.5 and at != place:
            ledger.ask_cell(form, _OF, table.cells[row, at], head=columns[at].head.lower(), what=what)
    at = chance.randrange(1, len(columns))
    if chance.random() < 0.5 and columns[at].head:
        ledger.ask_column(form, table, at, range(table.rows))
    return table.foot


def checks(form: Form, number: Numbering, y: float) -> float:
    """Set checked points with boxes for pass and fail, sometimes with a remark."""
    chance, sheet, em = form.chance, form.sheet, form.em
    heading = chance.choice(
        [
            name
            for name in ("Checklist", "Items inspected", "Points checked", "Inspection items", "Safety check")
            if name not in form.keys.used
        ]
    )
    form.keys.used.add(heading)
    y = paper.subtitle(form, number.next() + form.case(heading), y)
    labels = chance.choice(
        (
            ("Pass", "Fail"),
            ("Yes", "No"),
            ("OK", "Not OK"),
            ("Pass", "Fail", "N/A"),
            ("Good", "Fair", "Poor"),
            ("Yes", "No", "N/A"),
        )
    )
    read_as = chance.choice(READ_AS)
    shape = chance.choice(("box", "box", "round")) if read_as[0] else "box"
    remarked = chance.random() < 0.45
    start = form.left + (form.right - form.left) * (0.42 if remarked else chance.uniform(0.5, 0.72))
    room = (form.right - start) * (0.5 if remarked else 1.0) / len(labels)
    headed = chance.random() < 0.6
    remark_x = start + room * len(labels) + em
    step = chance.uniform(1.5, 2.0) * em
    if headed:
        for at, label in enumerate(labels):
            sheet.write(label, start + at * room, y, face=form.key_face, role="key")
        if remarked:
            sheet.write(
                chance.choice(("Remarks", "Comment", "Notes")),
                remark_x,
                y,
                right=form.right,
                face=form.key_face,
                role="key",
            )
        y += 1.7 * em
    ruled = chance.random() < 0.5
    for _ in range(chance.randint(4, 11)):
        if y > sheet.height - 8 * em:
            break
        item = f"{word(chance, 0.1)} {phrase(chance, 1, 2).lower()}".capitalize()
        printed = sheet.write(item, form.left, y, right=start - em, face=form.key_face, role="key")
        picked = chance.choices(range(len(labels)), (6, 2, 1)[: len(labels)])[0]
        for at, label in enumerate(labels):
            ticked = at == picked
            figure, mark, right = mark_box(form, start + at * room, y, shape, ticked, read_as)
            pieces = list(mark)
            if not headed:
                written = sheet.write(label, right + 0.35 * em, y, right=start + (at + 1) * room, face=form.key_face)
                pieces += written.pieces
            if ticked and chance.random() < 0.6:
                shapes = (
                    "What is the result for {what}?",
                    "{what}",
                    "Which box is ticked for {what}?",
                    "Did {what} pass?",
                    "assessment of {what}",
                )
                sheet.ask(chance.choice(shapes).format(what=item), pieces, figures=[figure], region_type="checkbox")
        bottom = printed.top
        if remarked and chance.random() < 0.35:
            written = form.write_value(phrase(chance, 1, 4), remark_x, y, form.right)
            bottom = max(bottom, written.top)
            if written.whole and chance.random() < 0.5:
                ledger.ask_cell(
                    form,
                    ("remark on {what}", "What was noted for {what}?", "comment on {what}"),
                    written.pieces,
                    what=item,
                )
        y = bottom + step
        if ruled:
            sheet.rule(form.left, y - 0.4 * em, form.right, y - 0.4 * em)
    return y - 0.4 * em
