"""Precision of the champion's marks on holdout documents, which no model was trained on. Reads only.

Only this module compares survey answers with holdout answers, as the gate does for a challenger. The order of the queue
and label reviews never see them.
"""

import threading
from collections import OrderedDict
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from db.tables import Annotation, Revision, SurveyAnswer
from engine.annotation.agreement import agrees
from engine.annotation.state import AnnotationState
from engine.annotation.survey_answers import fresh
from engine.datasets import snapshots

HOLDOUTS = ("recent", "frozen")
THERE = 0.5  # probability from which a page counts as answering
_AT_ONCE = 200


def judge_holdouts(
    session: Session, project_id: str, version_id: str, documents: Collection[str] | None = None
) -> dict[str, list[tuple[float, bool]]]:
    """Return the confidence of a version's marks on holdouts, and whether people's answers agree, by document.

    Args:
        session: an open session.
        project_id: project.
        version_id: model version that answered.
        documents: limits the reading to some documents.
    """
    found = snapshots.accepted_by_document(session, project_id, HOLDOUTS, documents)
    accepted = [revision for some in found.values() for revision in some]
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
    by_document: dict[str, list[tuple[float, bool]]] = {}
    for pair in pairs:
        by_document.setdefault(pair.document_id, []).append((pair.confidence, right[pair.key]))
    return by_document


class _Pair(NamedTuple):
    """Accepted revision and the survey's answer to the same question."""

    revision_id: str
    document_id: str
    question_id: str
    confidence: float
    said_at: datetime

    @property
    def key(self) -> tuple[str, str, datetime]:
        """Return the cache key: revision, document and time of the survey answer."""
        return self.revision_id, self.question_id, self.said_at


# Revisions are immutable and a new survey has a new time, so results can be cached; a mask takes about a millisecond.
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
