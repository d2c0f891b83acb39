"""Statements of bank accounts: holder, daily bookings, and balances."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

from engine.synthetic.draft import cased
from engine.synthetic.kinds import ledger, paper
from engine.synthetic.kinds.amounts import Writing, cents, drawn_day
from engine.synthetic.kinds.entries import Entry, Place, boxed, in_columns, note, stacked
from engine.synthetic.kinds.forms.style import Form
from engine.synthetic.kinds.statements.bookings import Booking, ask_bookings, bookings
from engine.synthetic.kinds.statements.words import CONCEPTS
from engine.synthetic.values import code, person
from engine.synthetic.vocabulary import CITIES, LAST_NAMES, word

_BANK = ("bank", "Which bank is it?", "name of the bank", "Which bank keeps the account?", "Who issued the statement?")
_HOLDER = (
    "account holder",
    "Whose account is it?",
    "Who is the customer?",
    "name of the account holder",
    "customer name",
)
_HOLDER_ADDRESS = (
    "address of the account holder",
    "Where does the holder live?",
    "customer address",
    "postal address of the customer",
)
_NAMED = {"$": "USD", "£": "GBP", "€": "EUR", "RM": "MYR", "USD": "USD", "EUR": "EUR", "Rs.": "INR", "CHF": "CHF"}
_DEBITS = ("Debit", "Withdrawals", "Paid out", "Money out", "Debits", "Payments", "Out")
_CREDITS = ("Credit", "Deposits", "Paid in", "Money in", "Credits", "Receipts", "In")


def bank(form: Form, writing: Writing) -> float:
    """Lay out the statement of a bank account; return where it ends."""
    chance, sheet, em = form.chance, form.sheet, form.em
    last = drawn_day(chance)
    first = last - timedelta(days=chance.choice((29, 30, 30, 30, 6, 13, 89)))
    room = sheet.height * chance.uniform(0.5, 0.92)
    booked = bookings(form, first, last, chance.randint(3, 34))
    opening = cents(chance, 20000) * chance.choice((1, 1, 1, 1, -1))
    head = _account_entries(form, writing, first, last)
    y = _bank_head(form, head)
    closing = opening + sum(one.cents for one in booked)
    early = chance.random() < 0.5
    if early:
        # Few lines fit into little room: the summary is computed from the lines that were printed.
        fitting = max(3, int((room - y - 14 * em) / (1.75 * form.value_face.size)))
        booked = booked[:fitting]
        closing = opening + sum(one.cents for one in booked)
        y = _summary(form, writing, opening, booked, closing, y) + 2.2 * em
    else:
        fitting = max(3, int((room - y - 6 * em) / (1.75 * form.value_face.size)))
        booked = booked[:fitting]
    y = _booked(form, writing, opening, booked, y)
    if not early and chance.random() < 0.6:
        closing = opening + sum(one.cents for one in booked)
        y = _summary(form, writing, opening, booked, closing, y + 1.4 * em) + em
    if chance.random() < 0.5 and y < sheet.height - 8 * em:
        y = paper.small_print(form, y + 1.5 * em) + em
    return y


def _account_entries(form: Form, writing: Writing, first: date, last: date) -> list[Entry]:
    chance = form.chance
    number = (
        code(chance)
        if chance.random() < 0.3
        else " ".join(str(chance.randint(100, 9999)) for _ in range(chance.randint(1, 4)))
    )
    iban = f"{chance.choice(('GB', 'DE', 'FR', 'NL', 'CH'))}{chance.randint(10, 99)} " + " ".join(
        f"{chance.randint(0, 9999):04}" for _ in range(4)
    )
    made = {
        "account number": number,
        "sort code": chance.choice((f"{chance.randint(10, 99)}-{chance.randint(10, 99)}-{chance.randint(10, 99)}", str(chance.randint(10**7, 10**8)))),
        "iban": iban,
        "branch": chance.choice(CITIES),
        "account type": chance.choice(("Current Account", "Savings", "Checking", "Business Account", "Personal", f"{word(chance).title()} Saver")),
        "statement no.": chance.choice((str(chance.randint(1, 60)), f"{chance.randint(1, 24)}/{last.year}", code(chance))),
        "statement date": writing.day(last + timedelta(days=chance.randint(0, 2))),
        "statement period": writing.span(first, last, chance.choice((" - ", " to "))),
        "currency": _NAMED.get(writing.currency.strip(), "") or chance.choice(("GBP", "EUR", "USD", "MYR", "CHF", "INR")),
        "overdraft limit": writing.sum(100 * chance.randint(1, 40) * 50, currency=True),
    }  # fmt: skip
    shares = {"account number": 0.97, "statement period": 0.7, "statement date": 0.6}
    chosen = [name for name in made if chance.random() < shares.get(name, 0.35)]
    if chance.random() < 0.4:
        chance.shuffle(chosen)
    return [Entry(CONCEPTS[name], (made[name],)) for name in chosen or ["account number"]]


def _bank_head(form: Form, entries: list[Entry]) -> float:
    """Set bank, holder and account entries in one of four arrangements; return where the next part begins."""
    chance, sheet, em = form.chance, form.sheet, form.em
    name = chance.choice((f"{word(chance).title()} Bank", f"Bank of {chance.choice(CITIES)}", f"{chance.choice(LAST_NAMES)} & {chance.choice(LAST_NAMES)} Bank",
                          f"{chance.choice(CITIES)} Savings Bank", f"{word(chance, 0.7).title()} Credit Union"))  # fmt: skip
    heading = cased(
        chance,
        chance.choice(
            ("Account statement", "Statement of account", "Bank statement", "Your statement", "Monthly statement")
        ),
    )
    holder = person(chance)
    middle = sheet.width * chance.uniform(0.5, 0.6)
    y = sheet.height * chance.uniform(0.02, 0.05)
    form_of = chance.choice(("window", "window", "centre", "boxes", "list"))
    if form_of == "centre":
        y = paper.letterhead(form, name, form.left, y, form.right, _BANK, centred=True) + em
        y = paper.title(form, heading, form.left, y, form.right, align="centre") + em
        holder_entry = Entry(CONCEPTS["account holder"], (holder,))
        return (
            in_columns(form, [holder_entry, *entries], form.left, y, form.right, "aligned", chance.choice((1, 2, 2)))
            + 2.6 * em
        )
    foot = paper.letterhead(form, name, form.left, y, middle - em, _BANK)
    y_right = paper.title(form, heading, middle, y, form.right, align=chance.choice(("left", "right")))
    if form_of == "boxes":
        y = max(foot, y_right) + 1.2 * em
        y = paper.addressee(form, holder, form.left, y, middle, _HOLDER, _HOLDER_ADDRESS) + 1.2 * em
        shown = [(entry, max(6.0, len(entry.lines[0]))) for entry in entries]
        rows = [shown[:3], shown[3:]] if len(shown) > 3 else [shown]
        return boxed(form, rows, y) + 2 * em
    if form_of == "list":
        y = max(foot, y_right) + em
        sheet.rule(form.left, y - 0.5 * em, form.right, y - 0.5 * em, width=chance.choice((1, 1, 2, 3)))
        y = paper.addressee(form, holder, form.left, y + 0.6 * em, middle, _HOLDER, _HOLDER_ADDRESS) + em
        return stacked(form, entries, form.left, y, form.left + sheet.width * 0.6, "aligned") + 2.6 * em
    place: Place = chance.choice(("aligned", "far", "right"))
    meta_foot = stacked(
        form, entries, middle, max(y_right, foot if chance.random() < 0.4 else 0) + em, form.right, place
    )
    y = foot + chance.uniform(1, 3) * em
    return (
        max(paper.addressee(form, holder, form.left, y, middle - em, _HOLDER, _HOLDER_ADDRESS), meta_foot + em) + 2 * em
    )


def _summary(form: Form, writing: Writing, opening: int, booked: Sequence[Booking], closing: int, y: float) -> float:
    """Set opening and closing balance with the totals between them."""
    chance, sheet, em = form.chance, form.sheet, form.em
    out, gained = -sum(one.cents for one in booked if one.cents < 0), sum(one.cents for one in booked if one.cents > 0)
    sums = (
        ("opening balance", opening),
        ("total credits", gained),
        ("total debits", out),
        ("closing balance", closing),
    )
    entries = [Entry(CONCEPTS[name], (writing.sum(amount, currency=True),)) for name, amount in sums]
    shape = chance.random()
    if shape < 0.35:
        return boxed(form, [[(entry, 1.0) for entry in entries]], y)
    if shape < 0.5:
        return in_columns(form, entries, form.left, y, form.right, "below", 4)
    if shape < 0.8:
        y = paper.subtitle(form, chance.choice(("Summary", "Balance summary", "Account summary", "At a glance")), y)
        return (
            stacked(form, entries, form.left, y, form.left + sheet.width * chance.uniform(0.5, 0.65), "far") + 0.5 * em
        )
    return in_columns(form, entries, form.left, y, form.right, "far", 2)


def _booked(form: Form, writing: Writing, opening: int, booked: Sequence[Booking], y: float) -> float:
    """Set the bookings with the running balance, and their questions."""
    chance = form.chance
    signed, second_day = chance.random() < 0.25, chance.random() < 0.2
    carried, totals = chance.random() < 0.7, chance.random() < 0.6
    columns = [ledger.Column(chance.choice(("Date", "Booked", "Posting date", "Day")), "l")]
    if second_day:
        columns.append(ledger.Column(chance.choice(("Value", "Value date", "Valuta")), "l"))
    columns.append(
        ledger.Column(chance.choice(("Description", "Details", "Transaction", "Particulars", "Narrative")), "l", True)
    )
    text_at = len(columns) - 1
    columns += (
        [ledger.Column("Amount")]
        if signed
        else [ledger.Column(chance.choice(_DEBITS)), ledger.Column(chance.choice(_CREDITS))]
    )
    if not signed and chance.random() < 0.3:
        columns[-2:] = columns[:-3:-1]
    credit_first = not signed and columns[-1].head in _DEBITS
    columns.append(ledger.Column(chance.choice(("Balance", "Balance", "Running balance", "Saldo"))))
    width = len(columns)
    rows, balance = [], opening
    first_text = chance.choice(CONCEPTS["opening balance"].printed)
    if carried:
        rows.append(
            ledger.Row(
                ("",) * text_at + (form.case(first_text),) + ("",) * (width - text_at - 2) + (writing.sum(opening),)
            )
        )
    for one in booked:
        balance += one.cents
        shown = [""] * width
        shown[0], shown[text_at], shown[-1] = writing.row_day(one.day), one.text, writing.sum(balance)
        if second_day:
            shown[1] = writing.row_day(one.day + timedelta(days=chance.choice((0, 0, 1, 2))))
        if signed:
            shown[-2] = writing.sum(one.cents)
        else:
            shown[-2 - (credit_first == (one.cents > 0))] = writing.sum(abs(one.cents))
        rows.append(ledger.Row(tuple(shown)))
    whole = len(rows)
    if totals:
        out, gained = (
            -sum(one.cents for one in booked if one.cents < 0),
            sum(one.cents for one in booked if one.cents > 0),
        )
        shown = [""] * width
        shown[text_at], shown[-1] = (
            form.case(chance.choice(("Total", "Totals", "Closing balance", "Balance carried forward"))),
            writing.sum(balance),
        )
        if signed:
            shown[-2] = writing.sum(gained - out)
        else:
            shown[-3], shown[-2] = (
                (writing.sum(gained), writing.sum(out)) if credit_first else (writing.sum(out), writing.sum(gained))
            )
        rows.append(ledger.Row(tuple(shown), strong=True))
    table = ledger.set_table(form, columns, rows, y, face=form.value_face.scaled(chance.uniform(0.85, 1.0)))
    ask_bookings(form, writing, table, booked, int(carried), text_at)
    if carried:
        note(form, first_text, CONCEPTS["opening balance"], table.cells.get((0, width - 1), []))
    if totals and whole < table.rows:
        note(form, "closing balance", CONCEPTS["closing balance"], table.cells[whole, width - 1])
        if not signed:
            names = ("total credits", "total debits") if credit_first else ("total debits", "total credits")
            for at, name in zip((-3, -2), names, strict=True):
                note(form, name, CONCEPTS[name], table.cells[whole, width + at])
    elif whole == table.rows and booked:
        note(form, "closing balance", CONCEPTS["closing balance"], table.cells[whole - 1, width - 1])
    for name in ("opening balance", "closing balance", "total debits", "total credits"):
        form.keys.used.update(CONCEPTS[name].printed)
    for at in range(width):
        if chance.random() < 0.2:
            ledger.ask_column(form, table, at, range(int(carried), min(whole, table.rows)))
    return table.foot + form.em
