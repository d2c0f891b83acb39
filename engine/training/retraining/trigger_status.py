"""Status of triggers: what starts a project's next retraining, how near it is, and when. Read-only."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from pydantic import BaseModel, Field
from sqlalchemy import select

from db.base import now
from db.tables import Job, Project
from engine.jobs import poll_lease, queue
from engine.plurals import count
from engine.projects.project_settings import ProjectSettings, settings_of
from engine.queries import existing, is_project
from engine.training.retraining import trigger_history
from engine.training.retraining.schedule import schedule_of
from engine.training.retraining.trigger import age_due, format_span, retrain_key
from engine.training.retraining.trigger_history import FiringView
from engine.training.retraining.untrained_answers import untrained_answers
from engine.workspace import Workspace


class SchedulerView(BaseModel):
    """The worker that looks at the triggers, since when, and when it last renewed its lease."""

    holder: str
    since: datetime
    heartbeat_at: datetime


class TriggersView(BaseModel):
    """A project's triggers: how many untrained answers there are, how old the oldest is, and the schedule."""

    project_id: str
    project: str
    automatic: bool = Field(description="Whether retrainings start by themselves.")
    accepted: int = Field(description="Accepted answers that no run has learned from.")
    wanted: int = Field(description="Number of them that starts a retraining.")
    oldest_at: datetime | None = Field(description="Time of the oldest of them; null without any.")
    wanted_days: float = Field(description="Age in days of the oldest that starts a retraining; 0: age starts none.")
    cron: str = Field(description="Schedule in cron's notation; empty: none.")
    time_zone: str = Field(description="Time zone of the schedule.")
    age_due_at: datetime | None = Field(description="Time at which age starts a retraining.")
    clock_due_at: datetime | None = Field(description="Next time of the schedule.")
    next_at: datetime | None = Field(description="The earlier of the two times; null without any.")
    job_id: str | None = Field(description="Id of the retraining that waits or runs; null without one.")
    near: str = Field(description="Progress towards the next retraining, as a sentence.")
    scheduler: SchedulerView | None = Field(description="The worker that checks the triggers; null when none runs.")
    firings: Sequence[FiringView] = Field(description="Newest firings first.")


def triggers_of(workspace: Workspace, project_id: str, *, limit: int = 20) -> TriggersView:
    """Return the status of a project's triggers with the `limit` newest entries of their history.

    Raises:
        NotFound: There is no such project.
    """
    current_time = now()
    with workspace.database.read() as session:
        project = existing(session, Project, project_id)
        working = queue.with_key(session, retrain_key(project_id))
    chosen = settings_of(project)
    waiting = untrained_answers(workspace, project_id)
    oldest = waiting.oldest
    times = schedule_of(chosen)
    by_age = age_due(chosen, oldest) if oldest is not None and chosen.retrain_automatically else None
    by_clock = times.next_after(current_time) if times is not None else None
    watching = poll_lease.current(workspace)
    return TriggersView(
        project_id=project_id,
        project=project.name,
        automatic=chosen.retrain_automatically,
        accepted=waiting.count,
        wanted=chosen.retrain_after,
        oldest_at=oldest,
        wanted_days=chosen.retrain_after_days,
        cron=chosen.retrain_cron.strip(),
        time_zone=chosen.retrain_time_zone,
        age_due_at=by_age,
        clock_due_at=by_clock,
        next_at=min((at for at in (by_age, by_clock) if at is not None), default=None),
        job_id=working.id if working is not None else None,
        near=_near(chosen, waiting.count, current_time - oldest if oldest is not None else None, working),
        scheduler=SchedulerView.model_validate(watching, from_attributes=True) if watching is not None else None,
        firings=trigger_history.recent(workspace, project_id, limit),
    )


def all_triggers(workspace: Workspace, *, limit: int = 20) -> list[TriggersView]:
    """Return the status of the triggers of all projects, by name."""
    with workspace.database.read() as session:
        projects = session.scalars(select(Project.id).where(is_project()).order_by(Project.name)).all()
    return [triggers_of(workspace, project_id, limit=limit) for project_id in projects]


def _near(chosen: ProjectSettings, waiting: int, waited: timedelta | None, working: Job | None) -> str:
    """Return in one sentence how near the next retraining is."""
    wanted = f"{waiting} of {count(chosen.retrain_after, 'answer')}"
    number = f"{wanted if chosen.retrain_automatically else count(waiting, 'answer')} accepted"
    age = f", the oldest {format_span(waited)} ago" if waited is not None else ""
    if waited is not None and chosen.retrain_automatically and chosen.retrain_after_days:
        age += f" (limit: {format_span(timedelta(days=chosen.retrain_after_days))})"
    if working is not None:
        begun = "is running" if working.status == "running" else "waits for a worker"
        return f"A retraining {begun}; {number}{age}."
    return f"{number}{age}{'' if chosen.retrain_automatically else '; automatic retraining is off'}."
