"""Removal of answers that were asked by mistake, and their return.

A removal is a mark: the status "removed" in place of the newest revision's. Revisions, reviews and proposals stay, and
the head stays too, so an answer comes back exactly as it was, whenever that is. Meanwhile it counts nowhere
(engine.queries.not_removed). What was frozen before does not change: snapshots, those of the holdouts among them, hold
the answers themselves.
"""

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from db import changes
from db.statuses import ANSWERED, REMOVED
from db.tables import Annotation, Document, Question, Revision, Task, User
from engine import audit, leases
from engine.accounts import permissions, visibility
from engine.annotation import automatic_checks
from engine.annotation.revisions import moved_on
from engine.errors import Conflict, Forbidden, NotFound, Refused
from engine.queries import lock_question
from engine.workspace import Workspace

_COMPARED = (
    "This answer was submitted, and is compared with those of other people. "
    "A reviewer or an admin of the project can remove it."
)
_GOLD = "This is the known answer of a gold question. Choose another answer for that question first, or none."
_TWICE = "{author} has answered this question again since. Remove that answer first, then restore this one."


def remove(workspace: Workspace, annotation_id: str, base: int | None, user_id: str) -> None:
    """Remove an answer with its question from its document. Audited; repeating it changes nothing.

    Ends the leases of the answer and of its author's task, which goes back to the queue.

    Args:
        workspace: Open workspace.
        annotation_id: Answer to remove.
        base: Revision that the person saw; None: the newest.
        user_id: Author of the answer, or a reviewer or admin of its project.

    Raises:
        NotFound: There is no such answer, or it is hidden from the user.
        Forbidden: The answer belongs to another user, or is compared with others' and its author is no reviewer.
        RevisionConflict: The answer has a newer revision than `base`.
        Refused: It is the known answer of a gold question, and the user a reviewer or admin; others get Forbidden.
    """
    with workspace.database.write() as session:
        annotation = _changeable(session, annotation_id, user_id)
        if annotation.status == REMOVED:
            return
        if base is not None and base != annotation.head:
            raise moved_on(annotation.head, base)
        _check_removable(session, annotation, user_id)
        annotation.status = REMOVED
        _end_leases(session, annotation)
        _check_automatic(session, annotation)
        _record(session, annotation, user_id, "answers.remove")


def restore(workspace: Workspace, annotation_id: str, user_id: str) -> None:
    """Restore a removed answer as it was. Audited; repeating it changes nothing.

    Needs no base: a removed answer has no newer revision than the person saw.

    Args:
        workspace: Open workspace.
        annotation_id: Answer to restore.
        user_id: Author of the answer, or a reviewer or admin of its project.

    Raises:
        NotFound: There is no such answer, or it is hidden from the user.
        Forbidden: The answer belongs to another user.
        Conflict: Its author has another answer to the same question of the document, or the question is removed too.
    """
    with workspace.database.write() as session:
        annotation = _changeable(session, annotation_id, user_id)
        if annotation.status != REMOVED:
            return
        lock_question(session, session.get_one(Question, annotation.question_id))
        status = session.scalar(
            select(Revision.status).where(Revision.annotation_id == annotation_id, Revision.number == annotation.head)
        )
        try:
            with session.begin_nested():
                annotation.status, annotation.removed_with_question = status or "draft", False
        except IntegrityError:  # the index of answers not removed
            author = session.get_one(User, annotation.author_id).name
            raise Conflict(_TWICE.format(author=author)) from None
        _check_automatic(session, annotation)
        _record(session, annotation, user_id, "answers.restore")


def _changeable(session: Session, annotation_id: str, user_id: str) -> Annotation:
    """Return an answer that the user may remove or restore, locked until the commit."""
    annotation = session.get(Annotation, annotation_id, with_for_update=True, populate_existing=True)
    if annotation is None:
        raise NotFound(visibility.NOT_THERE)
    permissions.check_author(session, annotation, user_id, removed=True)
    return annotation


def _check_removable(session: Session, annotation: Annotation, user_id: str) -> None:
    """Check that neither a gold question nor a comparison of people loses its ground.

    After submitting, people see the answers that theirs is compared with. Could they remove their own and answer anew,
    agreement and reliability would count that as independent.
    """
    task = Task.document_id == annotation.document_id, Task.question_id == annotation.question_id
    gold = select(Task.id).join(Revision, Revision.id == Task.gold_revision_id).where(*task)
    is_gold = session.scalar(gold.where(Revision.annotation_id == annotation.id)) is not None
    sees_all = visibility.sees_all(session, annotation.project_id, user_id)
    if is_gold and sees_all:
        raise Refused(_GOLD)
    compared = visibility.compared_pairs(session, [(annotation.document_id, annotation.question_id)])
    # Annotators do not learn which questions are gold, not even of their own answers.
    if not sees_all and (is_gold or (compared and _was_submitted(session, annotation))):
        raise Forbidden(_COMPARED)


def _end_leases(session: Session, annotation: Annotation) -> None:
    leases.release(session, leases.annotation_subject(annotation.id))
    task_id = session.scalar(
        select(Task.id).where(Task.document_id == annotation.document_id, Task.question_id == annotation.question_id)
    )
    if task_id is not None:
        leases.release(session, leases.task_subject(task_id, annotation.author_id))


def _check_automatic(session: Session, annotation: Annotation) -> None:
    """Check the automatic answer to the same question anew, where this answer had a part in its verdict."""
    if _was_submitted(session, annotation):
        automatic_checks.check_anew(session, annotation.document_id, annotation.question_id)


def _was_submitted(session: Session, annotation: Annotation) -> bool:
    submitted = select(Revision.id).where(Revision.annotation_id == annotation.id, Revision.status.in_(ANSWERED))
    return session.scalar(submitted.limit(1)) is not None


def _record(session: Session, annotation: Annotation, user_id: str, action: str) -> None:
    """Record a removal or a return, and tell open screens what the session does not see: leases, suggestions."""
    question = session.get_one(Question, annotation.question_id)
    changes.publish(session, "tasks", annotation.project_id)
    if not question.standard:
        changes.publish(session, "questions", annotation.project_id)
    audit.record(
        session,
        user_id,
        action,
        annotation.id,
        annotation.project_id,
        question=question.text,
        document=session.get_one(Document, annotation.document_id).name,
        author=session.get_one(User, annotation.author_id).name,
        revision=annotation.head,
    )
