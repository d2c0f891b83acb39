"""Letters that OCR may have read for digits: offered to people, never stored by themselves."""

from __future__ import annotations

from dataclasses import replace

from engine.fields.normalisation.result import Normalised, Reading

MISREAD = str.maketrans("OoQlI|", "000111")


def as_misread(result: Normalised) -> Normalised:
    """Return a result of repaired text as readings, so that a person decides.

    Args:
        result: what the text says with digits for letters.
    """
    if result.value is not None:
        return Normalised(readings=(Reading(value=result.value, words=f"letters read as digits: {result.value}"),))
    return replace(
        result,
        readings=tuple(
            replace(reading, words=f"letters read as digits, {reading.words}", convention={})
            for reading in result.readings
        ),
    )
