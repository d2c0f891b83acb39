"""Triggers by count and by age: enough answers are new, or one has waited too long.

Both wait for a moment of quiet. The trigger by the clock is in engine.training.retraining.schedule.
"""

import logging
from datetime import datetime, timedelta

from sqlalchemy import func, literal, select
from sqlalchemy.orm import Session

from db.base import now
from db.statuses import ACCEPTED, SPLITS
from db.tables import Annotation, Job, Project
from engine import plurals
from engine.datasets.accepted_now import accepted_now
from engine.jobs import queue
from engine.models import pruning
from engine.outage import is_outage
from engine.projects.project_settings import ProjectSettings, settings_of
from engine.queries import is_active
from engine.training.retraining import trigger_history
from engine.training.retraining.trigger_history import Due, Outcome
from engine.training.retraining.untrained_answers import untrained_answers
from engine.workspace import Workspace

_log = logging.getLogger(__name__)
RETRAIN = pruning.RETRAIN


def retrain_key(project_id: str) -> str:
    """Return the key that makes a project retrain once at a time."""
    return f"{RETRAIN}:{project_id}"


def request(workspace: Workspace, project_id: str, *, by: str | None = None, **settings: object) -> Job:
    """Ask for a retraining and return its job; while one waits or runs already, return that one unchanged.

    Args:
        workspace: Where the project is.
        project_id: Of the project.
        by: Id of the user who asks; without it, nobody is named and nothing is audited.
        **settings: Of the run, see RunSettings.
    """
    return queue.enqueue(workspace, RETRAIN, project_id, {"settings": settings}, retrain_key(project_id), created_by=by)


def check(workspace: Workspace, *, scheduler: str = "") -> list[Job]:
    """Ask for a retraining of each project that is due for one by count or age, and return the jobs.

    By count: there are `retrain_after` untrained answers. By age: one of them has waited for `retrain_after_days`. In
    both cases no answer was accepted for `retrain_quiet_seconds`. After a job that failed or was cancelled, a new
    answer must be accepted first, or one must grow old. Each occasion is recorded as a firing, with `scheduler`, the
    name of the worker.

    An error in one project is logged and keeps no other project waiting. DBAPIError when the database does not
    answer.
    """
    with workspace.database.read() as session:
        projects = session.scalars(select(Project).where(is_active()).order_by(Project.id)).all()
    jobs = []
    for project in projects:
        try:
            occasion = due(workspace, project, now())
            job = fire(workspace, *occasion, scheduler=scheduler) if occasion is not None else None
        except Exception as error:
            if is_outage(error):
                raise
            _log.exception("the triggers of the project %s could not be looked at; trying again", project.id)
        else:
            jobs += [job] if job is not None else []
    return jobs


def due(workspace: Workspace, project: Project, current_time: datetime) -> tuple[Due, str] | None:
    """Return why a project is due at `current_time`, with a sentence; None when it is not due."""
    chosen = settings_of(project)
    if not chosen.retrain_automatically:
        return None
    with workspace.database.read() as session:
        if queue.with_key(session, retrain_key(project.id)) is not None:
            return None
        # The look costs little where most projects have nothing to learn from.
        least = 1 if chosen.retrain_after_days else max(1, chosen.retrain_after)
        if not _has_accepted(session, project.id, least):
            return None
        accepted = accepted_now(workspace, project.id, SPLITS)
        newest = accepted.newest
        if newest is None or accepted.count < least:
            return None
        # A time further ahead than the quiet lasts was written before the clock was set back: nothing waits for it.
        quiet = timedelta(seconds=workspace.settings.retrain_quiet_seconds)
        if current_time - quiet < newest <= current_time + quiet:
            return None
        before = _newest_job(session, project.id, current_time)
    tried = before is not None and before >= newest
    if tried and not chosen.retrain_after_days:
        return None
    fresh = untrained_answers(workspace, project.id)
    if fresh.count >= chosen.retrain_after and not tried:
        return Due(project.id, "count", newest + quiet), newly_accepted(fresh.count)
    oldest = fresh.oldest or current_time
    aged = age_due(chosen, oldest)
    if aged is None or aged > current_time or (before is not None and before >= max(aged, newest)):
        return None
    sentence = f"An accepted answer has waited for {format_span(current_time - oldest)}."
    return Due(project.id, "age", max(aged, newest + quiet)), sentence


def fire(workspace: Workspace, due: Due, sentence: str, *, scheduler: str) -> Job | None:
    """Record a firing and ask for its retraining, in one unit of work.

    Returns:
        The job; None when this was fired before, or when a retraining waits or runs already.
    """
    with workspace.database.write() as session:
        key = retrain_key(due.project_id)
        open_job = queue.with_key(session, key)
        outcome: Outcome = "asked" if open_job is None else "busy"
        message = sentence if open_job is None else "A retraining was waiting or running already."
        firing = trigger_history.record(session, due, outcome, message, scheduler=scheduler)
        if firing is None:
            return None
        job = open_job or queue.enqueue(session, RETRAIN, due.project_id, {"settings": {}}, key)
        firing.job_id = job.id
        return job if open_job is None else None


def age_due(chosen: ProjectSettings, oldest: datetime) -> datetime | None:
    """Return when the oldest untrained answer starts a retraining by its age; None where age starts none."""
    return oldest + timedelta(days=chosen.retrain_after_days) if chosen.retrain_after_days else None


def newly_accepted(count: int) -> str:
    """Return the number of untrained answers as a sentence."""
    return f"{plurals.count(count, 'answer')} {plurals.word(count, 'was', 'were')} newly accepted."


def format_span(span: timedelta) -> str:
    """Return a span of time in words: "2 days", "5 hours", "less than an hour"."""
    hours = max(0.0, span.total_seconds() / 3600)
    if hours < 1:
        return "less than an hour"
    number, unit = (int(hours), "hour") if hours < 48 else (int(hours / 24), "day")
    return plurals.count(number, unit)


def _has_accepted(session: Session, project_id: str, least: int) -> bool:
    """Return whether a project has so many accepted answers; reads no more of them."""
    accepted = select(literal(1)).where(Annotation.project_id == project_id, Annotation.status.in_(ACCEPTED))
    accepted_count = session.scalar(select(func.count()).select_from(accepted.limit(least).subquery()))
    return (accepted_count or 0) >= least


def _newest_job(session: Session, project_id: str, current_time: datetime) -> datetime | None:
    return session.scalar(
        select(func.max(Job.created_at)).where(
            Job.project_id == project_id, Job.kind == RETRAIN, Job.created_at <= current_time
        )
    )
