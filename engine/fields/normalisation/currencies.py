"""Currencies as they are printed: codes, signs, names; and which of several a shared sign means.

CLDR gives each locale one plain sign for one currency: "$" is USD in de, but CAD in en-CA. Signs that CLDR does not
have (Rs, Fr., TL) stand in the table below.
"""

from __future__ import annotations

import re
from functools import cache

from engine.fields.normalisation import locales
from engine.fields.normalisation.characters import fold

# Signs and the currencies that share them, the more traded first (BIS Triennial Survey 2022).
SIGNS: dict[str, tuple[str, ...]] = {
    "$": ("USD", "AUD", "CAD", "HKD", "SGD", "NZD", "MXN", "CLP", "COP", "ARS"),
    "US$": ("USD",), "$US": ("USD",), "USD$": ("USD",), "U$S": ("USD",), "C$": ("CAD",), "CA$": ("CAD",),
    "CAN$": ("CAD",), "$CA": ("CAD",), "A$": ("AUD",), "AU$": ("AUD",), "$AU": ("AUD",), "NZ$": ("NZD",),
    "HK$": ("HKD",), "S$": ("SGD",), "MX$": ("MXN",), "R$": ("BRL",), "NT$": ("TWD",), "AR$": ("ARS",),
    "€": ("EUR",), "Euro": ("EUR",), "Euros": ("EUR",), "euro": ("EUR",), "euros": ("EUR",), "EURO": ("EUR",),
    "£": ("GBP", "EGP"), "E£": ("EGP",), "£E": ("EGP",), "LE": ("EGP",), "L.E.": ("EGP",), "ج.م": ("EGP",),
    "ج.م.": ("EGP",), "جم": ("EGP",), "جنيه": ("EGP",), "جنيه مصري": ("EGP",), "جنيها": ("EGP",),
    "ر.س": ("SAR",), "ر.س.": ("SAR",), "د.إ": ("AED",), "د.إ.": ("AED",), "د.ك": ("KWD",), "د.ك.": ("KWD",),
    "¥": ("JPY", "CNY"), "円": ("JPY",), "圓": ("JPY", "TWD"), "元": ("CNY", "TWD"), "人民币": ("CNY",), "원": ("KRW",),
    "₩": ("KRW",), "₹": ("INR",), "रु": ("INR", "NPR"), "रु.": ("INR", "NPR"), "रुपये": ("INR", "NPR"),
    "Rs": ("INR", "PKR", "LKR", "NPR", "MUR"), "Rs.": ("INR", "PKR", "LKR", "NPR", "MUR"), "₨": ("INR", "PKR", "LKR"),
    "kr": ("SEK", "NOK", "DKK", "ISK"), "kr.": ("SEK", "NOK", "DKK", "ISK"), "zł": ("PLN",), "Kč": ("CZK",),
    "Ft": ("HUF",), "лв": ("BGN",), "лв.": ("BGN",), "руб": ("RUB",), "руб.": ("RUB",), "₽": ("RUB",), "₴": ("UAH",),
    "грн": ("UAH",), "₺": ("TRY",), "TL": ("TRY",), "₫": ("VND",), "₪": ("ILS",), "฿": ("THB",), "บาท": ("THB",),
    "₱": ("PHP",), "R": ("ZAR",), "Fr.": ("CHF", "XAF", "XOF"), "Fr": ("CHF", "XAF", "XOF"), "SFr.": ("CHF",),
    "sFr.": ("CHF",), "SFr": ("CHF",), "Franken": ("CHF",), "reais": ("BRL",), "złotych": ("PLN",), "yen": ("JPY",),
    "rupees": ("INR", "PKR", "LKR"), "lei": ("RON", "MDL"), "din": ("RSD",), "Rp": ("IDR",),
}  # fmt: skip
_EAST_ASIAN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_FIXED_DAY = (2026, 1, 1)  # currencies of a region on this day, whatever today is
_LETTER_CASES = ("eur", "Eur", "usd", "gbp", "chf", "inr", "jpy", "brl", "egp", "Usd", "Gbp")


@cache
def codes() -> frozenset[str]:
    """Return ISO 4217 codes in use."""
    from babel.numbers import list_currencies

    return frozenset(code for code in list_currencies() if re.fullmatch("[A-Z]{3}", code))


@cache
def digits_of(code: str) -> int:
    """Return digits behind the decimal sign of a currency: 2 of EUR, 0 of JPY, 3 of KWD."""
    from babel.numbers import get_currency_precision

    return get_currency_precision(code)


@cache
def _tokens(language: str | None) -> dict[str, tuple[str, ...]]:
    """Return printed currencies and their codes: signs, codes, and names in a language."""
    named: dict[str, tuple[str, ...]] = {}
    if language:
        locale = locales.locale_of(language)
        plurals = locale._data["currency_names_plural"]
        for code in codes():
            names = {str(name) for name in (locale.currencies.get(code, code), *plurals.get(code, {}).values())}
            for name in map(fold, names):
                named[name] = (code,)
                named.setdefault(name.lower(), (code,))
    folded = {fold(sign): shared for sign, shared in SIGNS.items()}
    return {**named, **{code: (code,) for code in codes()}, **{c: (c.upper(),) for c in _LETTER_CASES}, **folded}


@cache
def _patterns(language: str | None) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return patterns of a currency at the beginning and at the end. A word ends with its letters; 円 needs no gap."""
    tokens = sorted(_tokens(language), key=len, reverse=True)
    bound = "|".join(re.escape(token) for token in tokens if not _EAST_ASIAN.search(token))
    free = "|".join(re.escape(token) for token in tokens if _EAST_ASIAN.search(token))
    return (
        re.compile(rf"(?P<token>{free}|(?:{bound})(?![^\W\d_]))(?P<core>.*)", re.DOTALL),
        re.compile(rf"(?P<core>.*?)(?P<token>{free}|(?<![^\W\d_])(?:{bound}))", re.DOTALL),
    )


def split_currency(text: str, language: str | None) -> tuple[str, str]:
    """Split the currency from the beginning or end of a folded text.

    Args:
        text: folded text.
        language: its names of currencies count, too.

    Returns:
        The text without it, and the currency as printed ("" where none stands there).
    """
    for pattern in _patterns(language):
        match = pattern.fullmatch(text)
        if match and match["core"].strip():
            return match["core"].strip(), match["token"]
    return text, ""


def codes_of(token: str, language: str | None) -> tuple[str, ...]:
    """Return the ISO 4217 codes that a printed currency may mean, the more usual first."""
    return _tokens(language)[token]


def code_by_locale(token: str, tag: str) -> str | None:
    """Return which currency a shared sign means in a locale, or None where CLDR does not say."""
    return locales.agreed(tag, lambda name: _code_by_region(token, name))


@cache
def _code_by_region(token: str, tag: str) -> str | None:
    from datetime import date

    from babel.numbers import get_territory_currencies

    shared = _tokens(None).get(token, ())
    region = locales.locale_of(tag).territory
    used = get_territory_currencies(region, date(*_FIXED_DAY), date(*_FIXED_DAY)) if region else []
    for code in used:
        if code in shared:
            return str(code)
    symbols = locales.locale_of(tag)._data["currency_symbols"]
    meant = [code for code in shared if fold(str(symbols.get(code, ""))) == token]
    return meant[0] if len(meant) == 1 else None
