"""Cells and sheets of values: typed cells of XLSX, texts of CSV. Exports of datasets and of the table share them."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

import xlsxwriter

from engine.fields.definition import ColumnDefinition
from engine.fields.normalisation.result import Value
from engine.fields.types import FieldType

_MOST_LETTERS = 32_767  # of a cell of XLSX
MOST_ROWS = 1_048_576  # of a sheet of XLSX
_FIRST_DATE = date(1900, 3, 1)  # a spreadsheet counts days from 1900 and takes that year for a leap year
_OPTIONS = {
    "constant_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
}


def open_book(path: Path) -> xlsxwriter.Workbook:
    """Return a new workbook that writes row by row, and takes no text for a formula, a link or a number."""
    return xlsxwriter.Workbook(str(path), _OPTIONS)


class Sheet:
    """Rows under their heads; a sheet that is full is followed by another."""

    def __init__(self, book: xlsxwriter.Workbook, title: str, heads: list[str]) -> None:
        self._book, self._title, self._heads = book, title, heads
        self._day = book.add_format({"num_format": "yyyy-mm-dd"})
        self._bold = book.add_format({"bold": True})
        self._number = 0
        self._begin()

    def _begin(self) -> None:
        self._number += 1
        self._sheet = self._book.add_worksheet(self._title if self._number == 1 else f"{self._title} {self._number}")
        self._sheet.freeze_panes(1, 1)
        self._sheet.set_column(0, 0, 32)
        self._sheet.set_column(1, len(self._heads) - 1, 18)
        for place, name in enumerate(self._heads):
            self._sheet.write_string(0, place, name, self._bold)
        self._row = 1

    def add(self, cells: Iterable[Any]) -> None:
        """Add a row."""
        if self._row == MOST_ROWS:
            self._begin()
        for place, cell in enumerate(cells):
            self._write(place, cell)
        self._row += 1

    def _write(self, place: int, cell: Any) -> None:
        if cell is None or cell == "":
            return
        if isinstance(cell, bool):
            self._sheet.write_boolean(self._row, place, cell)
        elif isinstance(cell, date):
            self._sheet.write_datetime(self._row, place, datetime(cell.year, cell.month, cell.day), self._day)
        elif isinstance(cell, int | float):
            self._sheet.write_number(self._row, place, cell)
        else:
            self._sheet.write_string(self._row, place, str(cell)[:_MOST_LETTERS])


def columns_of(field: ColumnDefinition) -> list[str]:
    """Return the columns of a field: an amount has one for its currency."""
    return [field.name, f"{field.name}_currency"] if field.type is FieldType.CURRENCY else [field.name]


def text_cells(field: ColumnDefinition, known: Sequence[Value]) -> list[str]:
    """Return the cells of a field in CSV; several values stand line by line."""
    if field.type is FieldType.CURRENCY:
        amounts = [value for value in known if isinstance(value, dict)]
        return [
            "\n".join(value["amount"] or "" for value in amounts),
            "\n".join(value["currency"] or "" for value in amounts),
        ]
    return ["\n".join(plain_text(value) for value in known)]


def typed_cells(field: ColumnDefinition, known: Sequence[Value]) -> list[Any]:
    """Return the cells of a field in XLSX, typed where there is one value."""
    if len(known) != 1:
        return list(text_cells(field, known))
    [value] = known
    if isinstance(value, dict):
        return [_number(value["amount"] or "0"), value["currency"] or ""]
    if field.type is FieldType.NUMBER and isinstance(value, str):
        return [_number(value)]
    if field.type is FieldType.DATE and isinstance(value, str):
        day = date.fromisoformat(value)
        return [day if day >= _FIRST_DATE else value]
    return [value]


def _number(text: str) -> float | str:
    """Return a number as a cell; one with more digits than a spreadsheet keeps stays text."""
    digits = sum(character.isdigit() for character in text.lstrip("-0."))
    return float(text) if digits <= 15 else text


def plain_text(value: Value) -> str:
    """Return a value as a cell of CSV."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
