"""Copy all rows of a SQLite database into PostgreSQL with their ids: an installation moves with its history."""

from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Connection, Table, func, insert, select, text

import db.tables  # noqa: F401  (fills Base.metadata)
from db import migrate
from db.base import Base
from db.session import Database
from engine.errors import Refused
from engine.lifecycle.json_text import columns_as_text, with_json_as_text

_AT_ONCE = 2_000  # rows


def move_rows(file: Path, target: Database, on_rows: Callable[[int, int], None]) -> None:
    """Fill an empty PostgreSQL database with the rows of a SQLite file, in one transaction.

    Args:
        file: copy of a SQLite database, which is migrated to the newest schema.
        target: database without tables.
        on_rows: called with the number of copied rows, and of all.

    Raises:
        Refused: PostgreSQL has other numbers of rows than the file.
    """
    source = Database(f"sqlite:///{file}")
    try:
        migrate.upgrade(source)
        migrate.upgrade(target)
        with source.engine.connect() as reading, target.engine.begin() as writing:
            _copy(reading, writing, on_rows)
    finally:
        source.dispose()


def _copy(reading: Connection, writing: Connection, on_rows: Callable[[int, int], None]) -> None:
    tables = Base.metadata.sorted_tables  # rows that others name come first
    counts = {table.name: _count(reading, table) for table in tables}
    for table in reversed(tables):  # what migrations have put there
        writing.execute(table.delete())
    done, size = 0, sum(counts.values())
    for table in tables:
        chosen, taking = select(*columns_as_text(table)).order_by(*table.primary_key), with_json_as_text(table)
        rows = reading.execution_options(yield_per=_AT_ONCE).execute(chosen)
        for some in rows.mappings().partitions():
            writing.execute(insert(taking), [dict(row) for row in some])
            done += len(some)
            on_rows(done, size)
    for table in tables:
        _set_sequences(writing, table)
    wrong = [table.name for table in tables if _count(writing, table) != counts[table.name]]
    if wrong:
        raise Refused(f"Rows of {wrong[0]} are missing in PostgreSQL; nothing was restored. Restore again.")


def _set_sequences(writing: Connection, table: Table) -> None:
    """Let the next row that PostgreSQL numbers come after the last one."""
    for column in table.primary_key:
        sequence = writing.scalar(
            text("SELECT pg_get_serial_sequence(:table, :column)"), {"table": table.name, "column": column.name}
        )
        newest = writing.scalar(select(func.max(column))) if sequence else None
        if newest is not None:
            writing.execute(text("SELECT setval(:sequence, :newest)"), {"sequence": sequence, "newest": newest})


def _count(connection: Connection, table: Table) -> int:
    return connection.scalar(select(func.count()).select_from(table)) or 0
