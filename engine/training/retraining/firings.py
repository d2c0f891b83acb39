"""Firings: that a trigger came due, once, and what became of it.

A firing's key is the project, the trigger and the time at which it was due. The database lets each key in once, in the unit of work
that asks for the job: however many schedulers believe that it is their turn, and whatever their clocks say, it happens once.
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
"""asked: it asked for a job. busy: one waited or ran already. nothing_new: there was nothing to learn from. missed: it came due
while nothing ran, too long ago to be made up for."""

KEPT = 1000  # of a project; older ones are forgotten


class FiringView(BaseModel):
    """A firing as people see it. `due_at` and `created_at` are apart where nothing ran at the time."""

    id: str
    trigger: Trigger
    due_at: datetime
    outcome: Outcome
    message: str
    job_id: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Due:
    """A trigger that came due: what makes its firing the same one, whoever finds it."""

    project_id: str
    trigger: Trigger
    at: datetime


def record(
    session: Session, due: Due, outcome: Outcome, message: str, *, scheduler: str, job_id: str | None = None
) -> Firing | None:
    """Write a firing down inside the caller's unit of work; None when it is there already: then the caller does nothing."""
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
    """Return when a trigger was last due and fired, not after `until`.

    A firing of a later time comes from a clock that was ahead; it must not keep the trigger waiting until then.
    """
    return session.scalar(
        select(func.max(Firing.due_at)).where(
            Firing.project_id == project_id, Firing.trigger == trigger, Firing.due_at <= until
        )
    )


def recent(workspace: Workspace, project_id: str, limit: int = 20) -> Sequence[FiringView]:
    """Return a project's firings, newest first."""
    chosen = select(Firing).where(Firing.project_id == project_id).order_by(Firing.id.desc()).limit(limit)
    with workspace.database.read() as session:
        return [FiringView.model_validate(one, from_attributes=True) for one in session.scalars(chosen)]


def _forget(session: Session, project_id: str) -> None:
    last = session.scalar(
        select(Firing.id).where(Firing.project_id == project_id).order_by(Firing.id.desc()).offset(KEPT).limit(1)
    )
    if last is not None:
        session.execute(delete(Firing).where(Firing.project_id == project_id, Firing.id <= last))
