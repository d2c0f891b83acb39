"""Files that nothing names and that cannot be deleted yet, because somebody may just store the same bytes.

A lease names each one. When it ends, a worker deletes the file, unless a row names it by then
(engine.lifecycle.erasing).
"""

from collections.abc import Iterable

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.base import now
from db.blobs import PUT_SECONDS
from db.tables import Lease
from engine import leases

_LEFT = "file left:"  # before the name of a file


def leave(session: Session, hashes: Iterable[str]) -> None:
    """Note files, in the caller's unit of work, to be looked at when nobody can be storing them any more."""
    for sha256 in hashes:
        leases.acquire(session, f"{_LEFT}{sha256}", _LEFT, PUT_SECONDS)


def due(session: Session, limit: int) -> list[str]:
    """Return some files whose time is over, the first ones first."""
    over = Lease.subject.startswith(_LEFT, autoescape=True), Lease.expires_at <= now()
    subjects = session.scalars(select(Lease.subject).where(*over).order_by(Lease.expires_at).limit(limit))
    return [subject.removeprefix(_LEFT) for subject in subjects]


def forget(session: Session, hashes: Iterable[str]) -> None:
    """End the notes of files."""
    for sha256 in hashes:
        leases.release(session, f"{_LEFT}{sha256}", _LEFT)
