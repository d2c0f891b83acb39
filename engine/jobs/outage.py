"""A database that does not answer for a while: what was to be written is written when it is back."""

import errno
import logging
import time
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

_log = logging.getLogger(__name__)
PATIENCE_SECONDS = 60.0
_PAUSE_SECONDS = 0.5
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
T = TypeVar("T")


def is_outage(error: BaseException) -> bool:
    """Return whether the database, rather than what it was asked, is why something failed: gone, restarting, locked, full."""
    return isinstance(error, OperationalError | InterfaceError) or (
        isinstance(error, DBAPIError) and bool(error.connection_invalidated)
    )


def is_full(error: BaseException) -> bool:
    """Return whether a disk that is full, or a person's share of it, is why something failed: a file's or the database's."""
    if isinstance(error, OSError):
        return error.errno in _FULL
    if not isinstance(error, DBAPIError):
        return False
    # SQLite says SQLITE_FULL so (https://sqlite.org/rescode.html#full); 53100 is PostgreSQL's disk_full.
    return "disk is full" in str(error.orig) or getattr(error.orig, "sqlstate", None) == "53100"


def lasting(act: Callable[[], T], *, seconds: float = PATIENCE_SECONDS) -> T:
    """Do `act`, again and again while the database does not answer, for so long; then its error is raised.

    `act` must be harmless to do twice: a commit whose answer was lost may have taken place.
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
