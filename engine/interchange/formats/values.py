"""Values of fields: JSON lines with citations; CSV and XLSX, a row a document.

Nothing depends on the server's locale: numbers have a decimal point, dates are ISO 8601; cells of XLSX are typed, and a
spreadsheet shows them as its user is used to.
"""

import csv
import json
from collections.abc import Iterable, Iterator
from datetime import date, datetime
from importlib.resources import files
from typing import Any

import xlsxwriter

from engine.fields.definition import FieldDefinition
from engine.fields.normalisation.result import Value
from engine.fields.types import FieldType
from engine.interchange.cells import harmless
from engine.interchange.destination import Destination
from engine.interchange.format import Format
from engine.interchange.outcome import Outcome, Tick
from engine.interchange.paper_values import Paper, PaperValue, fields_of, papers
from engine.interchange.release import Release, licence_of
from engine.interchange.snapshot_figures import SPLITS

JSON_FILE, SCHEMA_FILE = "values.jsonl", "values.schema.json"
CSV_FILE, XLSX_FILE = "values.csv", "values.xlsx"
FORMAT = "glossator-values/1"
_LEAD = ("document", "document_sha256", "split", "licence")
_TAIL = ("ambiguous", "unreadable", "broken_rules")
_EVIDENCE = (
    "document", "field", "number", "value", "printed", "page", "x0", "y0", "x1", "y1", "validated_by", "author",
    "readings", "reason",
)  # fmt: skip
_MOST_LETTERS = 32_767  # of a cell of XLSX
MOST_ROWS = 1_048_576  # of a sheet of XLSX
_FIRST_DATE = date(1900, 3, 1)  # a spreadsheet counts days from 1900 and takes that year for a leap year


