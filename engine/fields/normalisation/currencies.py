"""Currencies as they are printed: codes, signs, names; and which of several a shared sign means.

CLDR gives each locale one plain sign for one currency: "$" is USD in de, but CAD in en-CA. Signs that CLDR does not
have (Rs, Fr., TL) stand in the table below.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from engine.fields.normalisation import locales
from engine.fields.normalisation.characters import fold

# Signs and the currencies that share them, the more traded first (BIS Triennial Survey 2022).
_DOLLARS = ("USD", "AUD", "CAD", "HKD", "SGD", "NZD", "MXN", "CLP", "COP", "ARS")
_FRANCS = ("CHF", "XAF", "XOF")
SIGNS: dict[str, tuple[str, ...]] = {
    "$": _DOLLARS,
    "US$": ("USD",), "$US": ("USD",), "USD$": ("USD",), "U$S": ("USD",), "C$": ("CAD",), "CA$": ("CAD",),
    "CAN$": ("CAD",), "$CA": ("CAD",), "A$": ("AUD",), "AU$": ("AUD",), "$AU": ("AUD",), "NZ$": ("NZD",),
    "HK$": ("HKD",), "S$": ("SGD",), "MX$": ("MXN",), "R$": ("BRL",), "NT$": ("TWD",), "AR$": ("ARS",),
    "M.N.": ("MXN",), "MN": ("MXN",),
    **dict.fromkeys(("dollar", "dollars", "Dollar", "Dollars", "DOLLARS"), _DOLLARS),
    **dict.fromkeys(("peso", "pesos", "Pesos", "PESOS"), ("MXN", "PHP", "CLP", "COP", "ARS")),
    **dict.fromkeys(("pound", "pounds", "Pounds"), ("GBP", "EGP")), **dict.fromkeys(("franc", "francs"), _FRANCS),
    "€": ("EUR",), "Euro": ("EUR",), "Euros": ("EUR",), "euro": ("EUR",), "euros": ("EUR",), "EURO": ("EUR",),
    "£": ("GBP", "EGP"), "E£": ("EGP",), "£E": ("EGP",), "LE": ("EGP",), "L.E.": ("EGP",), "ج.م": ("EGP",),
    "ج.م.": ("EGP",), "جم": ("EGP",), "جنيه": ("EGP",), "جنيه مصري": ("EGP",), "جنيها": ("EGP",), "جنيهًا": ("EGP",),
    "ر.س": ("SAR",), "ر.س.": ("SAR",), "د.إ": ("AED",), "د.إ.": ("AED",), "د.ك": ("KWD",), "د.ك.": ("KWD",),
    "¥": ("JPY", "CNY"), "円": ("JPY",), "圓": ("JPY", "TWD"), "元": ("CNY", "TWD"), "人民币": ("CNY",), "원": ("KRW",),
    "₩": ("KRW",), "₹": ("INR",), "रु": ("INR", "NPR"), "रु.": ("INR", "NPR"), "रुपये": ("INR", "NPR"),
    "Rs": ("INR", "PKR", "LKR", "NPR", "MUR"), "Rs.": ("INR", "PKR", "LKR", "NPR", "MUR"), "₨": ("INR", "PKR", "LKR"),
    "kr": ("SEK", "NOK", "DKK", "ISK"), "kr.": ("SEK", "NOK", "DKK", "ISK"), "zł": ("PLN",), "Kč": ("CZK",),
    "Ft": ("HUF",), "лв": ("BGN",), "лв.": ("BGN",), "руб": ("RUB",), "руб.": ("RUB",), "₽": ("RUB",), "₴": ("UAH",),
    "грн": ("UAH",), "₺": ("TRY",), "TL": ("TRY",), "₫": ("VND",), "₪": ("ILS",), "฿": ("THB",), "บาท": ("THB",),
    "₱": ("PHP",), "R": ("ZAR",), "Fr.": _FRANCS, "Fr": _FRANCS, "SFr.": ("CHF",),
    "sFr.": ("CHF",), "SFr": ("CHF",), "Franken": ("CHF",), "reais": ("BRL",), "złotych": ("PLN",), "yen": ("JPY",),
    "rupees": ("INR", "PKR", "LKR"), "DM": ("DEM",), "S/": ("PEN",), "S/.": ("PEN",), "₡": ("CRC",),
    "₲": ("PYG",), "₦": ("NGN",), "₵": ("GHS",), "₸": ("KZT",), "₼": ("AZN",), "₾": ("GEL",), "₮": ("MNT",),
    "৳": ("BDT",),     "₭": ("LAK",), "៛": ("KHR",), "lei": ("RON", "MDL"), "din": ("RSD",), "Rp": ("IDR",),
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
def _tokens() -> dict[str, tuple[str, ...]]:
    """Return signs and codes as they are printed, and the codes that they may mean."""
    folded = {fold(sign): shared for sign, shared in SIGNS.items()}
    return {**{code: (code,) for code in codes()}, **{c: (c.upper(),) for c in _LETTER_CASES}, **folded}


@cache
def _names(tag: str | None) -> dict[str, tuple[str, ...]]:
    """Return names of currencies in a locale, and its signs of more than one character: "us-dollar", "$us"."""
    if tag is None:
        return {}
    locale = locales.locale_of(tag)
    plurals, symbols = locale._data["currency_names_plural"], locale._data["currency_symbols"]
    names: dict[str, tuple[str, ...]] = {}
    for code in sorted(codes()):
        signs = fold(str(symbols.get(code, "")))
        if len(signs) > 1 and any(unicodedata.category(character) == "Sc" for character in signs):
            names[signs.lower()] = (code,)
        for name in (locale.currencies.get(code, code), *plurals.get(code, {}).values()):
            names[fold(str(name)).lower()] = (code,)
    return names


@cache
def _longest(tag: str | None) -> int:
    return max(map(len, (*_tokens(), *_names(tag))))


def split_currency(text: str, tag: str | None) -> tuple[str, str]:
    """Split the longest currency from the beginning or else the end of a folded text.

    A word ends where its letters end, so "Rest 5" has no R; 円 may touch other letters.

    Args:
        text: folded text.
        tag: a locale, whose names of currencies count, too.

    Returns:
        The text without it, and the currency as printed ("" where none stands there).
    """
    lengths = range(min(_longest(tag), len(text) - 1), 0, -1)
    for length in lengths:
        if _is_currency(text[:length], text[length], tag) and text[length:].strip():
            return text[length:].strip(), text[:length]
    for length in lengths:
        if _is_currency(text[-length:], text[-length - 1], tag) and text[:-length].strip():
            return text[:-length].strip(), text[-length:]
    return text, ""


def _is_currency(token: str, beside: str, tag: str | None) -> bool:
    if token not in _tokens() and token.lower() not in _names(tag):
        return False
    return not beside.isalpha() or bool(_EAST_ASIAN.search(token))


def codes_of(token: str, tag: str | None) -> tuple[str, ...]:
    """Return the ISO 4217 codes that a printed currency may mean, the more usual first."""
    return _tokens().get(token) or _names(tag)[token.lower()]


def code_by_locale(token: str, tag: str) -> str | None:
    """Return which currency a shared sign means in a locale, or None where CLDR does not say."""
    return locales.agreed(tag, lambda name: _code_by_region(token, name))


@cache
def _code_by_region(token: str, tag: str) -> str | None:
    from datetime import date

    from babel.numbers import get_territory_currencies

    shared = _tokens().get(token, ())
    region = locales.locale_of(tag).territory
    used = get_territory_currencies(region, date(*_FIXED_DAY), date(*_FIXED_DAY)) if region else []
    for code in used:
        if code in shared:
            return str(code)
    symbols = locales.locale_of(tag)._data["currency_symbols"]
    meant = [code for code in shared if fold(str(symbols.get(code, ""))) == token]
    return meant[0] if len(meant) == 1 else None
