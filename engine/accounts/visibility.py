"""What an annotator does not see: others' answers to a question that several people, or a known answer, are to be compared on.

Whoever has seen another person's mark no longer answers independently. Once their own answer is handed in, they see all.
Every id of an answer in a route is asked about here (engine.accounts.permissions.check), and so is every change of one
(engine.accounts.permissions.check_author); lists leave out what is hidden.
"""

from sqlalchemy import ColumnElement, exists, or_, select
from sqlalchemy.orm import Session, aliased

from db.tables import Annotation, Document, Member, Task, User
from engine.errors import NotFound
from engine.statuses import ANSWERED

SOMEBODY = "Somebody else"  # who holds or answered a question, told to whom they are to be compared with
NOT_THERE = "There is no such annotation."  # as for an unknown one: that somebody has answered tells something


def compared(viewer_id: str) -> ColumnElement[bool]:
    """Return the condition that the viewer's answer to a task will be compared with others', and is still to come."""
    own = aliased(Annotation)
    answered = exists().where(
        own.document_id == Task.document_id,
        own.question_id == Task.question_id,
        own.author_id == viewer_id,
        own.status.in_(ANSWERED),
    )
    return Task.closed_at.is_(None) & or_(Task.wanted > 1, Task.gold_revision_id.is_not(None)) & ~answered


def sees_all(session: Session, project_id: str, viewer_id: str) -> bool:
    """Return whether nothing in a project is hidden from a person: from a reviewer and an admin."""
    judges = ("reviewer", "admin")
    member = exists().where(Member.project_id == project_id, Member.user_id == User.id, Member.role.in_(judges))
    found = select(User.id).where(User.id == viewer_id, User.disabled_at.is_(None), or_(User.role == "admin", member))
    return session.scalar(found) is not None


def hidden_answers(viewer_id: str) -> ColumnElement[bool]:
    """Return the condition that an annotation is somebody else's, and hidden from the viewer as long as they are no reviewer."""
    asked = exists().where(
        Task.document_id == Annotation.document_id, Task.question_id == Annotation.question_id, compared(viewer_id)
    )
    return (Annotation.author_id != viewer_id) & asked


def hidden_questions(session: Session, document_id: str, viewer_id: str) -> set[str]:
    """Return the questions of a document to which this person is shown their own answer alone. None are for a reviewer."""
    document = session.get(Document, document_id)
    if document is None or sees_all(session, document.project_id, viewer_id):
        return set()
    return set(session.scalars(select(Task.question_id).where(Task.document_id == document_id, compared(viewer_id))))


def unnamed_tasks(session: Session, project_id: str, viewer_id: str) -> set[str]:
    """Return the tasks of a project of which this person is not told who holds or answered them. None are for a reviewer."""
    if sees_all(session, project_id, viewer_id):
        return set()
    return set(session.scalars(select(Task.id).where(Task.project_id == project_id, compared(viewer_id))))


def is_hidden(session: Session, annotation: Annotation, viewer_id: str) -> bool:
    """Return whether a person is not to see an answer, nor whose it is, nor that it is there."""
    hidden = select(Annotation.id).where(Annotation.id == annotation.id, hidden_answers(viewer_id))
    return session.scalar(hidden) is not None and not sees_all(session, annotation.project_id, viewer_id)


def seen(session: Session, annotation_id: str, viewer_id: str | None) -> Annotation:
    """Return an annotation that this person may see (None: anybody). NotFound when there is none, or it is hidden from them."""
    annotation = session.get(Annotation, annotation_id)
    if annotation is None or (viewer_id is not None and is_hidden(session, annotation, viewer_id)):
        raise NotFound(NOT_THERE)
    return annotation
