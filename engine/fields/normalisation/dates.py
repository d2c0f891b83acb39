"""Dates, as ISO 8601.

dateparser fills in what is not printed from today and reads "to" and "12" as dates; it takes the order of a date from
the first language that matches. So its guesses are not used: this grammar reads whole texts alone, over CLDR's names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date

from engine.fields.normalisation import locales
from engine.fields.normalisation.candidates import Candidate, decide
from engine.fields.normalisation.characters import fold, fold_name, mixes_digits
from engine.fields.normalisation.context import DATE_ORDER, MONTH, LocaleContext
from engine.fields.normalisation.eras import read_era_date
from engine.fields.normalisation.misread import MISREAD, as_misread
from engine.fields.normalisation.month_names import weekdays
from engine.fields.normalisation.named_dates import read_named_date
from engine.fields.normalisation.result import Normalised, unreadable
from engine.fields.normalisation.years import BUDDHIST, Year, years_of

_NUMERIC = re.compile(r"(\d{1,4}) ?([./ -]) ?(\d{1,2}) ?([./ -]) ?(\d{1,4})\.?(?: ?г\.?)?")
_COMPACT = re.compile(r"\d{6}|\d{8}")
_TIME = re.compile(
    r"(?:(?:[ ,]+(?:-|um|at|à|às|a las|kl\.?|alle|om|في|บ)? ?|T)\d{1,2}(?:[:h]\d{2}(?::\d{2}(?:[.,]\d+)?)?|\.\d{2})"
    r"|(?<=\d{8})T\d{4}(?:\d{2})?)"
    r"(?: ?(?:uhr|hrs?|[ap]\.? ?m\.?|[صم]|h))?(?: ?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2}))?$"
    r"|[ ,]*(?:午前|午後)?\d{1,2}時(?:\d{1,2}分)?$",
    re.IGNORECASE,
)
_WORDS = {"DMY": "day, month, year", "MDY": "month, day, year", "YMD": "year, month, day"}
_RULES = {"DMY": "day-first", "MDY": "month-first", "YMD": "year-first"}
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def normalise_date(text: str, context: LocaleContext) -> Normalised:
    """Return the ISO date of a printed date; a time behind it is left out.

    Args:
        text: printed text.
        context: locale and remembered conventions; 03/04/2026 is ambiguous without.
    """
    if mixes_digits(text):
        return unreadable("Digits of several scripts stand in one date.")
    folded = re.sub(r"(?<=\W)'(?=\d\d\b)", "", " ".join(fold(text).split()))  # '26
    reason = "This is no date with day, month and year."
    timeless = _TIME.sub("", folded).rstrip(" ,")
    for shortened in dict.fromkeys((folded, timeless, _without_weekday(folded), _without_weekday(timeless))):
        result = _read(shortened, context)
        if isinstance(result, Normalised):
            return result
        reason = result or reason
    return _read_misread(folded, context) or unreadable(reason)


def _without_weekday(text: str) -> str:
    """Return a text without a name of a weekday before its first digit or behind its last."""
    match = re.fullmatch(r"(?P<before>\D*)(?P<date>\d.*\d\.?)(?P<behind>\D*)", text)
    if match is None:
        return text
    words = fold_name(f"{match['before']} {match['behind']}").split()
    return match["date"] if words and all(word in weekdays() for word in words) else text


def _read_misread(text: str, context: LocaleContext) -> Normalised | None:
    """Return readings of a numeric date in which OCR may have read letters for digits; none is sure."""
    repaired = text.translate(MISREAD)
    result = _read(repaired, context) if repaired != text and _NUMERIC.fullmatch(repaired) else None
    return as_misread(result) if isinstance(result, Normalised) else None


def _read(text: str, context: LocaleContext) -> Normalised | str:
    """Return a result, or the reason why there is none ("" where the text is no date at all)."""
    era = read_era_date(text, context)
    if era is not None:
        candidates = _candidates(era.years, era.month, era.day, era.rule)
        first = date(*era.first).isoformat() if era.first else ""
        candidates = [candidate for candidate in candidates if str(candidate.value) >= first]
        return decide(candidates, context) if candidates else "There is no such day in this era."
    numeric = _NUMERIC.fullmatch(text)
    if numeric is not None:
        return _read_numeric(numeric, context)
    digits = text.replace(" ", "") if re.fullmatch(r"\d(?: \d){5}(?: \d \d)?", text) else text
    if _COMPACT.fullmatch(digits):
        return _read_compact(digits, context)
    return _read_named(text, context)


def _candidates(
    years: Iterable[Year],
    month: int,
    day: int,
    rule: str,
    order: str = "",
    *,
    doubtful: bool = False,
    by_locale: bool = False,
    name: str = "",
) -> list[Candidate]:
    """Return a candidate for each year in which the day exists."""
    candidates = []
    for year in years:
        try:
            value = date(year.number, month, day).isoformat()
        except ValueError:
            continue
        words = ", ".join(filter(None, (_WORDS.get(order, ""), year.words)))
        convention = {DATE_ORDER: order} if order else {}
        if name:
            convention[MONTH + name] = str(month)
        candidates.append(
            Candidate(
                value=value,
                rule="+".join(filter(None, (rule, year.rule))),
                words=f"{words or 'as printed'}: {day} {_MONTHS[month - 1]} {year.number}",
                convention={**convention, **year.convention},
                doubtful=frozenset({DATE_ORDER}) if doubtful else frozenset(),
                by_locale=by_locale,
            )
        )
    return candidates


def _read_numeric(numeric: re.Match[str], context: LocaleContext) -> Normalised | str:
    first, sign, second, second_sign, third = numeric.groups()
    if sign != second_sign and not (sign in "./" and second_sign in " -"):
        return ""
    if len(first) == 4:
        return _decided_or_reason(years_of(first, context), int(second), third, "year-first", context)
    usual = context.conventions.get(DATE_ORDER) or _order_of(context)
    if len(third) not in (2, 4) or len(first) > 2:
        korean = usual == "YMD" and len(first) == 2 and len(third) == 1  # 26. 4. 3.
        return _decided_or_reason(years_of(first, context), int(second), third, "year-first", context) if korean else ""
    dots = sign == "."
    candidates: list[Candidate] = []
    for order in ("DMY", "MDY", "YMD"):
        if order == "YMD":
            # A year of two digits comes first only where nothing speaks for another order.
            possible = usual == "YMD" or all(c.convention[DATE_ORDER] != usual for c in candidates)
            if len(third) == 4 or len(first) == 1 or not possible:
                continue
        day, month, year = {
            "DMY": (first, second, third), "MDY": (second, first, third), "YMD": (third, second, first)
        }[order]  # fmt: skip
        candidates += _candidates(
            years_of(year, context), int(month), int(day), _RULES[order], order, doubtful=dots and order == "MDY"
        )
    return _decide(candidates, context, {DATE_ORDER: "DMY"} if dots else {})


def _decided_or_reason(years: list[Year], month: int, day: str, rule: str, context: LocaleContext) -> Normalised | str:
    if len(day) > 2:
        return ""
    return _decide(_candidates(years, month, int(day), rule), context) if years else _OTHER_CALENDAR


_OTHER_CALENDAR = "The year is of another calendar, or not complete."


def _decide(
    candidates: list[Candidate], context: LocaleContext, otherwise: dict[str, str] | None = None
) -> Normalised | str:
    if not candidates:
        return "There is no such day."
    return decide(candidates, context, {DATE_ORDER: lambda: _order_of(context)}, otherwise)


def _order_of(context: LocaleContext) -> str | None:
    return locales.date_order(context.locale) if context.locale else None


def _read_compact(digits: str, context: LocaleContext) -> Normalised | str:
    """Read 20260403, 03042026, 030426. Of six digits the locale says nothing: forms and machines print them."""
    wide = len(digits) == 8
    splits = {
        "YMD": (digits[:4], digits[4:6], digits[6:]) if wide else (digits[:2], digits[2:4], digits[4:]),
        "DMY": (digits[4:], digits[2:4], digits[:2]),
        "MDY": (digits[4:], digits[:2], digits[2:4]),
    }
    candidates = [
        candidate
        for order, (year, month, day) in splits.items()
        if not wide or 1900 <= int(year) <= 2099
        for candidate in _candidates(
            years_of(year, context), int(month), int(day), _RULES[order], order, doubtful=not wide
        )
    ]
    return _decide(candidates, context)


def _read_named(text: str, context: LocaleContext) -> Normalised | str:
    named = read_named_date(text, context.locale)
    if named is None:
        return ""
    if not named.year or not named.day:
        return f"The date has no {'day' if named.year else 'year'}."
    if named.buddhist and len(named.year) == 4:
        years = [Year(int(named.year) - BUDDHIST, rule="buddhist-year")]
    else:
        years = years_of(named.year, context)
    if not years:
        return _OTHER_CALENDAR
    several = len(named.months) > 1
    candidates = [
        candidate
        for month in sorted(named.months)
        for candidate in _candidates(
            years,
            month,
            int(named.day),
            "month-name",
            by_locale=named.by_language,
            name=named.name if several else "",
        )
    ]
    return _decide(candidates, context)
