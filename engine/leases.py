"""Leases: a holder has a subject until a time, and renews it while it works.

A holder that is gone loses its lease by the clock alone.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import bindparam, delete, literal, select, text
from sqlalchemy.orm import Session

from db.base import now
from db.tables import Lease, Task, User

LEASE_SECONDS = 90.0  # the page renews every 30 s: two heartbeats may be lost before the lease is


_MOMENT = Lease.__table__.c.expires_at.type
# In one statement: each task that is handed out runs it. Returns a row when the lease is the holder's.
_TAKE = text(
    "INSERT INTO leases (subject, holder, acquired_at, heartbeat_at, expires_at) "
    "VALUES (:subject, :holder, :moment, :moment, :until) "
    "ON CONFLICT (subject) DO UPDATE SET holder = excluded.holder, "
    "acquired_at = CASE WHEN leases.holder = excluded.holder THEN leases.acquired_at ELSE excluded.acquired_at END, "
    "heartbeat_at = excluded.heartbeat_at, expires_at = excluded.expires_at "
    "WHERE leases.holder = excluded.holder OR leases.expires_at <= excluded.heartbeat_at RETURNING subject"
).bindparams(bindparam("moment", type_=_MOMENT), bindparam("until", type_=_MOMENT))


@dataclass(frozen=True, slots=True)
class Held:
    """A lease that a user holds now, with the user's name."""

    subject: str
    holder: str
    name: str
    until: datetime


def acquire(session: Session, subject: str, holder: str, seconds: float = LEASE_SECONDS) -> datetime | None:
    """Take or renew a lease inside the caller's unit of work.

    Of two that ask at the same moment one gets it: on PostgreSQL the second waits for the other's commit and then sees
    its lease, on SQLite there is one writer.

    Args:
        session: Of a unit of work that may write.
        subject: What is leased, at most one holder at a time.
        holder: Id of a user, or the name of a worker.
        seconds: How long the lease holds without a renewal.

    Returns:
        Until when it holds, in UTC; None while another holder has it.
    """
    instant = now()
    until = instant + timedelta(seconds=seconds)
    taken = session.execute(_TAKE, {"subject": subject, "holder": holder, "moment": instant, "until": until})
    return until if taken.first() is not None else None


def release(session: Session, subject: str, holder: str | None = None) -> None:
    """Delete a lease that `holder` holds; without `holder`, delete it whoever holds it."""
    chosen = delete(Lease).where(Lease.subject == subject)
    if holder is not None:
        chosen = chosen.where(Lease.holder == holder)
    session.execute(chosen.execution_options(synchronize_session=False))


def release_task(session: Session, document_id: str, question_id: str, user_id: str) -> None:
    """Delete a user's lease of the task that asks a question of a document."""
    subject = literal("task:") + Task.id + literal(f":{user_id}")  # as `task_subject`
    of_task = select(subject).where(Task.document_id == document_id, Task.question_id == question_id).scalar_subquery()
    session.execute(delete(Lease).where(Lease.subject == of_task).execution_options(synchronize_session=False))


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
