"""Open a database and units of work on it.

SQLite runs in WAL mode. A writer begins with BEGIN IMMEDIATE. It waits for its turn at the start, where waiting is
harmless, instead of failing with "database is locked" at its first write
(https://sqlite.org/lang_transaction.html).
"""

import json
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DisconnectionError, OperationalError
from sqlalchemy.orm import Session

from db import changes, dirty_documents, document_texts, private, sqlite_file_guard, task_states

BUSY_SECONDS = 30
REST_SECONDS = 5  # a connection that rested longer is checked before use
# Connections kept open by a process, because opening one costs more than most requests. The application runs up to
# 40 requests at a time.
POOL = {"pool_size": 20, "max_overflow": 20}


class Encoded(str):
    """Content of a JSON column as text, encoded before the write begins.

    Encoding a large value takes long, and other writers would wait for it.
    """


def as_json(value: Any) -> str:
    """Encode a value as a JSON column stores it.

    Raises:
        UnicodeEncodeError: the value has half a surrogate pair. SQLite would store it as an escape, and no answer that
            contains it could be sent.
    """
    if isinstance(value, Encoded):
        return value
    encoded = json.dumps(value, ensure_ascii=False)
    encoded.encode()
    return encoded


# Values of statements stay out of error messages: they are text of documents, and messages go to logs.
_COMMON: dict[str, Any] = {"json_serializer": as_json, "hide_parameters": True}


class Database:
    """A database with its kinds of session; one for each process, passed on and never global."""

    def __init__(self, url: str) -> None:
        """Open a database.

        Args:
            url: sqlite:///... or postgresql+psycopg://...

        Raises:
            ValueError: the address is neither. The message is one sentence.
        """
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
            if file := sqlite_file(parsed):
                file.parent.mkdir(parents=True, exist_ok=True)
                private.make_file(file)  # SQLite gives its -wal and -shm the rights of the file
                self._release_files = sqlite_file_guard.watch(file, self)
            connecting = {"timeout": BUSY_SECONDS, "check_same_thread": False}
            self.engine = create_engine(parsed, connect_args=connecting, **_COMMON, **_pool(parsed))
            event.listen(self.engine, "connect", _prepare_sqlite)
            event.listen(self.engine, "begin", _begin_sqlite)
        else:
            self.engine = create_engine(parsed, **_COMMON, **POOL)
            event.listen(self.engine, "connect", _prepare_postgresql)
            event.listen(self.engine, "checkin", _note_rest)
            event.listen(self.engine, "checkout", _check_rested(self.engine.dialect))
        alone = {"glossator_alone": True} if self.dialect == "sqlite" else {"isolation_level": "AUTOCOMMIT"}
        self._autocommit_engine: Engine = self.engine.execution_options(**alone)
        self._writer: Engine = self.engine.execution_options(glossator_writes=True)
        self._turn = threading.Lock()
        self._throttle = changes.Throttle()

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Yield a session for reading; it is closed without a commit, so changes are not kept."""
        with Session(self.engine, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def snapshot_read(self) -> Iterator[Session]:
        """Yield a session for reading in which all statements see the same state of the database.

        SQLite's transactions behave so by default, PostgreSQL's from REPEATABLE READ on
        (https://www.postgresql.org/docs/current/transaction-iso.html).
        """
        with self.read() as session:
            if self.dialect == "postgresql":
                session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
            yield session

    @contextmanager
    def autocommit_read(self) -> Iterator[Session]:
        """Yield a session for a single reading statement, without the two round trips of BEGIN and ROLLBACK."""
        with Session(self._autocommit_engine, expire_on_commit=False, autoflush=False) as session:
            yield session

    def empty_log(self) -> bool:
        """Write SQLite's log into the database and empty it, at once or not at all; return whether it is empty.

        It does not wait: whoever waits for readers here keeps all writers waiting
        (https://sqlite.org/c3ref/wal_checkpoint_v2.html).
        """
        with Session(self._autocommit_engine) as session:
            session.execute(text("PRAGMA busy_timeout=0"))
            try:
                busy, _, _ = session.execute(text("PRAGMA wal_checkpoint(TRUNCATE)")).one()
            except OperationalError:  # a writer is at work
                busy = 1
            finally:  # before others get the connection
                session.execute(text(f"PRAGMA busy_timeout={BUSY_SECONDS * 1000}"))
        return not busy

    @contextmanager
    def write(self) -> Iterator[Session]:
        """Yield a session that is committed once at the end, or rolled back as a whole on any exception.

        States of tasks (db.task_states) and searched texts (db.document_texts) follow its changes at once. Its changes
        themselves (db.changes) are stored with it; open screens and followers read them after the commit.
        """
        opened = changes.ObservedSession(self._throttle, self._writer, expire_on_commit=False)
        with self._turns(), opened as session, session.begin():
            yield session
            document_texts.store(session)
            task_states.store(session)
            changes.store(session, dirty_documents.take_dirty(session))

    @contextmanager
    def _turns(self) -> Iterator[None]:
        """Let the threads of this process write to SQLite one after the other.

        SQLite itself waits by sleeping for ever longer. It still waits so for other processes.
        """
        if self.dialect != "sqlite" or not self._turn.acquire(timeout=BUSY_SECONDS):
            yield  # no turns on PostgreSQL; after the timeout SQLite reports itself that it is locked
            return
        try:
            yield
        finally:
            self._turn.release()

    def dispose(self) -> None:
        """Close all connections."""
        self.engine.dispose()
        self._release_files()


def sqlite_file(address: URL) -> Path | None:
    """Return the file of a SQLite database; None for a database in memory, by URI, or on PostgreSQL."""
    name = address.database or ""
    if address.get_backend_name() != "sqlite" or name in ("", ":memory:") or name.startswith("file:"):
        return None
    return Path(name)


def _pool(address: URL) -> dict[str, int]:
    """Return the pool's size for a file; a database in memory has a single connection."""
    return POOL if address.database not in (None, "", ":memory:") else {}


def _note_rest(_connection: Any, record: Any) -> None:
    record.info["rests_since"] = time.monotonic()


def _check_rested(dialect: Any) -> Any:
    """Return a check that an idle connection still works before it is used again.

    Only connections that rested for some seconds are checked, because each check costs a round trip.
    """

    def check(connection: Any, record: Any, _proxy: Any) -> None:
        if time.monotonic() - record.info.get("rests_since", math.inf) < REST_SECONDS:
            return
        try:
            stands = dialect.do_ping(connection)
        except dialect.loaded_dbapi.Error:
            stands = False
        if not stands:
            raise DisconnectionError  # the pool discards it and opens another

    return check


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # _begin_sqlite begins transactions instead of the driver
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")  # in WAL, NORMAL may lose the newest commits at a power cut
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute("PRAGMA secure_delete=ON")  # freed bytes are overwritten: what is deleted is gone
    cursor.execute(f"PRAGMA busy_timeout={BUSY_SECONDS * 1000}")
    cursor.close()


def _prepare_postgresql(connection: Any, _record: Any) -> None:
    """Prepare no statements where a pooler stands between: it may give each transaction another server process.

    A pooler as PgBouncer answers a new connection with a process id of its own making.
    """
    (process,) = connection.execute("SELECT pg_backend_pid()", prepare=False).fetchone()
    connection.rollback()
    if process != connection.info.backend_pid:
        connection.prepare_threshold = None


def _begin_sqlite(connection: Connection) -> None:
    options = connection.get_execution_options()
    if not options.get("glossator_alone", False):
        connection.exec_driver_sql("BEGIN IMMEDIATE" if options.get("glossator_writes", False) else "BEGIN")
