"""From printed text to typed values: `normalise` reads a text as a type, or says why a person has to.

    >>> normalise("1.250,00 €", FieldType.CURRENCY)
    Normalised(value={'amount': '1250.00', 'currency': 'EUR'}, rule='decimal-comma', ...)
    >>> normalise("03/04/26", FieldType.DATE, context=LocaleContext(locale="en-GB")).value
    '2026-04-03'

1. The text decides where it can: "25.00" has no thousands, whatever the locale.
2. Else a remembered convention decides, such as {"decimal": ","}.
3. Else the locale decides, where all of its regions agree and its signs are those at hand.
4. Else the text is ambiguous: no value, but `readings`. A person picks one; `context.remember(reading.convention)`
   makes the next text of the kind decided.

All functions are pure: nothing depends on the server's locale or time zone, or on today, and no text raises. Libraries
(babel, phonenumbers, pycountry) are imported with the first value that needs them.
"""

from __future__ import annotations

from engine.fields.normalisation.amounts import normalise_amount
from engine.fields.normalisation.characters import fold
from engine.fields.normalisation.choices import normalise_choice
from engine.fields.normalisation.context import LocaleContext
from engine.fields.normalisation.countries import normalise_country
from engine.fields.normalisation.dates import normalise_date
from engine.fields.normalisation.phones import normalise_phone
from engine.fields.normalisation.plain_numbers import normalise_integer, normalise_number
from engine.fields.normalisation.result import Normalised, Reading, Value, unreadable
from engine.fields.normalisation.texts import normalise_address, normalise_text
from engine.fields.normalisation.ticks import normalise_tick
from engine.fields.normalisation.times import normalise_time
from engine.fields.types import FieldOptions, FieldType

__all__ = ["LocaleContext", "Normalised", "Reading", "Value", "normalise"]

LONGEST = 200  # characters of a value that is no text or address; a longer one is a paragraph
_NO_OPTIONS = FieldOptions()
_NO_CONTEXT = LocaleContext()


def normalise(
    text: str, kind: FieldType, options: FieldOptions = _NO_OPTIONS, context: LocaleContext = _NO_CONTEXT
) -> Normalised:
    """Read a printed text as a type.

    Args:
        text: printed text, as read or as corrected by a person; it is not changed.
        kind: type of the field. Signatures, regions and tables have no value in text.
        options: options of the field: choices, default currency and country.
        context: locale and remembered conventions.

    Returns:
        Exactly one of: a value with its rule; readings of an ambiguous text; a reason why nothing can be read.
    """
    if kind in (FieldType.SIGNATURE, FieldType.REGION):
        return unreadable("The marked region is the value; its text has none.")
    if kind is FieldType.TABLE:
        return unreadable("The cells of a table have values, the table has none.")
    if not fold(text):
        return unreadable("Nothing is printed here.")
    if kind is FieldType.STRING:
        return normalise_text(text)
    if kind is FieldType.ADDRESS:
        return normalise_address(text)
    if len(text) > LONGEST:
        return unreadable(f"The text is too long for a {kind.value}.")
    return _to_typed(text, kind, options, context)


def _to_typed(text: str, kind: FieldType, options: FieldOptions, context: LocaleContext) -> Normalised:
    match kind:
        case FieldType.NUMBER:
            return normalise_number(text, context)
        case FieldType.INTEGER:
            return normalise_integer(text, context)
        case FieldType.CURRENCY:
            return normalise_amount(text, options, context)
        case FieldType.DATE:
            return normalise_date(text, context)
        case FieldType.TIME:
            return normalise_time(text, context)
        case FieldType.BOOLEAN:
            return normalise_tick(text, context)
        case FieldType.CHOICE:
            return normalise_choice(text, options, context)
        case FieldType.PHONE:
            return normalise_phone(text, options, context)
        case _:
            return normalise_country(text, context)
