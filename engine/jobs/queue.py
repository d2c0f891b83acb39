"""Jobs in the database: asked for once, leased by one worker at a time, taken over when that worker dies.

A lease is a promise to be back by a time. Its holder renews it while it works; a worker that was killed cannot, and after that
time anybody may take the job. What a holder reports is ignored once the job is no longer its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import and_, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from db.base import now
from db.tables import Job
from engine import audit
from engine.errors import Conflict, NotFound
from engine.workspace import Workspace

LEASE_SECONDS = 60.0
RETRY_SECONDS = 10.0  # before the second attempt; twice as long before each further one
ENDED = ("done", "failed", "cancelled", "dead")


class LeaseLost(Exception):
    """The job belongs to another worker by now, or has ended: stop, and report nothing."""


@dataclass(frozen=True, slots=True)
class Beat:
    """What a heartbeat learns: until when the lease holds, and whether somebody asked for the job to stop."""

    lease_until: datetime
    cancel_requested: bool


def enqueue(
    target: Session | Workspace,
    kind: str,
    project_id: str | None = None,
    payload: dict[str, Any] | None = None,
    key: str | None = None,
    *,
    created_by: str | None = None,
    run_after: datetime | None = None,
    max_attempts: int = 3,
) -> Job:
    """Ask for a job and return it; with a `key` that a waiting or running job has already, return that one unchanged.

    `target`: a session, to ask inside the caller's unit of work, or a workspace, to ask in one of its own.
    """
    if isinstance(target, Workspace):
        with target.database.write() as session:
            return enqueue(
                session,
                kind,
                project_id,
                payload,
                key,
                created_by=created_by,
                run_after=run_after,
                max_attempts=max_attempts,
            )
    if key is not None and (there := _with_key(target, key)) is not None:
        return there
    job = Job(
        kind=kind,
        project_id=project_id,
        payload=payload or {},
        key=key,
        created_by=created_by,
        run_after=run_after or now(),
        max_attempts=max_attempts,
    )
    try:
        with target.begin_nested():
            target.add(job)
    except IntegrityError:
        there = _with_key(target, key) if key is not None else None
        if there is None:
            raise
        return there
    if created_by is not None:
        audit.record(target, created_by, "jobs.ask", job.id, project_id, kind=kind)
    return job


def lease(
    workspace: Workspace,
    holder: str,
    kinds: Sequence[str],
    *,
    seconds: float = LEASE_SECONDS,
    job_id: str | None = None,
) -> Job | None:
    """Take the job that has waited longest, or whose holder let its lease run out; None when there is none to take.

    A job that ran out of attempts on the way (its worker was killed each time) is closed as dead, one that somebody wanted
    stopped as cancelled; the next is tried. `job_id` restricts the choice to one job.
    """
    with workspace.database.write() as session:
        while True:
            job = _takeable(session, kinds, job_id)
            if job is None:
                return None
            if job.cancel_requested_at is not None:
                _close(job, "cancelled", "Cancelled.")
            elif job.attempts >= job.max_attempts:
                _close(
                    job, "dead", f"Given up after {job.attempts} attempts: the worker ended each time before the job."
                )
            else:
                moment = now()
                job.status, job.holder = "running", holder
                job.lease_until, job.heartbeat_at = moment + timedelta(seconds=seconds), moment
                job.started_at = job.started_at or moment
                job.attempts += 1
                session.flush()
                return job
            session.flush()


def heartbeat(workspace: Workspace, job_id: str, holder: str, *, seconds: float = LEASE_SECONDS) -> Beat:
    """Renew a lease. LeaseLost when it is no longer the holder's."""
    with workspace.database.write() as session:
        job = _held(session, job_id, holder)
        job.heartbeat_at = now()
        job.lease_until = job.heartbeat_at + timedelta(seconds=seconds)
        return Beat(job.lease_until, job.cancel_requested_at is not None)


def progress(workspace: Workspace, job_id: str, holder: str, fraction: float, message: str) -> None:
    """Say how far a job is (0..1) and, in one sentence, what it is doing. LeaseLost when it is no longer the holder's."""
    with workspace.database.write() as session:
        job = _held(session, job_id, holder)
        job.progress, job.message = min(1.0, max(0.0, fraction)), message


