"""Probe whether a database answers, on a new connection and within a few seconds.

Open connections tell less. On a SQLite file that was moved away they keep reading and writing, and a PostgreSQL that
refuses new connections may serve the old ones for a while.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Engine, create_engine
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool

from db.session import Database


class Probe:
    """Sessions for reading, each on a new connection."""

    def __init__(self, database: Database, seconds: int) -> None:
        """Prepare a probe; connecting may take `seconds`, at least 2 with libpq."""
        self._engine = _engine(database, seconds)

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Yield a session for reading; OperationalError if the database does not answer."""
        with Session(self._engine) as session:
            yield session


def _engine(database: Database, seconds: int) -> Engine:
    address = database.url
    if database.dialect == "postgresql":
        limits = {"connect_timeout": seconds, "tcp_user_timeout": seconds * 1000}
        return create_engine(address, connect_args=limits, poolclass=NullPool)
    if address.database in (None, "", ":memory:"):
        return database.engine  # it lives in its one connection
    # Read only, so that a missing file is not replaced by an empty one.
    place = f"{Path(str(address.database)).absolute().as_uri()}?mode=ro"
    return create_engine(address, creator=lambda: sqlite3.connect(place, uri=True, timeout=seconds), poolclass=NullPool)
