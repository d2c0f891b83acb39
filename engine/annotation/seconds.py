"""Seconds of work on an answer: what the browser counts, bounded by the server's own clock between lease and save."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.base import now
from db.tables import Annotation, Lease, Revision, Task
from engine.leases import task_subject

SHORTEST = 5.0  # seconds; below it the server's clock replaces a missing count, above it a person may have rested


def bounded_seconds(session: Session, annotation_id: str, user_id: str, seconds: float) -> float:
    """Return the seconds of the revision that finishes an answer.

    They are at most the time since the task was leased. Where none were counted for the answer, a short time since then
    counts, so 0 does not hide haste. Without a lease they stay as they are.

    Args:
        session: Of the unit of work; the lease of the task is still there.
        annotation_id: The answer.
        user_id: The person.
        seconds: As the browser counted them since the revision before.
    """
    answer = session.get_one(Annotation, annotation_id)
    of_question = Task.document_id == answer.document_id, Task.question_id == answer.question_id
    task_id = session.scalar(select(Task.id).where(*of_question))
    lease = session.get(Lease, task_subject(task_id, user_id)) if task_id is not None else None
    if lease is None or lease.holder != user_id:
        return seconds
    passed = max(0.001, (now() - lease.acquired_at).total_seconds())
    if seconds > 0:
        return min(seconds, passed)
    spent = session.scalar(select(func.sum(Revision.seconds)).where(Revision.annotation_id == annotation_id))
    return passed if not spent and passed < SHORTEST else 0.0
