"""What CLDR says about a locale: signs of numbers, order of dates, clock.

A language without a region decides only what all of its regions agree on: "en" says nothing about the order of dates,
"es" nothing about decimal signs. CLDR would answer for the largest region, and be wrong for the others.
CLDR: Unicode Technical Standard 35. babel holds its data.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from babel import Locale

T = TypeVar("T")

# Languages whose names of months and countries are known without a locale, by their speakers' share of business papers.
LANGUAGES = (
    "en", "de", "fr", "es", "pt", "it", "nl", "ja", "zh", "ko", "ar", "hi", "pl", "sv", "da", "nb", "fi", "cs", "sk",
    "hu", "ro", "hr", "sl", "bg", "sr", "ru", "uk", "el", "tr", "he", "fa", "bn", "vi", "id", "th", "lt", "lv", "et",
    "ca",
)  # fmt: skip


@cache
def locale_of(tag: str) -> Locale:
    """Return babel's locale of a BCP-47 tag.

    Raises:
        ValueError: the tag is malformed.
        babel.UnknownLocaleError: CLDR does not know it.
    """
    from babel import Locale

    return Locale.parse(tag.replace("_", "-"), sep="-")


@cache
def is_known(tag: str) -> bool:
    """Return whether CLDR knows a BCP-47 tag."""
    from babel import UnknownLocaleError

    try:
        locale_of(tag)
    except (ValueError, TypeError, UnknownLocaleError):
        return False
    return True


def language_of(tag: str) -> str:
    """Return the language of a known tag."""
    return str(locale_of(tag).language)


def region_of(tag: str) -> str | None:
    """Return the region that a known tag names itself."""
    named = re.search(r"[-_]([A-Za-z]{2})(?=$|[-_])", tag)
    return named[1].upper() if named else None


@cache
def regional(language: str) -> tuple[str, ...]:
    """Return the tags of all regions of a language in CLDR, the language itself first."""
    from babel.localedata import locale_identifiers

    inner = sorted(name for name in locale_identifiers() if re.fullmatch(rf"{language}_[A-Z]{{2}}", name))
    return (language, *(name.replace("_", "-") for name in inner))


def agreed(tag: str, ask: Callable[[str], T | None]) -> T | None:
    """Return what a locale says; of a language without a region, what all its regions say.

    Args:
        tag: known BCP-47 tag.
        ask: answers for one tag.
    """
    if region_of(tag):
        return ask(tag)
    answers = {ask(name) for name in regional(language_of(tag))}
    return answers.pop() if len(answers) == 1 else None


@cache
def decimal_sign(tag: str) -> str | None:
    """Return the decimal sign beside digits 0 to 9: "." or "," or None."""
    return agreed(tag, lambda name: _symbol(name, "decimal"))


@cache
def group_sign(tag: str) -> str | None:
    """Return the sign between thousands beside digits 0 to 9, such as "," or a thin space."""
    return agreed(tag, lambda name: _symbol(name, "group"))


def _symbol(tag: str, name: str) -> str | None:
    symbols = locale_of(tag).number_symbols
    value = symbols["latn"].get(name) if "latn" in symbols else None
    return str(value) if value else None


@cache
def date_order(tag: str) -> str | None:
    """Return the order of numeric dates: "DMY", "MDY", "YMD" or None."""
    return agreed(tag, _date_order)


def _date_order(tag: str) -> str:
    pattern = re.sub(r"'[^']*'", "", str(locale_of(tag).date_formats["short"].pattern))
    return "".join(dict.fromkeys(letter.upper().replace("L", "M") for letter in pattern if letter in "dMLyu"))


@cache
def clock(tag: str) -> str | None:
    """Return "24" or "12" for hours as the locale prints them."""
    return agreed(tag, lambda name: "24" if "H" in str(locale_of(name).time_formats["short"].pattern) else "12")


@cache
def halves_of_day(tag: str) -> dict[str, tuple[str, ...]]:
    """Return how a locale abbreviates "am" and "pm", in small letters."""
    printed = locale_of(tag).day_periods["format"]["abbreviated"]
    return {half: (str(printed[half]).lower().replace("\u00a0", " "),) for half in ("am", "pm") if half in printed}
