"""Removed projects, which can be restored for some days.

A removed project is the bin of itself: so it leaves every list, schedule and search at once, nobody reads or changes
it, and it comes back as it was. It costs the same however large the project is.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import exists, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, aliased

from db import changes
from db.base import now
from db.ids import new_id
from db.tables import EVERYBODY, Document, Job, Project, ProjectFigures, RemovedProject, User
from engine import audit
from engine.datasets.freezes import is_freezing
from engine.errors import Conflict, NotFound
from engine.jobs.queue import OPEN
from engine.lifecycle.bins import MOST_LISTED, list_removed
from engine.paging import Page as ListPage
from engine.plurals import count
from engine.queries import existing
from engine.text import check_name
from engine.workspace import Workspace

_ERASING = "{name} is being deleted and cannot be restored."


@dataclass(frozen=True, slots=True)
class RemovedProjectLine:
    """A project in the bin: its name and documents, who removed it and when, and when it will be deleted.

    `erasing`: it is being deleted, and cannot be restored.
    """

    id: str
    name: str
    documents: int
    removed_by: str | None
    removed_at: datetime
    deleted_at: datetime
    erasing: bool


def remove_project(workspace: Workspace, project_id: str, by: str | None) -> None:
    """Remove a project into the bin, with everything in it. Audited; repeating it changes nothing.

    Its name is free from then on.

    Args:
        workspace: Open workspace.
        project_id: The project.
        by: Id of the acting user.

    Raises:
        NotFound: There is no such project.
        Conflict: Jobs of the project have not ended, or something of it is being frozen.
    """
    with workspace.database.write() as session:
        project = existing(session, Project, project_id, with_for_update=True)
        if project.bin_of == project_id:
            return
        if project.bin_of is not None:
            raise NotFound("There is no such project.")
        _check_at_rest(session, project)
        session.add(RemovedProject(project_id=project_id, name=project.name, removed_by=by, removed_at=now()))
        audit.record(session, by, "projects.remove", project_id, project_id, name=project.name)
        project.bin_of, project.name = project_id, f"bin {new_id()}"


def restore_project(workspace: Workspace, project_id: str, by: str | None, name: str | None = None) -> str:
    """Restore a project from the bin as it was; return its name. Audited; repeating it changes nothing.

    Due times of its schedule that passed meanwhile are not made up.

    Args:
        workspace: Open workspace.
        project_id: The project.
        by: Id of the acting user.
        name: New name; None: the one that it had.

    Raises:
        NotFound: There is no such project.
        Conflict: Another project has the name now, or the project is being deleted.
        Refused: The name is invalid.
    """
    if name is not None:
        check_name(name, "A project's name", longest=100)
    try:
        with workspace.database.write() as session:
            project = existing(session, Project, project_id, with_for_update=True)
            removed = session.get(RemovedProject, project_id, with_for_update=True)
            if removed is None:
                return project.name
            if removed.erasing:
                raise Conflict(_ERASING.format(name=removed.name))
            name = name or removed.name
            project.bin_of, project.name, project.clock_since = None, name, now()
            session.delete(removed)
            audit.record(session, by, "projects.restore", project_id, project_id, name=name)
            session.flush()
            return name
    except IntegrityError:
        raise Conflict(f"Another project is named {name!r} now. Restore this one under another name.") from None


def list_removed_projects(
    workspace: Workspace, *, limit: int = MOST_LISTED, cursor: str | None = None
) -> ListPage[RemovedProjectLine]:
    """Return a page of the projects in the bin, last removed first; see `bins.list_removed`."""
    documents = func.coalesce(ProjectFigures.documents, 0)
    chosen = (
        select(
            RemovedProject.erasing,
            RemovedProject.project_id,
            RemovedProject.name,
            documents,
            User.name,
            RemovedProject.removed_at,
        )
        .outerjoin(
            ProjectFigures,
            (ProjectFigures.project_id == RemovedProject.project_id) & (ProjectFigures.person_id == EVERYBODY),
        )
        .outerjoin(User, User.id == RemovedProject.removed_by)
    )

    def line(erasing: bool, *values: Any) -> RemovedProjectLine:
        return RemovedProjectLine(*(*values, erasing))

    return list_removed(workspace, RemovedProject, "removed projects", chosen, line, limit, cursor)


def removed_project_named(workspace: Workspace, name: str) -> str:
    """Return the id of a project in the bin by its name or id; of several with the name, the last removed one.

    Raises:
        NotFound: There is none.
    """
    called = (RemovedProject.name == name) | (RemovedProject.project_id == name)
    chosen = select(RemovedProject.project_id).where(called).order_by(RemovedProject.removed_at.desc()).limit(1)
    with workspace.database.read() as session:
        project_id = session.scalar(chosen)
    if project_id is None:
        raise NotFound(f"The bin has no project {name!r}. Run glossator projects bin.")
    return project_id


def mark_project(workspace: Workspace, project_id: str, by: str | None) -> list[str]:
    """Choose a project in the bin to be deleted for good. Audited. It cannot be restored from now on.

    Returns:
        A sentence on what stays, because others need it.

    Args:
        workspace: Open workspace.
        project_id: The project.
        by: Id of the acting user; None: its days are over.

    Raises:
        NotFound: There is no such project in the bin.
    """
    with workspace.database.write() as session:
        removed = session.get(RemovedProject, project_id, with_for_update=True)
        if removed is None:
            raise NotFound("There is no such project in the bin.")
        if not removed.erasing:
            removed.erasing = True
            documents = select(func.count()).where(Document.project_id == project_id)
            number = session.scalar(documents) or 0
            audit.record(session, by, "projects.erase", project_id, project_id, name=removed.name, documents=number)
            changes.publish(session, "projects", None)
    return _shared_files(workspace, project_id)


def _shared_files(workspace: Workspace, project_id: str) -> list[str]:
    other = aliased(Document)
    shared = select(func.count(Document.id)).where(
        Document.project_id == project_id,
        exists().where(other.sha256 == Document.sha256, other.project_id != project_id),
    )
    with workspace.database.read() as session:
        number = session.scalar(shared) or 0
    stay = "stays" if number == 1 else "stay"
    return [f"{count(number, 'file')} {stay}: another project has the same."] if number else []


def _check_at_rest(session: Session, project: Project) -> None:
    jobs = select(func.count()).where(Job.project_id == project.id, Job.status.in_(OPEN))
    number = session.scalar(jobs) or 0
    if number:
        has = "has" if number == 1 else "have"
        raise Conflict(f"{count(number, 'job')} of {project.name} {has} not ended. Stop them, or wait for their end.")
    if is_freezing(session, project.id):
        raise Conflict(f"Answers of {project.name} are being frozen. Try again when that has ended.")
