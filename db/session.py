"""Opening a database and a unit of work on it.

SQLite runs in WAL mode. A writer begins with BEGIN IMMEDIATE: it waits for its turn at the start, where waiting is harmless,
instead of failing with "database is locked" at its first write (https://sqlite.org/lang_transaction.html).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.orm import Session

BUSY_SECONDS = 30


class Database:
    """A database and its two kinds of session. One a process; hand it on, do not make it global."""

    def __init__(self, url: str) -> None:
        """Open `url` (sqlite:///... or postgresql+psycopg://...). ValueError with a sentence when it is neither."""
        try:
            parsed = make_url(url)
        except ArgumentError:
            raise ValueError(
                f"The database address {url!r} cannot be read; use sqlite:///FILE or postgresql://HOST/NAME."
            ) from None
        if parsed.drivername in ("postgresql", "postgres"):
            parsed = parsed.set(drivername="postgresql+psycopg")
        self.dialect = parsed.get_backend_name()
        if self.dialect not in ("sqlite", "postgresql"):
            raise ValueError(f"The database {self.dialect!r} is not supported; use SQLite or PostgreSQL.")
        self.url = parsed
        if self.dialect == "sqlite":
            if parsed.database:
                Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
            self.engine = create_engine(parsed, connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False})
            event.listen(self.engine, "connect", _prepare_sqlite)
            event.listen(self.engine, "begin", _begin_sqlite)
        else:
            self.engine = create_engine(parsed, pool_pre_ping=True)
        self._writer: Engine = self.engine.execution_options(glossator_writes=True)

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Yield a session for reading. It is closed without a commit: what it changes is not kept."""
        with Session(self.engine, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """Yield a session that is committed once, at the end, or rolled back as a whole when anything is raised."""
        with Session(self._writer, expire_on_commit=False) as session, session.begin():
            yield session

    def dispose(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # the driver must not begin transactions on its own; _begin_sqlite does
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")  # in WAL, NORMAL may lose the newest commits at a power cut
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute(f"PRAGMA busy_timeout={BUSY_SECONDS * 1000}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("glossator_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
