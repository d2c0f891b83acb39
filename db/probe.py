"""Asking a database whether it answers: on a connection of its own, made just then, and within a few seconds.

Connections that are open already tell less: on a SQLite file that was moved away they go on reading and writing, and a
PostgreSQL that no longer takes connections may still serve the old ones for a while.
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
    """Sessions that read, each on a connection of its own."""

    def __init__(self, database: Database, seconds: int) -> None:
        """`seconds`: how long connecting may take; libpq knows none below 2."""
        self._engine = _engine(database, seconds)

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Yield a session for reading. OperationalError where the database does not answer, or is none."""
        with Session(self._engine) as session:
            yield session


def _engine(database: Database, seconds: int) -> Engine:
    address = database.url
    if database.dialect == "postgresql":
        limits = {"connect_timeout": seconds, "tcp_user_timeout": seconds * 1000}
        return create_engine(address, connect_args=limits, poolclass=NullPool)
    if address.database in (None, "", ":memory:"):
        return database.engine  # it lives in its one connection
    # Read only, so that where the file is gone no empty one is made in its place.
    place = f"{Path(str(address.database)).absolute().as_uri()}?mode=ro"
    return create_engine(address, creator=lambda: sqlite3.connect(place, uri=True, timeout=seconds), poolclass=NullPool)
