"""Jobs in the database: asked for once, leased by one worker, taken over when that worker dies.

Lists of jobs: engine.jobs.job_list.

A lease ends at a time unless its holder renews it. A worker that was killed cannot, and after that time another
worker may take the job. Reports of a former holder are ignored.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, bindparam, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from db.base import now
from db.ids import new_id
from db.tables import Job, Project
from engine import audit
from engine.accounts.visibility import PROJECT_IN_BIN
from engine.errors import Archived, Conflict, NotFound
from engine.plurals import count
from engine.queries import existing
from engine.workspace import Workspace

LEASE_SECONDS = 60.0
RETRY_SECONDS = 10.0  # before the second attempt; twice as long before each further one
LONGEST_RETRY_SECONDS = 3600.0
EXCUSED = timedelta(days=1)  # after the first attempt; so long, one that ends because the database was gone is excused
_EXCUSED_WAIT = 1 / 20  # of the time since the first attempt: a job may itself be what brings the database down
ENDED = ("done", "failed", "cancelled", "dead")
OPEN = ("waiting", "running")
# The lock is that of a new row which names the project: on PostgreSQL it waits for a removal that goes on.
_STATE = (
    select(Project.archived_at, Project.bin_of)
    .where(Project.id == bindparam("project"))
    .with_for_update(read=True, key_share=True)
)
FAILED = ("failed", "dead")  # can be tried again. dead: out of attempts; failed: fails again until something changes
WINDS_UP = "winds_up"  # in a payload: see `enqueue`
_FAST_SECONDS = 60.0  # how far in the future a time may lie that some other machine's clock wrote


class LeaseLost(Exception):
    """Raised when a job ended or belongs to another worker; its former holder stops and reports nothing."""


@dataclass(frozen=True, slots=True)
class Beat:
    """Answer to a heartbeat: until when the lease holds, and whether a person asked for the job to stop."""

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
    job_id: str | None = None,
) -> Job:
    """Ask for a job and return it; while one with the same `key` waits or runs, return that one.

    `target`: a session, to ask inside the caller's unit of work, or a workspace, to ask in one of its own.
    `payload`: what the handler needs. With `WINDS_UP` in it, the handler is called also when the job was cancelled
    while nobody did it; it then has to wind up what earlier attempts have begun.
    `job_id`: of the new job, for a caller who must know it before the job begins.

    Raises:
        Archived: The project is archived.
        NotFound: The project is in the bin.
    """
    if isinstance(target, Workspace):
        with target.database.write() as session:
            return enqueue(
                session, kind, project_id, payload, key, created_by=created_by, run_after=run_after,
                max_attempts=max_attempts, job_id=job_id,
            )  # fmt: skip
    if key is not None and (there := with_key(target, key)) is not None:
        return there
    _check_project(target, project_id)
    job = Job(
        id=job_id or new_id(),
        kind=kind,
        project_id=project_id,
        payload=payload or {},
        key=key,
        asked_as=key,
        created_by=created_by,
        run_after=run_after or now(),
        max_attempts=max_attempts,
    )
    try:
        with target.begin_nested():
            target.add(job)
    except IntegrityError:
        there = with_key(target, key) if key is not None else None
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
    """Take the job that has waited longest, or whose lease has ended; return None when there is none.

    A job found without attempts left (its worker was killed each time) is closed as dead, one that a person wanted
    stopped as cancelled; then the next one is tried. `job_id` restricts the choice to one job.
    """
    with workspace.database.write() as session:
        while True:
            job = _takeable(session, kinds, job_id)
            if job is None:
                return None
            if job.cancel_requested_at is not None and WINDS_UP not in job.payload:
                _close(job, "cancelled", "Cancelled.")
            elif job.attempts >= job.max_attempts:
                _close(job, "dead", f"{_given_up(job)}: each time, the worker stopped before the job was done.")
            else:
                hold(job, holder, seconds=seconds)
                session.flush()
                return job
            session.flush()


def hold(job: Job, holder: str, *, seconds: float = LEASE_SECONDS) -> None:
    """Begin an attempt at a job that is locked, or new, in the caller's unit of work."""
    moment = now()
    if job.status == "running":
        job.failure = "The worker stopped before the job was done: it was killed, or the machine ran out of memory."
    job.status, job.holder = "running", holder
    job.lease_until, job.heartbeat_at = moment + timedelta(seconds=seconds), moment
    job.started_at = job.started_at or moment
    job.attempts += 1


def is_waiting(workspace: Workspace, kinds: Sequence[str]) -> bool:
    """Return whether a job can be taken.

    It only reads, so that polls of several threads do not delay writers.
    """
    with workspace.database.read() as session:
        return session.scalar(select(Job.id).where(_may_be_taken(kinds)).limit(1)) is not None


