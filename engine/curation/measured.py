"""How precise the champion's marks are on documents that no model was trained on: the holdouts. Reading only.

Only here are answers of the holdouts compared with what the survey found, as the gate does with a challenger. The order of
the queue and second looks never see them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.tables import Annotation, Revision, SurveyAnswer
from engine.annotation.proposal import StoredAnswer
from engine.annotation.state import AnnotationState, PageMark
from engine.curation import precision, snapshots
from engine.curation.agreement import AGREED, compare
from engine.curation.precision import Point
from engine.curation.survey_answers import fresh

HOLDOUTS = ("recent", "frozen")
THERE = 0.5  # from this probability on a page is said to answer
_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class Measured:
    """The precision of a version's marks by threshold. `answers`, `documents`: on how many reviewed answers of holdouts."""

    points: list[Point]
    answers: int
    documents: int


def measure(session: Session, project_id: str, version_id: str) -> Measured:
    """Return how often a version's marks agree with the accepted answers (IoU of at least .75) on holdout documents.

    Where it says that the document does not answer, nothing would be accepted, so that is not measured.
    """
    accepted = list(snapshots.accepted_revisions(session, project_id, HOLDOUTS))
    sure: list[float] = []
    right: list[bool] = []
    documents: list[str] = []
    for start in range(0, len(accepted), _AT_ONCE):
        for document, confidence, answer, page, state in _pairs(
            session, accepted[start : start + _AT_ONCE], version_id
        ):
            sure.append(confidence)
            right.append(agrees(AnnotationState.model_validate(state), answer, page))
            documents.append(document)
    return Measured(precision.curve(sure, right, documents), len(sure), len(set(documents)))


def agrees(state: AnnotationState, answer: dict[str, object], page_id: str) -> bool:
    """Return whether a person's answer and a model's stored one mark the same."""
    return compare(state, marked(answer, page_id)).iou >= AGREED


def marked(answer: dict[str, object], page_id: str) -> AnnotationState:
    """Return what a stored answer of a model marks on its page."""
    stored = StoredAnswer.model_validate(answer)
    if not stored.mask.counts:
        return AnnotationState()
    return AnnotationState(pages={page_id: PageMark(words=stored.words, mask=stored.mask)})


def _pairs(session: Session, revisions: Sequence[str], version_id: str):  # type: ignore[no-untyped-def]
    same = (SurveyAnswer.document_id == Annotation.document_id) & (SurveyAnswer.question_id == Annotation.question_id)
    return session.execute(
        select(
            Annotation.document_id,
            SurveyAnswer.confidence,
            SurveyAnswer.answer,
            SurveyAnswer.page_id,
            Revision.state,
        )
        .join(Annotation, Annotation.id == Revision.annotation_id)
        .join(SurveyAnswer, same & fresh(version_id))
        .where(Revision.id.in_(revisions), SurveyAnswer.answered >= THERE)
        .order_by(Revision.id)
    ).all()
