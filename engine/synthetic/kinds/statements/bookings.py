"""Bookings of accounts and cards: random ones, and questions on their text, day and amount."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from engine.synthetic.kinds import ledger
from engine.synthetic.kinds.amounts import Writing, cents, days_between
from engine.synthetic.kinds.forms.style import Form
from engine.synthetic.values import code, company, person, shop
from engine.synthetic.vocabulary import CITIES

_SPENT = ("CARD PURCHASE {shop}", "POS {shop} {city}", "{shop} {city}", "DIRECT DEBIT {firm}", "STANDING ORDER {person}", "ATM {city}",
          "CASH WITHDRAWAL {city}", "TRANSFER TO {person}", "CHEQUE {number}", "{firm}", "BILL PAYMENT {firm}", "MONTHLY FEE",
          "RENT {person}", "INSURANCE {firm}", "ONLINE {shop}")  # fmt: skip
_EARNED = ("SALARY {firm}", "TRANSFER FROM {person}", "DEPOSIT {city}", "REFUND {shop}", "INTEREST", "CREDIT {firm}", "CASH DEPOSIT",
           "DIVIDEND {firm}", "PAYMENT {person}")  # fmt: skip
_OF_AMOUNT = (
    "What is the amount of {what}?", "amount of {what}", "{what} amount", "How much is {what}?", "{what}", "How much was booked for {what}?",
    "amount on {day} for {what}", "What was booked on {day} for {what}?",
)  # fmt: skip
_PAID = ("What was paid to {what} on {day}?", "How much went out for {what}?", "How much was paid for {what} on {day}?")
_OF_DAY = ("What was booked on {day}?", "transaction on {day}", "Which transaction took place on {day}?")
_OF_DAYS = ("Which transactions took place on {day}?", "bookings of {day}", "What was booked on {day}?")
_GOT = ("How much came in from {what}?", "What was received from {what} on {day}?", "deposit from {what}")


@dataclass(frozen=True, slots=True)
class Booking:
    """Booking; `cents` is negative for money out."""

    day: date
    text: str
    cents: int


def bookings(form: Form, first: date, last: date, count: int, *, gains: float = 0.3) -> list[Booking]:
    """Return random bookings sorted by day; `gains`: share that brings money in."""
    rng = form.rng
    case = rng.choice((str.upper, str.upper, str, str.title))
    booked = []
    for day in days_between(rng, first, last, count):
        gain = rng.random() < gains
        text = rng.choice(_EARNED if gain else _SPENT).format(
            shop=shop(rng),
            city=rng.choice(CITIES),
            firm=company(rng),
            person=person(rng),
            number=rng.randint(100, 99999),
        )
        if rng.random() < 0.2:
            text += f" {code(rng)}"
        booked.append(Booking(day, case(text), cents(rng, 4000 if gain else 900) * (1 if gain else -1)))
    return booked


def ask_bookings(
    form: Form, writing: Writing, table: ledger.Ledger, booked: Sequence[Booking], first: int, text_at: int
) -> None:
    """Ask for amount, day, text and balance of unambiguous bookings."""
    rng = form.rng
    shown = [index for index in range(len(booked)) if first + index < table.rows]
    texts, days = [booked[at].text for at in shown], [booked[at].day for at in shown]
    width = len(table.columns)
    for at in rng.sample(shown, min(len(shown), rng.randint(3, 7))):
        booking, row = booked[at], first + at
        day = writing.row_day(booking.day)
        if texts.count(booking.text) == 1:
            amount = next(table.cells[row, column] for column in range(text_at + 1, width) if table.cells[row, column])
            shapes = _OF_AMOUNT + (_PAID if booking.cents < 0 else _GOT) * 2
            ledger.ask_cell(form, shapes, amount, what=rng.choice((booking.text, booking.text.title())), day=day)
            if rng.random() < 0.3:
                ledger.ask_cell(
                    form,
                    ("When was {what} booked?", "date of {what}", "On which day was {what}?"),
                    table.cells[row, 0],
                    what=booking.text,
                )
            if width - text_at > 2 and rng.random() < 0.3:
                ledger.ask_cell(
                    form,
                    ("balance after {what}", "What was the balance after {what}?"),
                    table.cells[row, width - 1],
                    what=booking.text,
                )
        if days.count(booking.day) == 1 and rng.random() < 0.5:
            ledger.ask_cell(form, _OF_DAY, table.cells[row, text_at], day=day)
        elif rng.random() < 0.6:
            same = [
                piece
                for index in shown
                if booked[index].day == booking.day
                for piece in table.cells[first + index, text_at]
            ]
            ledger.ask_cell(form, _OF_DAYS, same, day=day)
