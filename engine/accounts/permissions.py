"""Permissions: admins may do everything, other users what their role in a project allows.

Projects of which a user is not a member raise NotFound, so that ids reveal nothing.
"""

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.tables import (
    Annotation,
    Document,
    Invitation,
    Job,
    Member,
    Page,
    Prediction,
    Project,
    Question,
    Run,
    Task,
    User,
    Webhook,
    WebhookDelivery,
)
from db.tables.people import Role
from engine.accounts import visibility
from engine.errors import Archived, Forbidden, NotFound
from engine.workspace import Workspace

RANK: Mapping[str, int] = {"annotator": 1, "reviewer": 2, "admin": 3}

# Name of an id in a route -> noun for people, and the table with its `project_id`. A page belongs to its document.
_OWNED: Mapping[str, tuple[str, Any]] = {
    "document_id": ("document", Document),
    "annotation_id": ("annotation", Annotation),
    "question_id": ("question", Question),
    "task_id": ("task", Task),
    "run_id": ("run", Run),
    "job_id": ("job", Job),
    "invitation_id": ("invitation", Invitation),
    "webhook_id": ("webhook", Webhook),
    "delivery_id": ("delivery", WebhookDelivery),
}
_THROUGH_PAGE: Mapping[str, tuple[str, Any]] = {
    "page_id": ("page", Page.id),
    "prediction_id": ("prediction", Prediction.id),
}
NAMES = frozenset({"project_id", *_OWNED, *_THROUGH_PAGE})


def role_in(session: Session, user: User, project_id: str) -> Role | None:
    """Return the role of a user in a project.

    Args:
        session: an open session.
        user: the user.
        project_id: project.

    Returns:
        admin for admins of the installation, else the member's role; None for non-members and disabled users.
    """
    if user.disabled_at is not None:
        return None
    if user.role == "admin":
        return "admin"
    member = session.get(Member, (project_id, user.id))
    role: Role | None = member.role if member is not None else None  # type: ignore[assignment]
    return role


def roles_in(session: Session, user: User, projects: Collection[str]) -> dict[str, Role]:
    """Return the user's roles by project, of those of `projects` that they may see; see `role_in`."""
    if user.disabled_at is not None:
        return {}
    if user.role == "admin":
        return dict.fromkeys(projects, "admin")
    mine = select(Member.project_id, Member.role).where(Member.user_id == user.id, Member.project_id.in_(projects))
    return dict(session.execute(mine).tuples().all())  # type: ignore[arg-type]


def require(
    workspace: Workspace, user: User, project_id: str, needed: Role = "annotator", *, changes: bool = False
) -> Role:
    """Return the user's role in a project after `check`, in a session of its own."""
    with workspace.database.read() as session:
        return check(session, user, {"project_id": project_id}, needed, changes=changes)


def check_author(session: Session, annotation: Annotation, user_id: str, *, removed: bool = False) -> None:
    """Check that a user may change an answer: its author, a reviewer or an admin.

    Args:
        session: an open session.
        annotation: the answer.
        user_id: id of the user.
        removed: allow a removed one.

    Raises:
        Forbidden: the user may not change it.
        NotFound: the answer is hidden from the user; Forbidden would name its author. Or it was removed.
    """
    if annotation.author_id == user_id:
        if not removed:
            visibility.check_standing(annotation.status)
        return
    visibility.load_visible(session, annotation.id, user_id, removed=removed)
    user = session.get_one(User, user_id)
    role = role_in(session, user, annotation.project_id)
    if role is None or RANK[role] < RANK["reviewer"]:
        author = session.get_one(User, annotation.author_id).name
        raise Forbidden(
            f"This answer belongs to {author}. Only {author}, a reviewer or an admin can change it. "
            "Ask the question yourself to give your own answer."
        )


def project_of(session: Session, name: str, key: str) -> str:
    """Return the project of a resource; of one in a bin, the project that it was removed from.

    Args:
        session: an open session.
        name: name of the id in routes, as "page_id".
        key: the id.

    Raises:
        NotFound: there is no such resource.
    """
    return _owner_of(session, name, key)[0]


