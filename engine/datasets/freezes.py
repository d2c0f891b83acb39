"""Freezes in progress. What they may hold is not deleted until they are over: then the snapshot says what it holds."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.base import now
from db.ids import new_id
from db.session import Database
from db.tables import Lease
from engine import leases
from engine.renewed_leases import renewed

_FREEZE = "freeze:"


@contextmanager
def freezing(database: Database, project_id: str) -> Iterator[None]:
    """Say that answers or pages of a project are being frozen, before the first is read and until all is stored."""
    subject = f"{_FREEZE}{project_id}:{new_id()}"
    with renewed(
        database,
        lambda session: leases.acquire(session, subject, subject),
        lambda session: leases.release(session, subject),
        "freeze",
    ):
        yield


def is_freezing(session: Session, project_id: str) -> bool:
    """Return whether something of a project is being frozen now."""
    going_on = Lease.subject.startswith(f"{_FREEZE}{project_id}:", autoescape=True), Lease.expires_at > now()
    return session.scalar(select(Lease.subject).where(*going_on).limit(1)) is not None
