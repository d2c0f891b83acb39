"""Answers follow their question into the bin, and back, document by document.

An answer that goes with its question is marked, so that exactly these come back: one that a person removed before stays
removed. Nobody answers a question in the bin (engine.queries.lock_questions).
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import exists, func, select, tuple_, update
from sqlalchemy.orm import Session, aliased

from db import changes
from db.lock_waits import wait_shortly
from db.statuses import REMOVED
from db.tables import Annotation, RemovedQuestion, Revision
from engine.queries import is_head, not_removed


def follow(session: Session, project_id: str, documents: Sequence[str]) -> None:
    """Remove the answers of some documents to questions in the bin, and restore those of questions that came back.

    Args:
        session: of the unit of work; the project is locked.
        project_id: the project.
        documents: ids of some of its documents.
    """
    in_bin = list(session.scalars(select(RemovedQuestion.question_id).where(RemovedQuestion.project_id == project_id)))
    of_documents = Annotation.document_id.in_(documents)
    going = of_documents, Annotation.question_id.in_(in_bin), not_removed()
    coming = of_documents, Annotation.removed_with_question, Annotation.question_id.not_in(in_bin)
    if in_bin and _has(session, *going):
        remove_answers(session, project_id, *going)
    if _has(session, *coming):
        _restore_answers(session, project_id, *coming)


def remove_answers(session: Session, project_id: str, *which: Any) -> None:
    """Remove answers with their questions, all of one project, or of its bin."""
    wait_shortly(session)
    removed = update(Annotation).where(*which).values(status=REMOVED, removed_with_question=True)
    session.execute(removed.execution_options(synchronize_session=False))
    changes.publish(session, "answers", project_id)


def _restore_answers(session: Session, project_id: str, *which: Any) -> None:
    """Give answers back the status of their newest revision.

    One whose author has answered anew, before the answers of the document were back, becomes like others that a person
    has removed. That new answer may have gone with the question again: the newest of an author's comes back.
    """
    wait_shortly(session)
    newest = select(Revision.status).where(is_head()).correlate(Annotation).scalar_subquery()
    other = aliased(Annotation)
    is_newer = tuple_(other.created_at, other.id) > tuple_(Annotation.created_at, Annotation.id)
    anew = exists().where(
        other.document_id == Annotation.document_id,
        other.question_id == Annotation.question_id,
        other.author_id == Annotation.author_id,
        not_removed(other) | (other.removed_with_question & is_newer),
    )
    restored = update(Annotation).where(*which, ~anew)
    restored = restored.values(status=func.coalesce(newest, "draft"), removed_with_question=False)
    unmarked = update(Annotation).where(*which).values(removed_with_question=False)
    for statement in (restored, unmarked):
        session.execute(statement.execution_options(synchronize_session=False))
    changes.publish(session, "answers", project_id)


def _has(session: Session, *which: Any) -> bool:
    return session.scalar(select(Annotation.id).where(*which).limit(1)) is not None
