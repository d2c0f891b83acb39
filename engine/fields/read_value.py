"""Value of a field from what is printed, and from what a person said of it."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from engine.fields.definition import ColumnDefinition
from engine.fields.normalisation import LocaleContext, Normalised, Value, normalise
from engine.fields.types import FieldType

MARK_ALONE = (FieldType.SIGNATURE, FieldType.REGION)
BY_PERSON = "person"  # rule of a value that a person picked
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_DATE = re.compile(r"-?\d{4,}-\d\d-\d\d")
_TIME = re.compile(r"\d\d:\d\d(:\d\d)?([+-]\d\d:\d\d|Z)?")


def read_value(
    field: ColumnDefinition, printed: str, picked: Value | None = None, context: LocaleContext | None = None
) -> Normalised:
    """Read the printed text of a marked value as its field's type.

    Args:
        field: The field.
        printed: Printed text, or the text as a person corrected it.
        picked: Value of the reading that a person picked; one that does not fit the type is passed over.
        context: Locale and conventions of the project.
    """
    if field.type in MARK_ALONE:
        return Normalised(value=True, rule="mark")
    if picked is not None and fits(field, picked):
        return Normalised(value=picked, rule=BY_PERSON)
    return normalise(printed, field.type, field.options, context or LocaleContext())


def fits(field: ColumnDefinition, value: Value) -> bool:
    """Return whether a value has the form that the type of a field has (engine.fields.types)."""
    match field.type:
        case FieldType.INTEGER:
            return isinstance(value, int) and not isinstance(value, bool)
        case FieldType.BOOLEAN:
            return isinstance(value, bool)
        case FieldType.CURRENCY:
            return isinstance(value, dict) and value.keys() == {"amount", "currency"} and _is_amount(value)
        case FieldType.NUMBER:
            return isinstance(value, str) and bool(_NUMBER.fullmatch(value))
        case FieldType.DATE:
            return isinstance(value, str) and bool(_DATE.fullmatch(value))
        case FieldType.TIME:
            return isinstance(value, str) and bool(_TIME.fullmatch(value))
        case FieldType.CHOICE:
            return value in [choice.value for choice in field.choices]
        case _:
            return isinstance(value, str)


def context_of(settings: Mapping[str, Any], issuer: str | None = None) -> LocaleContext:
    """Return what a project's settings say about how its papers print values, or those of one issuer."""
    conventions = settings.get("conventions") or {}
    if issuer is not None:
        of_issuers = settings.get("issuer_conventions") or {}
        wanted = issuer.casefold()
        conventions = conventions | next((own for name, own in of_issuers.items() if name.casefold() == wanted), {})
    return LocaleContext(locale=settings.get("locale") or None, conventions=conventions)


def issuer_name(text: str) -> str:
    """Return the name of an issuer from its printed text: one line, at most 200 characters."""
    return " ".join(unicodedata.normalize("NFKC", text).split()).strip(" .,;:")[:200]


def _is_amount(value: Mapping[str, str | None]) -> bool:
    amount, currency = value["amount"], value["currency"]
    return (
        isinstance(amount, str)
        and bool(_NUMBER.fullmatch(amount))
        and (currency is None or bool(re.fullmatch("[A-Z]{3}", currency)))
    )
