"""Amounts and dates in one notation per page, so that sums visibly add up."""

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
    """Notation of amounts and dates; `minus`: signs of negative amounts, `row_day_shape`: dates in tables."""

    currency: str
    comma: bool  # comma before decimals, as in continental Europe
    minus: str
    day_shape: str
    row_day_shape: str

    @classmethod
    def sample(cls, rng: random.Random) -> Writing:
        """Draw a notation at random."""
        shape = rng.choice(_DAYS)
        return cls(
            currency=rng.choice(_CURRENCIES),
            comma=rng.random() < 0.1,
            minus=rng.choice(("-{}", "-{}", "({})", "{}-", "{} DR")),
            day_shape=shape,
            row_day_shape=shape if rng.random() < 0.6 and len(shape) < 22 else rng.choice(_ROW_DAYS),
        )

    def sum(self, cents: int, *, currency: bool = False) -> str:
        """Format an amount of `cents`, with the currency on request."""
        text = f"{abs(cents) / 100:,.2f}"
        if self.comma:
            text = text.translate(str.maketrans(",.", ".,"))
        if currency:
            text = self.currency + text
        return self.minus.format(text) if cents < 0 else text

    def day(self, day: date) -> str:
        """Format a date."""
        return _day(self.day_shape, day)

    def row_day(self, day: date) -> str:
        """Format a date for a table row."""
        return _day(self.row_day_shape, day)

    def span(self, first: date, last: date, between: str = " - ") -> str:
        """Format a range of dates."""
        return f"{self.day(first)}{between}{self.day(last)}"


def _day(shape: str, day: date) -> str:
    name = MONTHS[day.month - 1]
    return shape.format(
        d=day.day, m=day.month, y=day.year, s=f"{day.year % 100:02}", name=name, short=name[:3], SHORT=name[:3].upper()
    )


def sample_day(rng: random.Random) -> date:
    """Return a date of the last twenty years."""
    return date(2007, 1, 1) + timedelta(days=rng.randrange(7300))


def cents(rng: random.Random, most: int) -> int:
    """Return an amount of up to `most` units, log-uniform, sometimes round."""
    amount = round(100 * float(most ** rng.uniform(0.25, 1.0)))
    return max(100, amount // 500 * 500) if rng.random() < 0.25 else amount


def days_between(rng: random.Random, first: date, last: date, count: int) -> list[date]:
    """Return sorted dates, some of them repeated."""
    span = (last - first).days
    return sorted(first + timedelta(days=rng.randint(0, span)) for _ in range(count))
