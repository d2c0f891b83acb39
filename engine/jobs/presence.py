"""Presence of workers: each renews a lease of its own, also without a job."""

import time
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from db import changes
from db.base import now
from db.tables import Lease
from engine import leases
from engine.workspace import Workspace

SHOWN_SECONDS = 60.0  # a worker counts as gone when it has been silent for so long
_EVERY_SECONDS = 20.0  # between two renewals: each is a write
_SUBJECT = "worker:"
_MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class Seen:
    """Names of the living workers, newest renewal first, and when any worker last renewed its lease."""

    living: tuple[str, ...]
    last: datetime | None


class Presence:
    """Shows that one worker lives. Not for several threads at once."""

    def __init__(self, workspace: Workspace, holder: str) -> None:
        self._workspace, self._holder = workspace, holder
        self._shown: float | None = None

    def show(self) -> None:
        """Renew the lease, unless it was renewed in the last 20 seconds. Call it as often as is convenient."""
        if self._shown is not None and time.monotonic() - self._shown < _EVERY_SECONDS:
            return
        with self._workspace.database.write() as session:
            if self._shown is None:  # of workers that were killed: this renewal is the newest now
                leases.forget_expired(session, _SUBJECT)
                changes.publish(session, "jobs", None)
            leases.acquire(session, _subject(self._holder), self._holder, SHOWN_SECONDS)
        self._shown = time.monotonic()

    def leave(self) -> None:
        """Give the lease back: the worker ended as it should."""
        if self._shown is None:
            return
        self._shown = None
        with self._workspace.database.write() as session:
            leases.release(session, _subject(self._holder), self._holder)
            changes.publish(session, "jobs", None)


def load_presence(session: Session) -> Seen:
    """Return which workers live, and when one was last seen; one that ended well leaves no trace."""
    chosen = (
        select(Lease.holder, Lease.heartbeat_at, Lease.expires_at)
        .where(Lease.subject.startswith(_SUBJECT))
        .order_by(Lease.heartbeat_at.desc())
        .limit(_MOST_NAMED)
    )
    rows, moment = session.execute(chosen).all(), now()
    return Seen(tuple(row.holder for row in rows if row.expires_at > moment), rows[0].heartbeat_at if rows else None)


def presence_sentence(found: Seen) -> str:
    """Return one sentence for people: whether a worker runs, and what to do without one."""
    if found.living:
        several = len(found.living)
        return "A worker is running." if several == 1 else f"{several} workers are running."
    since = f" since {found.last:%Y-%m-%d %H:%M:%S} UTC" if found.last is not None else ""
    return f"No worker has been seen{since}: people can work, but retrainings and surveys wait. Start glossator worker."


def _subject(holder: str) -> str:
    return f"{_SUBJECT}{holder}"[:120]
