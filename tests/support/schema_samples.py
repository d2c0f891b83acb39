"""Small databases that earlier versions of the program have made, and what they held (`tests/data/schemas`).

Each was made by the newest commit with that schema, through the REST routes of its own application:
`python -m tests.support.grown_schema`. All hold the same paper, so that they share its files. Some also hold a review,
and some a run with its snapshot and report. No commit ended with schema 0010 or 0016, so these have no sample.
"""

import json
import lzma
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from sqlalchemy import ARRAY, Boolean, DateTime, MetaData, Table, insert, make_url, text
from sqlalchemy.dialects.postgresql import TSVECTOR

from db import migrate
from db.session import Database, sqlite_file
from engine.lifecycle.json_text import with_json_as_text
from engine.settings import Settings
from tests.support.repository import ROOT

_FOLDER = ROOT / "tests/data/schemas"
SCHEMAS = sorted(path.name.removesuffix(".json") for path in _FOLDER.glob("*.json"))


def known_of(schema: str) -> dict[str, Any]:
    """Return what the earlier version said of its database: rows of each table, and the answers."""
    known: dict[str, Any] = json.loads((_FOLDER / f"{schema}.json").read_text())
    return known


def unpack_schema(schema: str, settings: Settings) -> None:
    """Make the installation of an earlier version: its database, and the files that it names but for weights."""
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    of_sqlite = sqlite_file(make_url(settings.url))
    file = of_sqlite or settings.data_dir / "earlier.db"
    statements = lzma.decompress((_FOLDER / f"{schema}.sql.xz").read_bytes()).decode()
    with closing(sqlite3.connect(file)) as writing:
        writing.executescript(statements)
    with ZipFile(_FOLDER / "files.zip") as files:
        for sha256 in files.namelist():
            target = settings.data_dir / "blobs" / sha256[:2] / sha256
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(files.read(sha256))
    if of_sqlite is None:
        database = Database(settings.url)
        migrate.upgrade(database, schema)
        _move_rows(file, database)
        database.dispose()
        file.unlink()


def _move_rows(file: Path, database: Database) -> None:
    """Fill a PostgreSQL database of the same schema with the rows of a SQLite file."""
    with closing(sqlite3.connect(file)) as reading, database.engine.begin() as writing:
        reading.row_factory = sqlite3.Row
        metadata = MetaData()
        metadata.reflect(writing)
        writing.execute(text("SET LOCAL session_replication_role = replica"))  # rows come in any order
        for table in metadata.tables.values():
            writing.execute(table.delete())
            rows = [_as_stored(table, dict(row)) for row in reading.execute(f'SELECT * FROM "{table.name}"')]
            if rows:
                writing.execute(insert(with_json_as_text(table)), rows)
            for column in table.primary_key:
                _set_sequence(writing, table.name, column.name)


def _as_stored(table: Table, row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of SQLite with the values that PostgreSQL stores."""
    stored = {}
    for name, value in row.items():
        if name not in table.columns:
            continue  # of SQLite alone
        kind = table.columns[name].type
        if value is not None and isinstance(kind, Boolean):
            value = bool(value)
        elif value is not None and isinstance(kind, DateTime):
            value = f"{value}+00"
        elif value is not None and isinstance(kind, ARRAY):
            value = json.loads(value)
        elif isinstance(kind, TSVECTOR):
            value = " ".join(f"'{token}'" for token in value.split())
        stored[name] = value
    return stored


def _set_sequence(writing: Any, table: str, column: str) -> None:
    sequence = writing.scalar(
        text("SELECT pg_get_serial_sequence(:table, :column)"), {"table": table, "column": column}
    )
    if sequence:
        newest = writing.scalar(text(f'SELECT max("{column}") FROM "{table}"'))
        if newest is not None:
            writing.execute(text("SELECT setval(:sequence, :newest)"), {"sequence": sequence, "newest": newest})
