"""Bills of power, gas, water and telephone: usage, charges, amount due and due date."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

from engine.synthetic.canvas import Panel
from engine.synthetic.draft import vary_case
from engine.synthetic.kinds import ledger, paper
from engine.synthetic.kinds.amounts import Writing, cents, days_between, sample_day
from engine.synthetic.kinds.entries import Entry, note, set_in_boxes, set_in_columns, set_in_one_column
from engine.synthetic.kinds.forms.style import Form
from engine.synthetic.kinds.statements.card import slip
from engine.synthetic.kinds.statements.words import CONCEPTS
from engine.synthetic.values import MONTHS, address, code, person, phone
from engine.synthetic.vocabulary import CITIES, word

_SUPPLIES = {"Electricity": "kWh", "Gas": "m3", "Water": "m3", "Power": "kWh", "Heat": "kWh", "Energy": "kWh"}
_FIRM = (
    "supplier",
    "Who issued the bill?",
    "name of the company",
    "Which company sent the bill?",
    "vendor",
    "provider",
)
_WHO = (
    "customer name",
    "Who is the customer?",
    "Who is billed?",
    "name of the customer",
    "To whom is the bill addressed?",
)
_WHERE = (
    "address of the customer",
    "Where does the customer live?",
    "billing address",
    "mailing address of the customer",
)
_FIXED = (
    "Standing charge",
    "Service charge",
    "Basic charge",
    "Meter rent",
    "Network charge",
    "Environment levy",
    "Line rental",
    "Data plan",
)
_OF_CHARGE = ("How much is the {what}?", "{what}", "{what} amount", "What is charged for {what}?", "amount for {what}")


def supply(form: Form, writing: Writing) -> float:
    """Lay out a bill for metered supply; return where it ends."""
    rng, em = form.rng, form.em
    what, unit = rng.choice(list(_SUPPLIES.items()))
    last = sample_day(rng)
    first = last - timedelta(days=rng.choice((29, 30, 59, 89, 91)))
    firm = f"{rng.choice((rng.choice(CITIES), word(rng).title()))} {what} {rng.choice(('Company', 'Ltd', 'Board', 'Supply', 'Services', 'Inc.'))}"
    more = {
        "meter number": code(rng), "service address": address(rng), "tariff": f"{word(rng).title()} {rng.randint(1, 30)}",
        "next reading date": writing.day(last + timedelta(days=30)),
    }  # fmt: skip
    y, due = _head(form, writing, firm, f"{what} bill", (first, last), more)
    before = rng.randint(100, 60000)
    used = rng.randint(20, 2400)
    rate = rng.randint(4, 60)
    fixed = [(name, cents(rng, 60)) for name in rng.sample(_FIXED[:6], rng.randint(1, 3))]
    owed = cents(rng, 200) if rng.random() < 0.3 else 0
    rows = [((f"{what} used", f"{what} consumption", "Usage")[rng.randrange(3)], used * rate), *fixed]
    if rng.random() < 0.75:
        y = _readings(form, unit, before, used, y)
    y, total = _charges(form, writing, rows, owed, y)
    if rng.random() < 0.5 and y < form.canvas.height - 17 * em:
        y = _usage(form, what, unit, used, last.month, y)
    return _foot(form, writing, total, due, y)


def calls(form: Form, writing: Writing) -> float:
    """Lay out a telephone bill with its calls; return where it ends."""
    rng, canvas, em = form.rng, form.canvas, form.em
    last = sample_day(rng)
    first = last - timedelta(days=30)
    firm = f"{word(rng, 0.6).title()} {rng.choice(('Telecom', 'Mobile', 'Telephone Company', 'Networks', 'Wireless'))}"
    more = {
        "telephone number": phone(rng),
        "tariff": f"{word(rng).title()} {rng.choice(('S', 'M', 'L', 'Plus', 'Flat'))}",
    }
    heading = rng.choice(("telephone bill", "phone bill", "your monthly bill", "mobile bill", "invoice"))
    y, due = _head(form, writing, firm, heading, (first, last), more)
    count = rng.randint(4, 18)
    if y + count * 1.8 * em > canvas.height * 0.7:
        count = max(3, int((canvas.height * 0.7 - y) / (1.8 * em)))
    made = []
    for day in days_between(rng, first, last, count):
        seconds = rng.randint(5, 2400)
        made.append((day, phone(rng), rng.choice(CITIES), seconds, max(1, seconds * rng.randint(1, 30) // 60)))
    used = sum(call[-1] for call in made)
    fixed = [(name, cents(rng, 60)) for name in rng.sample(_FIXED[6:], rng.randint(1, 2))]
    owed = cents(rng, 100) if rng.random() < 0.2 else 0
    charges = [(rng.choice(("Calls", "Call charges", "Usage charges")), used), *fixed]
    first_charges = rng.random() < 0.5
    total = 0
    if first_charges:
        y, total = _charges(form, writing, charges, owed, y)
    names = (("Date", "Day"), ("Time", "Started"), ("Number", "Number called", "Called no."), ("Destination", "Place", "Called to"), ("Duration", "Length", "Min:sec"), ("Cost", "Amount", "Charge"))  # fmt: skip
    heads = [rng.choice(variants) for variants in names]
    columns = [ledger.Column(head, "l" if at < 4 else "r", at == 3) for at, head in enumerate(heads)]
    rows = [
        ledger.Row((writing.row_day(day), f"{rng.randint(0, 23):02}:{rng.randint(0, 59):02}", number, city, f"{seconds // 60}:{seconds % 60:02}", writing.sum(cost)))
        for day, number, city, seconds, cost in made
    ]  # fmt: skip
    seconds = sum(call[3] for call in made)
    rows.append(
        ledger.Row(
            (
                "",
                "",
                "",
                rng.choice(("Total", "Total calls", "All calls")),
                f"{seconds // 60}:{seconds % 60:02}",
                writing.sum(used),
            ),
            strong=True,
        )
    )
    if rng.random() < 0.6:
        y = paper.subtitle(
            form, rng.choice(("Your calls", "Itemised calls", "Call details", "Calls of this period")), y
        )
    table = ledger.set_table(form, columns, rows, y)
    if table.rows == len(rows):
        note(form, "total duration", CONCEPTS["total duration"], table.cells[len(made), 4])
    for at in rng.sample(range(len(made)), min(len(made), 5)):
        number = made[at][1]
        wanted = rng.choice((0, 1, 3, 4, 5, 5))
        shapes = (
            "{head} of the call to {number}",
            "What is the {head} of the call to {number}?",
            "{number} {head}",
            "call to {number}: {head}",
        )
        ledger.ask_cell(form, shapes, table.cells.get((at, wanted), []), head=heads[wanted].lower(), number=number)
    ledger.ask_column(form, table, rng.choice((2, 3, 4, 5)), range(min(table.rows, len(made))))
    y = table.foot + 1.8 * em
    if not first_charges:
        y, total = _charges(form, writing, charges, owed, y)
    return _foot(form, writing, total, due, y)


def _head(
    form: Form, writing: Writing, firm: str, heading: str, days: tuple[date, date], more: dict[str, str]
) -> tuple[float, str]:
    """Set firm, customer and entries of the bill; return where the next part begins, and the due date."""
    rng, canvas, em = form.rng, form.canvas, form.em
    first, last = days
    due = writing.day(last + timedelta(days=rng.randint(10, 30)))
    texts = {
        "account number": code(rng), "customer number": code(rng), "bill number": code(rng), "bill date": writing.day(last),
        "billing period": writing.span(first, last), "payment due date": due, **more,
    }  # fmt: skip
    sure = ("bill date", "payment due date", "telephone number")
    chosen = [name for name in texts if name in sure or rng.random() < 0.6]
    if rng.random() < 0.4:
        rng.shuffle(chosen)
    entries = [Entry(CONCEPTS[name], (texts[name],)) for name in chosen]
    y = canvas.height * rng.uniform(0.02, 0.05)
    middle = canvas.width * rng.uniform(0.5, 0.58)
    if rng.random() < 0.25:
        y = paper.letterhead(form, firm, form.left, y, form.right, _FIRM, centred=True) + em
        foot = right_foot = paper.title(form, vary_case(rng, heading), form.left, y, form.right, align="centre")
    else:
        foot = paper.letterhead(form, firm, form.left, y, middle - em, _FIRM)
        right_foot = paper.title(
            form, vary_case(rng, heading), middle, y, form.right, align=rng.choice(("left", "right"))
        )
    shape = rng.random()
    y = max(foot, right_foot) + 1.5 * em
    if shape < 0.5:
        meta = set_in_one_column(form, entries, middle, y, form.right, rng.choice(("aligned", "far", "right")))
        y = max(paper.addressee(form, person(rng), form.left, y, middle - em, _WHO, _WHERE), meta + em)
    elif shape < 0.75:
        y = paper.addressee(form, person(rng), form.left, y, middle, _WHO, _WHERE) + em
        shown = [(entry, max(7.0, min(22.0, len(entry.lines[0])))) for entry in entries]
        y = set_in_boxes(form, [shown[at : at + 3] for at in range(0, len(shown), 3)], y)
    else:
        y = paper.addressee(form, person(rng), form.left, y, middle, _WHO, _WHERE) + em
        y = set_in_columns(
            form,
            entries,
            form.left,
            y,
            form.right,
            rng.choice(("aligned", "right", "below")),
            rng.choice((1, 2, 2)),
        )
    return y + 2.4 * em, due


def _readings(form: Form, unit: str, before: int, used: int, y: float) -> float:
    """Set the table of meter readings."""
    rng = form.rng
    heads = (
        rng.choice(("Meter", "Meter no.", "Register")), rng.choice(("Previous reading", "Last reading", "Previous")),
        rng.choice(("Present reading", "This reading", "Current reading", "Present")), rng.choice(("Units used", "Usage", "Consumption", "Difference")),
        rng.choice(("Unit", "Units")),
    )  # fmt: skip
    two = rng.random() < 0.3
    night = rng.randint(10, 900)
    shown = (
        [(rng.choice(("Day", "1", "A", "Main")), before, used)]
        if not two
        else [("Day", before, used - used // 3), ("Night", before // 2 + night, used // 3)]
    )
    rows = [ledger.Row((name, str(start), str(start + amount), str(amount), unit)) for name, start, amount in shown]
    columns = [
        ledger.Column(head, "l" if at == 0 else "c" if at == 4 else "r", at == 0) for at, head in enumerate(heads)
    ]
    if rng.random() < 0.6:
        y = paper.subtitle(form, rng.choice(("Meter readings", "Your usage", "Meter details", "Readings")), y)
    table = ledger.set_table(form, columns, rows, y)
    for row in range(table.rows):
        for at in (1, 2, 3):
            name = f"{shown[row][0].lower()} {heads[at].lower()}" if two else heads[at].lower()
            ledger.ask_cell(
                form, ("What is the {what}?", "{what}", "the {what} of the meter"), table.cells[row, at], what=name
            )
    return table.foot + 2 * form.em


def _charges(form: Form, writing: Writing, rows: Sequence[tuple[str, int]], owed: int, y: float) -> tuple[float, int]:
    """Set the charges with tax and total; return where they end, and the amount due in cents."""
    rng, em = form.rng, form.em
    net = sum(amount for _, amount in rows)
    tax = net * rng.choice((5, 6, 8, 10, 20)) // 100
    lines = [*rows, (rng.choice(("Tax", "VAT", "GST", "Sales tax")), tax)] if rng.random() < 0.8 else list(rows)
    current = sum(amount for _, amount in lines)
    sums = [("current charges", current)] if owed or rng.random() < 0.4 else []
    sums += [("balance brought forward", owed)] * bool(owed) + [("amount due", current + owed)]
    if rng.random() < 0.5:
        y = paper.subtitle(form, rng.choice(("Charges", "Your charges", "Details of charges", "Bill summary")), y)
    right = form.right if rng.random() < 0.6 else form.left + (form.right - form.left) * rng.uniform(0.55, 0.7)
    columns = [
        ledger.Column(rng.choice(("Description", "Charge", "Item")), "l", True),
        ledger.Column(rng.choice(("Amount", "Total", "Sum"))),
    ]
    shown = [ledger.Row((name, writing.sum(amount))) for name, amount in lines]
    keys = [form.case(rng.choice(CONCEPTS[name].printed)) for name, _ in sums]
    shown += [
        ledger.Row((key, writing.sum(amount, currency=True)), strong=True)
        for key, (_, amount) in zip(keys, sums, strict=True)
    ]
    table = ledger.set_table(form, columns, shown, y, right=right)
    for at, (name, _) in enumerate(lines):
        if rng.random() < 0.5:
            ledger.ask_cell(form, _OF_CHARGE, table.cells.get((at, 1), []), what=name.lower())
    for at, (name, _) in enumerate(sums, len(lines)):
        note(form, keys[at - len(lines)], CONCEPTS[name], table.cells.get((at, 1), []))
    return table.foot + 2 * em, current + owed


def _usage(form: Form, what: str, unit: str, used: int, month: int, y: float) -> float:
    """Draw bars of the last months with a caption."""
    rng, canvas, em = form.rng, form.canvas, form.em
    caption = rng.choice(
        (
            f"Your {what.lower()} use of the last year",
            f"Usage by month in {unit}",
            f"{what} used ({unit})",
            f"Average a day: {used // 30} {unit}",
        )
    )
    fine = canvas.face.scale(0.9, bold=rng.random() < 0.5)
    top = canvas.write(caption, form.left, y, right=form.right, face=fine, role="heading").top + 1.6 * em
    wide = em * rng.uniform(18, 30)
    figure = canvas.figure("chart", (form.left, top, form.left + wide, top + em * rng.uniform(6, 9)), what)
    shapes = ("Where is the chart?", "chart", "chart of the usage", "Mark the chart.", "Show the usage chart.")
    canvas.ask(rng.choice(shapes), printed_key=False, figures=[figure], region_type="chart")
    for at in range(4):
        name = MONTHS[(month - 12 + 3 * at) % 12][:3]
        canvas.write(name, form.left + (at + 0.1) * wide / 4, figure.box[3] + 0.4 * em, face=fine.scale(0.85))
    return figure.box[3] + 2.6 * em


def _foot(form: Form, writing: Writing, total: int, due: str, y: float) -> float:
    """Set how to pay: as text, in a box, or on a slip to cut off."""
    rng, canvas, em = form.rng, form.canvas, form.em
    amount = writing.sum(total, currency=True)
    if y > canvas.height - 8 * em:
        return y
    shape = rng.random()
    if shape < 0.35 and y < canvas.height - 15 * em:
        return slip(form, (("amount due", amount), ("payment due date", due), ("amount enclosed", "")), y + em)
    if shape < 0.6:
        box = (form.right - canvas.width * 0.4, y, form.right, y + 5 * em)
        canvas.panels.append(Panel(box, (228, 232, 238)))
        key = form.case(rng.choice(CONCEPTS["amount due"].printed))
        canvas.write(key, box[0] + em, y + 0.8 * em, right=box[2], face=form.key_face, role="key")
        face = form.value_face.scale(1.5, bold=True)
        written = canvas.write_right(amount, box[2] - em, y + 2.6 * em, face=face, role="value")
        note(form, key, CONCEPTS["amount due"], written.pieces)
        return box[3] + em
    return paper.small_print(form, y) + em
