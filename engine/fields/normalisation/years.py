"""Years as they are printed: of four digits, of two, and of other calendars.

Nothing depends on today. Two digits from 00 to 39 are of this century, from 70 to 99 of the last; between them a person
decides. Years of the Buddhist calendar count only where the era is stated, or a convention says so; years of the
Islamic and other calendars are left open, for their days cannot be told from the year alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from engine.fields.normalisation.context import CALENDAR, TWO_DIGIT_YEARS, LocaleContext

FIRST, LAST = 1600, 2399  # years that are surely Gregorian; 14xx is Islamic or Persian, 24xx and later Buddhist
_SURE_2000, _SURE_1900 = 40, 70
BUDDHIST = 543  # years that the Thai calendar is ahead; its year begins in January since 1941


@dataclass(frozen=True, slots=True)
class Year:
    """One reading of a printed year: the Gregorian year, and the convention that leads to it."""

    number: int
    words: str = ""
    convention: dict[str, str] = field(default_factory=dict)
    rule: str = ""


def years_of(printed: str, context: LocaleContext) -> list[Year]:
    """Return the readings of a printed year without an era.

    Args:
        printed: two or four ASCII digits.
        context: remembered conventions.

    Returns:
        One or two readings, or none where the year belongs to another calendar.
    """
    return list(_years(printed, context))


def _years(printed: str, context: LocaleContext) -> Iterator[Year]:
    number = int(printed)
    if len(printed) == 2:
        first = context.conventions.get(TWO_DIGIT_YEARS, "")
        if first.isascii() and first.isdigit() and FIRST <= int(first) <= LAST:
            yield Year(int(first) + (number - int(first)) % 100, rule="two-digit-year")
            return
        if number < _SURE_1900:
            words = "" if number < _SURE_2000 else "two digits are years from 1970 to 2069"
            later = Year(2000 + number, words, {TWO_DIGIT_YEARS: "1970"} if words else {}, "two-digit-year")
        if number >= _SURE_2000:
            words = "" if number >= _SURE_1900 else "two digits are years from 1940 to 2039"
            yield Year(1900 + number, words, {TWO_DIGIT_YEARS: "1940"} if words else {}, "two-digit-year")
        if number < _SURE_1900:
            yield later
    elif FIRST <= number <= LAST:
        yield Year(number)
    elif LAST < number <= LAST + BUDDHIST:
        yield Year(number - BUDDHIST, "a year of the Buddhist calendar", {CALENDAR: "buddhist"}, "buddhist-year")
        yield Year(number, "a year of the Gregorian calendar", {CALENDAR: "gregorian"})
