"""One of several processes is elected to watch the triggers: it holds a lease row and renews it.

Who is elected is a matter of economy, not of safety: that a firing happens once follows from its key (engine.training.retraining.firings), also
while two processes believe that they are elected, for a moment after the clock of one of them jumped.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from db.base import now
from db.tables import Lease
from engine import leases
from engine.workspace import Workspace

SEAT = "scheduler"
SEAT_SECONDS = 20.0  # without a heartbeat for so long, another process is elected
_BEATS = 4  # heartbeats within a lease


@dataclass(frozen=True, slots=True)
class Elected:
    """Who watches the triggers, since when, and when it last said so."""

    holder: str
    since: datetime
    heartbeat_at: datetime


class Candidate:
    """A process that stands for election, again and again. Not for several threads at once."""

    def __init__(
        self,
        workspace: Workspace,
        holder: str,
        *,
        seconds: float = SEAT_SECONDS,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        """`steady`: seconds of a clock that nobody sets."""
        self._workspace, self._holder, self._seconds, self._steady = workspace, holder, seconds, steady
        self._renewed: float | None = None
        self._seen: tuple[str, datetime] | None = None  # whose heartbeat, and when it says it was
        self._seen_at = 0.0

    def stand(self) -> bool:
        """Return whether this process is elected now. Call it more often than the lease lasts."""
        if self._renewed is not None and self._steady() - self._renewed < self._seconds / _BEATS:
            return True
        elected = self._acquired() or self._taken_over()
        self._renewed = self._steady() if elected else None
        return elected

    def leave(self) -> None:
        """Give the seat up, so that the next process need not wait for the lease to end."""
        self._renewed = None
        with self._workspace.database.write() as session:
            leases.release(session, SEAT, self._holder)

    def _acquired(self) -> bool:
        if self._renewed is None:  # most who stand find somebody in the seat: nobody has to wait for a writer to see it
            there = _row(self._workspace)
            if there is not None and there.holder != self._holder and there.expires_at > now():
                return False
        with self._workspace.database.write() as session:
            return leases.acquire(session, SEAT, self._holder, self._seconds) is not None

    def _taken_over(self) -> bool:
        """Whether the seat was taken from a process whose lease holds by its times, but which has not been heard of.

        Its times may lie in the future because the clock was set back; how long this process has been waiting for a new one, by
        a clock that nobody sets, does not.
        """
        there = _row(self._workspace)
        if there is None:
            return False
        if self._seen != (there.holder, there.heartbeat_at):
            self._seen, self._seen_at = (there.holder, there.heartbeat_at), self._steady()
            return False
        if self._steady() - self._seen_at < self._seconds:
            return False
        with self._workspace.database.write() as session:
            row = session.scalar(select(Lease).where(Lease.subject == SEAT).with_for_update())
            if row is not None and (row.holder, row.heartbeat_at) != self._seen:
                return False
            leases.release(session, SEAT)
            return leases.acquire(session, SEAT, self._holder, self._seconds) is not None


def elected(workspace: Workspace) -> Elected | None:
    """Return who watches the triggers; None when nobody has for a while, or ever."""
    there = _row(workspace)
    if there is None or there.expires_at <= now():
        return None
    return Elected(there.holder, there.acquired_at, there.heartbeat_at)


def _row(workspace: Workspace) -> Lease | None:
    with workspace.database.read() as session:
        return session.get(Lease, SEAT)
