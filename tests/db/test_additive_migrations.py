"""The version before goes on working while a migration runs and after it: tables and columns are only added."""

from pathlib import Path

from sqlalchemy import inspect

from db import migrate
from db.session import Database
from tests.support.repository import ROOT

_SINCE = "0021"
NEED_A_STOP: frozenset[str] = frozenset()
"""Later migrations that the version before does not survive; docs/deploy.md names them."""

Shape = dict[str, dict[str, tuple[bool, bool]]]  # table -> column -> whether it is nullable, has a default


def shape_of(database: Database) -> Shape:
    seen = inspect(database.engine)
    return {
        table: {
            column["name"]: (bool(column["nullable"]), column["default"] is not None)
            for column in seen.get_columns(table)
        }
        for table in seen.get_table_names()
    }


def faults(before: Shape, after: Shape) -> list[str]:
    """Return what the version before would miss, or could not write any more."""
    missing = []
    for table, columns in before.items():
        left = after.get(table, {})
        missing += [f"{table}.{name} is gone" for name in columns if name not in left]
        missing += [
            f"{table}.{name} must have a value" for name in columns if name in left and left[name] < columns[name]
        ]
        missing += [
            f"{table}.{name} is new and has no default"
            for name, (nullable, default) in left.items()
            if name not in columns and not nullable and not default
        ]
    return missing


def test_later_migrations_only_add_unless_the_docs_say_that_they_need_a_stop(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'glossator.db'}")
    migrate.upgrade(database, "0020")
    shapes = {"0020": shape_of(database)}
    breaking = set()
    for schema in sorted(migrate.known_revisions()):
        if schema < _SINCE:
            continue
        migrate.upgrade(database, schema)
        shapes[schema] = shape_of(database)
        if faults(list(shapes.values())[-2], shapes[schema]):
            breaking.add(schema)
    database.dispose()
    assert breaking == {_SINCE} | NEED_A_STOP, "0021 drops tables; name the others in docs/deploy.md"
    docs = (ROOT / "docs/deploy.md").read_text()
    assert all(f"`{schema}`" in docs for schema in breaking)