def keep(session: Session, job_id: str, holder: str, result: dict[str, Any]) -> None:
    """Note in the caller's unit of work how far a job is, for an attempt that goes on from there.

    Raises:
        LeaseLost: The job is no longer the holder's. The unit of work is undone then.
    """
    job_of_holder(session, job_id, holder).result = result


def heartbeat(workspace: Workspace, job_id: str, holder: str, *, seconds: float = LEASE_SECONDS) -> Beat:
    """Renew a lease. LeaseLost when it is no longer the holder's."""
    with workspace.database.write() as session:
        job = job_of_holder(session, job_id, holder)
        job.heartbeat_at = now()
        job.lease_until = job.heartbeat_at + timedelta(seconds=seconds)
        return Beat(job.lease_until, job.cancel_requested_at is not None)


def progress(workspace: Workspace, job_id: str, holder: str, fraction: float, message: str) -> None:
    """Report the share done (0..1) and what the job does, in one sentence. LeaseLost: see `finish`."""
    with workspace.database.write() as session:
        job = job_of_holder(session, job_id, holder)
        job.progress, job.message = min(1.0, max(0.0, fraction)), message


def finish(workspace: Workspace, job_id: str, holder: str, result: dict[str, Any], message: str = "") -> None:
    """Close a job as done. LeaseLost when it is no longer the holder's."""
    with workspace.database.write() as session:
        job = job_of_holder(session, job_id, holder)
        job.result, job.progress = result, 1.0
        _close(job, "done", message or job.message)


def fail(
    workspace: Workspace, job_id: str, holder: str, sentence: str, *, retry: bool = True, unreachable: bool = False
) -> str:
    """Report a failure and return the job's new status.

    With `retry` it waits for its next attempt, or is dead after the last one. Without, it has failed for good:
    another attempt would fail in the same way. LeaseLost when it is no longer the holder's.

    `unreachable`: database or file store were gone, so the attempt does not count, up to a day after the first.
    """
    with workspace.database.write() as session:
        job = job_of_holder(session, job_id, holder)
        job.failure = sentence
        age = now() - (job.started_at or now())
        excused = unreachable and age < EXCUSED
        job.attempts -= excused
        if not retry:
            _close(job, "failed", sentence)
        elif job.attempts >= job.max_attempts:
            _close(job, "dead", f"{_given_up(job)}: {sentence}")
        else:
            delay = RETRY_SECONDS * 2 ** min(max(job.attempts - 1, 0), 20)
            if excused:
                delay = max(delay, _EXCUSED_WAIT * age.total_seconds())
            delay = min(LONGEST_RETRY_SECONDS, delay)
            if job.cancel_requested_at is not None:
                delay = 0.0  # the next attempt closes it
            job.run_after = now() + timedelta(seconds=delay)
            _wait_again(job, sentence)
        return job.status


def excuse(workspace: Workspace, job_id: str, holder: str) -> None:
    """Count this attempt no more: its worker is to end, and may be killed before it releases the job."""
    with workspace.database.write() as session:
        job_of_holder(session, job_id, holder).attempts -= 1


def release(
    workspace: Workspace,
    job_id: str,
    holder: str,
    sentence: str = "Waiting for a worker.",
    *,
    excused: bool = False,
) -> None:
    """Give a job back because its worker ends; the attempt does not count.

    `excused`: the attempt is not counted any more (see `excuse`).
    """
    with workspace.database.write() as session:
        job = job_of_holder(session, job_id, holder)
        job.attempts -= not excused
        job.run_after = now()
        _wait_again(job, sentence)


def close_cancelled(workspace: Workspace, job_id: str, holder: str, sentence: str = "Cancelled.") -> None:
    """Close a job as cancelled, when its work has stopped. LeaseLost when it is no longer the holder's."""
    with workspace.database.write() as session:
        _close(job_of_holder(session, job_id, holder), "cancelled", sentence)


def cancel(target: Session | Workspace, job_id: str, *, by: str | None = None) -> Job:
    """Stop a job: a waiting job at once, a running job at its next step. Audited.

    A waiting job that winds up (see `enqueue`) is closed by its handler.

    `target`: as `enqueue` has it.

    Raises:
        NotFound: There is no such job.
        Conflict: It has ended already.
    """
    if isinstance(target, Workspace):
        with target.database.write() as session:
            return cancel(session, job_id, by=by)
    job = target.scalar(select(Job).where(Job.id == job_id).with_for_update())
    if job is None:
        raise NotFound("There is no such job.")
    if job.status in ENDED:
        raise Conflict("The job has ended already.")
    if job.cancel_requested_at is None:
        job.cancel_requested_at = now()
        audit.record(target, by, "jobs.cancel", job.id, job.project_id, kind=job.kind)
    if job.status == "waiting" and WINDS_UP in job.payload:
        job.run_after = now()
    elif job.status == "waiting":
        _close(job, "cancelled", "Cancelled.")
    return job


