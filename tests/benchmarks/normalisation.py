"""Printed values of ten locales: right, wrong and left open, beside the bare libraries.

    python -m tests.benchmarks.normalisation [--misses]

Reads tests/data/normalisation/printed_values.tsv once without context and once with the locale. The libraries are
called as their own examples do: `dateparser.parse(text)` and `price_parser.Price.fromstring(text)`, with the locale as
their options have it. They judge dates, and numbers and amounts. Install them with `pip install -e '.[bench]'`.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from engine.fields.normalisation import LocaleContext, Value, normalise
from engine.fields.types import Choice, FieldOptions, FieldType
from tests.benchmarks.markdown import table
from tests.support.repository import ROOT

VALUES = ROOT / "tests" / "data" / "normalisation" / "printed_values.tsv"
OPEN = "?"


@dataclass(frozen=True, slots=True)
class Printed:
    """One line of the list; `with_locale` and `without` are the expected values, or OPEN."""

    locale: str
    kind: FieldType
    text: str
    with_locale: str
    without: str
    options: FieldOptions


@dataclass(slots=True)
class Score:
    """Counts of values: decided ones that were right or left open, and values that are wrong or should be open."""

    decided: int = 0
    right: int = 0
    wrong: int = 0
    undecided: int = 0
    values: int = 0

    @property
    def share_right(self) -> float:
        """Share of what is decided that was read right."""
        return self.right / self.decided if self.decided else 1.0

    @property
    def share_wrong(self) -> float:
        """Share of all values that were read wrong."""
        return self.wrong / self.values if self.values else 0.0


def printed_values() -> list[Printed]:
    """Return the list."""
    lines = VALUES.read_text(encoding="utf-8").splitlines()[1:]
    return [_parse(line) for line in lines]


def _parse(line: str) -> Printed:
    locale, kind, text, with_locale, without, options = line.split("\t")
    text = re.sub(r"\\u([0-9a-f]{4})", lambda match: chr(int(match[1], 16)), text)
    name, _, content = options.partition("=")
    choices = tuple(Choice(names[0], tuple(names[1:])) for names in (entry.split(":") for entry in content.split(";")))
    return Printed(
        locale,
        FieldType(kind),
        text,
        with_locale,
        with_locale if without == "=" else without,
        FieldOptions(
            choices=choices if name == "choices" else (),
            currency=content if name == "currency" else None,
            country=content if name == "country" else None,
        ),
    )


def written(value: Value | None) -> str:
    """Return a value as the list writes it; OPEN for None."""
    if value is None:
        return OPEN
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return " ".join(filter(None, (value["amount"], value["currency"])))
    return str(value)


Read = Callable[[Printed, bool], str]


def ours(value: Printed, with_locale: bool) -> str:
    """Read a value by engine.fields.normalisation."""
    context = LocaleContext(locale=value.locale if with_locale else None)
    return written(normalise(value.text, value.kind, value.options, context).value)


def by_dateparser(value: Printed, with_locale: bool) -> str:
    """Read a date by dateparser as it comes."""
    import dateparser

    locales = [value.locale] if with_locale else None
    try:
        day = dateparser.parse(value.text, locales=locales)
    except ValueError:  # it does not know the region
        day = dateparser.parse(value.text, languages=[value.locale[:2]])
    return day.date().isoformat() if day else OPEN


def by_price_parser(value: Printed, with_locale: bool) -> str:
    """Read a number or an amount by price-parser as it comes; its sign of a currency is no code, so numbers count."""
    from price_parser import Price

    decimal = None
    if with_locale:
        decimal = "," if value.locale in ("de-DE", "fr-FR", "es-ES", "pt-BR") else "."
    price = Price.fromstring(value.text, decimal_separator=decimal)
    return OPEN if price.amount is None else str(price.amount)


def same(kind: FieldType, left: str, right: str, numbers_only: bool) -> bool:
    """Return whether two written values are the same; of amounts the numbers alone, where a reader has no codes."""
    if kind in (FieldType.NUMBER, FieldType.INTEGER, FieldType.CURRENCY) and OPEN not in (left, right):
        number, _, code = left.partition(" ")
        second, _, second_code = right.partition(" ")
        try:
            return Decimal(number) == Decimal(second) and (numbers_only or code == second_code)
        except InvalidOperation:
            return False
    return left == right


def score(values: list[Printed], read: Read, with_locale: bool, numbers_only: bool = False) -> tuple[Score, list[str]]:
    """Return the score of a reader, and a line for each value that it misses.

    Args:
        values: part of the list.
        read: the reader.
        with_locale: whether it is told the locale.
        numbers_only: whether currencies are left out of the comparison.
    """
    result, misses = Score(), []
    for value in values:
        expected = value.with_locale if with_locale else value.without
        answer = read(value, with_locale)
        right = same(value.kind, expected, answer, numbers_only)
        result.values += 1
        result.decided += expected != OPEN
        result.right += expected != OPEN and right
        result.wrong += answer != OPEN and not right
        result.undecided += answer == OPEN
        if not right:
            misses.append(f"{value.locale} {value.kind} {value.text!r}: expected {expected}, read {answer}")
    return result, misses


_NUMBERS = (FieldType.NUMBER, FieldType.INTEGER, FieldType.CURRENCY)


def rows(values: list[Printed]) -> Iterator[list[str]]:
    """Yield the rows of the table."""
    parts: list[tuple[str, list[Printed], list[tuple[str, Read, bool]]]] = [
        ("all types", values, [("ours", ours, False)])
    ]
    dates = [value for value in values if value.kind is FieldType.DATE]
    numbers = [value for value in values if value.kind in _NUMBERS]
    parts.append(("dates", dates, [("ours", ours, False), ("dateparser", by_dateparser, False)]))
    parts.append(("numbers, amounts", numbers, [("ours", ours, True), ("price-parser", by_price_parser, True)]))
    for title, part, readers in parts:
        for with_locale in (False, True):
            for name, read, numbers_only in readers:
                figures, _ = score(part, read, with_locale, numbers_only)
                yield [
                    title,
                    "locale" if with_locale else "none",
                    name,
                    str(figures.values),
                    str(figures.decided),
                    f"{figures.share_right:.3f}",
                    f"{figures.share_wrong:.3f}",
                    f"{figures.undecided / figures.values:.3f}",
                ]


def main() -> None:
    """Print the table, and with --misses what was not read as expected."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--misses", action="store_true", help="name each value that was not read as expected")
    values = printed_values()
    if parser.parse_args().misses:
        for with_locale in (False, True):
            print(f"with locale: {with_locale}", *score(values, ours, with_locale)[1], sep="\n  ")
        return
    heads = ["values", "context", "reader", "number", "decided", "right of decided", "wrong of all", "left open of all"]
    print(table(heads, list(rows(values)), left=3))


if __name__ == "__main__":
    main()
