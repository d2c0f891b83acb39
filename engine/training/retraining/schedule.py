"""The clock that retrains: what a project's crontab expression makes due, fired once.

What is due follows from three times alone: now, the last due time that was fired, and since when the expression stands. So nothing
has to remember what it was about to do: a scheduler that was away makes up, once, for what it missed, and a clock that is set
forwards or back changes "now" and nothing else. After a jump forwards the times that were left out are fired as one; after one back
the times that come again are fired already.
"""

from datetime import datetime, timedelta

from sqlalchemy import select

from db.base import now
from db.tables import Firing, Job, Project
from engine.crontab import Schedule, schedule
from engine.jobs import queue
from engine.projects.project_settings import ProjectSettings, settings_of
from engine.training.retraining import firings
from engine.training.retraining.firings import Due, Outcome
from engine.training.retraining.trigger import RETRAIN, newly_accepted, retrain_key, spoken
from engine.training.retraining.untrained_answers import unseen
from engine.workspace import Workspace


def clock_of(chosen: ProjectSettings) -> Schedule | None:
    """Return the clock that a project's settings name; None where it has none, or retrains by hand alone."""
    if not chosen.retrain_automatically or not chosen.retrain_cron.strip():
        return None
    return schedule(chosen.retrain_cron, chosen.retrain_time_zone)


def projects_with_clock(workspace: Workspace) -> dict[str, tuple[Schedule, datetime | None]]:
    """Return, by id, the clocks of all projects, each with since when it stands."""
    with workspace.database.read() as session:
        projects = session.scalars(select(Project)).all()
    clocks = ((project, clock_of(settings_of(project))) for project in projects)
    return {project.id: (clock, project.clock_since) for project, clock in clocks if clock is not None}


def fire(
    workspace: Workspace, project_id: str, *, scheduler: str = "", moment: datetime | None = None
) -> Firing | None:
    """Fire what a project's clock has made due at `moment` (now) and nobody fired yet; return the firing, None if there is none.

    Several missed times are one firing, of the latest of them. One that is older than `retrain_grace_hours` only says that it was
    missed; one with nothing new to learn from says so, and starts nothing.
    """
    moment = moment or now()
    at = _due(workspace, project_id, moment)
    if at is None:
        return None
    due = Due(project_id, "clock", at)
    fresh = len(unseen(workspace, project_id))
    with workspace.database.write() as session:
        there = queue.with_key(session, retrain_key(project_id))
        outcome, message = _outcome(workspace, moment - at, fresh, there)
        firing = firings.record(session, due, outcome, message, scheduler=scheduler)
        if firing is None:
            return None
        if outcome == "asked":
            job = queue.enqueue(session, RETRAIN, project_id, {"settings": {}}, retrain_key(project_id))
            firing.job_id = job.id
        elif outcome == "busy" and there is not None:
            firing.job_id = there.id
        return firing


def _due(workspace: Workspace, project_id: str, moment: datetime) -> datetime | None:
    """The latest time at which the clock was due by `moment` and was not fired."""
    with workspace.database.read() as session:
        project = session.get(Project, project_id)
        clock = clock_of(settings_of(project)) if project is not None else None
        if project is None or clock is None:
            return None
        since = project.clock_since
        fired = firings.newest_due(session, project_id, "clock", moment)
    if since is None or since > moment:
        _stand(workspace, project_id, moment)  # the clock was set back behind it, or it came from before there was one
        return None
    at = clock.latest(max(since, fired) if fired is not None else since, moment)
    if at is None:
        return None
    with workspace.database.read() as session:  # mostly another scheduler's, seen here before it is written again
        key = (Firing.project_id == project_id, Firing.trigger == "clock", Firing.due_at == at)
        return at if session.scalar(select(Firing.id).where(*key)) is None else None


def _stand(workspace: Workspace, project_id: str, moment: datetime) -> None:
    with workspace.database.write() as session:
        project = session.get(Project, project_id, with_for_update={"key_share": True})
        if project is not None and (project.clock_since is None or project.clock_since > moment):
            project.clock_since = moment


def _outcome(workspace: Workspace, late: timedelta, fresh: int, there: Job | None) -> tuple[Outcome, str]:
    late_by = f"{spoken(late)} late" if late >= timedelta(hours=1) else ""
    if late > timedelta(hours=workspace.settings.retrain_grace_hours):
        return "missed", f"Nothing ran at the time; {late_by or spoken(late)} is too late to be made up for."
    if there is not None:
        return "busy", "A retraining waited or ran already."
    if not fresh:
        return "nothing_new", "Nothing was accepted since the last retraining."
    return "asked", newly_accepted(fresh) + (f" It is {late_by}: nothing ran at the time." if late_by else "")
