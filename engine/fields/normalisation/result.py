"""A normalised value, or the readings between which a person chooses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Value: TypeAlias = (
    str | int | bool | dict[str, str | None]
)  # JSON-able; engine/fields/types.py says which type has which


def equal(left: Value, right: Value) -> bool:
    """Return whether two values are the same as JSON; True and 1 are not."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """One value that an ambiguous text may have.

    Args:
        value: the value.
        words: the convention in plain words, for people: "the dot separates thousands: 1250".
        convention: what to remember when a person picks this reading, as {"decimal": ","}. Read again with it, the
            same text has this value. Empty where a pick says nothing about other texts.
    """

    value: Value
    words: str
    convention: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Normalised:
    """What a printed text says as a type. One of three: a value, several readings, or a reason why there is no value.

    Args:
        value: the value; None where the text is ambiguous or unreadable (False is a value).
        rule: short key of the rule that made the value, as "decimal-comma"; parts are joined by "+". Empty without one.
        locale: the BCP-47 locale that the value depends on; None where the text alone, or a convention, decides.
        readings: possible values of an ambiguous text, in a stable order, the more usual first.
        reason: a sentence for people where nothing can be read.
    """

    value: Value | None = None
    rule: str = ""
    locale: str | None = None
    readings: tuple[Reading, ...] = ()
    reason: str = ""

    @property
    def ambiguous(self) -> bool:
        """Whether a person has to pick one of the readings."""
        return bool(self.readings)

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON-able dictionary, with all keys."""
        return {
            "value": self.value,
            "rule": self.rule,
            "locale": self.locale,
            "readings": [
                {"value": reading.value, "words": reading.words, "convention": dict(reading.convention)}
                for reading in self.readings
            ],
            "reason": self.reason,
        }


def unreadable(reason: str) -> Normalised:
    """Return the result of a text that cannot be read as its type.

    Args:
        reason: a sentence for people.
    """
    return Normalised(reason=reason)
