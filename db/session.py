"""Opening a database and a unit of work on it.

SQLite runs in WAL mode. A writer begins with BEGIN IMMEDIATE: it waits for its turn at the start, where waiting is harmless,
instead of failing with "database is locked" at its first write (https://sqlite.org/lang_transaction.html).
"""

import json
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DisconnectionError
from sqlalchemy.orm import Session

from db import own_files

BUSY_SECONDS = 30
REST_SECONDS = 5  # after so long a rest a connection is asked whether it still stands
# Kept open a process: opening one costs more than most requests. The application runs up to 40 requests at a time.
POOL = {"pool_size": 20, "max_overflow": 20}


def as_json(value: Any) -> str:
    """Return what a JSON column stores.

    UnicodeEncodeError for half a character: SQLite would keep it as an escape, and no answer that holds it could be sent.
    """
    text = json.dumps(value, ensure_ascii=False)
    text.encode()
    return text


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
        self._release_files: Callable[[], object] = lambda: None
        if self.dialect == "sqlite":
            if _is_file(parsed):
                file = Path(str(parsed.database))
                file.parent.mkdir(parents=True, exist_ok=True)
                self._release_files = own_files.watch(file, self)
            connecting = {"timeout": BUSY_SECONDS, "check_same_thread": False}
            self.engine = create_engine(parsed, connect_args=connecting, json_serializer=as_json, **_pool(parsed))
            event.listen(self.engine, "connect", _prepare_sqlite)
            event.listen(self.engine, "begin", _begin_sqlite)
        else:
            self.engine = create_engine(parsed, json_serializer=as_json, **POOL)
            event.listen(self.engine, "checkin", _note_rest)
            event.listen(self.engine, "checkout", _check_rested(self.engine.dialect))
        alone = {"glossator_alone": True} if self.dialect == "sqlite" else {"isolation_level": "AUTOCOMMIT"}
        self._looker: Engine = self.engine.execution_options(**alone)
        self._writer: Engine = self.engine.execution_options(glossator_writes=True)
        self._turn = threading.Lock()

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Yield a session for reading. It is closed without a commit: what it changes is not kept."""
        with Session(self.engine, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def moment(self) -> Iterator[Session]:
        """Yield a session for reading whose statements all see the database as it was at the first of them.

        SQLite's transactions are so by themselves, PostgreSQL's from REPEATABLE READ on
        (https://www.postgresql.org/docs/current/transaction-iso.html).
        """
        with self.read() as session:
            if self.dialect == "postgresql":
                session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
            yield session

    @contextmanager
    def look(self) -> Iterator[Session]:
        """Yield a session for one statement that reads: without BEGIN and ROLLBACK, two journeys less before every request."""
        with Session(self._looker, expire_on_commit=False, autoflush=False) as session:
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """Yield a session that is committed once, at the end, or rolled back as a whole when anything is raised."""
        with self._turns(), Session(self._writer, expire_on_commit=False) as session, session.begin():
            yield session

    @contextmanager
    def _turns(self) -> Iterator[None]:
        """Let the threads of this process write to SQLite one after the other: its own way of waiting is sleeping and
        looking again, ever longer. Another process is still waited for that way."""
        if self.dialect != "sqlite" or not self._turn.acquire(timeout=BUSY_SECONDS):
            yield  # nobody takes turns on PostgreSQL; and after so long, SQLite says itself that it is locked
            return
        try:
            yield
        finally:
            self._turn.release()

    def dispose(self) -> None:
        """Close all connections."""
        self.engine.dispose()
        self._release_files()


def _is_file(address: URL) -> bool:
    return address.database not in (None, "", ":memory:")


def _pool(address: URL) -> dict[str, int]:
    """A database in memory lives in its one connection; files take the pool."""
    return POOL if _is_file(address) else {}


def _note_rest(_connection: Any, record: Any) -> None:
    record.info["rests_since"] = time.monotonic()


def _check_rested(dialect: Any) -> Any:
    """Return what asks a connection whether it still stands before it is used again, after a while of rest alone: asked each
    time, it would be one journey more for every use."""

    def check(connection: Any, record: Any, _proxy: Any) -> None:
        if time.monotonic() - record.info.get("rests_since", math.inf) < REST_SECONDS:
            return
        try:
            stands = dialect.do_ping(connection)
        except dialect.loaded_dbapi.Error:
            stands = False
        if not stands:
            raise DisconnectionError  # the pool throws it away and opens another one

    return check


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # the driver must not begin transactions on its own; _begin_sqlite does
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")  # in WAL, NORMAL may lose the newest commits at a power cut
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute(f"PRAGMA busy_timeout={BUSY_SECONDS * 1000}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    options = connection.get_execution_options()
    if not options.get("glossator_alone", False):
        connection.exec_driver_sql("BEGIN IMMEDIATE" if options.get("glossator_writes", False) else "BEGIN")
