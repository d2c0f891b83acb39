"""Dates of East Asia: 2026年4月3日, 令和8年4月3日, R8.4.3, 民國115年, 2026년 4월 3일."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from engine.fields.normalisation.context import CALENDAR, LocaleContext
from engine.fields.normalisation.years import Year, years_of

# First day of each era; a later date may be printed with it, as on licences that were valid beyond its end.
_ERAS = {
    "令和": ("reiwa", (2019, 5, 1)), "平成": ("heisei", (1989, 1, 8)), "昭和": ("showa", (1926, 12, 25)),
    "大正": ("taisho", (1912, 7, 30)), "明治": ("meiji", (1873, 1, 1)), "民國": ("minguo", (1912, 1, 1)),
    "民国": ("minguo", (1912, 1, 1)),
}  # fmt: skip
_FIRST_YEAR = {"meiji": 1868}  # its dates are Gregorian from 1873
_SHORT = {"令": "令和", "平": "平成", "昭": "昭和", "大": "大正", "明": "明治", "R": "令和", "H": "平成", "S": "昭和",
          "T": "大正", "M": "明治"}  # fmt: skip
_NUMERALS = {character: number for number, character in enumerate("〇一二三四五六七八九")} | {"零": 0}
_WRITTEN = re.compile(
    r"(?:中華)?(?P<era>令和|平成|昭和|大正|明治|民國|民国|[令平昭大明RHSTM])?(?:西暦)?(?P<year>\d{4}|\d{1,3}|元)[年년](?P<month>\d{1,2})[月월](?P<day>\d{1,2})[日일]?"
)
_DOTTED = re.compile(
    r"(?P<era>[RHSTM令平昭大明]|令和|平成|昭和)(?P<year>\d{1,2}|元)[./-](?P<month>\d{1,2})[./-](?P<day>\d{1,2})"
)
_WEEKDAY = re.compile(
    r"(?<=[日일\d])(?:\(?[月火水木金土日一二三四五六](?:曜日?)?\)?|\(?(?:星期|周|週)[一二三四五六日天]\)?|\(?[월화수목금토일](?:요일)?\)?)$"
)


@dataclass(frozen=True, slots=True)
class EraDate:
    """A printed date with its readings of the year; month and day as printed."""

    years: tuple[Year, ...]
    month: int
    day: int
    rule: str
    first: tuple[int, int, int] | None = None  # earlier dates contradict the era


def read_era_date(folded: str, context: LocaleContext) -> EraDate | None:
    """Return the date of a text in the writing of East Asia, or None where it is written otherwise.

    Args:
        folded: folded text.
        context: letters as eras (R8.4.3) count where the locale is Japanese or unknown.
    """
    text = unicodedata.normalize("NFKC", folded).replace(" ", "")
    text = re.sub(r"[〇零一二三四五六七八九十]+", _numeral, _WEEKDAY.sub("", text))
    match = _WRITTEN.fullmatch(text)
    if match is None and context.language in (None, "ja"):
        match = _DOTTED.fullmatch(text)
    if match is None:
        return None
    month, day = int(match["month"]), int(match["day"])
    if match["era"]:
        name, first = _ERAS[_SHORT.get(match["era"], match["era"])]
        number = 1 if match["year"] == "元" else int(match["year"])
        year = Year(_FIRST_YEAR.get(name, first[0]) + number - 1)
        return EraDate((year,), month, day, f"era-{name}", first)
    if match["year"] == "元":
        return None
    if len(match["year"]) == 4:
        return EraDate(tuple(years_of(match["year"], context)), month, day, "year-first")
    return EraDate(_short_years(int(match["year"])), month, day, "year-first")


def _short_years(number: int) -> tuple[Year, ...]:
    """Return what a year of two digits before 年 may be: of this century, or of an era that is not printed."""
    eras = [
        Year(start + number - 1, f"a year of the era {name.title()}", {CALENDAR: name}, f"era-{name}")
        for name, start, last in (("reiwa", 2019, 39), ("heisei", 1989, 31), ("showa", 1926, 64))
        if 1 <= number <= last
    ]
    return (Year(2000 + number, "a year of this century", {CALENDAR: "gregorian"}, "two-digit-year"), *eras)


def _numeral(match: re.Match[str]) -> str:
    """Return the Latin digits of a number in Chinese numerals: 二〇二六 is 2026, 三十一 is 31."""
    text = match[0]
    if "十" not in text:
        return "".join(str(_NUMERALS[character]) for character in text)
    tens, _, ones = text.partition("十")
    if len(tens) > 1 or len(ones) > 1 or ones == "十":
        return text
    return str((_NUMERALS[tens] if tens else 1) * 10 + (_NUMERALS[ones] if ones else 0))
