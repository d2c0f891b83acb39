"""Types of fields, and the options by which a type reads printed text."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FieldType(StrEnum):
    """Type of a field; the comment beside each says what its normalised value is, as JSON."""

    STRING = "string"  # text in one line: "Miller & Sons"
    NUMBER = "number"  # exact decimal as text: "1250.5"
    INTEGER = "integer"  # whole number: 1250
    CURRENCY = "currency"  # {"amount": "1250.00", "currency": "EUR"}; ISO 4217, or None where none is known
    DATE = "date"  # ISO 8601: "2026-04-03"
    TIME = "time"  # ISO 8601: "14:30:00", with the offset where one is printed: "14:30:00+02:00"
    BOOLEAN = "boolean"  # tick box: true or false
    CHOICE = "choice"  # `Choice.value` of one of the field's choices
    PHONE = "phone"  # E.164: "+493012345678"
    COUNTRY = "country"  # ISO 3166-1 alpha-2: "DE"
    ADDRESS = "address"  # as printed, lines kept: "Main Street 5\n10115 Berlin"
    SIGNATURE = "signature"  # its mark is the value; text gives none
    REGION = "region"  # its mark is the value; text gives none
    TABLE = "table"  # rows of cells; its columns are fields of their own


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice of a list.

    Args:
        value: the value stored when the choice is printed.
        names: other printed names of it, as translations and abbreviations.
    """

    value: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class FieldOptions:
    """Options of a field's type. Each concerns some types; the others ignore it.

    Args:
        choices: the list of a choice, in the order in which it is shown.
        currency: ISO 4217 code of amounts printed without a currency, or with a sign that several share.
        country: ISO 3166-1 alpha-2 code of phone numbers printed without a country.
    """

    choices: tuple[Choice, ...] = ()
    currency: str | None = None
    country: str | None = None
