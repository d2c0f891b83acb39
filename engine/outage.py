"""Outages: recognises a database that does not answer, and repeats a write until it is back."""

import errno
import logging
import time
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

_log = logging.getLogger(__name__)
PATIENCE_SECONDS = 60.0
_PAUSE_SECONDS = 0.5
# admin_shutdown, crash_shutdown, cannot_connect_now (https://www.postgresql.org/docs/current/errcodes-appendix.html)
_ENDS = ("57P01", "57P02", "57P03")
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
T = TypeVar("T")


def is_outage(error: BaseException) -> bool:
    """Return whether the database failed, and not the statement: it is gone, restarting, locked or full."""
    return isinstance(error, OperationalError | InterfaceError) or (
        isinstance(error, DBAPIError) and bool(error.connection_invalidated)
    )


def is_disconnect(error: BaseException) -> bool:
    """Return whether the server of the database was gone: it broke the connection, or took none.

    A statement that it cancelled, and a SQLite file that is locked, are outages of another kind.
    """
    if not isinstance(error, DBAPIError):
        return False
    if error.connection_invalidated:
        return True
    state = getattr(error.orig, "sqlstate", "")  # of PostgreSQL; None where no server has answered
    if state is None:
        return isinstance(error, OperationalError)
    return state.startswith("08") or state in _ENDS


def is_full(error: BaseException) -> bool:
    """Return whether a full disk or quota is the cause, of an error of a file or of the database."""
    if isinstance(error, OSError):
        return error.errno in _FULL
    if not isinstance(error, DBAPIError):
        return False
    # SQLite says SQLITE_FULL so (https://sqlite.org/rescode.html#full); 53100 is PostgreSQL's disk_full.
    return "disk is full" in str(error.orig) or getattr(error.orig, "sqlstate", None) == "53100"


def lasting(act: Callable[[], T], *, seconds: float = PATIENCE_SECONDS) -> T:
    """Call `act` and return its result; call it again while the database does not answer.

    Args:
        act: Must be harmless to do twice: a commit whose answer was lost may have taken place.
        seconds: After so long, the error of the database is raised.

    Raises:
        DBAPIError: The database did not answer in time, or refused the statement.
    """
    latest = time.monotonic() + seconds
    while True:
        try:
            return act()
        except DBAPIError as error:
            if not is_outage(error) or time.monotonic() > latest:
                raise
            _log.warning("the database does not answer; trying again")
            time.sleep(_PAUSE_SECONDS)