def cancel_with(session: Session, keys: Collection[str]) -> None:
    """Stop the jobs under some keys in the caller's unit of work: waiting ones at once, others at their next step."""
    for job in session.scalars(select(Job).where(Job.key.in_(keys)).order_by(Job.id).with_for_update()):
        if job.status == "waiting":
            _close(job, "cancelled", "Cancelled.")
        elif job.cancel_requested_at is None:
            job.cancel_requested_at = now()


def retry(workspace: Workspace, job_id: str, *, by: str | None = None) -> Job:
    """Put a job that failed or was given up back into the queue, with all its attempts before it. Audited.

    The job goes on from what an earlier attempt left on disk. NotFound and Archived: see `enqueue`. Conflict when the
    job did not fail, or when another one with its key waits or runs already.
    """
    with workspace.database.write() as session:
        job = session.scalar(select(Job).where(Job.id == job_id).with_for_update())
        if job is None:
            raise NotFound("There is no such job.")
        _check_project(session, job.project_id)
        if job.status not in FAILED:
            raise Conflict(f"Only a job that failed or was given up can be tried again; this one is {job.status}.")
        taken = Conflict("Another such job waits or runs already; wait for its end, or stop it first.")
        if job.asked_as is not None and with_key(session, job.asked_as) is not None:
            raise taken
        try:
            with session.begin_nested():
                put_back(job)
        except IntegrityError:  # on PostgreSQL somebody asked for such a job at this moment
            raise taken from None
        audit.record(session, by, "jobs.retry", job.id, job.project_id, kind=job.kind)
        return job


def put_back(job: Job) -> None:
    """Let a job that has ended wait again, with all its attempts before it, in the caller's unit of work."""
    job.key, job.attempts, job.run_after = job.asked_as, 0, now()
    job.cancel_requested_at = job.finished_at = None
    _wait_again(job, "Waiting for a worker.")


def job_by_id(workspace: Workspace, job_id: str) -> Job:
    """Return a job. NotFound when there is none."""
    with workspace.database.read() as session:
        return existing(session, Job, job_id)


def with_key(session: Session, key: str, *, lock: bool = False) -> Job | None:
    """Return the job that waits or runs under a key; None when there is none.

    `lock`: whether it stays open, and as it is, until the unit of work ends.
    """
    chosen = select(Job).where(Job.key == key)
    if lock:
        chosen = chosen.with_for_update().execution_options(populate_existing=True)
    return session.scalar(chosen)


def job_of_holder(session: Session, job_id: str, holder: str) -> Job:
    """Return a running job, locked. LeaseLost when it is no longer the holder's."""
    job = session.scalar(select(Job).where(Job.id == job_id).with_for_update())
    if job is None or job.status != "running" or job.holder != holder:
        raise LeaseLost(job_id)
    return job


def _takeable(session: Session, kinds: Sequence[str], job_id: str | None) -> Job | None:
    """Return a job to take, locked; None when there is none.

    SKIP LOCKED lets workers pass each other on PostgreSQL; SQLite has one writer.

    Times from the future were written before the clock was set back. Without this, such a job would wait until the
    clock has come that far again.
    """
    chosen = (
        select(Job)
        .where(_may_be_taken(kinds))
        .order_by(Job.run_after, Job.id)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    if job_id is not None:
        chosen = chosen.where(Job.id == job_id)
    return session.scalar(chosen)


def _may_be_taken(kinds: Sequence[str]) -> ColumnElement[bool]:
    moment = now()
    unbelievable = moment + timedelta(seconds=_FAST_SECONDS)
    return and_(
        Job.kind.in_(kinds),
        or_(
            and_(Job.status == "waiting", or_(Job.run_after <= moment, Job.created_at > unbelievable)),
            and_(Job.status == "running", or_(Job.lease_until < moment, Job.heartbeat_at > unbelievable)),
        ),
    )


def _check_project(session: Session, project_id: str | None) -> None:
    """Check that a project is neither archived nor removed; it stays so until the unit of work ends."""
    if project_id is None:
        return
    for archived_at, bin_of in session.execute(_STATE, {"project": project_id}):
        if archived_at is not None:
            raise Archived
        if bin_of == project_id:  # what a document in the bin of another project waits for goes on
            raise NotFound(PROJECT_IN_BIN)


def _given_up(job: Job) -> str:
    return f"Given up after {count(job.attempts, 'attempt')}"


def _wait_again(job: Job, sentence: str) -> None:
    job.status, job.message = "waiting", sentence
    job.holder = job.lease_until = job.heartbeat_at = None


def _close(job: Job, status: str, sentence: str) -> None:
    job.status, job.message = status, sentence
    job.key = job.holder = job.lease_until = None
    job.finished_at = now()
