"""Texts and addresses: as printed, with single spaces."""

from __future__ import annotations

import unicodedata

from engine.fields.normalisation.result import Normalised
from engine.text import storable


def normalise_text(text: str) -> Normalised:
    """Return a text in one line, composed (Unicode NFC), with single spaces."""
    return Normalised(value=" ".join(_compose(text).split()), rule="text")


def normalise_address(text: str) -> Normalised:
    """Return an address as printed: its lines, without empty ones, each with single spaces."""
    lines = (" ".join(line.split()) for line in _compose(text).splitlines())
    return Normalised(value="\n".join(filter(None, lines)), rule="lines")


def _compose(text: str) -> str:
    return unicodedata.normalize("NFC", storable(text))
