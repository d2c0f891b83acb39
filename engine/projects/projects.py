"""Projects and their settings."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import ValidationError
from sqlalchemy import case, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from db.base import now
from db.tables import EVERYBODY, Member, Project, ProjectFigures, User
from engine import audit
from engine.errors import Conflict, NotFound, Refused
from engine.fields.normalisation import LocaleContext
from engine.paging import Order, Page
from engine.projects.project_settings import ProjectSettings, settings_of
from engine.queries import existing, is_active, is_project
from engine.settings import Settings
from engine.tasks.opening import task_changes
from engine.text import check_name
from engine.workspace import Workspace

DEFAULT_NAME = "default"
MOST_LISTED = 1000  # projects of one page
_TAKEN = "The project name {name!r} is taken. Choose another one."

_READING = {"locale", "conventions", "issuer_conventions"}  # a change of one of these gives printed text other values
# A change of one of these restarts the schedule: earlier times are not caught up on.
_CLOCK = {"retrain_automatically", "retrain_cron", "retrain_time_zone"}


@dataclass(frozen=True, slots=True)
class ProjectSummary:
    """A project with its number of documents, and of their questions with an accepted answer."""

    project: Project
    documents: int
    accepted: int


def ensure_project(session: Session, name: str, settings: Settings, created_by: str | None = None) -> Project:
    """Return a project by name, created if missing, inside the caller's unit of work.

    Args:
        session: an open session.
        name: name of the project.
        settings: deployment settings, for defaults of a new project.
        created_by: id of the creating user.
    """
    project = session.scalar(select(Project).where(Project.name == name))
    if project is None:
        _check_name(name)
        chosen = ProjectSettings(retrain_after=settings.retrain_after)
        project = Project(name=name, settings=chosen.model_dump(), created_by=created_by)
        session.add(project)
        session.flush()
    return project


def create_project(workspace: Workspace, name: str, description: str = "", created_by: str | None = None) -> Project:
    """Create a project; the creating user becomes its admin.

    Args:
        workspace: open workspace.
        name: name of the project.
        description: description for people.
        created_by: id of the creating user.

    Raises:
        Refused: the name is invalid.
        Conflict: the name is taken.
    """
    _check_name(name)
    chosen = ProjectSettings(retrain_after=workspace.settings.retrain_after)
    try:
        with workspace.database.write() as session:
            project = Project(name=name, description=description, settings=chosen.model_dump(), created_by=created_by)
            session.add(project)
            session.flush()
            # The local user has no password, is an admin everywhere, and needs no membership.
            if created_by is not None and session.get_one(User, created_by).password_hash is not None:
                session.add(Member(project_id=project.id, user_id=created_by, role="admin"))
            audit.record(session, created_by, "projects.create", project.id, project.id, name=name)
            return project
    except IntegrityError:
        raise Conflict(_TAKEN.format(name=name)) from None


def rename_project(
    workspace: Workspace, project_id: str, name: str, by: str | None, *, before: str | None = None
) -> None:
    """Rename a project. Audited; the same name again changes nothing.

    Args:
        workspace: open workspace.
        project_id: the project.
        name: its new name.
        by: id of the acting user.
        before: name that the person saw; None: do not check.

    Raises:
        Refused: the name is invalid.
        NotFound: there is no such project.
        Conflict: the name is taken, or somebody renamed the project since the person saw `before`.
    """
    _check_name(name)
    try:
        with workspace.database.write() as session:
            project = lock_project(session, project_id)
            if project.name == name:
                return
            if before is not None and project.name != before:
                raise Conflict(f"Somebody renamed {before} to {project.name} meanwhile. Your name was not stored.")
            audit.record(session, by, "projects.rename", project.id, project.id, before=project.name, name=name)
            project.name = name
            session.flush()
    except IntegrityError:
        raise Conflict(_TAKEN.format(name=name)) from None


def ensure_default(session: Session, settings: Settings, created_by: str | None) -> None:
    """Create the default project in an installation that has none; it may have been renamed."""
    if session.scalar(select(Project.id).where(is_project()).limit(1)) is None:
        ensure_project(session, DEFAULT_NAME, settings, created_by)


def change_settings(
    workspace: Workspace, project_id: str, *, by: str | None = None, **changes: object
) -> ProjectSettings:
    """Change settings of a project; changes are audited.

    In a large project the tasks follow a change of overlap or order in batches (engine.tasks.opening.task_changes).

    Args:
        workspace: open workspace.
        project_id: project.
        by: id of the acting user.
        changes: new values by setting.

    Returns:
        All settings after the change.

    Raises:
        Refused: a value is invalid.
        NotFound: there is no such project.
    """
    with workspace.database.write() as session:
        project = lock_project(session, project_id)
        chosen, changed = store_settings(session, project, changes, by)
        goes_on = False
        if _READING & changed:
            goes_on |= task_changes.ask(session, project, task_changes.VALUES, by)
        if "selection" in changed:
            goes_on |= task_changes.ask(session, project, task_changes.ORDER, by)
        if {"overlap_share", "overlap_people"} & set(changes):
            goes_on |= task_changes.ask(session, project, task_changes.OVERLAP, by)
    if goes_on:
        task_changes.follow_now(workspace, project_id)
    return chosen


def lock_project(session: Session, project_id: str) -> Project:
    """Return a project, locked: settings are one JSON value, and simultaneous changes of two must both be kept."""
    return existing(session, Project, project_id, with_for_update={"key_share": True})


def store_settings(
    session: Session, project: Project, changes: Mapping[str, object], by: str | None
) -> tuple[ProjectSettings, set[str]]:
    """Store changed settings of a locked project; return all settings and the names of those that differ. Audited."""
    try:
        chosen = ProjectSettings.model_validate({**project.settings, **changes})
    except ValidationError as error:
        first = error.errors()[0]
        if not first["loc"]:  # a condition on two settings, with a sentence of its own
            raise Refused(f"{first['msg'].removeprefix('Value error, ')}.") from None
        raise Refused(f"The setting {'.'.join(map(str, first['loc']))} is invalid: {first['msg']}.") from None
    if chosen.locale:
        LocaleContext(locale=chosen.locale)  # refuses one that CLDR does not know
    before, after = settings_of(project).model_dump(), chosen.model_dump()
    changed = {name: [before[name], value] for name, value in after.items() if value != before[name]}
    if changed:
        audit.record(session, by, "settings.change", project.id, project.id, changes=changed)
    project.settings = after
    if _CLOCK & set(changed):
        project.clock_since = now()
    session.flush()
    return chosen, set(changed)


def project_named(workspace: Workspace, name: str) -> Project:
    """Return a project by name.

    Raises:
        NotFound: there is no such project; the sentence lists all names.
    """
    with workspace.database.read() as session:
        project = session.scalar(select(Project).where(Project.name == name, is_project()))
        if project is None:
            names = ", ".join(session.scalars(select(Project.name).where(is_project()).order_by(Project.name)))
            raise NotFound(f"There is no project {name!r}. Projects: {names or 'none'}.")
        return project


def project_by_id(workspace: Workspace, project_id: str) -> Project:
    """Return a project by id.

    Raises:
        NotFound: there is no such project.
    """
    with workspace.database.read() as session:
        return existing(session, Project, project_id)


def summaries(
    workspace: Workspace,
    user: User | None = None,
    *,
    archived: bool = False,
    limit: int = MOST_LISTED,
    cursor: str | None = None,
) -> Page[ProjectSummary]:
    """Return a page of the projects of a user with their counts: the default one first, the others by name.

    Args:
        workspace: open workspace.
        user: limits the list to the user's projects; None, or an admin: all.
        archived: return the archived ones; otherwise the others.
        limit: maximum number, at most MOST_LISTED.
        cursor: of the page; None: the first page.

    Raises:
        Refused: the cursor is not one of this list.
    """
    chosen = select(Project).where(is_project() & Project.archived_at.is_not(None) if archived else is_active())
    if user is not None and user.role != "admin":
        chosen = chosen.join(Member, (Member.project_id == Project.id) & (Member.user_id == user.id))
    order = Order(
        "archived projects" if archived else "projects",
        (case((Project.name == DEFAULT_NAME, 0), else_=1), Project.name),
    )
    with workspace.database.read() as session:
        rows, following = order.rows(session, chosen, min(limit, MOST_LISTED), cursor)
        here = [project.id for (project,) in rows]
        kept = select(ProjectFigures.project_id, ProjectFigures.documents, ProjectFigures.accepted)
        of_everybody = kept.where(ProjectFigures.project_id.in_(here), ProjectFigures.person_id == EVERYBODY)
        numbers = {project_id: counts for project_id, *counts in session.execute(of_everybody)}
        hidden = _count_hidden(session, user, here) if user is not None and user.role != "admin" else {}
    summaries = []
    for (project,) in rows:
        documents, accepted = numbers.get(project.id, (0, 0))
        summaries.append(ProjectSummary(project, documents, accepted - hidden.get(project.id, 0)))
    return Page(summaries, following)


def _count_hidden(session: Session, user: User, ids: Sequence[str]) -> dict[str, int]:
    """Return how many accepted answers are hidden from a user, by project; answers are hidden from annotators alone."""
    blind = select(Member.project_id).where(Member.user_id == user.id, Member.role == "annotator")
    chosen = select(ProjectFigures.project_id, ProjectFigures.person_id, ProjectFigures.compared).where(
        ProjectFigures.project_id.in_(ids),
        ProjectFigures.project_id.in_(blind),
        ProjectFigures.person_id.in_((EVERYBODY, user.id)),
    )
    hidden: Counter[str] = Counter()
    for project_id, person_id, compared in session.execute(chosen):
        hidden[project_id] += compared if person_id == EVERYBODY else -compared
    return hidden


def visible_to(workspace: Workspace, user: User) -> list[Project]:
    """Return the projects of a user that are not archived, without counts: the default one first, others by name."""
    chosen = select(Project).where(is_active()).order_by(Project.name != DEFAULT_NAME, Project.name)
    if user.role != "admin":
        chosen = chosen.join(Member, (Member.project_id == Project.id) & (Member.user_id == user.id))
    with workspace.database.read() as session:
        return list(session.scalars(chosen))


def _check_name(name: str) -> None:
    check_name(name, "A project's name", longest=100)
