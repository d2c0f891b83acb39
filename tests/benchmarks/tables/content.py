"""What generated tables say: rows of texts, with group rows, subtotals and amounts carried forward between them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from engine.synthetic.values import company, person
from engine.synthetic.vocabulary import sentence
from tests.benchmarks.tables.kinds import Kind
from tests.benchmarks.tables.wording import TYPES, Wording

LONG = ("description", "booking", "task")  # columns of texts that wrap
_MAY_BE_EMPTY = ("code", "unit", "discount", "tax", "open", "delivered", "batch", "weight", "pause", "quantity")


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a table as it is printed.

    Args:
        kind: Only a "row" is a row of the truth.
        cells: Concept -> its text.
        details: Further lines of the text's column.
        value: What the row adds to the sum that is carried forward.
    """

    kind: Literal["row", "group", "subtotal", "remark"]
    cells: Mapping[str, str]
    details: tuple[str, ...] = ()
    value: float = 0.0


@dataclass(slots=True)
class Writer:
    """Writes the cells of one table, in one notation.

    Args:
        sign: Of the currency.
    """

    rng: random.Random
    kind: Kind
    words: Wording
    sign: str = "€"
    day: int = 0
    balance: float = 0.0
    code: str = field(init=False)
    whole: bool = field(init=False)

    def __post_init__(self) -> None:
        self.code = self.rng.choice(("9999", "99-999", "A9999", "AA-999", "999.999.9", "A99/99"))
        self.whole = self.rng.random() < 0.6

    def entries(self) -> Iterator[Entry]:
        """Yield the lines of the table in their order."""
        count = self.rng.randint(*self.kind.rows)
        left = 0
        total = 0.0
        for number in range(1, count + 1):
            if left == 0:
                left = self.rng.randint(3, 7)
                if self.kind.groups:
                    yield Entry("group", {"": self._group()})
            entry = self._row(number)
            total += entry.value
            yield entry
            if self.kind.remarks and self.rng.random() < self.kind.remarks:
                yield Entry("remark", {"": sentence(self.rng, 9, 14)})
            left -= 1
            if self.kind.subtotals and (left == 0 or number == count):
                yield Entry("subtotal", {"": self.words.texts.subtotal, self.summed_column(): self.number(total)})
                total = 0.0

    def summed_column(self) -> str:
        """Return the column that is added up."""
        return next(
            name for name in ("amount", "hours", "balance", "credit", "retail", self.kind.columns[-1])
            if name in self.kind.columns
        )  # fmt: skip

    def number(self, value: float) -> str:
        """Return an amount without a sign of currency, negative as the kind writes it."""
        text = self.words.amount(abs(value))
        if value >= 0:
            return text
        return {"behind": f"{text}-", "brackets": f"({text})"}.get(self.kind.negative, f"-{text}")

    def money(self, value: float) -> str:
        """Return an amount with its sign where the kind prints one beside it."""
        text = self.number(value)
        if self.kind.sign == "before":
            return f"{self.sign}{text}"
        return f"{text} {self.sign}" if self.kind.sign == "behind" else text

    def digits(self, pattern: str) -> str:
        """Return a code in which each 9 is some digit, and each A some letter."""
        letters = "ABCDEFGHKLMNPRSTUVWX"
        return "".join(
            str(self.rng.randint(0, 9)) if c == "9" else self.rng.choice(letters) if c == "A" else c for c in pattern
        )

    def _group(self) -> str:
        if "date" in self.kind.columns:
            return f"{self.words.texts.date}: {self.words.day(self.day)[3:]}"
        return f"{self.digits('A')}. {self.words.thing(self.rng, 0)} / {self.words.thing(self.rng, 0)}"

    def _row(self, number: int) -> Entry:
        rng = self.rng
        sold = float(rng.randint(1, 40)) if self.whole else round(rng.uniform(0.5, 90), 1)
        price = round(rng.choice((rng.uniform(0.5, 20), rng.uniform(10, 400), rng.uniform(100, 5000))), 2)
        value = round(sold * price, 2) if "price" in self.kind.columns else price
        if self.kind.negative and rng.random() < 0.3:
            value = -value
        self.day += rng.randint(0, 2)
        paid_in = rng.random() < 0.35
        begin = rng.randint(6, 11)
        hours = rng.randint(8, 40) / 4
        if "balance" in self.kind.columns:
            self.balance = round(self.balance + (value if paid_in or "debit" not in self.kind.columns else -value), 2)
        delivered = max(0.0, sold - rng.choice((0, 0, 1, 2)))
        counted = self.words.amount(sold, 0 if self.whole else 1)
        cells = {
            "position": str(number),
            "code": self.digits(self.code),
            "description": self._text(),
            "booking": self._text(booked=True),
            "task": self._text(),
            "quantity": counted,
            "unit": rng.choice(self.words.units),
            "price": self.money(price),
            "discount": self.words.amount(rng.choice((5, 10, 12.5, 20)), 1),
            "tax": self.words.amount(rng.choice((7, 10, 19, 21)), 0),
            "amount": self.money(value),
            "date": self.words.day(self.day),
            "due": self.words.day(self.day + 30),
            "debit": "" if paid_in else self.money(value),
            "credit": self.money(value) if paid_in else "",
            "balance": self.money(self.balance) if self.kind.negative else self.money(abs(self.balance)),
            "start": f"{begin:02d}:{rng.choice(('00', '15', '30', '45'))}",
            "end": f"{begin + int(hours) + 1:02d}:{rng.choice(('00', '15', '30', '45'))}",
            "pause": self.words.amount(rng.choice((0.25, 0.5, 0.75, 1))),
            "hours": self.words.amount(hours),
            "person": person(rng),
            "weight": self.words.amount(rng.uniform(0.2, 90), 1),
            "batch": self.digits("A9999"),
            "delivered": self.words.amount(delivered, 0 if self.whole else 1),
            "open": self.words.amount(sold - delivered, 0),
            "trade": self.money(price),
            "retail": self.money(round(price * 1.4, 2)),
            "document": self.digits("AA 9999" if self.code == "9999" else "99999"),
        }
        printed = {name: cells[name] for name in self.kind.concepts if cells[name]}
        for name in list(printed):
            if name in _MAY_BE_EMPTY and rng.random() < self.kind.empty:
                del printed[name]
        details: tuple[str, ...] = ()
        if rng.random() < self.kind.details:
            details = (f"{self.words.headings['batch'][0]}: {self.digits('AA99999')}",)
        added = hours if self.summed_column() == "hours" else value
        return Entry("row", printed, details, added)

    def _text(self, booked: bool = False) -> str:
        long = self.rng.random() < self.kind.wraps
        if booked:
            text = company(self.rng)
            return f"{text} {self.words.thing(self.rng, 2)} {self.digits('999999')}" if long else text
        if not long:
            return self.words.thing(self.rng, 1)
        return f"{self.words.thing(self.rng, 3)} {self.rng.choice(('-', '/', '+'))} {self.words.thing(self.rng, 3)}"


def heading_of(concept: str, words: Wording, rng: random.Random) -> str:
    """Return a heading of a column."""
    return rng.choice(words.headings[concept])


def is_number(concept: str) -> bool:
    """Return whether a column holds numbers."""
    return TYPES[concept] in ("number", "integer", "currency") and concept != "position"
