"""Tables of documents with their marks: what judges proposed tables, from real papers and from generated ones.

A mark is a box on a page in shares of its width and height. The words of a cell are those whose centre lies in one of
its boxes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.fields.types import FieldType
from model.boxes import Box, FloatBox

WordAt = tuple[int, int]  # number of the page, from 1, and index of the word on it
Cell = frozenset[WordAt]
Row = Mapping[str, Cell]  # name of the column -> its words; an empty cell is left out


@dataclass(frozen=True, slots=True)
class TableWord:
    """Word of a page; `box` is (x0, y0, x1, y1) in pixels, x1 and y1 exclusive; `line` as the reading counts it."""

    text: str
    box: Box
    line: int


@dataclass(frozen=True, slots=True)
class TablePage:
    """Page with its words in reading order; `number` counts from 1, `width` and `height` are pixels."""

    number: int
    width: int
    height: int
    words: tuple[TableWord, ...]


@dataclass(frozen=True, slots=True)
class TableColumn:
    """Column that is asked for: its name, its heading as the person who sets it up writes it, and its type."""

    name: str
    question: str
    type: FieldType


@dataclass(frozen=True, slots=True)
class Mark:
    """Box on a page, in shares of its width and height."""

    page: int
    box: FloatBox


@dataclass(frozen=True, slots=True)
class MarkedTable:
    """Table of a file with its true rows as marks, in reading order.

    Group rows, subtotals, totals, carried amounts and headings are no rows. `notes` say what is special about it.
    """

    name: str
    columns: tuple[TableColumn, ...]
    rows: tuple[Mapping[str, tuple[Mark, ...]], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TrueTable:
    """Table with its pages and its rows as words. `pdf`: its file, for readers of files."""

    name: str
    kind: str
    pages: tuple[TablePage, ...]
    columns: tuple[TableColumn, ...]
    rows: tuple[Row, ...]
    pdf: bytes


def true_rows(table: MarkedTable, pages: Sequence[TablePage]) -> tuple[Row, ...]:
    """Return the rows of a table as words of its pages; cells without a word are left out."""
    by_number = {page.number: page for page in pages}
    rows = []
    for row in table.rows:
        cells = {name: frozenset(_words_in(marks, by_number)) for name, marks in row.items()}
        rows.append({name: cell for name, cell in cells.items() if cell})
    return tuple(rows)


def _words_in(marks: Iterable[Mark], pages: Mapping[int, TablePage]) -> Iterable[WordAt]:
    for mark in marks:
        page = pages[mark.page]
        x0, x1 = mark.box[0] * page.width, mark.box[2] * page.width
        y0, y1 = mark.box[1] * page.height, mark.box[3] * page.height
        for at, word in enumerate(page.words):
            if x0 <= (word.box[0] + word.box[2]) / 2 <= x1 and y0 <= (word.box[1] + word.box[3]) / 2 <= y1:
                yield mark.page, at


def text_of(cell: Cell, pages: Sequence[TablePage]) -> str:
    """Return the words of a cell in the order of the reading."""
    by_number = {page.number: page for page in pages}
    return " ".join(by_number[number].words[at].text for number, at in sorted(cell))


def table_from_json(stored: Mapping[str, Any]) -> MarkedTable:
    """Return a marked table as real_tables.json holds it."""
    return MarkedTable(
        name=stored["name"],
        columns=tuple(TableColumn(c["name"], c["question"], FieldType(c["type"])) for c in stored["columns"]),
        rows=tuple(
            {name: tuple(Mark(m["page"], tuple(m["box"])) for m in marks) for name, marks in row.items()}
            for row in stored["rows"]
        ),
        notes=tuple(stored["notes"]),
    )


def file_of(stored: Mapping[str, Any], folder: Path) -> Path:
    """Return the file of a stored table below the folder of the data.

    Raises:
        FileNotFoundError: It is not there, or it is another file than the marked one.
    """
    path = folder / str(stored["file"])
    if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != stored["sha256"]:
        raise FileNotFoundError(f"{path} is missing, or is not the file that was marked.")
    return path


def stored_tables() -> list[dict[str, Any]]:
    """Return the real tables that are marked by hand."""
    tables: list[dict[str, Any]] = json.loads(Path(__file__).with_name("real_tables.json").read_text("utf-8"))
    return tables
