"""Archived projects: they can be read and nothing else, until an admin unarchives them.

Routes and commands refuse changes (engine.accounts.permissions.check_active), as does every save of an answer. Nobody
asks for jobs of an archived project, and its webhooks wait.
"""

import contextlib

from sqlalchemy import select
from sqlalchemy.orm import Session

from db import changes
from db.base import now
from db.tables import Job, Project
from engine import audit
from engine.errors import Conflict
from engine.jobs import queue
from engine.queries import existing
from engine.tasks.opening.open_tasks import lock_project
from engine.workspace import Workspace


def archive(workspace: Workspace, project_id: str, by: str | None) -> None:
    """Archive a project; its jobs are stopped. Audited; repeating it changes nothing. Raises NotFound."""
    with workspace.database.write() as session:
        project = lock_project(session, project_id)
        if project.archived_at is None:
            project.archived_at = now()
            audit.record(session, by, "projects.archive", project.id, project.id, name=project.name)
            _publish(session, project_id)
    # Without a lock of the project: an attempt locks its job first, and then the project that it writes to.
    with workspace.database.write() as session:
        still_open = select(Job.id).where(Job.project_id == project_id, Job.status.in_(queue.OPEN)).order_by(Job.id)
        for job_id in session.scalars(still_open).all():
            with contextlib.suppress(Conflict):  # it has ended meanwhile
                queue.cancel(session, job_id, by=by)


def unarchive(workspace: Workspace, project_id: str, by: str | None) -> None:
    """Let people change a project again. Audited; repeating it changes nothing. Raises NotFound."""
    with workspace.database.write() as session:
        project = existing(session, Project, project_id, with_for_update={"key_share": True})
        if project.archived_at is None:
            return
        project.archived_at = None
        project.clock_since = now()  # schedules of the time in the archive are not caught up on
        audit.record(session, by, "projects.unarchive", project.id, project.id, name=project.name)
        _publish(session, project_id)


def _publish(session: Session, project_id: str) -> None:
    for topic in ("documents", "tasks"):
        changes.publish(session, topic, project_id)
