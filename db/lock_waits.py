"""Short waits for locks on PostgreSQL, of units of work that lock a project before the rows of its people.

A person's save locks its answer first, and perhaps the project at its end. Two that wait for each other would end by
PostgreSQL's choice of a victim, after a second. Who waits shortly gives way instead, and tries again.
"""

import random
import time
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import text
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from db.session import Database

_WAIT = "200ms"  # less than deadlock_timeout, which is 1 s
_TRIES = 50
_REST_SECONDS = 0.05  # between two tries, on average
_LOCK_NOT_AVAILABLE = "55P03"
_Result = TypeVar("_Result")


def wait_shortly(session: Session) -> None:
    """Let no later statement of the unit of work wait long for a lock; `waited_too_long` says that one has."""
    if session.get_bind().dialect.name == "postgresql":
        session.connection().execute(text(f"SET LOCAL lock_timeout = '{_WAIT}'"))


def waited_too_long(error: OperationalError) -> bool:
    """Return whether a unit of work ended because a statement waited for a lock; it may be tried again."""
    return getattr(error.orig, "sqlstate", None) == _LOCK_NOT_AVAILABLE


def write_patiently(database: Database, act: Callable[[Session], _Result]) -> _Result:
    """Return what a unit of work returns that waits shortly for locks, and is tried again and again.

    Args:
        database: Where it writes.
        act: What it does; it calls `wait_shortly`.
    """
    for tries in range(_TRIES):
        try:
            with database.write() as session:
                return act(session)
        except OperationalError as error:
            if not waited_too_long(error) or tries + 1 == _TRIES:
                raise
        time.sleep(random.uniform(0.0, 2 * _REST_SECONDS))
    raise AssertionError("the last try returns or raises")
