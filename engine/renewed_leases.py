"""Claims of a work of any length: renewed in a thread while it goes on; after a kill they end by the clock."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from db.session import Database
from engine import leases
from engine.errors import Conflict

_RENEW_SECONDS = leases.LEASE_SECONDS / 3
_log = logging.getLogger(__name__)


@contextmanager
def renewed(
    database: Database, take: Callable[[Session], object], give_back: Callable[[Session], object], name: str
) -> Iterator[None]:
    """Take a lease, renew it while the caller works, and give it back.

    Args:
        database: The database.
        take: Takes or renews the lease in a unit of work; what it raises at first ends the work.
        give_back: Ends the lease.
        name: Of the thread, for people.
    """
    over = threading.Event()
    with database.write() as session:
        take(session)

    def renew() -> None:
        while not over.wait(_RENEW_SECONDS):
            try:
                with database.write() as session:
                    take(session)
            except (DBAPIError, Conflict):
                _log.warning("the lease of the %s could not be renewed", name, exc_info=True)

    thread = threading.Thread(target=renew, name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        with database.write() as session:
            give_back(session)
