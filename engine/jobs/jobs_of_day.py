"""Jobs that a person may start so many times in 24 hours: counted and queued in one unit of work."""

import math
from datetime import timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.base import now
from db.tables import Job
from engine.accounts.sessions import lock_user
from engine.errors import TooMany
from engine.jobs import queue
from engine.plurals import count
from engine.workspace import Workspace

_DAY = timedelta(days=1)


def enqueue_of_day(
    workspace: Workspace,
    kind: str,
    project_id: str,
    payload: dict[str, Any],
    *,
    most: int,
    created_by: str | None = None,
    job_id: str | None = None,
) -> Job:
    """Queue a job and return it, unless its person has started as many of its kind in 24 hours as they may.

    Args:
        workspace: Open workspace.
        kind: Of the job, such as "import".
        project_id: Of the job.
        payload: Of the job; `user_id` in it names the person.
        most: Number of jobs in 24 hours; 0: no limit.
        created_by: Whom the audit trail names; None: it names nobody.
        job_id: Id of the new job, for a caller who must know it before the job begins.

    Raises:
        TooMany: There were as many.
        Archived: The project is archived.
        NotFound: The project is in the bin.
    """
    with workspace.database.write() as session:
        if most:
            lock_user(session, payload["user_id"])  # requests of the same moment are counted one after the other
            _check(session, kind, payload["user_id"], most)
        return queue.enqueue(session, kind, project_id, payload, created_by=created_by, job_id=job_id)


def _check(session: Session, kind: str, user_id: str, most: int) -> None:
    instant = now()
    chosen = select(Job.created_at).where(
        Job.created_at > instant - _DAY, Job.kind == kind, Job.payload["user_id"].as_string() == user_id
    )
    times = session.scalars(chosen.order_by(Job.created_at.desc()).limit(most)).all()
    if len(times) == most:
        seconds = math.ceil((times[-1] + _DAY - instant).total_seconds())
        hours = max(1, math.ceil(seconds / 3600))
        raise TooMany(
            f"Too many {kind}s: {most:,} in 24 hours are allowed. Try again in {count(hours, 'hour')}.",
            max(1, seconds),
        )
