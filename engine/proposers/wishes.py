"""What a job that asks a model of others has to do: what it was made for, and what people wished while it was open."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from db.base import now
from db.tables import Job
from engine import audit
from engine.errors import Conflict
from engine.jobs import queue
from engine.workspace import Workspace

MOST_WISHES = 20  # of one job, beside its first
_MORE = "more"  # in a payload: further wishes
_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Wish:
    """Documents that are to be asked about.

    Attributes:
        number: Rises with each wish of a job.
        at: When somebody wished it.
        documents: Their ids; None: all of the project.
        again: Whether those count that were asked about before this time.
        since: Of a wish that nobody made: new documents from then on.
    """

    number: int
    at: datetime
    documents: Sequence[str] | None = None
    again: bool = False
    since: datetime | None = None


def add_wish(session: Session, job: Job, wish: dict[str, Any], by: str) -> None:
    """Let an open job, which is locked, fulfil the wish of a person too, with all attempts before it. Audited.

    Args:
        session: Of the caller's unit of work.
        job: Waits or runs.
        wish: `documents` and `again`. One that the job has already counts from now on.
        by: Id of the person.

    Raises:
        Conflict: The job is being stopped, or has as many wishes as it can hold.
    """
    if job.cancel_requested_at is not None:
        raise Conflict("The job before is being stopped. Ask again when it has stopped.")
    more: list[dict[str, Any]] = job.payload.get(_MORE, [])
    others = [other for other in more if any(other[name] != wish[name] for name in wish)]
    if len(others) >= MOST_WISHES:
        raise Conflict(f"The open job has {MOST_WISHES} further requests to do. Ask again when it has ended.")
    number = more[-1]["number"] + 1 if more else 1
    job.payload = {**job.payload, _MORE: [*others, {**wish, "number": number, "at": now().isoformat()}]}
    job.max_attempts = job.attempts + _ATTEMPTS
    job.created_by = job.created_by or by
    audit.record(session, by, "jobs.ask", job.id, job.project_id, kind=job.kind)


def take_wishes(workspace: Workspace, job: Job, *, after: int) -> list[Wish]:
    """Return the wishes behind a number, in their order. Where there are none, the job takes no more.

    Raises:
        LeaseLost: Another worker has the job.
    """
    with workspace.database.write() as session:
        stored = queue.job_of_holder(session, job.id, str(job.holder))
        wishes = [wish for wish in _wishes(stored) if wish.number > after]
        if not wishes:
            stored.key = None  # whoever asks from now on gets a job of their own
        return wishes


def _wishes(job: Job) -> list[Wish]:
    first, since = job.payload, job.payload.get("since")
    return [
        Wish(
            0,
            job.created_at,
            first.get("documents"),
            first.get("again", False),
            datetime.fromisoformat(since) if since is not None else None,
        ),
        *(
            Wish(more["number"], datetime.fromisoformat(more["at"]), more["documents"], more["again"])
            for more in first.get(_MORE, [])
        ),
    ]
