"""Queue of label reviews: accepted labels that the model contradicts or whose words are gone, for another reviewer."""

from sqlalchemy import ColumnElement, Select, Tuple, and_, literal, select, tuple_
from sqlalchemy.orm import Session

from db.base import now
from db.statuses import ACCEPTED
from db.tables import (
    Annotation,
    LabelReview,
    Revision,
)
from engine.queries import is_newest

WORDS = "words"  # kind of the reviews of labels that named words which are gone since their page was read again
_ORDER = (LabelReview.iou, LabelReview.created_at, LabelReview.id)  # of the index ix_second_looks_queue
# verdict of a review -> stored verdict of a label review
VERDICTS = {"accepted": "kept", "fixed": "mended", "rejected": "returned"}


def waiting(project_id: str, reviewer_id: str) -> Select[LabelReview, Annotation, Revision]:
    """Return the statement for the label reviews that a reviewer may take, the most confident first."""
    return (
        select(LabelReview, Annotation, Revision)
        .join(Annotation, Annotation.id == LabelReview.annotation_id)
        .join(Revision, is_newest())
        .where(
            LabelReview.project_id == project_id,
            pending(),
            Annotation.author_id != reviewer_id,
            Revision.author_id != reviewer_id,
        )
        .order_by(*_ORDER)
    )


def first(
    session: Session,
    project_id: str,
    reviewer_id: str,
    limit: int,
    *,
    behind: LabelReview | None = None,
    before: LabelReview | None = None,
) -> list[str]:
    """Return the ids of the first labels that a reviewer may take, each once, in queue order.

    Args:
        session: For reading.
        project_id: Of the labels.
        reviewer_id: Of the person.
        limit: Most reviews to read: thousands may wait.
        behind: Only reviews after this one in the queue.
        before: Only reviews that come earlier than this one.
    """
    chosen = waiting(project_id, reviewer_id).with_only_columns(Annotation.id).limit(limit)
    if behind is not None:
        chosen = chosen.where(tuple_(*_ORDER) > _place_of(behind))
    if before is not None:
        chosen = chosen.where(tuple_(*_ORDER) < _place_of(before))
    return list(dict.fromkeys(session.scalars(chosen)))


def find(session: Session, project_id: str, reviewer_id: str, annotation_id: str) -> LabelReview | None:
    """Return the review by which a label stands in the reviewer's queue; None when it does not."""
    chosen = waiting(project_id, reviewer_id).with_only_columns(LabelReview).limit(1)
    return session.scalar(chosen.where(LabelReview.annotation_id == annotation_id))


def _place_of(look: LabelReview) -> Tuple:
    return tuple_(*(literal(getattr(look, column.key), column.type) for column in _ORDER))


def pending() -> ColumnElement[bool]:
    """Return the condition that a review is undecided and its label unchanged; joins the newest revision."""
    return and_(LabelReview.verdict.is_(None), LabelReview.revision_id == Revision.id, Revision.status.in_(ACCEPTED))


def own(session: Session, project_id: str, reviewer_id: str) -> bool:
    """Return whether label reviews wait that this reviewer may not take, as author or editor of the label."""
    mine = (Annotation.author_id == reviewer_id) | (Revision.author_id == reviewer_id)
    chosen = (
        select(LabelReview.id)
        .join(Annotation, Annotation.id == LabelReview.annotation_id)
        .join(Revision, is_newest())
        .where(LabelReview.project_id == project_id, pending(), mine)
    )
    return session.scalar(chosen.limit(1)) is not None


def decide(session: Session, annotation_id: str, judged_revision: str, verdict: str, reviewer_id: str) -> None:
    """Store a reviewer's verdict in the label reviews of an annotation, in the caller's transaction."""
    open_looks = select(LabelReview).where(
        LabelReview.annotation_id == annotation_id,
        LabelReview.revision_id == judged_revision,
        LabelReview.verdict.is_(None),
    )
    for look in session.scalars(open_looks):
        look.verdict, look.decided_by, look.decided_at = VERDICTS[verdict], reviewer_id, now()


def sentence(look: LabelReview, model: str) -> str:
    """Return the reason for a label review, as a sentence; `model` is "" for a label whose words are gone."""
    sure = f"{look.answered:.0%}"
    if look.kind == "not_here":
        return f"{model} is {1 - look.answered:.0%} sure that the document does not answer this."
    text = " ".join(str(look.answer.get("text", "")).split())
    what = f"“{text if len(text) <= 80 else text[:77] + '...'}”" if text else "a place without words"
    if look.kind == WORDS:
        return f"Its page was read again, and words that this label names are gone; they were {what}."
    if look.kind == "here":
        return f"The label says that the document does not answer this; {model} is {sure} sure that it does: {what}."
    return f"{model} marks another place ({sure} sure): {what}."


def newest(session: Session, annotation_id: str) -> LabelReview | None:
    """Return the undecided label review of an annotation; None without one."""
    return session.scalar(
        select(LabelReview)
        .join(Annotation, Annotation.id == LabelReview.annotation_id)
        .join(Revision, is_newest())
        .where(LabelReview.annotation_id == annotation_id, pending())
        .order_by(LabelReview.id.desc())
        .limit(1)
    )
