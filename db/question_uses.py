"""Kept uses of questions: each unit of work counts the documents of which it newly asked a question, or no longer asks.

The number of a question's documents goes up and down, under the lock of the question; its newest answer is looked up.
Removed answers count nowhere. Objects of the ORM are seen by events of their session; no statement in bulk adds,
removes or restores answers.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import bindparam, event, func, inspect, select, update
from sqlalchemy.orm import Session

from db.changes import ObservedSession
from db.statuses import REMOVED
from db.tables import Annotation, Question

AT_ONCE = 500  # rows of one statement: databases limit its parameters
_MOVED = "question_uses"  # in the info of a session
_Pair = tuple[str, str]  # question, document


def store(session: Session) -> None:
    """Store the uses of the questions that the unit of work asked, or no longer asks; called once, before the commit.

    It comes after `task_states.lock`, because a change of standard questions locks the project, and then its questions.
    """
    session.flush()
    moved: dict[_Pair, int] = {pair: by for pair, by in session.info.pop(_MOVED, {}).items() if by}
    if not moved:
        return
    connection = session.connection()
    questions = sorted({question for question, _ in moved})
    if connection.dialect.name == "postgresql":
        # Two people who ask the same of a document at once: the second waits here, and then sees the other's answer.
        for some in _pieces(questions):
            connection.execute(_LOCK_QUESTIONS, {"ids": some}).all()
    change = dict.fromkeys(questions, 0)
    for (question, document), by in moved.items():
        answers = connection.scalar(_ANSWERS, {"question": question, "document": document}) or 0
        change[question] += (answers > 0) - (answers - by > 0)
    connection.execute(_MOVE, [{"question": question, "by": by} for question, by in change.items()])


def apart(session: Session, project_id: str) -> list[str]:
    """Return the ids of a project's questions whose kept uses differ from what the answers say."""
    uses = (
        select(
            Annotation.question_id,
            func.count(Annotation.document_id.distinct()).label("documents"),
            func.max(Annotation.id).label("last"),
        )
        .where(Annotation.project_id == project_id, Annotation.status != REMOVED)
        .group_by(Annotation.question_id)
        .subquery()
    )
    so = func.coalesce(uses.c.documents, 0), func.coalesce(uses.c.last, "")
    differ = (Question.documents != so[0]) | (Question.last_asked != so[1])
    chosen = select(Question.id).outerjoin(uses, uses.c.question_id == Question.id)
    return list(session.scalars(chosen.where(Question.project_id == project_id, differ).order_by(Question.id)))


def count_again(session: Session, questions: Sequence[str]) -> None:
    """Set the uses of questions to what their answers say; their project is locked."""
    connection = session.connection()
    for some in _pieces(questions):
        if connection.dialect.name == "postgresql":
            connection.execute(_LOCK_QUESTIONS, {"ids": some}).all()
        connection.execute(_COUNT_AGAIN, {"ids": some})


def _pieces(several: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(several), AT_ONCE):
        yield several[start : start + AT_ONCE]


def _last() -> Any:
    """Return the id of a question's newest answer as a column; "" without any."""
    mine = select(Annotation.id).where(Annotation.question_id == Question.id, Annotation.status != REMOVED)
    return func.coalesce(mine.order_by(Annotation.id.desc()).limit(1).correlate(Question).scalar_subquery(), "")


_questions: Any = Question.__table__
_IDS: Any = bindparam("ids", expanding=True)
_LOCK_QUESTIONS = select(Question.id).where(Question.id.in_(_IDS)).order_by(Question.id).with_for_update(key_share=True)
_ANSWERS = select(func.count()).where(
    Annotation.document_id == bindparam("document"),
    Annotation.question_id == bindparam("question"),
    Annotation.status != REMOVED,
)
_MOVE = (
    update(_questions)
    .where(_questions.c.id == bindparam("question"))
    .values(documents=_questions.c.documents + bindparam("by"), last_asked=_last())
)
_COUNT_AGAIN = (
    update(_questions)
    .where(_questions.c.id.in_(_IDS))
    .values(
        documents=select(func.count(Annotation.document_id.distinct()))
        .where(Annotation.question_id == Question.id, Annotation.status != REMOVED)
        .correlate(Question)
        .scalar_subquery(),
        last_asked=_last(),
    )
)


def _see_flushed(session: ObservedSession, _context: Any) -> None:
    for rows, by in ((session.new, 1), (session.deleted, -1)):
        for row in rows:
            if isinstance(row, Annotation) and row.status != REMOVED:
                _move(session, row, by)
    for row in session.dirty:
        if isinstance(row, Annotation):
            history = inspect(row).attrs.status.history
            if history.has_changes() and REMOVED in (*history.added, *history.deleted):
                _move(session, row, -1 if row.status == REMOVED else 1)


def _move(session: Session, answer: Annotation, by: int) -> None:
    moved: defaultdict[_Pair, int] = session.info.setdefault(_MOVED, defaultdict(int))
    moved[answer.question_id, answer.document_id] += by


event.listen(ObservedSession, "after_flush", _see_flushed)
