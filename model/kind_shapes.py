"""How well printed text fits each kind of value.

Light shapes, not readers of values: they only have to tell a date from a name on a page where either may be the answer.
Text in other scripts than Latin fits names alone.
"""

import re
from functools import lru_cache

from model.country_names import COUNTRY_NAMES
from model.kinds import KINDS, Kind

FITS = 0.75  # least fit of a text that is of a kind
# Kinds that a value shows by itself, those that say most first.
_TELLING = (Kind.COUNTRY, Kind.TICK, Kind.TIME, Kind.DATE, Kind.PHONE, Kind.AMOUNT, Kind.ADDRESS, Kind.NUMBER)

_MONTH = (
    r"(?:jan(?:uary|uar|vier|eiro)?|feb(?:ruary|ruar)?|f[ée]vrier|m(?:ar(?:ch|s|zo)?|ärz|rz)|apr(?:il|ile)?|abril"
    r"|avril|ma[yi]|jun(?:e|i)?|juin|jul(?:y|i)?|juillet|aug(?:ust)?|ao[uû]t|sept?(?:ember)?|o[ck]t(?:ober|obre)?"
    r"|nov(?:ember|embre)?|de[cz](?:ember|embre)?)\.?"
)
_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?[.,]?"
_YEAR = r"(?:(?:1[89]|20)\d\d|'?\d\d)"
_DATE = re.compile(
    rf"(?:{_DAY}\s*)?(?:"
    r"(?<!\d)\d{1,2}\s?[/.-]\s?\d{1,2}\s?[/.-]\s?(?:\d{4}|\d\d)(?!\d)"
    r"|(?<!\d)(?:1[89]|20)\d\d[/.-]\d{1,2}[/.-]\d{1,2}(?!\d)"
    rf"|(?<!\d)\d{{1,2}}(?:st|nd|rd|th|\.)?[\s-]*(?:of\s+|de\s+)?{_MONTH}[\s,.-]*(?:de\s+)?{_YEAR}(?!\d)"
    rf"|{_MONTH}[\s-]*\d{{1,2}}(?:st|nd|rd|th)?\s*,?\s*{_YEAR}(?!\d)"
    rf"|{_MONTH}\s*,?\s*(?:1[89]|20)\d\d(?!\d)"
    rf"|'?\d\d\s+{_MONTH}"
    r"|(?<!\d)(?:0?[1-9]|1[0-2])/(?:(?:19|20)\d\d|\d\d)(?![\d/])"
    r")(?![\d/])",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"(?<![\d:])(?:[01]?\d|2[0-3])\s?[:h]\s?[0-5]\d(?:\s?[:.]\s?[0-5]\d)?(?:\s*(?:[ap]\.?\s?m\b\.?|hrs?\b|uhr\b))?(?![\d:])"
    r"|(?<!\d)(?:2[0-3]|1\d|0?\d)(?:\.[0-5]\d)?\s*(?:[ap]\.?m\b\.?|o'clock\b|uhr\b)",
    re.IGNORECASE,
)
_CURRENCY = r"(?:[$€£¥₹]|\b(?:USD|EUR|GBP|CHF|RM|MYR|JPY|CAD|AUD|SGD|INR|SEK|NOK|DKK|PLN|Rs)\b\.?|RM(?=\d)|US\$)"
_FIGURES = r"\d{1,3}(?:[,.'’ ]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d{1,3})?"
_MONEY = re.compile(
    rf"\(?[-+]?\s?{_CURRENCY}\s?[-+]?\(?(?:{_FIGURES})(?:[.,]?-+)?\)?|\(?[-+]?(?:{_FIGURES})\s?{_CURRENCY}\)?"
    r"|\(?[-+]?(?:\d{1,3}(?:[,.'’ ]\d{3})+|\d+)[.,]\d\d\)?(?![\d.,/-])",
)
_PLAIN = re.compile(rf"(?<![\w-])\(?[-+]?(?:{_FIGURES})\)?(?:\s?%)?")
_PHONE = re.compile(r"(?:\+|\b0|\(0?|\b)\d[\d\s()./-]{5,18}\d(?:\s*(?:x|ext\.?)\s*\d+)?", re.IGNORECASE)
_TICK = re.compile(r"[\[(]?\s*(?:x|✓|✔|☑|☒|☐|yes|no|y|n|true|false|n/a|none)\s*[\])]?", re.IGNORECASE)
_ROAD = re.compile(
    r"\b(?:street|st|avenue|ave|road|rd|drive|lane|ln|blvd|boulevard|square|highway|hwy|plaza"
    r"|terrace|suite|p\.? ?o\.? box|floor|level|lot|jalan|jln|lorong|taman|bandar|rue|via|persiaran|platz|weg"
    r"|gasse|allee)\b"
    r"|(?:stra(?:ss|ß)e|str\.|gasse|weg|platz|allee|straat)(?:\b|(?=\s))",
    re.IGNORECASE,
)
_POSTCODE = re.compile(r"\b\d{4,6}(?:-\d{4})?\b|\b[A-Z]{1,2}\d[A-Z\d]?\s?\d[A-Z]{2}\b")
_SMALL_WORDS = (
    "the of and to in for is are was were be will shall not this that with on by or if you your we our it as at from"
    " have has"
)
_STOP = frozenset(_SMALL_WORDS.split())
_EDGES = " \t.,;:|_*#\"'"


