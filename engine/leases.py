"""Leases: a holder has a subject until a time, and renews it while it works.

A holder that is gone loses its lease by the clock alone.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import CursorResult, case, delete, insert, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from db.base import now
from db.tables import Lease, User

LEASE_SECONDS = 90.0  # the page renews every 30 s: two heartbeats may be lost before the lease is


@dataclass(frozen=True, slots=True)
class Held:
    """A lease that a user holds now, with the user's name."""

    subject: str
    holder: str
    name: str
    until: datetime


def acquire(session: Session, subject: str, holder: str, seconds: float = LEASE_SECONDS) -> datetime | None:
    """Take or renew a lease inside the caller's unit of work.

    Of two that ask at the same moment one gets it. The conditional update and the insert each let one through: on
    PostgreSQL after waiting for the other's commit, on SQLite because there is one writer.

    Args:
        session: Of a unit of work that may write.
        subject: What is leased, at most one holder at a time.
        holder: Id of a user, or the name of a worker.
        seconds: How long the lease holds without a renewal.

    Returns:
        Until when it holds, in UTC; None while another holder has it.
    """
    moment = now()
    until = moment + timedelta(seconds=seconds)
    renewed = session.execute(
        update(Lease)
        .where(Lease.subject == subject, or_(Lease.holder == holder, Lease.expires_at <= moment))
        .values(
            holder=holder,
            acquired_at=case((Lease.holder == holder, Lease.acquired_at), else_=moment),
            heartbeat_at=moment,
            expires_at=until,
        )
        .execution_options(synchronize_session=False)
    )
    assert isinstance(renewed, CursorResult)
    if renewed.rowcount == 1:
        return until
    try:
        with session.begin_nested():
            session.execute(insert(Lease).values(subject=subject, holder=holder, expires_at=until))
    except IntegrityError:
        return None
    return until


def release(session: Session, subject: str, holder: str | None = None) -> None:
    """Delete a lease that `holder` holds; without `holder`, delete it whoever holds it."""
    chosen = delete(Lease).where(Lease.subject == subject)
    if holder is not None:
        chosen = chosen.where(Lease.holder == holder)
    session.execute(chosen.execution_options(synchronize_session=False))


def live(session: Session, prefix: str, subjects: Collection[str] | None = None) -> list[Held]:
    """Return the users' leases that hold now and whose subject begins with `prefix`, soonest to end first."""
    chosen = (
        select(Lease.subject, Lease.holder, User.name, Lease.expires_at)
        .join(User, User.id == Lease.holder)
        .where(Lease.subject.startswith(prefix, autoescape=True), Lease.expires_at > now())
        .order_by(Lease.expires_at)
    )
    if subjects is not None:
        chosen = chosen.where(Lease.subject.in_(subjects))
    return [Held(*row) for row in session.execute(chosen)]


def forget_expired(session: Session, prefix: str) -> None:
    """Delete leases that have ended and whose subject begins with `prefix`.

    Rows that another transaction has locked are left for later, so that two that clean up do not wait for each other.
    """
    expired = (
        select(Lease.subject)
        .where(Lease.subject.startswith(prefix, autoescape=True), Lease.expires_at <= now())
        .with_for_update(skip_locked=True)
    )
    subjects = session.scalars(expired).all()
    if subjects:
        gone = delete(Lease).where(Lease.subject.in_(subjects))
        session.execute(gone.execution_options(synchronize_session=False))


def task_subject(task_id: str, user_id: str) -> str:
    """Return the subject of a user's lease of a task; several people may hold an overlap task."""
    return f"task:{task_id}:{user_id}"


def annotation_subject(annotation_id: str) -> str:
    """Return the subject of the lease of an answer under review. One reviewer holds it."""
    return f"annotation:{annotation_id}"
