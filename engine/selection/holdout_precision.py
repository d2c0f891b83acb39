"""How precise the champion's marks are on documents that no model was trained on: the holdouts. Reading only.

Only here are answers of the holdouts compared with what the survey found, as the gate does with a challenger. The order of
the queue and second looks never see them.
"""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from db.tables import Annotation, Revision, SurveyAnswer
from engine.annotation.agreement import agrees
from engine.annotation.state import AnnotationState
from engine.annotation.survey_answers import fresh
from engine.datasets import snapshots
from engine.selection import precision
from engine.selection.precision import Point

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
    pairs: list[_Pair] = []
    for start in range(0, len(accepted), _AT_ONCE):
        pairs += _pairs(session, accepted[start : start + _AT_ONCE], version_id)
    with _lock:
        right = {pair.key: _compared[pair.key] for pair in pairs if pair.key in _compared}
    unknown = [pair for pair in pairs if pair.key not in right]
    for start in range(0, len(unknown), _AT_ONCE):
        right |= _compare(session, unknown[start : start + _AT_ONCE])
    with _lock:
        _compared.update(right)
        while len(_compared) > _REMEMBERED:
            _compared.popitem(last=False)
    points = precision.curve(
        [pair.confidence for pair in pairs], [right[pair.key] for pair in pairs], [pair.document_id for pair in pairs]
    )
    return Measured(points, len(pairs), len({pair.document_id for pair in pairs}))


class _Pair(NamedTuple):
    """An accepted revision and what the survey said there, and when."""

    revision_id: str
    document_id: str
    question_id: str
    confidence: float
    said_at: datetime

    @property
    def key(self) -> tuple[str, str, datetime]:
        return self.revision_id, self.question_id, self.said_at


# Revisions never change and a new survey has a new time, so what was compared once stays so; masks take a millisecond each.
_compared: OrderedDict[tuple[str, str, datetime], bool] = OrderedDict()
_REMEMBERED = 50_000
_lock = threading.Lock()


def _same() -> ColumnElement[bool]:
    return (SurveyAnswer.document_id == Annotation.document_id) & (SurveyAnswer.question_id == Annotation.question_id)


def _pairs(session: Session, revisions: Sequence[str], version_id: str) -> list[_Pair]:
    rows = session.execute(
        select(
            Revision.id,
            Annotation.document_id,
            Annotation.question_id,
            SurveyAnswer.confidence,
            SurveyAnswer.created_at,
        )
        .join(Annotation, Annotation.id == Revision.annotation_id)
        .join(SurveyAnswer, _same() & fresh(version_id))
        .where(Revision.id.in_(revisions), SurveyAnswer.answered >= THERE)
        .order_by(Revision.id)
    )
    return [_Pair(*row) for row in rows]


def _compare(session: Session, pairs: Sequence[_Pair]) -> dict[tuple[str, str, datetime], bool]:
    rows = session.execute(
        select(Revision.id, Revision.state, SurveyAnswer.answer, SurveyAnswer.page_id)
        .join(Annotation, Annotation.id == Revision.annotation_id)
        .join(SurveyAnswer, _same())
        .where(Revision.id.in_([pair.revision_id for pair in pairs]))
    )
    verdict = {key: agrees(AnnotationState.model_validate(state), answer, page) for key, state, answer, page in rows}
    return {pair.key: verdict[pair.revision_id] for pair in pairs}
