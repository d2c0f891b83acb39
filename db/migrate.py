"""Migrate a database to the schema of this version, and back."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from pathlib import Path

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from db.base import Base
from db.session import Database
from db.startup_lock import wait_for_turn


def upgrade(database: Database, revision: str = "head") -> None:
    """Migrate forward to `revision`; a database that is already there stays unchanged."""
    _run_command(database, lambda config: command.upgrade(config, revision))


def downgrade(database: Database, revision: str) -> None:
    """Migrate back to `revision`; "base" is an empty database."""
    _run_command(database, lambda config: command.downgrade(config, revision))


def current(database: Database) -> str | None:
    """Return the revision of the database; None if it is empty."""
    with database.engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def head() -> str | None:
    """Return the newest revision of this version."""
    return _scripts().get_current_head()


def known_revisions() -> set[str]:
    """Return all revisions of this version."""
    return {script.revision for script in _scripts().walk_revisions()}


def differences(database: Database) -> list[object]:
    """Return the differences between the tables in code and the migrated database."""
    import db.tables  # noqa: F401  (fills Base.metadata)

    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "include_name": _is_ours})
        return list(compare_metadata(context, Base.metadata))


@cache
def _scripts() -> ScriptDirectory:
    """Return the migrations of this version, which are compiled and run when they are first looked at."""
    return ScriptDirectory.from_config(_config())


def _is_ours(name: str | None, kind: str, _parents: object) -> bool:
    """Return whether code describes a table or index: the index of searched texts differs between the databases."""
    of_search = "document_search" if kind == "table" else "ix_document_texts_tokens"
    return not (name or "").startswith(of_search)


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(str(files("migrations")))))
    return config


def _run_command(database: Database, act: Callable[[Config], None]) -> None:
    # One connection, one transaction: a migration that fails in the middle leaves the database as it was.
    with _writing(database) as (connection, config), connection.begin():
        wait_for_turn(connection)
        act(config)


@contextmanager
def rolled_back(database: Database) -> Iterator[tuple[Connection, Config]]:
    """Yield a connection with Alembic's settings for it; all that is done is taken back at the end."""
    with _writing(database) as (connection, config):
        transaction = connection.begin()
        try:
            wait_for_turn(connection)
            yield connection, config
        finally:
            transaction.rollback()


@contextmanager
def _writing(database: Database) -> Iterator[tuple[Connection, Config]]:
    config = _config()
    opened = database.engine.execution_options(glossator_writes=True).connect()
    with opened as connection, _tables_replaceable(connection):
        config.attributes["connection"] = connection
        yield connection, config


@contextmanager
def _tables_replaceable(connection: Connection) -> Iterator[None]:
    """Let a migration replace a table that others refer to.

    SQLite changes constraints by a copy of the table, and dropping the old one would break the references. The setting
    has no effect inside a transaction, so migrations cannot make it (sqlite.org/lang_altertable.html, section 7).
    """
    if connection.dialect.name != "sqlite":
        yield
        return
    cursor = connection.connection.cursor()
    cursor.execute("PRAGMA foreign_keys=OFF")
    try:
        yield
    finally:
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.close()
