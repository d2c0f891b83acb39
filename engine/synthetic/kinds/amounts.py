"""Sums of money and days as one paper writes them: in one way throughout, so that they can be seen to add up."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date, timedelta

from engine.synthetic.values import MONTHS

_DAYS = (
    "{d:02}/{m:02}/{y}", "{d:02}/{m:02}/{y}", "{m:02}/{d:02}/{y}", "{d:02}.{m:02}.{y}", "{y}-{m:02}-{d:02}", "{d:02}-{m:02}-{y}",
    "{d} {short} {y}", "{d:02} {short} {y}", "{name} {d}, {y}", "{short} {d}, {y}", "{d} {name} {y}", "{d:02}-{short}-{s}",
    "{d:02}/{m:02}/{s}", "{m}/{d}/{s}",
)  # fmt: skip
_ROW_DAYS = ("{d:02} {short}", "{d:02}/{m:02}", "{m:02}/{d:02}", "{short} {d:02}", "{d:02}.{m:02}.", "{d:02}{SHORT}")
_CURRENCIES = ("", "", "$", "$", "£", "€", "RM ", "USD ", "EUR ", "Rs. ", "CHF ")


@dataclass(frozen=True, slots=True)
class Writing:
    """How sums and days are written. `minus`: what stands around a sum below nothing; `row_day`: days in tables."""

    currency: str
    comma: bool  # decimals behind a comma, as on the Continent
    minus: str
    day_shape: str
    row_day_shape: str

    @classmethod
    def drawn(cls, chance: random.Random) -> Writing:
        """One way to write, by chance."""
        shape = chance.choice(_DAYS)
        return cls(
            currency=chance.choice(_CURRENCIES),
            comma=chance.random() < 0.1,
            minus=chance.choice(("-{}", "-{}", "({})", "{}-", "{} DR")),
            day_shape=shape,
            row_day_shape=shape if chance.random() < 0.6 and len(shape) < 22 else chance.choice(_ROW_DAYS),
        )

    def sum(self, cents: int, *, currency: bool = False) -> str:
        """A sum of `cents`, with the currency where it is wanted."""
        text = f"{abs(cents) / 100:,.2f}"
        if self.comma:
            text = text.translate(str.maketrans(",.", ".,"))
        if currency:
            text = self.currency + text
        return self.minus.format(text) if cents < 0 else text

    def day(self, day: date) -> str:
        return _day(self.day_shape, day)

    def row_day(self, day: date) -> str:
        return _day(self.row_day_shape, day)

    def span(self, first: date, last: date, between: str = " - ") -> str:
        return f"{self.day(first)}{between}{self.day(last)}"


def _day(shape: str, day: date) -> str:
    name = MONTHS[day.month - 1]
    return shape.format(
        d=day.day, m=day.month, y=day.year, s=f"{day.year % 100:02}", name=name, short=name[:3], SHORT=name[:3].upper()
    )


def drawn_day(chance: random.Random) -> date:
    """Some day of the last twenty years."""
    return date(2007, 1, 1) + timedelta(days=chance.randrange(7300))


def cents(chance: random.Random, most: int) -> int:
    """A sum of up to `most` units of money, small ones as common as large ones; now and then a round one."""
    found = round(100 * float(most ** chance.uniform(0.25, 1.0)))
    return max(100, found // 500 * 500) if chance.random() < 0.25 else found


def days_between(chance: random.Random, first: date, last: date, count: int) -> list[date]:
    """Days in order, some of them twice."""
    span = (last - first).days
    return sorted(first + timedelta(days=chance.randint(0, span)) for _ in range(count))
