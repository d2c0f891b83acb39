"""Answers that wait for a reviewer: submitted ones, and labels under label review; their numbers by person."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy import and_, bindparam, exists, func, or_, select
from sqlalchemy.orm import Session

from db.statuses import ACCEPTED, SUBMITTED
from db.tables import EVERYBODY, Annotation, LabelReview, ReviewCount, Revision, WaitingReview
from engine.followers.derived_table import DerivedTable, Row, Sums
from engine.followers.follower import Follower


def compute_waiting(session: Session, ids: Collection[str]) -> Iterator[Row]:
    """Yield the rows of WaitingReview of some documents, as their answers and label reviews say."""
    for row in session.connection().execute(_WAITING, {"ids": list(ids)}):
        yield tuple(row)


def _count(row: Any) -> Iterable[tuple[tuple[Any, ...], Mapping[str, int]]]:
    for person_id in dict.fromkeys((EVERYBODY, row.author_id, row.editor_id)):
        yield (row.project_id, person_id), {"number": 1}


_IDS: Any = bindparam("ids", expanding=True)
_LABEL_REVIEW = exists().where(
    LabelReview.annotation_id == Annotation.id,
    LabelReview.verdict.is_(None),
    LabelReview.revision_id == Revision.id,
    Revision.annotation_id == Annotation.id,
    Revision.number == Annotation.head,
    Revision.status.in_(ACCEPTED),
)
_WAITING = select(
    Annotation.id,
    Annotation.document_id,
    Annotation.project_id,
    Annotation.author_id,
    func.coalesce(Annotation.edited_by, Annotation.author_id),
).where(
    Annotation.document_id.in_(_IDS),
    or_(Annotation.status == SUBMITTED, and_(Annotation.status.in_(ACCEPTED), _LABEL_REVIEW)),
)
FOLLOWER = Follower("waiting_reviews", (DerivedTable(WaitingReview, compute_waiting, Sums(ReviewCount, _count)),))
