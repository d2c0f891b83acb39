"""Conditions and lookups of many services: answers not removed, automatic ones in force, newest revision, row by id.

Questions that are asked stay out of the bin meanwhile: `lock_questions`.
"""

from collections.abc import Collection
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, and_, exists, select
from sqlalchemy.orm import Session, aliased

from db.base import Base
from db.statuses import REMOVED
from db.tables import Annotation, AutomaticAnswer, Project, Question, RemovedQuestion, Revision, Task
from engine.errors import Conflict, NotFound
from engine.text import quote_file_name

_NAMES = {"modelversion": "model", "loginsession": "session", "projectfield": "field"}
_Row = TypeVar("_Row", bound=Base)


def not_removed(annotation: type[Annotation] = Annotation) -> ColumnElement[bool]:
    """Return the condition that an answer is not removed.

    Every statement about answers needs it, except where another condition implies it: `is_newest`, or the statuses that
    count there, as `Annotation.status.in_(ACCEPTED)`.

    Args:
        annotation: the table `Annotation`, or an alias of it.
    """
    return annotation.status != REMOVED


def is_asked() -> ColumnElement[bool]:
    """Return the condition that a row of questions is not in the bin."""
    return ~exists().where(RemovedQuestion.question_id == Question.id)


def lock_questions(session: Session, ids: Collection[str]) -> set[str]:
    """Keep questions out of the bin until the commit; return those that are not there already.

    Whoever stores a new answer calls it before, so that the answer is removed with its question, or refused.
    """
    some = select(Question.id).where(Question.id.in_(ids)).order_by(Question.id)
    locked = set(session.scalars(some.with_for_update(read=True, key_share=True)))
    return locked - set(
        session.scalars(select(RemovedQuestion.question_id).where(RemovedQuestion.question_id.in_(ids)))
    )


def lock_question(session: Session, question: Question) -> None:
    """Keep a question out of the bin until the commit. Raises Conflict where it lies there."""
    if not lock_questions(session, [question.id]):
        raise Conflict(
            f"The question {quote_file_name(question.text)} was removed and lies in the bin of its project. An admin "
            "of the project can restore it with its answers."
        )


def is_project() -> ColumnElement[bool]:
    """Return the condition that a row of projects is one for people, and not the bin of another."""
    return Project.bin_of.is_(None)


def is_active() -> ColumnElement[bool]:
    """Return the condition that a row of projects is one for people that is not archived."""
    return is_project() & Project.archived_at.is_(None)


def is_bin_of(project_id: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """Return the conditions that a row of projects holds removed documents of a project.

    A removed project is the bin of itself, and holds documents that were not removed.
    """
    return Project.bin_of == project_id, Project.id != project_id


def awaits_verdict() -> ColumnElement[bool]:
    """Return the condition that an automatic answer is not withdrawn and has no verdict."""
    return and_(AutomaticAnswer.withdrawn_at.is_(None), AutomaticAnswer.verdict.is_(None))


def in_force() -> ColumnElement[bool]:
    """Return the condition that an automatic answer awaits its verdict, and its question is not in the bin."""
    task = aliased(Task)
    in_bin = exists().where(task.id == AutomaticAnswer.task_id, RemovedQuestion.question_id == task.question_id)
    return awaits_verdict() & ~in_bin.correlate(AutomaticAnswer)


def replaces_person() -> ColumnElement[bool]:
    """Return the condition that an automatic answer is in force and not drawn for a check."""
    return and_(in_force(), AutomaticAnswer.audit.is_(False))


def is_newest(revision: type[Revision] = Revision) -> ColumnElement[bool]:
    """Return the condition that joins an annotation that is not removed to its newest revision.

    Args:
        revision: the table `Revision`, or an alias of it.
    """
    return not_removed() & is_head(revision)


def is_head(revision: type[Revision] = Revision) -> ColumnElement[bool]:
    """Return the condition of `is_newest`, for removed annotations too."""
    return (revision.annotation_id == Annotation.id) & (revision.number == Annotation.head)


def existing(session: Session, table: type[_Row], row_id: str, **options: Any) -> _Row:
    """Return the row of a table by its id.

    Args:
        session: an open session.
        table: the mapped class, as `Page`.
        row_id: the primary key.
        options: passed on to `Session.get`, as `with_for_update=True`.

    Raises:
        NotFound: there is no such row; the sentence names the kind ("There is no such page.").
    """
    row = session.get(table, row_id, **options)
    if row is None:
        name = table.__name__.lower()
        raise NotFound(f"There is no such {_NAMES.get(name, name)}.")
    return row