def _owner_of(session: Session, name: str, key: str) -> tuple[str, str | None]:
    """Return the project of a resource, and a sentence if one of both lies in a bin. Raises as `project_of`."""
    owner = select(Project.id, Project.bin_of)
    if name == "project_id":
        of_itself = Project.bin_of.is_(None) | (Project.bin_of == Project.id)
        what, owner = "project", owner.where(Project.id == key, of_itself)
    elif name in _THROUGH_PAGE:
        what, column = _THROUGH_PAGE[name]
        owner = owner.join(Document, Document.project_id == Project.id).join(Page, Page.document_id == Document.id)
        if name == "prediction_id":
            owner = owner.join(Prediction, Prediction.page_id == Page.id)
        owner = owner.where(column == key)
    else:
        what, table = _OWNED[name]
        owner = owner.join(table, table.project_id == Project.id).where(table.id == key)
    owner_row = session.execute(owner).one_or_none()
    if owner_row is None:
        raise NotFound(f"There is no such {what}.")
    project_id, bin_of = owner_row
    if bin_of is None:
        return project_id, None
    return bin_of, visibility.PROJECT_IN_BIN if bin_of == project_id else visibility.IN_BIN


def check_active(session: Session, project_id: str) -> None:
    """Check that a project may be changed. Raises Archived."""
    if session.scalar(select(Project.archived_at).where(Project.id == project_id)) is not None:
        raise Archived


def check(
    session: Session,
    user: User,
    ids: Mapping[str, str],
    needed: Role = "annotator",
    *,
    removed: bool = False,
    changes: bool = False,
) -> Role:
    """Check a user's access to resources of one project.

    Args:
        session: an open session.
        user: the user.
        ids: id by name, names as in NAMES.
        needed: least role.
        removed: allow a removed answer.
        changes: whether something will be changed, which an archived project refuses.

    Returns:
        The user's role in the project.

    Raises:
        NotFound: a resource does not exist, belongs to another project, is hidden or removed; or the user is not a
            member.
        Forbidden: the role is too low, or the project is archived.
    """
    owners = {name: _owner_of(session, name, key) for name, key in ids.items()}
    projects = {project_id for project_id, _ in owners.values()}
    if len(projects) > 1:
        raise NotFound("The ids belong to different projects. Check the path.")
    project_id = projects.pop()
    role = role_in(session, user, project_id)
    if role is None:
        what = {"project_id": "project"} | {name: what for name, (what, _) in {**_OWNED, **_THROUGH_PAGE}.items()}
        raise NotFound(f"There is no such {what[next(iter(owners))]}.")
    if in_bin := next((sentence for _, sentence in owners.values() if sentence), None):
        if in_bin == visibility.IN_BIN:
            in_bin = visibility.why_gone(session, _document_of(session, ids), user.id)
        raise NotFound(in_bin)
    if RANK[role] < RANK["reviewer"]:
        _check_seen(session, user, ids)
    if RANK[role] < RANK[needed]:
        raise Forbidden(
            f"Only {'an admin' if needed == 'admin' else 'a reviewer or an admin'} of the project can do this. "
            "Ask an admin of the project for that role."
        )
    if changes:
        check_active(session, project_id)
    if "annotation_id" in ids and not removed:
        visibility.check_standing(session.get_one(Annotation, ids["annotation_id"]).status)
    return role


def _document_of(session: Session, ids: Mapping[str, str]) -> str:
    """Return the document that a resource belongs to; "" for one that belongs to none."""
    if "document_id" in ids:
        return ids["document_id"]
    for name, column in (("annotation_id", Annotation), ("task_id", Task), ("page_id", Page)):
        if name in ids:
            return session.scalar(select(column.document_id).where(column.id == ids[name])) or ""
    return ""


def _check_seen(session: Session, user: User, ids: Mapping[str, str]) -> None:
    """Raise NotFound for answers, and proposals of answers, that are hidden from the user."""
    answers = {"annotation": ids.get("annotation_id")}
    if "prediction_id" in ids:
        answers["prediction"] = session.get_one(Prediction, ids["prediction_id"]).annotation_id
    for what, key in answers.items():
        if key is not None and visibility.is_hidden(session, session.get_one(Annotation, key), user.id):
            raise NotFound(f"There is no such {what}.")
