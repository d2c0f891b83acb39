"""Trigger history: each entry, a firing, records once that a trigger came due, with the outcome.

A firing's key is the project, the trigger and the due time. The database accepts each key once, in the unit of work
that asks for the job. So a trigger fires once, however many workers look at it and whatever their clocks say.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import BaseModel
from sqlalchemy import delete, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from db.tables import Firing
from engine.workspace import Workspace

Trigger = Literal["clock", "count", "age"]
Outcome = Literal["asked", "busy", "nothing_new", "missed"]
"""Outcome of a firing.

asked: a job was requested. busy: a job waited or ran already. nothing_new: there were no untrained answers.
missed: no worker ran at the due time, and the grace period was over.
"""

KEPT = 1000  # of a project; older ones are deleted


class FiringView(BaseModel):
    """A firing for the API. `created_at` is later than `due_at` where no worker ran at the due time."""

    id: str
    trigger: Trigger
    due_at: datetime
    outcome: Outcome
    message: str
    job_id: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Due:
    """A trigger that came due: the key of its firing."""

    project_id: str
    trigger: Trigger
    at: datetime


def record(
    session: Session, due: Due, outcome: Outcome, message: str, *, scheduler: str, job_id: str | None = None
) -> Firing | None:
    """Record a firing inside the caller's unit of work and return it; None when it is recorded already."""
    firing = Firing(
        project_id=due.project_id,
        trigger=due.trigger,
        due_at=due.at,
        outcome=outcome,
        message=message,
        job_id=job_id,
        scheduler=scheduler,
    )
    try:
        with session.begin_nested():
            session.add(firing)
    except IntegrityError:
        return None
    _forget(session, due.project_id)
    return firing


def newest_due(session: Session, project_id: str, trigger: Trigger, until: datetime) -> datetime | None:
    """Return the newest due time of a trigger that was fired, not after `until`; None where there is none.

    A later one was written before the clock was set back. It must not keep the trigger waiting until then.
    """
    return session.scalar(
        select(func.max(Firing.due_at)).where(
            Firing.project_id == project_id, Firing.trigger == trigger, Firing.due_at <= until
        )
    )


def recent(workspace: Workspace, project_id: str, limit: int = 20) -> Sequence[FiringView]:
    """Return a project's trigger history, newest first, `limit` entries at most."""
    chosen = select(Firing).where(Firing.project_id == project_id).order_by(Firing.id.desc()).limit(limit)
    with workspace.database.read() as session:
        return [FiringView.model_validate(firing, from_attributes=True) for firing in session.scalars(chosen)]


def _forget(session: Session, project_id: str) -> None:
    last = session.scalar(
        select(Firing.id).where(Firing.project_id == project_id).order_by(Firing.id.desc()).offset(KEPT).limit(1)
    )
    if last is not None:
        session.execute(delete(Firing).where(Firing.project_id == project_id, Firing.id <= last))
