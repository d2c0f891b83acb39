"""Rows of a table as plain values, from its cells."""

import json
from collections.abc import Iterable, Mapping

from engine.fields.definition import FieldDefinition
from engine.fields.normalisation import Value
from engine.fields.types import FieldType

RowValues = Mapping[str, Value | None]  # by the name of the column; None: it is printed, and cannot be read


def table_rows(field: FieldDefinition, cells: Iterable[tuple[int, str, Value | None]]) -> list[dict[str, Value | None]]:
    """Return the rows of a table in their order; a cell that is not printed is left out, one with two values is None.

    Args:
        field: The table.
        cells: Row from 0, name of the column and value of each cell; columns that the table has no more are left out.
    """
    rows: dict[int, dict[str, Value | None]] = {}
    for row, column, value in cells:
        there = rows.setdefault(row, {})
        there[column] = None if column in there else value  # two values in a cell are no value
    order = [column.name for column in field.columns]
    ordered = [{name: rows[row][name] for name in order if name in rows[row]} for row in sorted(rows)]
    return [row for row in ordered if row]


def rows_text(rows: Iterable[RowValues]) -> str:
    """Return rows as JSON, for a cell of a sheet."""
    return json.dumps(list(rows), ensure_ascii=False)


def is_table(field: FieldDefinition) -> bool:
    """Return whether a field is a table with columns."""
    return field.type is FieldType.TABLE and bool(field.columns)