def finish(workspace: Workspace, job_id: str, holder: str, result: dict[str, Any], message: str = "") -> None:
    """Close a job as done. LeaseLost when it is no longer the holder's."""
    with workspace.database.write() as session:
        job = _held(session, job_id, holder)
        job.result, job.progress = result, 1.0
        _close(job, "done", message or job.message)


def fail(workspace: Workspace, job_id: str, holder: str, sentence: str, *, retry: bool = True) -> str:
    """Report a failure and return the job's new status.

    With `retry` it waits for its next attempt, or is dead after the last; without, it has failed for good (what is wrong would
    be wrong again). LeaseLost when it is no longer the holder's.
    """
    with workspace.database.write() as session:
        job = _held(session, job_id, holder)
        if not retry:
            _close(job, "failed", sentence)
        elif job.attempts >= job.max_attempts:
            _close(job, "dead", f"Given up after {job.attempts} attempts: {sentence}")
        else:
            job.run_after = now() + timedelta(seconds=RETRY_SECONDS * 2 ** (job.attempts - 1))
            _wait_again(job, sentence)
        return job.status


def release(workspace: Workspace, job_id: str, holder: str, sentence: str = "Waiting for a worker.") -> None:
    """Give a job back unharmed: the worker ends, the job does not, and the attempt does not count."""
    with workspace.database.write() as session:
        job = _held(session, job_id, holder)
        job.attempts -= 1
        job.run_after = now()
        _wait_again(job, sentence)


def cancelled(workspace: Workspace, job_id: str, holder: str, sentence: str = "Cancelled.") -> None:
    """Report that the work has stopped, as somebody asked."""
    with workspace.database.write() as session:
        _close(_held(session, job_id, holder), "cancelled", sentence)


def cancel(workspace: Workspace, job_id: str, *, by: str | None = None) -> Job:
    """Ask for a job to stop: a waiting one ends at once, a running one at its next step. Audited. Conflict when it has ended."""
    with workspace.database.write() as session:
        job = session.scalar(select(Job).where(Job.id == job_id).with_for_update())
        if job is None:
            raise NotFound("There is no such job.")
        if job.status in ENDED:
            raise Conflict(f"The job has ended already ({job.status}).")
        if job.cancel_requested_at is None:
            job.cancel_requested_at = now()
            audit.record(session, by, "jobs.cancel", job.id, job.project_id, kind=job.kind)
        if job.status == "waiting":
            _close(job, "cancelled", "Cancelled.")
        return job


def job_by_id(workspace: Workspace, job_id: str) -> Job:
    """Return a job. NotFound when there is none."""
    with workspace.database.read() as session:
        job = session.get(Job, job_id)
    if job is None:
        raise NotFound("There is no such job.")
    return job


def list_jobs(workspace: Workspace, project_id: str | None = None, *, limit: int = 100) -> list[Job]:
    """Return the jobs of a project, or all, newest first."""
    chosen = select(Job).order_by(Job.created_at.desc(), Job.id.desc()).limit(limit)
    if project_id is not None:
        chosen = chosen.where(Job.project_id == project_id)
    with workspace.database.read() as session:
        return list(session.scalars(chosen))


def _with_key(session: Session, key: str) -> Job | None:
    return session.scalar(select(Job).where(Job.key == key))


def _takeable(session: Session, kinds: Sequence[str], job_id: str | None) -> Job | None:
    """A job to take, locked. SKIP LOCKED lets workers pass each other on PostgreSQL; on SQLite the writer is alone."""
    moment = now()
    chosen = (
        select(Job)
        .where(
            Job.kind.in_(kinds),
            or_(
                and_(Job.status == "waiting", Job.run_after <= moment),
                and_(Job.status == "running", Job.lease_until < moment),
            ),
        )
        .order_by(Job.run_after, Job.id)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    if job_id is not None:
        chosen = chosen.where(Job.id == job_id)
    return session.scalar(chosen)


def _held(session: Session, job_id: str, holder: str) -> Job:
    job = session.scalar(select(Job).where(Job.id == job_id).with_for_update())
    if job is None or job.status != "running" or job.holder != holder:
        raise LeaseLost(job_id)
    return job


def _wait_again(job: Job, sentence: str) -> None:
    job.status, job.message = "waiting", sentence
    job.holder = job.lease_until = job.heartbeat_at = None


def _close(job: Job, status: str, sentence: str) -> None:
    job.status, job.message = status, sentence
    job.key = job.holder = job.lease_until = None
    job.finished_at = now()
