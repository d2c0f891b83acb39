"""Uses of questions: of how many documents each was asked, and its newest answer; what is removed counts nowhere."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import date
from typing import Any

from sqlalchemy import bindparam, exists, func, select, update
from sqlalchemy.orm import Session

from db.statuses import REMOVED
from db.tables import Annotation, AskedDocument, Question, RemovedDocument
from engine.followers.derived_table import DerivedTable, Row
from engine.followers.follower import Differences, Follower

AT_ONCE = 500  # rows of one statement: databases limit its parameters


def compute_asked(session: Session, ids: Collection[str]) -> Iterator[Row]:
    """Yield the rows of AskedDocument of some documents, as their answers say."""
    for row in session.connection().execute(_ASKED, {"ids": list(ids)}):
        yield tuple(row)


def _move_uses(session: Session, differences: Differences, days: Mapping[str, date]) -> None:
    moved: Counter[str] = Counter()  # by question; 0: only its newest answer is another
    for difference in differences.values():
        moved.update(row.question_id for row in difference.added)
        moved.subtract(row.question_id for row in difference.gone)
    if moved:
        uses = [{"question": question, "by": amount} for question, amount in sorted(moved.items())]
        session.connection().execute(_MOVE, uses)


def _find_mismatches(session: Session, project_id: str) -> list[str]:
    """Return the ids of the questions whose uses differ from the asked documents."""
    uses = (
        select(
            AskedDocument.question_id,
            func.count().label("documents"),
            func.max(AskedDocument.last_asked).label("last"),
        )
        .where(AskedDocument.project_id == project_id)
        .group_by(AskedDocument.question_id)
        .subquery()
    )
    documents, last = func.coalesce(uses.c.documents, 0), func.coalesce(uses.c.last, "")
    differ = (Question.documents != documents) | (Question.last_asked != last)
    chosen = select(Question.id).outerjoin(uses, uses.c.question_id == Question.id)
    return list(session.scalars(chosen.where(Question.project_id == project_id, differ).order_by(Question.id)))


def _repair(session: Session, project_id: str) -> Callable[[Session], None]:
    questions = _find_mismatches(session, project_id)

    def count_again(session: Session) -> None:
        for start in range(0, len(questions), AT_ONCE):
            session.connection().execute(_COUNT, {"ids": questions[start : start + AT_ONCE]})

    return count_again


def _last_asked() -> Any:
    """Return the id of a question's newest answer as a column; "" without any."""
    newest = select(func.max(AskedDocument.last_asked)).where(AskedDocument.question_id == Question.id)
    return func.coalesce(newest.correlate(Question).scalar_subquery(), "")


_questions: Any = Question.__table__
_IDS: Any = bindparam("ids", expanding=True)
_ASKED = (
    select(
        Annotation.document_id,
        Annotation.question_id,
        func.max(Annotation.project_id),
        func.max(Annotation.id),
    )
    .where(
        Annotation.document_id.in_(_IDS),
        Annotation.status != REMOVED,
        # The question is of the project: what lies in the bin is not asked of it.
        ~exists().where(RemovedDocument.document_id == Annotation.document_id),
    )
    .group_by(Annotation.document_id, Annotation.question_id)
)
_MOVE = (
    update(_questions)
    .where(_questions.c.id == bindparam("question"))
    .values(documents=_questions.c.documents + bindparam("by"), last_asked=_last_asked())
)
_COUNT = (
    update(_questions)
    .where(_questions.c.id.in_(_IDS))
    .values(
        documents=select(func.count())
        .select_from(AskedDocument)
        .where(AskedDocument.question_id == Question.id)
        .correlate(Question)
        .scalar_subquery(),
        last_asked=_last_asked(),
    )
)
FOLLOWER = Follower(
    "question_uses",
    (DerivedTable(AskedDocument, compute_asked),),
    then=_move_uses,
    mismatches=_find_mismatches,
    repair=_repair,
)
