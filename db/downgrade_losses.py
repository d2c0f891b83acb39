"""What a downgrade would delete, tried on the database itself and taken back."""

from collections.abc import Mapping
from dataclasses import dataclass

from alembic import command
from sqlalchemy import Connection, inspect, text

from db import migrate
from db.session import Database

_SEARCH = "document_search"  # the index of SQLite, which has tables of its own


@dataclass(frozen=True, slots=True)
class Loss:
    """Rows that the older schema cannot hold, or not whole.

    Attributes:
        table: the table.
        column: the column whose values go; None where rows go.
        rows: how many rows go, or lose a value.
    """

    table: str
    column: str | None
    rows: int


def downgrade_losses(database: Database, revision: str) -> list[Loss]:
    """Return what a downgrade to `revision` would delete, by table; the database stays as it is.

    It is done in a transaction that is rolled back, so that nobody can write meanwhile: stop the servers before.

    Raises:
        DowngradeRefused: The older schema cannot hold work that is not done yet.
    """
    with migrate.rolled_back(database) as (connection, config):
        before, columns = _rows(connection), _columns(connection)
        filled = {table: _filled(connection, table, names) for table, names in columns.items() if before[table]}
        command.downgrade(config, revision)
        after, left = _rows(connection), _columns(connection)
    losses = []
    for table, rows in sorted(before.items()):
        if fewer := rows - after.get(table, 0):
            losses.append(Loss(table, None, fewer))
        for column in sorted(columns[table] - left.get(table, columns[table])):
            if values := filled.get(table, {}).get(column):
                losses.append(Loss(table, column, values))
    return losses


def _columns(connection: Connection) -> Mapping[str, set[str]]:
    seen = inspect(connection)
    return {
        table: {column["name"] for column in seen.get_columns(table)}
        for table in seen.get_table_names()
        if not table.startswith(_SEARCH) and table != "alembic_version"
    }


def _rows(connection: Connection) -> dict[str, int]:
    return {table: connection.scalar(text(f'SELECT count(*) FROM "{table}"')) or 0 for table in _columns(connection)}


def _filled(connection: Connection, table: str, names: set[str]) -> dict[str, int]:
    """Return the number of values of each column."""
    counted = ", ".join(f'count("{name}") AS "{name}"' for name in sorted(names))
    return dict(connection.execute(text(f'SELECT {counted} FROM "{table}"')).mappings().one())
