"""Workers show that they live: each renews a lease of its own, also while it has nothing to do."""

import time
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.base import now
from db.tables import Lease
from engine import leases
from engine.workspace import Workspace

SHOWN_SECONDS = 60.0  # without a sign for so long, a worker counts as gone
_EVERY_SECONDS = 20.0  # between two signs: each is a write
_SUBJECT = "worker:"
_MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class Seen:
    """The workers that live, by name, newest sign first; and when the last of all, living or not, gave a sign."""

    living: tuple[str, ...]
    last: datetime | None


class Presence:
    """Shows that one worker lives. Not for several threads at once."""

    def __init__(self, workspace: Workspace, holder: str) -> None:
        self._workspace, self._holder = workspace, holder
        self._shown: float | None = None

    def show(self) -> None:
        """Give a sign, unless there was one a moment ago. Call it as often as is convenient."""
        if self._shown is not None and time.monotonic() - self._shown < _EVERY_SECONDS:
            return
        with self._workspace.database.write() as session:
            if self._shown is None:  # those that ended without a word: this one is the newest sign now
                leases.forget_expired(session, _SUBJECT)
            leases.acquire(session, _subject(self._holder), self._holder, SHOWN_SECONDS)
        self._shown = time.monotonic()

    def leave(self) -> None:
        """Say that the worker has ended, so that nobody looks for it."""
        if self._shown is None:
            return
        self._shown = None
        with self._workspace.database.write() as session:
            leases.release(session, _subject(self._holder), self._holder)


def seen(session: Session) -> Seen:
    """Return which workers live, and when one was last seen; a worker that ended by itself leaves no trace."""
    chosen = (
        select(Lease.holder, Lease.heartbeat_at, Lease.expires_at)
        .where(Lease.subject.startswith(_SUBJECT))
        .order_by(Lease.heartbeat_at.desc())
        .limit(_MOST_NAMED)
    )
    rows, moment = session.execute(chosen).all(), now()
    return Seen(tuple(row.holder for row in rows if row.expires_at > moment), rows[0].heartbeat_at if rows else None)


def told(found: Seen) -> str:
    """Return in one sentence whether a worker lives."""
    if found.living:
        several = len(found.living)
        return "A worker is there." if several == 1 else f"{several} workers are there."
    since = f" since {found.last:%Y-%m-%d %H:%M:%S} UTC" if found.last is not None else ""
    return (
        f"No worker has been seen{since}: what people do works, retrainings and surveys wait. Start glossator worker."
    )


def _subject(holder: str) -> str:
    return f"{_SUBJECT}{holder}"[:120]
