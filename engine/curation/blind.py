"""What an annotator does not see: others' answers to a question that several people, or a known answer, are to be compared on.

Whoever has seen another person's mark no longer answers independently. Once their own answer is handed in, they see all.
"""

from sqlalchemy import exists, or_, select
from sqlalchemy.orm import Session, aliased

from db.tables import Annotation, Document, Task, User
from engine.access import role_in
from engine.curation.overlap import ANSWERED
from engine.errors import NotFound


def hidden_questions(session: Session, document_id: str, viewer_id: str) -> set[str]:
    """Return the questions of a document to which this person is shown their own answer alone. None are for a reviewer."""
    document, viewer = session.get(Document, document_id), session.get(User, viewer_id)
    if document is None or viewer is None or role_in(session, viewer, document.project_id) in ("reviewer", "admin"):
        return set()
    own = aliased(Annotation)
    answered = exists().where(
        own.document_id == Task.document_id,
        own.question_id == Task.question_id,
        own.author_id == viewer_id,
        own.status.in_(ANSWERED),
    )
    compared = or_(Task.wanted > 1, Task.gold_revision_id.is_not(None))
    chosen = select(Task.question_id).where(
        Task.document_id == document_id, Task.closed_at.is_(None), compared, ~answered
    )
    return set(session.scalars(chosen))


def seen(session: Session, annotation_id: str, viewer_id: str | None) -> Annotation:
    """Return an annotation that this person may see (None: anybody). NotFound when there is none, or it is hidden from them."""
    annotation = session.get(Annotation, annotation_id)
    if annotation is None:
        raise NotFound("There is no such annotation.")
    if viewer_id in (None, annotation.author_id):
        return annotation
    if annotation.question_id in hidden_questions(session, annotation.document_id, str(viewer_id)):
        raise NotFound(
            "There is no such annotation."
        )  # as for an unknown one: that somebody has answered tells something
    return annotation
