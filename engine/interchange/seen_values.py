"""Export of what is seen of the table of values: its columns, filters and order, as CSV or XLSX."""

import csv
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Literal, get_args

from engine.answer_table import TableRequest, TableRow, every_row
from engine.fields.normalisation.result import Value
from engine.interchange.cells import harmless
from engine.interchange.value_sheets import Sheet, columns_of, open_book, text_cells, typed_cells
from engine.workspace import Workspace

SheetFormat = Literal["csv", "xlsx"]
SHEET_FORMATS: tuple[SheetFormat, ...] = get_args(SheetFormat)
_TAIL = ("not_accepted", "ambiguous", "unreadable", "broken_rules")


def write_seen(workspace: Workspace, project_id: str, wanted: TableRequest, form: SheetFormat, path: Path) -> None:
    """Write the documents that filters find, a row each; read page by page.

    Args:
        workspace: Open workspace.
        project_id: The project.
        wanted: Columns, filters and order.
        form: "csv" (UTF-8 with a byte order mark, by which Excel recognises it) or "xlsx".
        path: File to write.
    """
    heads = ["document", *(column for field in wanted.columns for column in columns_of(field)), *_TAIL]
    if form == "csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            file.write("\ufeff")
            table = csv.writer(file)
            table.writerow(heads)
            for row in every_row(workspace, project_id, wanted):
                cells = [cell for field in wanted.columns for cell in text_cells(field, _values_of(row, field.name))]
                table.writerow([harmless(cell) for cell in (row.name, *cells, *_tail(row))])
        return
    with open_book(path) as book:
        book.set_properties({"created": datetime(2000, 1, 1)})  # the same table gives the same bytes
        sheet = Sheet(book, "Values", heads)
        for row in every_row(workspace, project_id, wanted):
            cells = [cell for field in wanted.columns for cell in typed_cells(field, _values_of(row, field.name))]
            sheet.add((row.name, *cells, *_tail(row)))


def _values_of(row: TableRow, name: str) -> list[Value]:
    return [value for value in row.cells[name].values if value is not None] if name in row.cells else []


def _tail(row: TableRow) -> Iterator[str]:
    """Yield the names of fields that are not accepted, ambiguous and unreadable, and the broken rules."""
    yield ", ".join(name for name, cell in row.cells.items() if cell.validated_by != "person")
    for state in ("ambiguous", "unreadable"):
        yield ", ".join(name for name, cell in row.cells.items() if cell.state == state)
    yield " ".join(rule.sentence for rule in row.rules)
