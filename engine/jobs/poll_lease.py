"""A lease that lets one of several workers look at the triggers.

The lease saves work; it is no safeguard. Firings have a unique key (engine.training.retraining.trigger_history), so two
workers that both look fire nothing twice.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from db.base import now
from db.tables import Lease
from engine import leases
from engine.workspace import Workspace

SUBJECT = "scheduler"
POLL_LEASE_SECONDS = 20.0  # another worker takes over when the holder has been silent for so long
_RENEWALS = 4  # within a lease; each is a write


@dataclass(frozen=True, slots=True)
class PollHolder:
    """The worker that looks at the triggers, since when, and when it last renewed its lease."""

    holder: str
    since: datetime
    heartbeat_at: datetime


def acquire(workspace: Workspace, holder: str, *, seconds: float = POLL_LEASE_SECONDS) -> bool:
    """Take or renew the lease; return whether `holder` has it now. Call it at each poll.

    Args:
        workspace: Where the lease is kept.
        holder: Name of the worker, unique among workers.
        seconds: How long the lease holds without a renewal.
    """
    moment, length = now(), timedelta(seconds=seconds)
    there = _row(workspace)
    # A heartbeat from the future was written before the clock was set back. Its holder may be dead.
    believable = there is not None and there.heartbeat_at <= moment + length
    if there is not None and believable:
        if there.holder != holder and there.expires_at > moment:
            return False
        if there.holder == holder and moment < there.heartbeat_at + length / _RENEWALS:
            return True
    with workspace.database.write() as session:
        if there is not None and not believable:
            leases.release(session, SUBJECT, there.holder)
        return leases.acquire(session, SUBJECT, holder, seconds) is not None


def release(workspace: Workspace, holder: str) -> None:
    """Give the lease back, so that the next worker need not wait for its end."""
    with workspace.database.write() as session:
        leases.release(session, SUBJECT, holder)


def current(workspace: Workspace) -> PollHolder | None:
    """Return the worker that looks at the triggers; None when none has for a while, or ever."""
    there = _row(workspace)
    if there is None or there.expires_at <= now():
        return None
    return PollHolder(there.holder, there.acquired_at, there.heartbeat_at)


def _row(workspace: Workspace) -> Lease | None:
    with workspace.database.read() as session:
        return session.get(Lease, SUBJECT)
