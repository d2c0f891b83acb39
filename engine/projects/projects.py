"""Projects and their settings."""

from dataclasses import dataclass

from pydantic import ValidationError
from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from db.base import now
from db.tables import Annotation, Document, Member, Project, User
from engine import audit
from engine.errors import Conflict, NotFound, Refused
from engine.projects import overlap, priority
from engine.projects.project_settings import ProjectSettings, settings_of
from engine.queries import existing
from engine.settings import Settings
from engine.statuses import ACCEPTED
from engine.text import check_name
from engine.workspace import Workspace

DEFAULT_NAME = "default"


# Whoever changes one of these sets a new clock: nothing that would have been due before is made up for.
_CLOCK = {"retrain_automatically", "retrain_cron", "retrain_time_zone"}


@dataclass(frozen=True, slots=True)
class ProjectSummary:
    """A project as a list shows it."""

    project: Project
    documents: int
    accepted: int


def ensure_project(session: Session, name: str, settings: Settings, created_by: str | None = None) -> Project:
    """Return the project `name`, made if there is none, inside the caller's unit of work."""
    project = session.scalar(select(Project).where(Project.name == name))
    if project is None:
        _check_name(name)
        chosen = ProjectSettings(retrain_after=settings.retrain_after)
        project = Project(name=name, settings=chosen.model_dump(), created_by=created_by)
        session.add(project)
        session.flush()
    return project


def create_project(workspace: Workspace, name: str, description: str = "", created_by: str | None = None) -> Project:
    """Create a project; who creates it is its admin. Conflict when the name is taken."""
    _check_name(name)
    chosen = ProjectSettings(retrain_after=workspace.settings.retrain_after)
    try:
        with workspace.database.write() as session:
            project = Project(name=name, description=description, settings=chosen.model_dump(), created_by=created_by)
            session.add(project)
            session.flush()
            # The local user, who cannot log in, is an admin everywhere and needs no membership.
            if created_by is not None and session.get_one(User, created_by).password_hash is not None:
                session.add(Member(project_id=project.id, user_id=created_by, role="admin"))
            audit.record(session, created_by, "projects.create", project.id, project.id, name=name)
            return project
    except IntegrityError:
        raise Conflict(f"There is a project {name!r} already.") from None


def change_settings(
    workspace: Workspace, project_id: str, *, by: str | None = None, **changes: object
) -> ProjectSettings:
    """Change some of a project's settings; what changed is audited. Refused with a sentence for a value that cannot be."""
    with workspace.database.write() as session:
        # Locked: settings are one value, and who changes another one of them at the same time must not undo this.
        project = existing(session, Project, project_id, with_for_update={"key_share": True})
        try:
            chosen = ProjectSettings.model_validate({**project.settings, **changes})
        except ValidationError as error:
            first = error.errors()[0]
            if not first["loc"]:  # what two settings say together, in a sentence of its own
                raise Refused(f"{first['msg'].removeprefix('Value error, ')}.") from None
            raise Refused(f"The setting {'.'.join(map(str, first['loc']))} cannot be so: {first['msg']}.") from None
        before, after = settings_of(project).model_dump(), chosen.model_dump()
        changed = {name: [before[name], value] for name, value in after.items() if value != before[name]}
        if changed:
            audit.record(session, by, "settings.change", project.id, project.id, changes=changed)
        project.settings = after
        if _CLOCK & set(changed):
            project.clock_since = now()
        if before["selection"] != after["selection"]:
            priority.forget(session, project_id)
        if {"overlap_share", "overlap_people"} & set(changes):
            overlap.redraw(session, project_id, chosen.overlap_share, chosen.overlap_people)
        return chosen


def project_named(workspace: Workspace, name: str) -> Project:
    """Return a project by name. NotFound names the ones there are."""
    with workspace.database.read() as session:
        project = session.scalar(select(Project).where(Project.name == name))
        if project is None:
            names = ", ".join(session.scalars(select(Project.name).order_by(Project.name)))
            raise NotFound(f"There is no project {name!r}; there is {names or 'none yet'}.")
        return project


def project_by_id(workspace: Workspace, project_id: str) -> Project:
    """Return a project by id. NotFound when there is none."""
    with workspace.database.read() as session:
        return existing(session, Project, project_id)


def summaries(workspace: Workspace, user: User | None = None) -> list[ProjectSummary]:
    """Return the projects that a user may see, or all, with their counts: the default one first, the others by name."""
    documents = select(func.count(Document.id)).where(Document.project_id == Project.id).scalar_subquery()
    accepted = (
        select(func.count(Annotation.id))
        .where(Annotation.project_id == Project.id, Annotation.status.in_(ACCEPTED))
        .scalar_subquery()
    )
    with workspace.database.read() as session:
        chosen = select(Project, documents, accepted).order_by(Project.name != DEFAULT_NAME, Project.name)
        if user is not None and user.role != "admin":
            chosen = chosen.join(Member, (Member.project_id == Project.id) & (Member.user_id == user.id))
        rows = session.execute(chosen).all()
    return [ProjectSummary(*row) for row in rows]


def _check_name(name: str) -> None:
    check_name(name, "A project's name", longest=100)
