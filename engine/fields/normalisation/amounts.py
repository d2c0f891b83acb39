"""Amounts of money: a signed number and its currency."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal

from engine.fields.normalisation import currencies
from engine.fields.normalisation.candidates import Candidate, decide
from engine.fields.normalisation.characters import fold, has_arabic_digits, mixes_digits
from engine.fields.normalisation.context import CURRENCY, DECIMAL, LocaleContext
from engine.fields.normalisation.grammar import Shape
from engine.fields.normalisation.multiples import all_shapes_of
from engine.fields.normalisation.result import Normalised, Value, unreadable
from engine.fields.normalisation.signed_numbers import SignedNumber, decimal_of, plain, signed_numbers
from engine.fields.normalisation.signs import DASH_READINGS, Signed, split_sign
from engine.fields.types import FieldOptions

_USUAL_DIGITS = 2  # behind the point where no currency is known


@dataclass(frozen=True, slots=True)
class _Parts:
    signed: Signed
    currency: str  # as printed; ""
    shapes: list[Shape]


def normalise_amount(text: str, options: FieldOptions, context: LocaleContext) -> Normalised:
    """Return {"amount": "1250.00", "currency": "EUR"} of a printed amount.

    The amount has as many digits behind the point as its currency, or more where more are printed. The currency is
    the printed one, else that of the field, else None: a locale says nothing about what was paid in.

    Args:
        text: printed text.
        options: `currency` decides where none is printed, and between currencies that share the printed sign.
        context: locale and remembered conventions.
    """
    parts = None if mixes_digits(text) else _split(fold(text), text, context)
    if parts is None:
        return unreadable("This is no amount: a number with one currency at most, as 1,250.00 EUR.")
    codes = _codes(parts.currency, options, context)
    candidates = [
        _candidate(reading, code, parts, context, shared=len(codes) > 1)
        for code in codes
        for reading in _readings(parts, code, context)
    ]
    key = CURRENCY + parts.currency
    of_locale: dict[str, Callable[[], str | None]] = {
        **decimal_of(context),
        key: lambda: currencies.code_by_locale(parts.currency, context.locale or ""),
    }
    return decide(candidates, context, of_locale, {CURRENCY + "£": "GBP"})


def _split(folded: str, text: str, context: LocaleContext) -> _Parts | None:
    tokens: list[str] = []

    def cut(core: str) -> str:
        core, token = currencies.split_currency(core, context.locale)
        if token:
            tokens.append(token)
            core, token = currencies.split_currency(core, context.locale)
            tokens.extend([token] if token else [])
        return core

    signed = split_sign(_without_ornaments(folded, context), context, cut)
    if signed is None:
        return None
    if signed.negative and signed.core[:1] in (".", ",") and ("CHF" in folded or context.region in ("CH", "LI")):
        signed = replace(signed, negative=False, several=DASH_READINGS)
    shapes = all_shapes_of(signed.core, has_arabic_digits(text))
    printed = {currencies.codes_of(token, context.locale): token for token in tokens}
    if len(printed) > 1:  # "$ 5.00 USD": the code says which dollar
        narrow = min(printed, key=len)
        printed = {narrow: printed[narrow]} if all(set(narrow) <= set(wide) for wide in printed) else {}
        if not printed:
            return None
    return _Parts(signed, next(iter(printed.values()), ""), shapes) if shapes else None


def _without_ornaments(text: str, context: LocaleContext) -> str:
    """Return a text without what closes amounts off in Japan: 金1,250円也, ¥1,250-; and "12€50" as "12,50€"."""
    if context.language == "ja" or re.search("[¥円]", text):
        text = re.sub(r"^金 ?(?=[¥\d])|也$", "", text)
        text = re.sub(r"(?<=\d) ?-+(?=円?$)", "", text)
    text = re.sub(r"(?i) only\.?$", "", text)  # Rs. 500/- only
    before, sign, after = text.partition("€")
    cents = after.strip()
    if sign and before.strip().isdigit() and len(cents) == 2 and cents.isdigit():
        return f"{before.strip()},{cents}€"
    return text


def _codes(token: str, options: FieldOptions, context: LocaleContext) -> tuple[str | None, ...]:
    if not token:
        return (options.currency,)
    codes = currencies.codes_of(token, context.locale)
    if context.conventions.get(CURRENCY + token) not in codes and options.currency in codes:
        return (options.currency,)
    return codes


def _readings(parts: _Parts, code: str | None, context: LocaleContext) -> list[SignedNumber]:
    shapes = parts.shapes
    if code and currencies.digits_of(code) == 0 and len(shapes) > 1:
        shapes = [shape for shape in shapes if shape.group] or shapes  # nobody prints thousandths of a yen
    return signed_numbers(shapes, parts.signed, context)


def _candidate(
    reading: SignedNumber, code: str | None, parts: _Parts, context: LocaleContext, *, shared: bool
) -> Candidate:
    value = amount_of(reading.number, code)
    words = (*reading.words, *([f"{parts.currency} is {code}"] if shared else []))
    # Three decimals of a currency with two: a price of fuel, or another country's thousands. A locale is too weak.
    strange = DECIMAL in reading.convention and not (code and currencies.digits_of(code) == 3)
    thousandths = strange and "decimal" in reading.rule
    return Candidate(
        value=value,
        rule="+".join(filter(None, (reading.rule, "currency-sign" if shared else ""))),
        words=f"{', '.join(words) or 'as printed'}: {amount_words(reading.number, code)}",
        convention={**reading.convention, **({CURRENCY + parts.currency: code} if shared and code else {})},
        doubtful=reading.doubtful | (frozenset({DECIMAL}) if thousandths else frozenset()),
    )


def amount_of(number: Decimal, code: str | None) -> Value:
    """Return an amount as value, with as many digits behind the point as its currency or more.

    Args:
        number: exact number.
        code: ISO 4217 code, or None.
    """
    return {"amount": _digits(number, code), "currency": code}


def _digits(number: Decimal, code: str | None) -> str:
    whole, _, fraction = plain(number).partition(".")
    fraction = fraction.ljust(currencies.digits_of(code) if code else _USUAL_DIGITS, "0")
    return f"{whole}.{fraction}" if fraction else whole


def amount_words(number: Decimal, code: str | None) -> str:
    """Return an amount for people: "1250.00 EUR"."""
    return " ".join(filter(None, (_digits(number, code), code)))
