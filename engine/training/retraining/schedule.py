"""Retraining by schedule: fires each due time of a project's crontab expression once.

The due time follows from three times: now, the last fired due time, and the time when the expression was set. No
process needs to remember a plan. After a downtime, missed times are fired once, as one. Setting the clock changes
"now" only: times skipped by a jump forwards are fired as one, and repeated times are fired already.
"""

import logging
from datetime import datetime, timedelta

from sqlalchemy import select

from db.base import now
from db.tables import Firing, Job, Project
from engine.crontab import Schedule, schedule
from engine.jobs import queue
from engine.outage import is_outage
from engine.projects.project_settings import ProjectSettings, settings_of
from engine.queries import is_active
from engine.training.retraining import trigger_history
from engine.training.retraining.trigger import RETRAIN, format_span, newly_accepted, retrain_key
from engine.training.retraining.trigger_history import Due, Outcome
from engine.training.retraining.untrained_answers import untrained_answers
from engine.workspace import Workspace

_log = logging.getLogger(__name__)


def schedule_of(chosen: ProjectSettings) -> Schedule | None:
    """Return the schedule in a project's settings; None without one, or without automatic retraining."""
    if not chosen.retrain_automatically or not chosen.retrain_cron.strip():
        return None
    return schedule(chosen.retrain_cron, chosen.retrain_time_zone)


def check(workspace: Workspace, *, scheduler: str = "", current_time: datetime | None = None) -> list[Firing]:
    """Fire the due schedules of all projects at `current_time` (by default, now), and return the firings.

    An error in one project is logged and keeps no other project waiting. DBAPIError when the database does not
    answer.
    """
    with workspace.database.read() as session:
        projects = session.scalars(select(Project).where(is_active()).order_by(Project.id)).all()
    fired = []
    for project in projects:
        try:
            if schedule_of(settings_of(project)) is None:
                continue
            firing = fire(workspace, project.id, scheduler=scheduler, current_time=current_time)
        except Exception as error:
            if is_outage(error):
                raise
            _log.exception("the schedule of the project %s could not be looked at; trying again", project.id)
        else:
            fired += [firing] if firing is not None else []
    return fired


def fire(
    workspace: Workspace, project_id: str, *, scheduler: str = "", current_time: datetime | None = None
) -> Firing | None:
    """Fire a project's schedule when it is due; return the firing, None when it is not.

    A time that another worker has fired is not due any more. Several missed times are one firing, of the latest of
    them. A firing later than `retrain_grace_hours` only says that it was missed. A firing with nothing new to learn
    from says so, and starts nothing.

    Args:
        workspace: Where the project is.
        project_id: Of the project.
        scheduler: Name of the worker, written down with the firing.
        current_time: Time at which the schedule is compared; by default, now.
    """
    current_time = current_time or now()
    at = _due(workspace, project_id, current_time)
    if at is None:
        return None
    due = Due(project_id, "clock", at)
    fresh = untrained_answers(workspace, project_id).count
    with workspace.database.write() as session:
        open_job = queue.with_key(session, retrain_key(project_id))
        outcome, message = _outcome(workspace, current_time - at, fresh, open_job)
        firing = trigger_history.record(session, due, outcome, message, scheduler=scheduler)
        if firing is None:
            return None
        if outcome == "asked":
            # Nobody waits for a scheduled run, so it may take longer; it ends by itself once it stops gaining.
            minutes = max(workspace.settings.retrain_minutes, workspace.settings.retrain_scheduled_minutes)
            chosen = {"settings": {"minutes": minutes}}
            job = queue.enqueue(session, RETRAIN, project_id, chosen, retrain_key(project_id))
            firing.job_id = job.id
        elif outcome == "busy" and open_job is not None:
            firing.job_id = open_job.id
        return firing


def _due(workspace: Workspace, project_id: str, current_time: datetime) -> datetime | None:
    """Return the latest time that was due by `current_time` and is not fired."""
    with workspace.database.read() as session:
        project = session.get(Project, project_id)
        times = schedule_of(settings_of(project)) if project is not None else None
        if project is None or times is None:
            return None
        since = project.clock_since
        if since is not None and since <= current_time:
            fired = trigger_history.newest_due(session, project_id, "clock", current_time)
            return times.latest(max(since, fired) if fired is not None else since, current_time)
    _begin(
        workspace, project_id, current_time
    )  # the clock was set back behind it, or an older version did not write it down
    return None


def _begin(workspace: Workspace, project_id: str, current_time: datetime) -> None:
    with workspace.database.write() as session:
        project = session.get(Project, project_id, with_for_update={"key_share": True})
        if project is not None and (project.clock_since is None or project.clock_since > current_time):
            project.clock_since = current_time


def _outcome(workspace: Workspace, late: timedelta, fresh: int, open_job: Job | None) -> tuple[Outcome, str]:
    if late > timedelta(hours=workspace.settings.retrain_grace_hours):
        return "missed", f"No worker ran at that time; {format_span(late)} later it was too late to start a retraining."
    if open_job is not None:
        return "busy", "A retraining was waiting or running already."
    if not fresh:
        return "nothing_new", "No answer was accepted since the last retraining."
    late_by = f" It starts {format_span(late)} late: no worker ran at that time." if late >= timedelta(hours=1) else ""
    return "asked", newly_accepted(fresh) + late_by
