"""Turns on all blobs: a backup copies them, or somebody deletes some; never both at once.

Rows name blobs that were stored before them. So a backup copies the database first and the blobs afterwards: whatever
its rows name is there, as long as nobody deletes blobs in between.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.orm import Session

from db.base import now
from db.ids import new_id
from db.session import Database
from db.tables import Lease
from engine import leases
from engine.errors import Conflict
from engine.renewed_leases import renewed

_SUBJECT = "blobs"


def take(session: Session, holder: str) -> None:
    """Take or renew the turn inside the caller's unit of work, which ends it with `give_back`, or with its holder.

    Args:
        session: of a unit of work that may write.
        holder: name of the work, for people, and unique.

    Raises:
        Conflict: Somebody else has the turn.
    """
    if leases.acquire(session, _SUBJECT, holder) is None:
        other = session.get_one(Lease, _SUBJECT)
        raise Conflict(
            f"The files are in use by another work: {other.holder}. Try again when it has ended. "
            f"If it was killed, its turn ends at {other.expires_at:%H:%M:%S} UTC."
        )


def give_back(session: Session, holder: str) -> None:
    """End the turn of a holder."""
    leases.release(session, _SUBJECT, holder)


def is_taken(session: Session) -> bool:
    """Return whether somebody has the turn now."""
    lease = session.get(Lease, _SUBJECT)
    return lease is not None and lease.expires_at > now()


def holder_of(work: str) -> str:
    """Return a name of a work of this process for `take`."""
    return f"{work} ({socket.gethostname()[:40]}, process {os.getpid()}, {new_id()[-6:]})"


@contextmanager
def turn(database: Database, work: str) -> Iterator[None]:
    """Have the turn for a work of any length; it is renewed in a thread, and ends by the clock after a kill.

    Raises:
        Conflict: Somebody else has the turn.
    """
    holder = holder_of(work)
    with renewed(
        database, lambda session: take(session, holder), lambda session: give_back(session, holder), "blob turn"
    ):
        yield