@lru_cache(maxsize=20_000)
def fits_of(text: str) -> tuple[float, ...]:
    """Return how well a printed text fits each kind, 0..1, in the order of `KINDS`.

    Of dates, times, amounts and telephone numbers it is the share of the characters that they make.
    """
    plain = " ".join(text.split()).strip(_EDGES)
    if not plain:
        return (0.0,) * len(KINDS)
    count = sum(not c.isspace() for c in plain)
    digits = sum(c.isdigit() for c in plain)
    date = _share(_DATE, plain, count) if digits else 0.0
    time = _share(_TIME, plain, count) if digits else 0.0
    amount = _share(_MONEY, plain, count) if digits and date < FITS else 0.0
    number = _share(_PLAIN, plain, count) if digits and date < FITS and time < FITS else 0.0
    return (
        _name(plain, count, digits),
        _code(plain, digits) * (1 - max(date, time)) if digits else 0.0,
        max(number, amount),
        max(amount, 0.6 * number),
        date,
        time,
        _phone(plain, count) * (1 - max(date, amount)) if digits >= 5 else 0.0,
        _address(plain, digits) * (1 - date),
        float(_TICK.fullmatch(plain) is not None),
        float(plain.lower().removeprefix("the ") in COUNTRY_NAMES),
    )


def kind_of_value(text: str) -> Kind | None:
    """Return the kind of a printed value that a field's type would name; None for names, codes and other text."""
    fits = dict(zip(KINDS, fits_of(text), strict=True))
    return next((kind for kind in _TELLING if fits[kind] >= FITS), None)


def _share(shape: re.Pattern[str], text: str, count: int) -> float:
    """Return the share of a text's characters in the longest match of a shape."""
    longest = max((sum(not c.isspace() for c in match.group()) for match in shape.finditer(text)), default=0)
    return longest / count


def _name(text: str, count: int, digits: int) -> float:
    words = text.split()
    letters = sum(c.isalpha() for c in text)
    if letters < 2:
        return 0.0
    telling = [word for word in words if word.lower().strip(_EDGES) not in _STOP]
    stop = max(0, len(words) - len(telling) - 1)  # one is usual in a name: "Institute of Physics"
    capital = sum(word[:1].isupper() or not word[:1].isalpha() for word in telling) / max(1, len(telling))
    long = max(0.0, (len(words) - 6) / 6)
    figures = min(1.0, 3 * digits / count)
    signs = 0.5 if "@" in text or ":" in text else 0.0
    return max(0.0, (0.3 + 0.7 * capital) * (1 - stop / len(words)) - long - figures - signs)


def _code(text: str, digits: int) -> float:
    words = text.split()
    numbered = [word for word in words if any(c.isdigit() for c in word)]
    if len(words) > 3 or any(len(word) > 3 and word.strip(_EDGES).isalpha() for word in words):
        return 0.3 * len(numbered) / len(words)
    mixed = any(c.isalpha() for c in text) or any(c in "-/" for c in text)
    if any(c in ",$€£%" for c in text) or re.search(r"\.\d\d?$", text):
        return 0.2
    return 1.0 if digits >= 2 and (mixed or digits >= 4) else 0.6


def _phone(text: str, count: int) -> float:
    longest = 0
    for match in _PHONE.finditer(text):
        figures = sum(c.isdigit() for c in match.group())
        if 6 <= figures <= 15:
            bare_number = match.group().strip().isdigit() and figures not in (10, 11)
            share = sum(not c.isspace() for c in match.group()) * (0.6 if bare_number else 1.0)
            longest = max(longest, round(share))
    return longest / count


def _address(text: str, digits: int) -> float:
    words = text.split()
    letters = sum(c.isalpha() for c in text)
    if letters < 4 or len(words) < 2 or "@" in text:
        return 0.0
    road, code = _ROAD.search(text) is not None, _POSTCODE.search(text) is not None
    evidence = 0.45 * road + 0.3 * code + 0.2 * bool(digits) + 0.2 * (text.count(",") > 0) + 0.1 * (len(words) >= 5)
    return min(1.0, evidence) if digits or road else min(0.3, evidence)
