"""What starts a retraining without anybody asking: enough newly accepted answers, or one that has waited long enough; and then a
moment of quiet. (The clock is in engine.training.retraining.schedule.)
"""

from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.base import now
from db.tables import Job, Project
from engine.datasets import snapshots
from engine.jobs import queue
from engine.projects.project_settings import ProjectSettings, settings_of
from engine.statuses import TRAIN
from engine.training.retraining import firings
from engine.training.retraining.firings import Due, Outcome
from engine.training.retraining.untrained_answers import unseen
from engine.workspace import Workspace

RETRAIN = "retrain"


def retrain_key(project_id: str) -> str:
    """Return the key that makes a project retrain once at a time."""
    return f"{RETRAIN}:{project_id}"


def request(workspace: Workspace, project_id: str, *, by: str | None = None, **settings: object) -> Job:
    """Ask for a retraining; where one is waiting or running already, that one is returned. `settings`: see RunSettings."""
    return queue.enqueue(workspace, RETRAIN, project_id, {"settings": settings}, retrain_key(project_id), created_by=by)


def check(workspace: Workspace, *, scheduler: str = "") -> list[Job]:
    """Ask for a retraining of each project that is due for one by count or age, and return the jobs.

    Due by count: as many answers as the project says were accepted on training documents and are in no run's snapshot. By age:
    one of them has waited for as many days as the project says. Either way nothing was accepted for `retrain_quiet_seconds`.
    After a job that failed or was cancelled, something new must be accepted first, or something grow old. Each occasion is written
    down as a firing.
    """
    with workspace.database.read() as session:
        projects = session.scalars(select(Project).order_by(Project.id)).all()
    jobs = []
    for project in projects:
        found = due(workspace, project, now())
        job = fire(workspace, *found, scheduler=scheduler) if found is not None else None
        if job is not None:
            jobs.append(job)
    return jobs


def due(workspace: Workspace, project: Project, moment: datetime) -> tuple[Due, str] | None:
    """Return the occasion on which a project is due at `moment`, by count or by age, with its sentence; None when it is not."""
    chosen = settings_of(project)
    if not chosen.retrain_automatically:
        return None
    with workspace.database.read() as session:
        if queue.with_key(session, retrain_key(project.id)) is not None:
            return None
        accepted = snapshots.accepted_revisions(session, project.id, (TRAIN,))
        if not accepted or (len(accepted) < chosen.retrain_after and not chosen.retrain_after_days):
            return None
        newest = max(accepted.values())
        # A time further ahead than the quiet lasts was written by a clock that was set back since: nobody waits for it.
        quiet = timedelta(seconds=workspace.settings.retrain_quiet_seconds)
        if moment - quiet < newest <= moment + quiet:
            return None
        before = _newest_job(session, project.id, moment)
    tried = before is not None and before >= newest
    if tried and not chosen.retrain_after_days:
        return None
    fresh = unseen(workspace, project.id)
    if len(fresh) >= chosen.retrain_after and not tried:
        return Due(project.id, "count", newest + quiet), newly_accepted(len(fresh))
    oldest = min(fresh.values(), default=moment)
    aged = age_due(chosen, oldest)
    if aged is None or aged > moment or (before is not None and before >= max(aged, newest)):
        return None
    sentence = f"An accepted answer has waited for {spoken(moment - oldest)}."
    return Due(project.id, "age", max(aged, newest + quiet)), sentence


def fire(workspace: Workspace, due: Due, sentence: str, *, scheduler: str) -> Job | None:
    """Ask for the retraining of an occasion, and write the firing down, in one unit of work.

    Returns the job; None when the occasion was fired before, or when a retraining waits or runs already.
    """
    with workspace.database.write() as session:
        key = retrain_key(due.project_id)
        there = queue.with_key(session, key)
        outcome: Outcome = "asked" if there is None else "busy"
        message = sentence if there is None else "A retraining waited or ran already."
        firing = firings.record(session, due, outcome, message, scheduler=scheduler)
        if firing is None:
            return None
        job = there or queue.enqueue(session, RETRAIN, due.project_id, {"settings": {}}, key)
        firing.job_id = job.id
        return job if there is None else None


def age_due(chosen: ProjectSettings, oldest: datetime) -> datetime | None:
    """Return when the oldest answer that no run has seen starts a retraining; None where age does not."""
    return oldest + timedelta(days=chosen.retrain_after_days) if chosen.retrain_after_days else None


def newly_accepted(count: int) -> str:
    """Return how many answers there are to learn from, as a sentence."""
    return "1 answer was newly accepted." if count == 1 else f"{count} answers were newly accepted."


def spoken(span: timedelta) -> str:
    """Return a span as people say it: "2 days", "5 hours", "less than an hour"."""
    hours = max(0.0, span.total_seconds() / 3600)
    if hours < 1:
        return "less than an hour"
    number, unit = (int(hours), "hour") if hours < 48 else (int(hours / 24), "day")
    return f"{number} {unit}{'' if number == 1 else 's'}"


def _newest_job(session: Session, project_id: str, moment: datetime) -> datetime | None:
    return session.scalar(
        select(func.max(Job.created_at)).where(
            Job.project_id == project_id, Job.kind == RETRAIN, Job.created_at <= moment
        )
    )
