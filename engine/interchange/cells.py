"""Cells of tables that spreadsheets open: texts that none of them runs as a formula."""

import math
import re

_SIGNS = r"=+\-@\uff1d\uff0b\uff0d\uff20"  # Excel reads the full-width forms like the others
_FORMULA = re.compile(rf"[{_SIGNS}\t\r]")
# Some locales split a line at semicolons, tabs or bars, so that a formula may begin within a text.
_FORMULA_WITHIN = re.compile(rf"(?<=[;,\t|\r\n])([\s\"]*)(?=[{_SIGNS}])")


def harmless(value: str | float) -> str | float:
    """Return a value as a cell that no spreadsheet runs: an apostrophe before what looks like a formula.

    So does a part of a text that a spreadsheet of another locale would make a cell. Numbers stay numbers.
    """
    if not isinstance(value, str) or _is_number(value):
        return value
    quoted = _FORMULA_WITHIN.sub(r"\1'", value)
    return f"'{quoted}" if _FORMULA.match(value.lstrip(' "')) else quoted


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text.replace(",", "")))
    except ValueError:
        return False
