"""Numbers and whole numbers.

Libraries guess here: price-parser reads "1.250" as 1250 whoever printed it, and "25.00" as 2500 once it is told of a
decimal comma. Here the text decides where it can ("25.00" has no thousands), then the convention, then the locale.
"""

from __future__ import annotations

from engine.fields.normalisation.candidates import Candidate, decide
from engine.fields.normalisation.characters import fold, has_arabic_digits, mixes_digits
from engine.fields.normalisation.context import DECIMAL, LocaleContext
from engine.fields.normalisation.misread import MISREAD, as_misread
from engine.fields.normalisation.multiples import all_shapes_of
from engine.fields.normalisation.result import Normalised, Reading, unreadable
from engine.fields.normalisation.signed_numbers import SignedNumber, decimal_of, decimal_sign, plain, signed_numbers
from engine.fields.normalisation.signs import split_sign

LARGEST_INTEGER = 2**53 - 1  # JSON readers of browsers keep no larger one exactly


def normalise_number(text: str, context: LocaleContext) -> Normalised:
    """Return the exact decimal of a printed number, as text without trailing zeros: "1250.5".

    A percent sign is left out: "12.5 %" is "12.5".

    Args:
        text: printed text.
        context: locale and remembered conventions; 1.250 and 1,250 are ambiguous without.
    """
    folded = fold(text)
    for sign in "%٪":
        folded = folded.removeprefix(sign).removesuffix(sign).strip()
    result = _read(_numbers(folded, text, context), context, whole=False)
    return result or unreadable("This is no number: digits with one sign at most, as 1,250.00 or (45.00).")


def normalise_integer(text: str, context: LocaleContext) -> Normalised:
    """Return the whole number of a printed text; readings with a fraction do not count, so "1.250" is 1250.

    Args:
        text: printed text.
        context: locale and remembered conventions. Where they call the sign of "1.250" a decimal sign, a person
            decides.
    """
    result = _read(_numbers(fold(text), text, context), context, whole=True)
    return result or unreadable("This is no whole number, as 12 or 1,250.")


def _read(numbers: tuple[list[SignedNumber], bool], context: LocaleContext, *, whole: bool) -> Normalised | None:
    readings, misread = numbers
    usable = [reading for reading in readings if not whole or _is_whole(reading)]
    if not usable:
        return None
    candidates = [
        Candidate(
            value=int(reading.number) if whole else plain(reading.number),
            rule=reading.rule,
            words=f"{', '.join(reading.words) or 'as printed'}: {plain(reading.number)}",
            convention=reading.convention,
            doubtful=reading.doubtful,
        )
        for reading in usable
    ]
    result = decide(candidates, context, decimal_of(context))
    sign = usable[0].convention.get(DECIMAL)
    contradicted = len(usable) < len(readings) and sign is not None and decimal_sign(context) not in (None, sign)
    if misread:
        return as_misread(result)
    if result.value is None or not contradicted:
        return result
    words, convention = candidates[0].words, candidates[0].convention
    return Normalised(readings=(Reading(value=result.value, words=words, convention=convention),))


def _is_whole(reading: SignedNumber) -> bool:
    number = reading.number
    return number == number.to_integral_value() and abs(number) <= LARGEST_INTEGER


def _numbers(folded: str, text: str, context: LocaleContext) -> tuple[list[SignedNumber], bool]:
    """Return the readings of a number, and whether they take letters for misread digits: "1O0" is perhaps 100."""
    if mixes_digits(text):
        return [], False
    for core, misread in ((folded, False), (folded.translate(MISREAD), True)):
        signed = split_sign(core, context)
        shapes = all_shapes_of(signed.core, has_arabic_digits(text)) if signed else []
        if signed and shapes and (not misread or any(map(str.isdigit, folded))):
            return signed_numbers(shapes, signed, context), misread
    return [], False