def values_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a line of values.jsonl."""
    text = files("engine.interchange").joinpath(SCHEMA_FILE).read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def write_json(release: Release, to: Destination, tick: Tick) -> Outcome:
    """Write values.jsonl, a document a line, and the JSON Schema of a line."""
    counts = _counts()
    frozen = fields_of(release)
    with to.text(JSON_FILE) as file:
        for paper in _counted(release, counts, tick):
            line = {
                "format": FORMAT,
                "document": {
                    "id": paper.document.id,
                    "name": paper.document.name,
                    "sha256": paper.document.sha256,
                    "split": SPLITS[paper.document.split],
                    "licence": licence_of(paper.document),
                    "pages": len(paper.document.pages),
                },
                "locale": frozen.context.locale,
                "fields": {
                    field.name: {
                        "type": field.type.value,
                        "question": field.question,
                        "values": [value.to_json() for value in paper.values.get(field.name, ())],
                        "broken_rules": paper.broken.get(field.name, []),
                    }
                    for field in frozen.fields.values()
                },
            }
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    to.json(SCHEMA_FILE, values_schema())
    return Outcome(counts)


def write_csv(release: Release, to: Destination, tick: Tick) -> Outcome:
    """Write values.csv in UTF-8 with a byte order mark, by which Excel recognises it; see `harmless` of cells."""
    counts = _counts()
    fields = list(fields_of(release).fields.values())
    with to.text(CSV_FILE) as file:
        file.write("\ufeff")
        table = csv.writer(file)
        table.writerow([*_LEAD, *(column for field in fields for column in _columns(field)), *_TAIL])
        for paper in _counted(release, counts, tick):
            cells = [cell for field in fields for cell in _texts(field, paper.values.get(field.name, []))]
            table.writerow([harmless(cell) for cell in (*_lead(paper), *cells, *_tail(paper))])
    return Outcome(counts)


def write_xlsx(release: Release, to: Destination, tick: Tick) -> Outcome:
    """Write values.xlsx: a sheet with a row a document, and one with a row a value and its evidence."""
    counts = _counts()
    fields = list(fields_of(release).fields.values())
    with to.file(XLSX_FILE) as target:
        options = {
            "constant_memory": True,
            "strings_to_formulas": False,
            "strings_to_urls": False,
            "strings_to_numbers": False,
        }
        with xlsxwriter.Workbook(str(target), options) as book:
            # A fixed date, so that the same snapshot gives the same bytes.
            book.set_properties({"title": release.project, "created": datetime(2000, 1, 1)})
            sheets = _Sheets(book, fields)
            for paper in _counted(release, counts, tick):
                sheets.add(paper)
    return Outcome(counts)


class _Sheet:
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


class _Sheets:
    """The sheets of a workbook: values, and their evidence."""

    def __init__(self, book: xlsxwriter.Workbook, fields: list[FieldDefinition]) -> None:
        self._fields = fields
        columns = [*_LEAD, *(column for field in fields for column in _columns(field)), *_TAIL]
        self._values = _Sheet(book, "Values", columns)
        self._evidence = _Sheet(book, "Evidence", list(_EVIDENCE))

    def add(self, paper: Paper) -> None:
        """Add a document."""
        cells = [cell for field in self._fields for cell in _cells(field, paper.values.get(field.name, []))]
        self._values.add((*_lead(paper), *cells, *_tail(paper)))
        for of_field in paper.values.values():
            for number, value in enumerate(of_field, 1):
                for line in _evidence(paper, value, number):
                    self._evidence.add(line)


def _counts() -> dict[str, int]:
    return {"documents": 0, "values": 0, "ambiguous": 0, "unreadable": 0, "no_answer": 0, "broken_rules": 0}


def _counted(release: Release, counts: dict[str, int], tick: Tick) -> Iterator[Paper]:
    for paper in papers(release, fields_of(release)):
        counts["documents"] += 1
        counts["broken_rules"] += sum(len(sentences) for sentences in paper.broken.values())
        for of_field in paper.values.values():
            for value in of_field:
                counts[_outcome(value)] += 1
                tick()
        yield paper


def _outcome(value: PaperValue) -> str:
    if not value.marked:
        return "no_answer"
    if value.value is not None:
        return "values"
    return "ambiguous" if value.normalised.ambiguous else "unreadable"


def _columns(field: FieldDefinition) -> list[str]:
    """Return the columns of a field: an amount has one for its currency."""
    return [field.name, f"{field.name}_currency"] if field.type is FieldType.CURRENCY else [field.name]


def _lead(paper: Paper) -> tuple[str, ...]:
    document = paper.document
    return document.name, document.sha256, SPLITS[document.split], licence_of(document)


def _tail(paper: Paper) -> tuple[str, ...]:
    every = [(name, value) for name, of_field in paper.values.items() for value in of_field]
    ambiguous = [name for name, value in every if _outcome(value) == "ambiguous"]
    unreadable = [name for name, value in every if _outcome(value) == "unreadable"]
    broken = [sentence for sentences in paper.broken.values() for sentence in sentences]
    return ", ".join(ambiguous), ", ".join(unreadable), " ".join(broken)


def _texts(field: FieldDefinition, values: list[PaperValue]) -> list[str]:
    """Return the cells of a field in CSV; several values stand line by line."""
    known = [value.value for value in values if value.value is not None]
    if field.type is FieldType.CURRENCY:
        amounts = [value for value in known if isinstance(value, dict)]
        return [
            "\n".join(value["amount"] or "" for value in amounts),
            "\n".join(value["currency"] or "" for value in amounts),
        ]
    return ["\n".join(_text(value) for value in known)]


def _cells(field: FieldDefinition, values: list[PaperValue]) -> list[Any]:
    """Return the cells of a field in XLSX, typed where there is one value."""
    known = [value.value for value in values if value.value is not None]
    if len(known) != 1:
        return list(_texts(field, values))
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


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _evidence(paper: Paper, value: PaperValue, number: int) -> Iterator[list[Any]]:
    """Yield a row for each marked page; one without a place where the paper does not answer."""
    known = value.value
    shown = " ".join(part for part in known.values() if part) if isinstance(known, dict) else known
    readings = " | ".join(reading.words for reading in value.normalised.readings)
    head = [paper.document.name, value.field.name, number, _text(shown) if shown is not None else ""]
    reason = "" if known is not None else value.normalised.reason
    tail = [value.validated_by, value.item.author, readings, reason]
    for marked in value.marked:
        yield [*head, marked.text, marked.page.number, *marked.box, *tail]
    if not value.marked:
        yield [*head, "", "", "", "", "", "", *tail]


_NO_PAGES = "Page images and words are left out."
FORMATS = (
    Format("values", "JSON of values with citations", write_json, lossy=f"{_NO_PAGES} Marks are boxes.", pages=False),
    Format("values-csv", "CSV of values, a row a document", write_csv, lossy=f"{_NO_PAGES} So are marks.", pages=False),
    Format(
        "values-xlsx",
        "XLSX of values, with a sheet of evidence",
        write_xlsx,
        lossy=f"{_NO_PAGES} Marks are boxes.",
        pages=False,
    ),
)
