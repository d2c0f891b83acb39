"""Values of fields: JSON lines with citations; CSV and XLSX, a row a document.

Nothing depends on the server's locale: numbers have a decimal point, dates are ISO 8601; cells of XLSX are typed, and a
spreadsheet shows them as its user is used to.
"""

import contextlib
import csv
import json
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from importlib.resources import files
from typing import Any

import xlsxwriter

from engine.fields.definition import ColumnDefinition, FieldDefinition
from engine.fields.normalisation.result import Value
from engine.fields.table_rows import RowValues, is_table, rows_text
from engine.interchange.cells import harmless
from engine.interchange.destination import Destination
from engine.interchange.format import Format
from engine.interchange.outcome import Outcome, Tick
from engine.interchange.paper_values import Paper, PaperValue, fields_of, papers
from engine.interchange.release import Release, licence_of
from engine.interchange.snapshot_figures import SPLITS
from engine.interchange.value_sheets import Sheet, columns_of, open_book, plain_text, text_cells, typed_cells

JSON_FILE, SCHEMA_FILE = "values.jsonl", "values.schema.json"
CSV_FILE, XLSX_FILE = "values.csv", "values.xlsx"
FORMAT = "glossator-values/1"
_SHEET_TITLE = 31 - len(" 99")  # letters of a sheet's title; further sheets of the same table are numbered
_TITLES = ("values", "evidence")  # without regard to case
_LEAD = ("document", "document_sha256", "split", "licence")
_TAIL = ("ambiguous", "unreadable", "broken_rules")
_EVIDENCE = (
    "document", "field", "number", "value", "printed", "page", "x0", "y0", "x1", "y1", "validated_by", "author",
    "readings", "reason",
)  # fmt: skip


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
        for paper in _count_papers(release, counts, tick):
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
                        **({"rows": paper.rows(field)} if is_table(field) else {}),
                        "broken_rules": paper.broken.get(field.name, []),
                    }
                    for field in frozen.fields.values()
                },
            }
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    to.json(SCHEMA_FILE, values_schema())
    return Outcome(counts)


def write_csv(release: Release, to: Destination, tick: Tick) -> Outcome:
    """Write values.csv in UTF-8 with a byte order mark, by which Excel recognises it; see `harmless` of cells.

    A table has a file of its own beside it, a row a row.
    """
    counts = _counts()
    fields = list(fields_of(release).fields.values())
    with contextlib.ExitStack() as files:

        def begin(name: str, heads: Sequence[str]) -> Callable[[Sequence[str | float]], object]:
            file = files.enter_context(to.text(name))
            file.write("\ufeff")
            writer = csv.writer(file)
            writer.writerow(heads)
            return writer.writerow

        write = begin(CSV_FILE, [*_LEAD, *(column for field in fields for column in columns_of(field)), *_TAIL])
        tables = {field.name: begin(f"values.{field.name}.csv", _row_heads(field)) for _, field in _tables(fields)}
        for paper in _count_papers(release, counts, tick):
            cells = [cell for field in fields for cell in text_cells(field, _values_of(paper, field))]
            write([harmless(cell) for cell in (*_lead(paper), *cells, *_tail(paper))])
            for _, field in _tables(fields):
                for number, row in enumerate(paper.rows(field), 1):
                    texts = [cell for column in field.columns for cell in text_cells(column, _cell_values(row, column))]
                    tables[field.name]([harmless(cell) for cell in (paper.document.name, str(number), *texts)])
    return Outcome(counts)


def write_xlsx(release: Release, to: Destination, tick: Tick) -> Outcome:
    """Write values.xlsx: a sheet with a row a document, one for each table, and one with a row a value."""
    counts = _counts()
    fields = list(fields_of(release).fields.values())
    with to.file(XLSX_FILE) as target, open_book(target) as book:
        # A fixed date, so that the same snapshot gives the same bytes.
        book.set_properties({"title": release.project, "created": datetime(2000, 1, 1)})
        sheets = _Sheets(book, fields)
        for paper in _count_papers(release, counts, tick):
            sheets.add(paper)
    return Outcome(counts)


