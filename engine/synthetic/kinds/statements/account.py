"""Statements of bank accounts: holder, daily bookings, and balances."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

from engine.synthetic.draft import vary_case
from engine.synthetic.kinds import ledger, paper
from engine.synthetic.kinds.amounts import Writing, cents, sample_day
from engine.synthetic.kinds.entries import Entry, Place, note, set_in_boxes, set_in_columns, set_in_one_column
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
    rng, canvas, em = form.rng, form.canvas, form.em
    last = sample_day(rng)
    first = last - timedelta(days=rng.choice((29, 30, 30, 30, 6, 13, 89)))
    room = canvas.height * rng.uniform(0.5, 0.92)
    booked = bookings(form, first, last, rng.randint(3, 34))
    opening = cents(rng, 20000) * rng.choice((1, 1, 1, 1, -1))
    head = _account_entries(form, writing, first, last)
    y = _bank_head(form, head)
    closing = opening + sum(booking.cents for booking in booked)
    early = rng.random() < 0.5
    if early:
        # Few lines fit into little room: the summary is computed from the lines that were printed.
        fitting = max(3, int((room - y - 14 * em) / (1.75 * form.value_face.size)))
        booked = booked[:fitting]
        closing = opening + sum(booking.cents for booking in booked)
        y = _summary(form, writing, opening, booked, closing, y) + 2.2 * em
    else:
        fitting = max(3, int((room - y - 6 * em) / (1.75 * form.value_face.size)))
        booked = booked[:fitting]
    y = _set_bookings(form, writing, opening, booked, y)
    if not early and rng.random() < 0.6:
        closing = opening + sum(booking.cents for booking in booked)
        y = _summary(form, writing, opening, booked, closing, y + 1.4 * em) + em
    if rng.random() < 0.5 and y < canvas.height - 8 * em:
        y = paper.small_print(form, y + 1.5 * em) + em
    return y


def _account_entries(form: Form, writing: Writing, first: date, last: date) -> list[Entry]:
    rng = form.rng
    number = (
        code(rng) if rng.random() < 0.3 else " ".join(str(rng.randint(100, 9999)) for _ in range(rng.randint(1, 4)))
    )
    iban = f"{rng.choice(('GB', 'DE', 'FR', 'NL', 'CH'))}{rng.randint(10, 99)} " + " ".join(
        f"{rng.randint(0, 9999):04}" for _ in range(4)
    )
    made = {
        "account number": number,
        "sort code": rng.choice((f"{rng.randint(10, 99)}-{rng.randint(10, 99)}-{rng.randint(10, 99)}", str(rng.randint(10**7, 10**8)))),
        "iban": iban,
        "branch": rng.choice(CITIES),
        "account type": rng.choice(("Current Account", "Savings", "Checking", "Business Account", "Personal", f"{word(rng).title()} Saver")),
        "statement no.": rng.choice((str(rng.randint(1, 60)), f"{rng.randint(1, 24)}/{last.year}", code(rng))),
        "statement date": writing.day(last + timedelta(days=rng.randint(0, 2))),
        "statement period": writing.span(first, last, rng.choice((" - ", " to "))),
        "currency": _NAMED.get(writing.currency.strip(), "") or rng.choice(("GBP", "EUR", "USD", "MYR", "CHF", "INR")),
        "overdraft limit": writing.sum(100 * rng.randint(1, 40) * 50, currency=True),
    }  # fmt: skip
    shares = {"account number": 0.97, "statement period": 0.7, "statement date": 0.6}
    chosen = [name for name in made if rng.random() < shares.get(name, 0.35)]
    if rng.random() < 0.4:
        rng.shuffle(chosen)
    return [Entry(CONCEPTS[name], (made[name],)) for name in chosen or ["account number"]]


def _bank_head(form: Form, entries: list[Entry]) -> float:
    """Set bank, holder and account entries in one of four arrangements; return where the next part begins."""
    rng, canvas, em = form.rng, form.canvas, form.em
    name = rng.choice((f"{word(rng).title()} Bank", f"Bank of {rng.choice(CITIES)}", f"{rng.choice(LAST_NAMES)} & {rng.choice(LAST_NAMES)} Bank",
                          f"{rng.choice(CITIES)} Savings Bank", f"{word(rng, 0.7).title()} Credit Union"))  # fmt: skip
    heading = vary_case(
        rng,
        rng.choice(
            ("Account statement", "Statement of account", "Bank statement", "Your statement", "Monthly statement")
        ),
    )
    holder = person(rng)
    middle = canvas.width * rng.uniform(0.5, 0.6)
    y = canvas.height * rng.uniform(0.02, 0.05)
    form_of = rng.choice(("window", "window", "centre", "boxes", "list"))
    if form_of == "centre":
        y = paper.letterhead(form, name, form.left, y, form.right, _BANK, centred=True) + em
        y = paper.title(form, heading, form.left, y, form.right, align="centre") + em
        holder_entry = Entry(CONCEPTS["account holder"], (holder,))
        return (
            set_in_columns(form, [holder_entry, *entries], form.left, y, form.right, "aligned", rng.choice((1, 2, 2)))
            + 2.6 * em
        )
    foot = paper.letterhead(form, name, form.left, y, middle - em, _BANK)
    y_right = paper.title(form, heading, middle, y, form.right, align=rng.choice(("left", "right")))
    if form_of == "boxes":
        y = max(foot, y_right) + 1.2 * em
        y = paper.addressee(form, holder, form.left, y, middle, _HOLDER, _HOLDER_ADDRESS) + 1.2 * em
        shown = [(entry, max(6.0, len(entry.lines[0]))) for entry in entries]
        rows = [shown[:3], shown[3:]] if len(shown) > 3 else [shown]
        return set_in_boxes(form, rows, y) + 2 * em
    if form_of == "list":
        y = max(foot, y_right) + em
        canvas.rule(form.left, y - 0.5 * em, form.right, y - 0.5 * em, width=rng.choice((1, 1, 2, 3)))
        y = paper.addressee(form, holder, form.left, y + 0.6 * em, middle, _HOLDER, _HOLDER_ADDRESS) + em
        return set_in_one_column(form, entries, form.left, y, form.left + canvas.width * 0.6, "aligned") + 2.6 * em
    place: Place = rng.choice(("aligned", "far", "right"))
    meta_foot = set_in_one_column(
        form, entries, middle, max(y_right, foot if rng.random() < 0.4 else 0) + em, form.right, place
    )
    y = foot + rng.uniform(1, 3) * em
    return (
        max(paper.addressee(form, holder, form.left, y, middle - em, _HOLDER, _HOLDER_ADDRESS), meta_foot + em) + 2 * em
    )


def _summary(form: Form, writing: Writing, opening: int, booked: Sequence[Booking], closing: int, y: float) -> float:
    """Set opening and closing balance with the totals between them."""
    rng, canvas, em = form.rng, form.canvas, form.em
    out, gained = (
        -sum(booking.cents for booking in booked if booking.cents < 0),
        sum(booking.cents for booking in booked if booking.cents > 0),
    )
    sums = (
        ("opening balance", opening),
        ("total credits", gained),
        ("total debits", out),
        ("closing balance", closing),
    )
    entries = [Entry(CONCEPTS[name], (writing.sum(amount, currency=True),)) for name, amount in sums]
    shape = rng.random()
    if shape < 0.35:
        return set_in_boxes(form, [[(entry, 1.0) for entry in entries]], y)
    if shape < 0.5:
        return set_in_columns(form, entries, form.left, y, form.right, "below", 4)
    if shape < 0.8:
        y = paper.subtitle(form, rng.choice(("Summary", "Balance summary", "Account summary", "At a glance")), y)
        return (
            set_in_one_column(form, entries, form.left, y, form.left + canvas.width * rng.uniform(0.5, 0.65), "far")
            + 0.5 * em
        )
    return set_in_columns(form, entries, form.left, y, form.right, "far", 2)


def _set_bookings(form: Form, writing: Writing, opening: int, booked: Sequence[Booking], y: float) -> float:
    """Set the bookings with the running balance, and their questions."""
    rng = form.rng
    signed, second_day = rng.random() < 0.25, rng.random() < 0.2
    carried, totals = rng.random() < 0.7, rng.random() < 0.6
    columns = [ledger.Column(rng.choice(("Date", "Booked", "Posting date", "Day")), "l")]
    if second_day:
        columns.append(ledger.Column(rng.choice(("Value", "Value date", "Valuta")), "l"))
    columns.append(
        ledger.Column(rng.choice(("Description", "Details", "Transaction", "Particulars", "Narrative")), "l", True)
    )
    text_at = len(columns) - 1
    columns += (
        [ledger.Column("Amount")]
        if signed
        else [ledger.Column(rng.choice(_DEBITS)), ledger.Column(rng.choice(_CREDITS))]
    )
    if not signed and rng.random() < 0.3:
        columns[-2:] = columns[:-3:-1]
    credit_first = not signed and columns[-1].head in _DEBITS
    columns.append(ledger.Column(rng.choice(("Balance", "Balance", "Running balance", "Saldo"))))
    width = len(columns)
    rows, balance = [], opening
    first_text = rng.choice(CONCEPTS["opening balance"].printed)
    if carried:
        rows.append(
            ledger.Row(
                ("",) * text_at + (form.case(first_text),) + ("",) * (width - text_at - 2) + (writing.sum(opening),)
            )
        )
    for booking in booked:
        balance += booking.cents
        shown = [""] * width
        shown[0], shown[text_at], shown[-1] = writing.row_day(booking.day), booking.text, writing.sum(balance)
        if second_day:
            shown[1] = writing.row_day(booking.day + timedelta(days=rng.choice((0, 0, 1, 2))))
        if signed:
            shown[-2] = writing.sum(booking.cents)
        else:
            shown[-2 - (credit_first == (booking.cents > 0))] = writing.sum(abs(booking.cents))
        rows.append(ledger.Row(tuple(shown)))
    whole = len(rows)
    if totals:
        out, gained = (
            -sum(booking.cents for booking in booked if booking.cents < 0),
            sum(booking.cents for booking in booked if booking.cents > 0),
        )
        shown = [""] * width
        shown[text_at], shown[-1] = (
            form.case(rng.choice(("Total", "Totals", "Closing balance", "Balance carried forward"))),
            writing.sum(balance),
        )
        if signed:
            shown[-2] = writing.sum(gained - out)
        else:
            shown[-3], shown[-2] = (
                (writing.sum(gained), writing.sum(out)) if credit_first else (writing.sum(out), writing.sum(gained))
            )
        rows.append(ledger.Row(tuple(shown), strong=True))
    table = ledger.set_table(form, columns, rows, y, face=form.value_face.scale(rng.uniform(0.85, 1.0)))
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
        if rng.random() < 0.2:
            ledger.ask_column(form, table, at, range(int(carried), min(whole, table.rows)))
    return table.foot + form.em
