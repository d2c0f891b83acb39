"""Pay slips: employee, employer, earnings, deductions and net pay, for the month and the year to date."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from engine.synthetic.draft import vary_case
from engine.synthetic.kinds import ledger, paper
from engine.synthetic.kinds.amounts import Writing, cents, sample_day
from engine.synthetic.kinds.entries import Entry, note, set_in_boxes, set_in_columns, set_in_one_column
from engine.synthetic.kinds.forms.style import Form
from engine.synthetic.kinds.statements.words import CONCEPTS
from engine.synthetic.values import MONTHS, code, company, person
from engine.synthetic.vocabulary import phrase

_EARNED = (
    "Overtime",
    "Bonus",
    "Night allowance",
    "Travel allowance",
    "Commission",
    "Meal allowance",
    "Holiday pay",
    "Shift premium",
    "Housing",
)
_TAKEN = (
    "Income tax",
    "Pension",
    "Health insurance",
    "Union dues",
    "Loan repayment",
    "Social security",
    "Advance",
    "Savings plan",
    "Canteen",
)
_BASIC = ("Basic pay", "Basic salary", "Regular pay", "Salary", "Base pay")
_OF_LINE = (
    "How much is the {what}?",
    "{what}",
    "{what} amount",
    "What is the amount of {what}?",
    "amount for {what}",
    "What was paid or taken for {what}?",
)
_EMPLOYER = ("employer", "Who pays the salary?", "Which company employs?", "name of the company", "company")

Lines = list[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Setting:
    """Layout of both tables: heads of sums, months to date (0: not shown), and `ledger.set_table` options."""

    heads: tuple[str, str]
    months: int
    ruling: ledger.Ruling | None = None
    step: float | None = None
    least: float = 0.0


def pay(form: Form, writing: Writing) -> float:
    """Lay out a pay slip; return where it ends."""
    rng, canvas, em = form.rng, form.canvas, form.em
    first = sample_day(rng).replace(day=1)
    last = (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
    y = canvas.height * rng.uniform(0.02, 0.05)
    heading = vary_case(
        rng,
        rng.choice(
            ("Pay slip", "Payslip", "Salary slip", "Earnings statement", "Statement of pay", "Pay advice", "Wage slip")
        ),
    )
    if rng.random() < 0.5:
        y = paper.letterhead(form, company(rng), form.left, y, form.right, _EMPLOYER, centred=True) + 0.6 * em
        y = paper.title(form, heading, form.left, y, form.right, align="centre") + em
    else:
        middle = canvas.width * 0.56
        foot = paper.letterhead(form, company(rng), form.left, y, middle, _EMPLOYER)
        y = max(foot, paper.title(form, heading, middle + em, y, form.right, align="right")) + em
    y = _person(form, writing, first, last, y)
    gross = cents(rng, 3000) + 90000
    earned: Lines = [(rng.choice(_BASIC), gross)]
    earned += [(name, cents(rng, 500)) for name in rng.sample(_EARNED, rng.randint(0, 5))]
    gross = sum(amount for _, amount in earned)
    taken: Lines = [(name, gross * rng.randint(5, 110) // 1000) for name in rng.sample(_TAKEN, rng.randint(1, 6))]
    beside = rng.random() < 0.55
    heads = (rng.choice(("Amount", "Current", "This period")), rng.choice(("Year to date", "YTD", "To date")))
    setting = Setting(heads, last.month if rng.random() < (0.3 if beside else 0.6) else 0)
    tables = ((earned, "gross pay", "Earnings"), (taken, "total deductions", "Deductions"))
    if beside:
        most = max(len(earned), len(taken))
        step = rng.uniform(1.4, 1.8)
        least = (2.4 + most) * step * 0.95 * form.value_face.size
        setting = Setting(heads, setting.months, rng.choice(ledger.RULINGS[1:]), step, least)
        half, apart = (form.left + form.right) / 2, 0.4 * em * rng.randint(0, 1)
        sides = ((form.left, half - apart), (half + apart, form.right))
        # Empty rows in the shorter table, so that both end alike.
        feet = [
            _lines(form, writing, table, most - len(table[0]), y, side, setting)
            for table, side in zip(tables, sides, strict=True)
        ]
        y = max(feet) + 1.8 * em
    else:
        for table in tables:
            y = _lines(form, writing, table, 0, y, (form.left, form.right), setting) + 1.8 * em
    y = _left_over(form, writing, gross, sum(amount for _, amount in taken), y)
    if rng.random() < 0.4 and y < canvas.height - 6 * em:
        y = paper.small_print(form, y + em, 2) + em
    return y


def _person(form: Form, writing: Writing, first: date, last: date, y: float) -> float:
    rng, canvas, em = form.rng, form.canvas, form.em
    texts = {
        "employee": person(rng), "employee no.": code(rng), "department": phrase(rng, 1, 2), "job title": phrase(rng, 1, 3),
        "pay period": rng.choice((writing.span(first, last), f"{MONTHS[last.month - 1]} {last.year}")),
        "pay date": writing.day(last + timedelta(days=rng.randint(0, 3))), "tax code": f"{rng.randint(100, 1400)}{rng.choice('LTKBM')}",
        "social security no.": code(rng), "bank account": "*" * 4 + str(rng.randint(1000, 9999)),
        "payment method": rng.choice(("Bank transfer", "Cheque", "Direct deposit", "Cash")), "hours worked": f"{rng.randint(60, 190)}.{rng.choice(('00', '50', '25'))}",
        "hourly rate": writing.sum(rng.randint(800, 6000), currency=True), "leave balance": f"{rng.randint(0, 30)}",
    }  # fmt: skip
    chosen = [name for name in texts if name in ("employee", "pay period") or rng.random() < 0.6]
    if rng.random() < 0.5:
        rng.shuffle(chosen)
    entries = [Entry(CONCEPTS[name], (texts[name],)) for name in chosen]
    shape = rng.random()
    if shape < 0.35:
        count = rng.choice((3, 4))
        shown = [(entry, max(8.0, len(entry.lines[0]))) for entry in entries]
        return set_in_boxes(form, [shown[at : at + count] for at in range(0, len(shown), count)], y) + 2 * em
    if shape < 0.8:
        y = set_in_columns(
            form,
            entries,
            form.left,
            y,
            form.right,
            rng.choice(("aligned", "aligned", "right", "below")),
            rng.choice((2, 2, 3)),
        )
        return y + 2.6 * em
    return set_in_one_column(form, entries, form.left, y, form.left + canvas.width * 0.62, "aligned") + 2.6 * em


def _lines(
    form: Form,
    writing: Writing,
    table_of: tuple[Lines, str, str],
    empty: int,
    y: float,
    sides: tuple[float, float],
    setting: Setting,
) -> float:
    """Set earnings or deductions between `sides`; return the foot.

    `table_of`: lines, concept of their sum, and head. `empty`: number of empty rows before the total.
    """
    lines, name, head = table_of
    months = setting.months
    rng = form.rng
    columns = [
        ledger.Column(rng.choice((head, head, "Description")), "l", True),
        ledger.Column(setting.heads[0]),
    ]
    if months:
        columns.append(ledger.Column(setting.heads[1]))

    def row(text: str, amount: int, *, strong: bool = False) -> ledger.Row:
        """Return one row of the table."""
        return ledger.Row((text, writing.sum(amount), *([writing.sum(amount * months)] * bool(months))), strong)

    key = form.case(rng.choice(CONCEPTS[name].printed))
    total = sum(amount for _, amount in lines)
    rows = [row(text, amount) for text, amount in lines] + [ledger.Row(("",) * len(columns))] * empty
    rows.append(row(key, total, strong=True))
    face = form.value_face.scale(0.95)
    table = ledger.set_table(
        form,
        columns,
        rows,
        y,
        left=sides[0],
        right=sides[1],
        face=face,
        ruling=setting.ruling,
        step=setting.step,
        least=setting.least,
    )
    for at, (text, _) in enumerate(lines):
        if rng.random() < 0.7:
            ledger.ask_cell(form, _OF_LINE, table.cells.get((at, 1), []), what=rng.choice((text, text.lower())))
        if months and rng.random() < 0.35:
            shapes = (
                "{what} year to date",
                "What is the {what} since the start of the year?",
                "{what} to date",
                "{what} of the year so far",
            )
            ledger.ask_cell(form, shapes, table.cells.get((at, 2), []), what=text.lower())
    note(form, key, CONCEPTS[name], table.cells.get((len(rows) - 1, 1), []))
    return table.foot


def _left_over(form: Form, writing: Writing, gross: int, taken: int, y: float) -> float:
    """Set net pay, alone or with its derivation."""
    rng, canvas, em = form.rng, form.canvas, form.em
    net = Entry(CONCEPTS["net pay"], (writing.sum(gross - taken, currency=True),))
    entries = [net]
    if rng.random() < 0.4:
        entries.insert(0, Entry(CONCEPTS["total deductions"], (writing.sum(taken, currency=True),)))
        entries.insert(0, Entry(CONCEPTS["gross pay"], (writing.sum(gross, currency=True),)))
    if rng.random() < 0.3:
        entries.insert(0, Entry(CONCEPTS["taxable gross"], (writing.sum(gross - taken // 4, currency=True),)))
    face = form.value_face
    form.value_face = face.scale(1.0, bold=True)
    shape = rng.random()
    if shape < 0.4:
        y = set_in_boxes(form, [[(entry, 1.0) for entry in entries]], y)
    elif shape < 0.75:
        y = set_in_one_column(form, entries, canvas.width * rng.uniform(0.5, 0.6), y, form.right, "far") + em
    else:
        y = set_in_columns(form, entries, form.left, y, form.right, "right", 1 if len(entries) == 1 else 2) + em
    form.value_face = face
    return y + em
