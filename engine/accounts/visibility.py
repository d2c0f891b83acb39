"""Visibility: answers to overlapping tasks and gold questions are hidden until annotators answer.

Annotators who see another mark no longer answer independently. After submitting their own answer they see all of them.
Every id of an answer in a route is checked here (engine.accounts.permissions.check), as is every change of an answer
(engine.accounts.permissions.check_author). Lists omit hidden answers.
"""

from collections.abc import Collection

from sqlalchemy import ColumnElement, exists, literal_column, or_, select
from sqlalchemy.orm import Session, aliased

from db.statuses import ANSWERED, REMOVED
from db.tables import Annotation, Document, Member, Project, Task, TransferredDocument, User
from engine.errors import NotFound

SOMEBODY = "Somebody else"  # replaces the name of a person who holds or answered the question
NOT_THERE = "There is no such annotation."  # as for an unknown id: existence would reveal that somebody has answered
PROJECT_IN_BIN = "This project was removed and lies in the bin. An admin of this server can restore it."
IN_BIN = "This document was removed and lies in the bin of its project. An admin of the project can restore it."
GONE = "This answer was removed. Its author, a reviewer or an admin of the project can restore it."


def is_compared_with(viewer_id: str) -> ColumnElement[bool]:
    """Return the condition that the viewer has not answered a task whose answers will be compared.

    Args:
        viewer_id: id of the annotator.
    """
    own = aliased(Annotation)
    answered = exists().where(
        own.document_id == Task.document_id,
        own.question_id == Task.question_id,
        own.author_id == viewer_id,
        own.status.in_(ANSWERED),
    )
    return _is_compared() & ~answered


def _is_compared() -> ColumnElement[bool]:
    # As in the index of compared tasks: a database may not take a parameter for the number of the index.
    return Task.closed_at.is_(None) & or_(Task.wanted > literal_column("1"), Task.gold_revision_id.is_not(None))


def compared_pairs(
    session: Session, pairs: Collection[tuple[str | None, str | None]], viewer_id: str | None = None
) -> set[tuple[str | None, str | None]]:
    """Return those (document, question) pairs whose answers are compared.

    Args:
        session: an open session.
        pairs: pairs to look up.
        viewer_id: id of an annotator; only pairs whose other answers are hidden from them. None: from anybody.
    """
    asked = Task.document_id.in_({document_id for document_id, _ in pairs})
    hidden = is_compared_with(viewer_id) if viewer_id is not None else _is_compared()
    found = session.execute(select(Task.document_id, Task.question_id).where(asked, hidden)).tuples()
    return set(pairs) & set(found)


def compared_documents(session: Session, documents: Collection[str], viewer_id: str | None = None) -> set[str]:
    """Return those documents that have a task whose answers are compared.

    Args:
        session: an open session.
        documents: ids of documents.
        viewer_id: id of an annotator; only tasks whose other answers are hidden from them. None: from anybody.
    """
    hidden = is_compared_with(viewer_id) if viewer_id is not None else _is_compared()
    return set(session.scalars(select(Task.document_id).where(Task.document_id.in_(documents), hidden).distinct()))


def sees_all(session: Session, project_id: str, viewer_id: str) -> bool:
    """Return whether a user sees all answers of a project, as reviewers and admins do."""
    judges = ("reviewer", "admin")
    member = exists().where(Member.project_id == project_id, Member.user_id == User.id, Member.role.in_(judges))
    reviewer = select(User.id).where(
        User.id == viewer_id, User.disabled_at.is_(None), or_(User.role == "admin", member)
    )
    return session.scalar(reviewer) is not None


def works_blind(session: Session, project_id: str, viewer_id: str | None) -> bool:
    """Return whether answers of a project may be hidden from a user, so that its sums are withheld from them.

    Sums over a whole project would tell of each answer when it comes. None, the owner of the machine, sees all.
    """
    if viewer_id is None or sees_all(session, project_id, viewer_id):
        return False
    return session.scalar(select(Task.id).where(Task.project_id == project_id, _is_compared()).limit(1)) is not None


def hidden_answers(viewer_id: str) -> ColumnElement[bool]:
    """Return the condition that another user's annotation is hidden from an annotator.

    Args:
        viewer_id: id of the annotator; reviewers and admins see all (`sees_all`).
    """
    asked = exists().where(
        Task.document_id == Annotation.document_id,
        Task.question_id == Annotation.question_id,
        is_compared_with(viewer_id),
    )
    return (Annotation.author_id != viewer_id) & asked


def hidden_questions(session: Session, document_id: str, viewer_id: str) -> set[str]:
    """Return ids of a document's questions whose other answers are hidden from the user.

    Empty for reviewers.
    """
    document = session.get(Document, document_id)
    if document is None or sees_all(session, document.project_id, viewer_id):
        return set()
    return set(
        session.scalars(select(Task.question_id).where(Task.document_id == document_id, is_compared_with(viewer_id)))
    )


def unnamed_tasks(session: Session, project_id: str, viewer_id: str, tasks: Collection[str]) -> set[str]:
    """Return those of a project's tasks whose holders and authors are not named to the user; none for reviewers."""
    if not tasks or sees_all(session, project_id, viewer_id):
        return set()
    return set(session.scalars(select(Task.id).where(Task.id.in_(tasks), is_compared_with(viewer_id))))


def is_hidden(session: Session, annotation: Annotation, viewer_id: str) -> bool:
    """Return whether an answer, its author and its existence are hidden from a user."""
    hidden = select(Annotation.id).where(Annotation.id == annotation.id, hidden_answers(viewer_id))
    return session.scalar(hidden) is not None and not sees_all(session, annotation.project_id, viewer_id)


def load_visible(session: Session, annotation_id: str, viewer_id: str | None, *, removed: bool = False) -> Annotation:
    """Return an annotation that the user may see.

    Args:
        session: an open session.
        annotation_id: id of the annotation.
        viewer_id: id of the user; None: no check.
        removed: also return a removed one.

    Raises:
        NotFound: there is no such annotation, it is hidden from the user, or it was removed.
    """
    annotation = session.get(Annotation, annotation_id)
    if annotation is None or (viewer_id is not None and is_hidden(session, annotation, viewer_id)):
        raise NotFound(NOT_THERE)
    if not removed:
        check_standing(annotation.status)
    return annotation


def why_gone(session: Session, document_id: str, viewer_id: str) -> str:
    """Return a sentence about a document that lies in a bin: it was removed, or moved to another project.

    Args:
        session: an open session.
        document_id: the document.
        viewer_id: id of the user; only members of the other project read its name.
    """
    moved = (
        select(Project.id, Project.name)
        .join(Document, Document.project_id == Project.id)
        .join(TransferredDocument, TransferredDocument.document_id == Document.id)
        .where(TransferredDocument.origin_id == document_id, TransferredDocument.moved, Project.bin_of.is_(None))
        .order_by(TransferredDocument.created_at.desc())
    )
    place = session.execute(moved.limit(1)).one_or_none()
    if place is None:
        return IN_BIN
    member = exists().where(Member.project_id == place.id, Member.user_id == User.id)
    sees = select(User.id).where(User.id == viewer_id, or_(User.role == "admin", member))
    if session.scalar(sees) is None:
        return "This document was moved to another project. Ask an admin of this project where it is."
    return f"This document was moved to the project {place.name}. Open it there."


def check_standing(status: str) -> None:
    """Check that an answer of this status was not removed; first check that the user may see it. Raises NotFound."""
    if status == REMOVED:
        raise NotFound(GONE)
