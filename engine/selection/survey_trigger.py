"""Trigger of surveys: one starts by itself after a new champion, new tasks or changed settings."""

from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.base import now
from db.tables import Job, Project, Task
from engine.errors import NotFound
from engine.jobs import queue
from engine.models import registry
from engine.projects import project_stage
from engine.projects.project_settings import settings_of
from engine.queries import is_active
from engine.workspace import Workspace

SURVEY = "survey"


def survey_key(project_id: str) -> str:
    """Return the key that allows one survey of a project at a time."""
    return f"{SURVEY}:{project_id}"


def request(workspace: Workspace, project_id: str, *, by: str | None = None) -> Job:
    """Ask for a survey and return its job; while one waits or runs already, return that one unchanged."""
    with workspace.database.read() as session:
        basis = {**_basis(session, project_id), "ask": True}
    return queue.enqueue(workspace, SURVEY, project_id, basis, survey_key(project_id), created_by=by)


def check(workspace: Workspace) -> list[Job]:
    """Ask for a survey of each project that needs one and has changed since; return the jobs.

    A project needs surveys with a selection other than "arrival", or beyond the stage "assisted". A change is one of
    the champion, the tasks, the selection or the stage. A survey that failed or was cancelled is not asked for again
    without a change.
    """
    due = []
    with workspace.database.read() as session:
        for project in session.scalars(select(Project).where(is_active()).order_by(Project.id)):
            chosen, stage = settings_of(project), project_stage.stage_of(session, project.id)
            if chosen.selection == "arrival" and stage == "assisted":
                continue
            if queue.with_key(session, survey_key(project.id)) is not None:
                continue
            ask = chosen.selection == "model" or stage != "assisted"
            try:
                basis = {**_basis(session, project.id), "ask": ask}
            except NotFound:  # no model is registered yet
                continue
            newest = session.scalar(
                select(Job)
                .where(Job.project_id == project.id, Job.kind == SURVEY)
                .order_by(Job.created_at.desc(), Job.id.desc())
                .limit(1)
            )
            if basis["newest_task"] is not None and (newest is None or not _same(newest, basis)):
                due.append((project.id, basis))
    return [queue.enqueue(workspace, SURVEY, key, basis, survey_key(key)) for key, basis in due]


def somebody_waits(workspace: Workspace, job_id: str) -> bool:
    """Return whether jobs other than surveys wait for a worker.

    Imports, exports and documents do not count: the server runs them.
    """
    others = (SURVEY, "import", "export", "read", "propose", "transfer")
    waits = select(Job.id).where(
        Job.status == "waiting", Job.run_after <= now(), Job.kind.not_in(others), Job.id != job_id
    )
    with workspace.database.read() as session:
        return session.scalar(waits.limit(1)) is not None


def _same(job: Job, basis: dict[str, Any]) -> bool:
    """Return whether a survey rested on `basis`, and asked the model if that is wanted."""
    before = dict(job.payload)
    asked = bool(before.pop("ask", True))
    return before == {name: value for name, value in basis.items() if name != "ask"} and (asked or not basis["ask"])


def _basis(session: Session, project_id: str) -> dict[str, Any]:
    """Return what a survey depends on. Ids of tasks rise with time."""
    chosen = settings_of(session.get_one(Project, project_id))
    return {
        "version_id": registry.champion(session, project_id).id,
        "newest_task": session.scalar(select(func.max(Task.id)).where(Task.project_id == project_id)),
        "selection": [chosen.selection, chosen.selection_random_share, chosen.selection_patience_days],
        "stage": project_stage.sequence_of(session, project_id),
    }