class _Sheets:
    """The sheets of a workbook: values, and their evidence."""

    def __init__(self, book: xlsxwriter.Workbook, fields: list[FieldDefinition]) -> None:
        self._fields = fields
        columns = [*_LEAD, *(column for field in fields for column in columns_of(field)), *_TAIL]
        self._values = Sheet(book, "Values", columns)
        self._tables = {field.name: Sheet(book, _title(at, field), _row_heads(field)) for at, field in _tables(fields)}
        self._evidence = Sheet(book, "Evidence", list(_EVIDENCE))

    def add(self, paper: Paper) -> None:
        """Add a document."""
        cells = [
            cell
            for field in self._fields
            for cell in ([len(paper.rows(field))] if is_table(field) else typed_cells(field, _values_of(paper, field)))
        ]
        self._values.add((*_lead(paper), *cells, *_tail(paper)))
        for _, field in _tables(self._fields):
            for number, row in enumerate(paper.rows(field), 1):
                typed = [cell for column in field.columns for cell in typed_cells(column, _cell_values(row, column))]
                self._tables[field.name].add((paper.document.name, number, *typed))
        for of_field in paper.values.values():
            for number, value in enumerate(of_field, 1):
                for line in _evidence(paper, value, number):
                    self._evidence.add(line)


def _counts() -> dict[str, int]:
    return {"documents": 0, "values": 0, "ambiguous": 0, "unreadable": 0, "no_answer": 0, "broken_rules": 0}


def _count_papers(release: Release, counts: dict[str, int], tick: Tick) -> Iterator[Paper]:
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


def _lead(paper: Paper) -> tuple[str, ...]:
    document = paper.document
    return document.name, document.sha256, SPLITS[document.split], licence_of(document)


def _tail(paper: Paper) -> tuple[str, ...]:
    every = [(name, value) for name, of_field in paper.values.items() for value in of_field]
    ambiguous = [name for name, value in every if _outcome(value) == "ambiguous"]
    unreadable = [name for name, value in every if _outcome(value) == "unreadable"]
    broken = [sentence for sentences in paper.broken.values() for sentence in sentences]
    return ", ".join(ambiguous), ", ".join(unreadable), " ".join(broken)


def _values_of(paper: Paper, field: FieldDefinition) -> list[Value]:
    """Return the values of a field that can be read; of a table its rows as JSON."""
    if is_table(field):
        rows = paper.rows(field)
        return [rows_text(rows)] if rows else []
    return [paper_value.value for paper_value in paper.values.get(field.name, ()) if paper_value.value is not None]


def _tables(fields: Sequence[FieldDefinition]) -> Iterator[tuple[int, FieldDefinition]]:
    """Yield the tables with their numbers from 1."""
    return enumerate((field for field in fields if is_table(field)), 1)


def _title(number: int, field: FieldDefinition) -> str:
    """Return the title of a table's sheet: at most 31 letters, and no two sheets have the same."""
    return field.name if len(field.name) <= _SHEET_TITLE and field.name not in _TITLES else f"table {number}"


def _row_heads(field: FieldDefinition) -> list[str]:
    return ["document", "row", *(name for column in field.columns for name in columns_of(column))]


def _cell_values(row: RowValues, column: ColumnDefinition) -> list[Value]:
    value = row.get(column.name)
    return [] if value is None else [value]


def _evidence(paper: Paper, value: PaperValue, number: int) -> Iterator[list[Any]]:
    """Yield a row for each marked page; one without a place where the paper does not answer."""
    known = value.value
    shown = " ".join(part for part in known.values() if part) if isinstance(known, dict) else known
    readings = " | ".join(reading.words for reading in value.normalised.readings)
    name = value.field.name
    if value.cell is not None:
        name, number = f"{name}.{value.cell.column}", value.cell.row + 1
    head = [paper.document.name, name, number, plain_text(shown) if shown is not None else ""]
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
