"""Numbers with a word for their size: 1.5 lakh, 2 Mio., 1億2,000万.

"Billion" is left open: it is a thousand millions in English and a million millions in German.
"""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

from engine.fields.normalisation.grammar import Shape, shapes_of

_POWERS = {
    "thousand": 3, "tausend": 3, "tsd": 3, "mille": 3, "الف": 3, "ألف": 3, "हज़ार": 3, "हजार": 3,
    "lakh": 5, "lakhs": 5, "lac": 5, "lacs": 5, "लाख": 5,
    "million": 6, "millions": 6, "millionen": 6, "mio": 6, "mill": 6, "mln": 6, "millón": 6, "millones": 6, "milhão": 6,
    "milhões": 6, "milione": 6, "milioni": 6, "miljoen": 6, "مليون": 6,
    "crore": 7, "crores": 7, "करोड़": 7,
    "milliarde": 9, "milliarden": 9, "milliard": 9, "milliards": 9, "mrd": 9, "mld": 9, "bn": 9,
}  # fmt: skip
_WORD = re.compile(r"(?P<core>.*\d) ?(?P<word>[^\W\d_][^\d.]*)\.?", re.DOTALL)
_PART = r"\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?"
_EAST_ASIAN = re.compile(
    rf"(?:(?P<p8>{_PART})[億亿억])?(?:(?P<p4>{_PART})[万萬만])?(?:(?P<p6>{_PART})百万)?(?:(?P<p3>{_PART})千)?(?P<p0>{_PART})?"
)


def all_shapes_of(text: str, arabic: bool = False) -> list[Shape]:
    """Return all ways to read a folded text without sign and currency, with or without a word for its size.

    Args:
        text: folded text.
        arabic: as of `shapes_of`.
    """
    if re.search(r"[億亿억万萬만千]", text):
        return _east_asian(text.replace(" ", ""))
    word = _WORD.fullmatch(text)
    power = _POWERS.get(word["word"].strip().lower()) if word else None
    if word is None or power is None:
        return shapes_of(text, arabic)
    return [replace(shape, number=shape.number * 10**power, multiple=True) for shape in shapes_of(word["core"], arabic)]


def _east_asian(text: str) -> list[Shape]:
    """Return the sum of parts with their powers of ten: 1億2,000万, 3万5千, 1.5万."""
    match = _EAST_ASIAN.fullmatch(text)
    if match is None:
        return []
    parts = {int(name[1:]): part.replace(",", "") for name, part in match.groupdict().items() if part}
    return [Shape(sum((Decimal(part) * 10**power for power, part in parts.items()), Decimal(0)), multiple=True)]
