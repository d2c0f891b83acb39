"""Dates with a name of a month: 3 April 2026, April 3rd, 2026, 3 de abril de 2026, 2026. április 3."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from engine.fields.normalisation.characters import fold_name
from engine.fields.normalisation.month_names import months_named, weekdays

_ORDINALS = frozenset({"st", "nd", "rd", "th", "er", "e", "o", "a", "ro", "do", "ste", "de"})
# Words between the parts of a date, in languages whose dates have some.
_BETWEEN_WORDS = (
    "de del den der dem the of le el do da di d al em on am vom a dated l day "
    "на от г год года р року r roku m gada g ngày năm godine year"
)
_BETWEEN = frozenset(map(fold_name, _BETWEEN_WORDS.split()))
_ERAS = ("ad", "ce", "a d", "c e", "م", "ميلادي", "ميلاديه", "คศ", "ค ศ")
_BUDDHIST = ("พ ศ", "พศ", "b e", "be")
_LONGEST_NAME = 3  # words
_ROMAN = {
    "i": 1,
    "ii": 2,
    "iii": 3,
    "iv": 4,
    "v": 5,
    "vi": 6,
    "vii": 7,
    "viii": 8,
    "ix": 9,
    "x": 10,
    "xi": 11,
    "xii": 12,
}


@dataclass(frozen=True, slots=True)
class NamedDate:
    """A date whose month is a word; year and day as printed, "" where they are not."""

    year: str
    months: frozenset[int]
    day: str
    name: str
    buddhist: bool
    by_language: bool


def read_named_date(folded: str, locale: str | None) -> NamedDate | None:
    """Return a date with the name of a month, or None where the text holds anything else.

    Args:
        folded: folded text.
        locale: BCP-47 locale, or None.
    """
    plain = fold_name(re.sub(r"[ªº°]", " ", folded))
    words = re.sub(r"(?<=\d)(?=[^\W\d])|(?<=[^\W\d])(?=\d)", " ", plain).split()
    if not 2 <= len(words) <= 14 or not any(word.isdigit() for word in words):
        return None
    buddhist = False
    text = " ".join(words)
    for era in _BUDDHIST:
        if f" {era} " in f" {text} ":
            buddhist, text = True, f" {text} ".replace(f" {era} ", " ").strip()
    for era in _ERAS:
        text = f" {text} ".replace(f" {era} ", " ").strip()
    words = text.split()
    for start, end, months, by_language in _month_spans(words, locale):
        before, after = _numbers(words[:start]), _numbers(words[end:])
        if before is None or after is None:
            continue
        name = " ".join(words[start:end])
        parts = _order(before, after)
        if parts is not None:
            return NamedDate(parts[0], frozenset(months), parts[1], name, buddhist, by_language)
    return None


def _month_spans(words: list[str], locale: str | None) -> Iterator[tuple[int, int, set[int], bool]]:
    """Yield the spans of words that name a month: in the locale before all languages, the longer first."""
    for known in (locale, None) if locale else (None,):
        for length in range(min(_LONGEST_NAME, len(words)), 0, -1):
            for start in range(len(words) - length + 1):
                span = words[start : start + length]
                if span[0].isdigit():
                    continue
                months = months_named(" ".join(span), known)
                if not months and length == 1 and span[0] in _ROMAN:
                    months = {_ROMAN[span[0]]}
                if months:
                    yield start, start + length, months, known is not None


def _numbers(words: list[str]) -> list[str] | None:
    """Return the numbers among words, or None where a word is neither number, weekday nor part of a date."""
    numbers: list[str] = []
    for index, word in enumerate(words):
        if word.isdigit():
            numbers.append(word)
        elif word in _ORDINALS and index and words[index - 1].isdigit():
            continue
        elif word not in _BETWEEN and word not in weekdays():
            return None
    return numbers


def _order(before: list[str], after: list[str]) -> tuple[str, str] | None:
    """Return year and day of the numbers before and behind the month."""
    match before, after:
        case [day], [year] if len(day) <= 2 and len(year) in (2, 4):
            return year, day
        case [year], [day] if len(year) == 4 and len(day) <= 2:
            return year, day
        case [year, day], [] if len(year) == 4 and len(day) <= 2:
            return year, day
        case [], [day, year] if len(day) <= 2 and len(year) in (2, 4):
            return year, day
        case ([number], []) | ([], [number]):
            return (number, "") if len(number) == 4 else ("", number)
    return None
