"""The grammar of printed decimal numbers: which groups and which decimal sign a text can have."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

_NUMBER = re.compile(r"\d+(?:[.,' ٬٫،]\d+)*|[.,٫]\d+")
_WHOLE_ENDING = re.compile(r"[.,:] ?-+$|/-$")  # 5,-  12.--  5:-  500/-
_GROUPS = re.compile(r"[1-9]\d{0,2}(?:x\d{3})+|[1-9]\d?(?:x\d{2})+x\d{3}")  # the second: Indian lakhs
LONGEST = 40  # digits; a longer text is no number of a paper


@dataclass(frozen=True, slots=True)
class Shape:
    """One way to read a number.

    Args:
        number: its value.
        decimal: its decimal sign "." or ","; "" where it has none.
        group: the sign between its thousands; "" where it has none.
        doubtful: the sign at hand stands in for another one, so that the locale says nothing about it.
        multiple: a word for its size stood behind it, as "lakh".
    """

    number: Decimal
    decimal: str = ""
    group: str = ""
    doubtful: bool = False
    multiple: bool = False

    @property
    def rule(self) -> str:
        """Key of the rule, as "decimal-comma"."""
        signs = f"grouped-{_NAMES[self.group]}" if self.group else "digits"
        if self.decimal:
            signs = f"decimal-{_NAMES[self.decimal]}"
        return f"{signs}+multiple" if self.multiple else signs


_NAMES = {".": "point", ",": "comma", "'": "apostrophe", " ": "space"}


def shapes_of(text: str, arabic: bool = False) -> list[Shape]:
    """Return all ways to read a folded text without sign and currency.

    Args:
        text: folded text.
        arabic: its digits were printed in the Arabic script, where comma and point stand in for signs of that script.

    Returns:
        One shape where the text decides; two for a single group of three digits behind a point or comma, thousands
        first; none where it is no number.
    """
    text, whole_ending = _WHOLE_ENDING.subn("", text)
    if text.endswith((".", ",")) and text.count(text[-1]) == 1:
        text = text[:-1]
    if not _NUMBER.fullmatch(text) or sum(map(str.isdigit, text)) > LONGEST:
        return []
    decisive = "٫" in text
    text = text.replace("٬", "'").replace("،", ",")
    signs = re.sub(r"\d", "", text.replace("٫", ";"))
    shapes = []
    if not signs:
        return [Shape(Decimal(text))]
    if not decisive and (whole := _read_groups(text, signs)):
        shapes.append(Shape(whole[0], group=whole[1], doubtful=arabic))
    last = signs[-1]
    if last in ".,;" and signs.count(last) == 1 and not whole_ending:
        before, _, after = text.replace("٫", ";").rpartition(last)
        body = _read_groups(before, signs[:-1]) if signs[:-1] else (Decimal(before or "0"), "")
        if body:
            sign = "," if last == ";" else last
            shapes.append(Shape(Decimal(f"{body[0]}.{after}"), sign, body[1], arabic and last != ";"))
    return shapes


def _read_groups(text: str, signs: str) -> tuple[Decimal, str] | None:
    """Return the whole number of digits in groups and the sign between them, or None where the groups are wrong."""
    if len(set(signs)) != 1 or not _GROUPS.fullmatch(text.replace(signs[0], "x")):
        return None
    return Decimal(text.replace(signs[0], "")), signs[0]
