"""Statements of credit cards: previous balance, purchases, new balance, sometimes a payment slip."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from engine.synthetic.draft import vary_case
from engine.synthetic.kinds import ledger, paper
from engine.synthetic.kinds.amounts import Writing, cents, sample_day
from engine.synthetic.kinds.entries import Entry, note, set_in_boxes, set_in_columns, set_in_one_column
from engine.synthetic.kinds.forms.style import Form
from engine.synthetic.kinds.statements.bookings import Booking, ask_bookings, bookings
from engine.synthetic.kinds.statements.words import CONCEPTS
from engine.synthetic.values import person, phone
from engine.synthetic.vocabulary import LAST_NAMES, word


def card(form: Form, writing: Writing) -> float:
    """Lay out the statement of a credit card with a payment slip; return where it ends."""
    rng, canvas, em = form.rng, form.canvas, form.em
    last = sample_day(rng)
    first = last - timedelta(days=30)
    booked = bookings(form, first, last, rng.randint(3, 16), gains=0.0)
    y = canvas.height * rng.uniform(0.02, 0.05)
    middle = canvas.width * rng.uniform(0.5, 0.58)
    bank_name = f"{rng.choice((word(rng).title(), rng.choice(LAST_NAMES)))} {rng.choice(('Card', 'Bank', 'Card Services', 'Finance'))}"
    foot = paper.letterhead(
        form, bank_name, form.left, y, middle - em, ("card issuer", "Who issued the card?", "bank", "Which bank is it?")
    )
    right_foot = paper.title(
        form,
        vary_case(rng, rng.choice(("Credit card statement", "Card statement", "Your card account"))),
        middle,
        y,
        form.right,
    )
    y = max(foot, right_foot) + em
    previous, interest, limit = (
        cents(rng, 3000),
        rng.choice((0, cents(rng, 60))),
        100 * 500 * rng.randint(2, 20),
    )
    paid = min(previous, cents(rng, 3000))
    spent = -sum(booking.cents for booking in booked)
    new = previous - paid + spent + interest
    limit = max(limit, (new // 50000 + 1) * 50000)
    number = (
        f"{'*' * 4} {'*' * 4} {'*' * 4} {rng.randint(1000, 9999)}"
        if rng.random() < 0.5
        else " ".join(str(rng.randint(1000, 9999)) for _ in range(4))
    )
    due = writing.day(last + timedelta(days=rng.randint(14, 25)))
    least = writing.sum(max(new // 40, 2500), currency=True)
    names = {"cardholder": person(rng), "card number": number, "statement date": writing.day(last), "payment due date": due,
             "credit limit": writing.sum(limit, currency=True), "available credit": writing.sum(limit - new, currency=True),
             "minimum payment": least}  # fmt: skip
    entries = [
        Entry(CONCEPTS[name], (text,)) for name, text in names.items() if name == "card number" or rng.random() < 0.85
    ]
    if rng.random() < 0.4:
        shown = [(entry, 1.0) for entry in entries]
        y = set_in_boxes(form, [shown[:3], shown[3:]] if len(shown) > 4 else [shown], y) + 2 * em
    else:
        y = (
            set_in_columns(
                form,
                entries,
                form.left,
                y,
                form.right,
                rng.choice(("aligned", "far", "below")),
                rng.choice((1, 2, 2)),
            )
            + 2.4 * em
        )
    sums = {
        "previous balance": previous,
        "payments received": -paid,
        "purchases": spent,
        "interest charged": interest,
        "new balance": new,
    }
    summary = [Entry(CONCEPTS[name], (writing.sum(amount, currency=True),)) for name, amount in sums.items()]
    if rng.random() < 0.4:
        y = set_in_boxes(form, [[(entry, 1.0) for entry in summary]], y) + 2 * em
    else:
        y = paper.subtitle(form, rng.choice(("Account summary", "Your account", "Summary")), y)
        y = set_in_one_column(form, summary, form.left, y, form.left + canvas.width * 0.48, "far") + 2.4 * em
    y = _purchases(form, writing, booked, spent, y)
    if rng.random() < 0.55 and y < canvas.height - 16 * em:
        total = writing.sum(new, currency=True)
        filled = (("card number", number), ("payment due date", due), ("new balance", total), ("amount enclosed", ""))
        y = slip(form, filled, y + 2 * em)
    return y


def _purchases(form: Form, writing: Writing, booked: Sequence[Booking], spent: int, y: float) -> float:
    rng = form.rng
    heads = (
        rng.choice(("Date", "Trans. date", "Purchased")),
        rng.choice(("Description", "Merchant", "Details")),
        rng.choice(("Amount", "Charge", "Sum")),
    )
    columns = [ledger.Column(heads[0], "l"), ledger.Column(heads[1], "l", True), ledger.Column(heads[2])]
    rows = [ledger.Row((writing.row_day(booking.day), booking.text, writing.sum(-booking.cents))) for booking in booked]
    rows.append(
        ledger.Row(
            ("", rng.choice(("Total", "Total purchases", "Total of this period")), writing.sum(spent)), strong=True
        )
    )
    table = ledger.set_table(form, columns, rows, y)
    ask_bookings(form, writing, table, booked, 0, 1)
    if table.rows == len(rows):
        note(form, rows[-1].cells[1], CONCEPTS["purchases"], table.cells[len(rows) - 1, 2])
    return table.foot + form.em


def slip(form: Form, filled: Sequence[tuple[str, str]], y: float) -> float:
    """Set the payment slip: the same sums again, and an empty box."""
    rng, canvas, em = form.rng, form.canvas, form.em
    canvas.rule(0.4 * form.left, y, canvas.width - 0.4 * form.left, y, dash=0.5 * em)
    fine = canvas.face.scale(0.8)
    text = rng.choice(
        (
            "Please detach and return with your payment",
            "Payment slip",
            "Return this part with your cheque",
            "Remittance advice",
        )
    )
    y = canvas.write_centre(text, y + 0.8 * em, face=fine).top + 2 * em
    shown = [(Entry(CONCEPTS[name], (text,) if text else ()), 1.0) for name, text in filled]
    y = set_in_boxes(form, [shown], y, tallest=3.4) + em
    if rng.random() < 0.5 and y < canvas.height - 5 * em:
        width = em * rng.uniform(14, 22)
        figure = canvas.figure("barcode", (form.right - width, y, form.right, y + 2.4 * em), phone(rng))
        canvas.ask(
            rng.choice(("bar code", "Where is the bar code?", "Mark the bar code.")),
            printed_key=False,
            figures=[figure],
            region_type="barcode",
        )
        y += 3 * em
    return y
