"""Tables whose JSON is read and written letter by letter, to move rows between databases.

A value `null` and a missing value stay two things, and nothing is decoded.
"""

from typing import Any

from sqlalchemy import JSON, ColumnElement, MetaData, Table, Text, TypeDecorator, cast, type_coerce
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement


class _parsed(FunctionElement[Any]):
    """SQL: a text as a value of a JSON column."""

    inherit_cache = True


@compiles(_parsed, "sqlite")
def _as_text(element: _parsed, compiler: Any, **how: Any) -> str:
    return str(compiler.process(element.clauses, **how))


@compiles(_parsed, "postgresql")
def _as_json(element: _parsed, compiler: Any, **how: Any) -> str:
    return f"CAST({compiler.process(element.clauses, **how)} AS JSON)"


class _JsonText(TypeDecorator[str]):
    """JSON as it is written, which PostgreSQL parses."""

    impl = Text
    cache_ok = True

    def bind_expression(self, bindvalue: Any) -> ColumnElement[Any]:
        """Return the text as a value of the column."""
        return _parsed(type_coerce(bindvalue, Text))


def with_json_as_text(table: Table) -> Table:
    """Return the table to insert into, with JSON columns that take texts."""
    copied = table.to_metadata(MetaData())
    for column in copied.columns:
        if isinstance(column.type, JSON):
            column.type = _JsonText()
    return copied


def columns_as_text(table: Table) -> list[ColumnElement[Any]]:
    """Return the columns of a table to select, those with JSON as texts."""
    return [
        cast(type_coerce(column, Text), Text).label(column.name) if isinstance(column.type, JSON) else column
        for column in table.columns
    ]
