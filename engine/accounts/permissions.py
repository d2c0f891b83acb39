"""Who may see and do what: an admin everything, everybody else what their role in a project allows.

A project that somebody is no member of does not exist for them: NotFound, so that ids tell nothing.
"""

from collections.abc import Mapping
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
)
from db.tables.people import Role
from engine.accounts import visibility
from engine.errors import Forbidden, NotFound
from engine.workspace import Workspace

RANK: Mapping[str, int] = {"annotator": 1, "reviewer": 2, "admin": 3}

# Name of an id in a route -> what it is called, and the table with its `project_id`. A page belongs to its document.
_OWNED: Mapping[str, tuple[str, Any]] = {
    "document_id": ("document", Document),
    "annotation_id": ("annotation", Annotation),
    "question_id": ("question", Question),
    "task_id": ("task", Task),
    "run_id": ("run", Run),
    "job_id": ("job", Job),
    "invitation_id": ("invitation", Invitation),
}
_THROUGH_PAGE: Mapping[str, tuple[str, Any]] = {
    "page_id": ("page", Page.id),
    "prediction_id": ("prediction", Prediction.id),
}
NAMES = frozenset({"project_id", *_OWNED, *_THROUGH_PAGE})


def role_in(session: Session, user: User, project_id: str) -> Role | None:
    """Return what a user is in a project: admin everywhere for an admin, else the member's role.

    None for strangers, and for who is disabled.
    """
    if user.disabled_at is not None:
        return None
    if user.role == "admin":
        return "admin"
    member = session.get(Member, (project_id, user.id))
    role: Role | None = member.role if member is not None else None  # type: ignore[assignment]
    return role


def require(workspace: Workspace, user: User, project_id: str, needed: Role = "annotator") -> Role:
    """Return the user's role in a project, as `check` does, in a session of its own."""
    with workspace.database.read() as session:
        return check(session, user, {"project_id": project_id}, needed)


def check_author(session: Session, annotation: Annotation, user_id: str) -> None:
    """Forbidden, with a sentence, unless the user may change this answer: its author, a reviewer or an admin may.

    NotFound where the answer is hidden from them: the sentence would say whose it is.
    """
    if annotation.author_id == user_id:
        return
    visibility.seen(session, annotation.id, user_id)
    user = session.get_one(User, user_id)
    role = role_in(session, user, annotation.project_id)
    if role is None or RANK[role] < RANK["reviewer"]:
        author = session.get_one(User, annotation.author_id).name
        raise Forbidden(
            f"This is {author}'s answer: only {author}, a reviewer or an admin may change it. "
            "Ask the question yourself to give your own answer."
        )


def project_of(session: Session, name: str, key: str) -> str:
    """Return the id of the project that a thing belongs to; `name` says what `key` is, as routes do ("page_id").

    NotFound where there is no such thing.
    """
    if name == "project_id":
        found, what = session.scalar(select(Project.id).where(Project.id == key)), "project"
    elif name in _THROUGH_PAGE:
        what, column = _THROUGH_PAGE[name]
        owner = select(Document.project_id).join(Page, Page.document_id == Document.id)
        if name == "prediction_id":
            owner = owner.join(Prediction, Prediction.page_id == Page.id)
        found = session.scalar(owner.where(column == key))
    else:
        what, table = _OWNED[name]
        found = session.scalar(select(table.project_id).where(table.id == key))
    if found is None:
        raise NotFound(f"There is no such {what}.")
    return found


def check(session: Session, user: User, ids: Mapping[str, str], needed: Role = "annotator") -> Role:
    """Return the user's role in the project that all of `ids` (name -> key, names as in NAMES) belong to.

    NotFound where something is not there, lies in a project that the user is no member of, or not in the same project as
    the rest, and for an answer that is hidden from them; Forbidden where the role is too small.
    """
    owners = {name: project_of(session, name, key) for name, key in ids.items()}
    if len(set(owners.values())) > 1:
        raise NotFound("There is no such thing in this project.")
    role = role_in(session, user, next(iter(owners.values())))
    if role is None:
        what = {"project_id": "project"} | {name: what for name, (what, _) in {**_OWNED, **_THROUGH_PAGE}.items()}
        raise NotFound(f"There is no such {what[next(iter(owners))]}.")
    if RANK[role] < RANK["reviewer"]:
        _check_seen(session, user, ids)
    if RANK[role] < RANK[needed]:
        raise Forbidden(
            f"Only {'an admin' if needed == 'admin' else 'a reviewer or an admin'} of the project may do this."
        )
    return role


def _check_seen(session: Session, user: User, ids: Mapping[str, str]) -> None:
    """NotFound, as for an unknown one, where an id is that of an answer which is hidden from the user, or of its proposal."""
    answers = {"annotation": ids.get("annotation_id")}
    if "prediction_id" in ids:
        answers["prediction"] = session.get_one(Prediction, ids["prediction_id"]).annotation_id
    for what, key in answers.items():
        if key is not None and visibility.is_hidden(session, session.get_one(Annotation, key), user.id):
            raise NotFound(f"There is no such {what}.")
