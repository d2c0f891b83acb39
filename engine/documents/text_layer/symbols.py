"""Fonts of symbols: their letters stand for ticks, boxes and arrows, and are no text."""

import re
from typing import Any

_NAMES = re.compile(
    r"dingbat|wingding|webding|zadb|marlett|carta\b|fontawesome|font awesome|icomoon|glyphicon|material ?icons",
    re.IGNORECASE,
)
_FIRST_SYMBOL = 0x2000  # signs behind it are what the glyph shows: ticks, arrows, boxes


def mark_symbols(span: dict[str, Any]) -> None:
    """Set "symbol" in the characters of a "rawdict"'s span that a font of symbols draws as something else.

    Such a font has a tick where others have the digit 3. Characters that its map to Unicode says to be ticks or boxes
    are what they are.
    """
    if _NAMES.search(span["font"]):
        for character in span["chars"]:
            if ord(character["c"][:1] or " ") < _FIRST_SYMBOL and not character["c"].isspace():
                character["symbol"] = True
