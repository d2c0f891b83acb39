"""Readings of a printed number with its sign, shared by numbers and amounts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from engine.fields.normalisation import locales
from engine.fields.normalisation.context import DECIMAL, LocaleContext
from engine.fields.normalisation.grammar import Shape
from engine.fields.normalisation.signs import Signed

_WORDS = {
    (".", False): "the point separates thousands",
    (",", False): "the comma separates thousands",
    (".", True): "the point is the decimal sign",
    (",", True): "the comma is the decimal sign",
}
_OTHER = {".": ",", ",": "."}


@dataclass(frozen=True, kw_only=True, slots=True)
class SignedNumber:
    """One reading of a printed number.

    Args:
        number: its value.
        rule: key of its rule.
        words: its conventions in words; empty where the text alone decides.
        convention: what to remember when a person picks it.
        doubtful: conventions that the locale must not decide for it.
    """

    number: Decimal
    rule: str
    words: tuple[str, ...] = ()
    convention: dict[str, str] = field(default_factory=dict)
    doubtful: frozenset[str] = frozenset()


def signed_numbers(shapes: Sequence[Shape], signed: Signed, context: LocaleContext) -> list[SignedNumber]:
    """Return every reading of a number: each shape with each meaning of its sign.

    Args:
        shapes: shapes of the text without its sign.
        signed: its sign.
        context: says which signs the locale uses.
    """
    readings: list[SignedNumber] = []
    for shape in shapes:
        words: tuple[str, ...] = ()
        convention: dict[str, str] = {}
        if len(shapes) > 1:
            words = (_WORDS[shape.decimal or shape.group, bool(shape.decimal)],)
            convention = {DECIMAL: shape.decimal or _OTHER[shape.group]}
        rule = "+".join(filter(None, (shape.rule, signed.rule)))
        doubtful = frozenset({DECIMAL}) if _is_doubtful(shape, context) else frozenset()
        readings += [
            SignedNumber(
                number=-shape.number if negative else shape.number,
                rule=rule,
                words=tuple(filter(None, (*words, meaning))),
                convention={**convention, **remembered},
                doubtful=doubtful,
            )
            for negative, meaning, remembered in signed.meanings
        ]
    return readings


def _is_doubtful(shape: Shape, context: LocaleContext) -> bool:
    """Return whether the locale neither groups nor divides by the sign at hand, as French and a point."""
    if shape.doubtful or not context.locale or shape.decimal:
        return shape.doubtful
    return shape.group in _OTHER and locales.group_sign(context.locale) != shape.group


def decimal_of(context: LocaleContext) -> dict[str, Callable[[], str | None]]:
    """Return what the locale says about the decimal sign, for `decide`."""
    return {DECIMAL: lambda: locales.decimal_sign(context.locale) if context.locale else None}


def decimal_sign(context: LocaleContext) -> str | None:
    """Return the decimal sign by convention or else by locale."""
    return context.conventions.get(DECIMAL) or decimal_of(context)[DECIMAL]()


def plain(number: Decimal) -> str:
    """Return a decimal as text without exponent and trailing zeros."""
    text = format(number, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text
