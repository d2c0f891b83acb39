"""Figures of a survey in a large project, of which only those of changed documents are read again.

The stage of a project shows them, and automatic answers rest on them: the precision of the model's marks on holdouts,
the tasks that the survey has answered, and those that would be answered automatically.
"""

import threading
from collections import Counter, OrderedDict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.tables import Document, Job, SurveyAnswer, Task, TaskChange
from engine import changes
from engine.annotation.survey_answers import fresh
from engine.selection.acceptable_tasks import acceptable
from engine.selection.holdout_precision import judge_holdouts
from engine.selection.precision import THRESHOLDS, Point, Sums
from engine.selection.survey_trigger import SURVEY
from engine.tasks.opening import task_changes

_PROJECTS = 20  # kept in memory
_AT_ONCE = 500  # documents of one statement: databases limit its parameters
_FOLLOWED = (task_changes.QUESTIONS, task_changes.OVERLAP, task_changes.AUTOMATIC)  # they change many tasks


@dataclass(frozen=True, slots=True)
class Measured:
    """Precision of a version's marks by threshold, with the numbers of reviewed answers and of documents."""

    points: list[Point]
    answers: int
    documents: int


@dataclass(frozen=True, slots=True)
class SurveyFigures:
    """Figures of a version's survey; `acceptable`: open tasks by the threshold that their answers reach."""

    measured: Measured
    surveyed: int
    acceptable: Mapping[float, int]


@dataclass(frozen=True, slots=True)
class _Of:
    """Figures of one document."""

    right: tuple[tuple[float, bool], ...] = ()  # confidence, and whether the mark is right
    surveyed: int = 0
    acceptable: tuple[float, ...] = ()  # confidences


@dataclass(frozen=True, slots=True)
class _Known:
    """Figures up to a change, by document and together."""

    cursor: int
    basis: object  # what changes many documents at once
    newest: datetime | None  # survey answer
    documents: dict[str, _Of]
    sums: Sums
    surveyed: int
    acceptable: Counter[float]


_Key = tuple[str, str, str]
_remembered: OrderedDict[_Key, _Known] = OrderedDict()
_lock = threading.Lock()
_NONE = _Of()


def measure(session: Session, project_id: str, version_id: str) -> Measured:
    """Measure the share of a version's marks that agree with accepted answers of holdouts (IoU >= .75).

    Answers of "not in the document" are never accepted automatically, so they are not measured.
    """
    return survey_figures(session, project_id, version_id).measured


def survey_figures(session: Session, project_id: str, version_id: str) -> SurveyFigures:
    """Return the figures of a version's survey as they are now."""
    key = (str(session.get_bind().engine.url), project_id, version_id)
    with _lock:
        known = _remembered.get(key)
    known = _now(session, project_id, version_id, known)
    with _lock:
        _remembered[key] = known
        _remembered.move_to_end(key)
        while len(_remembered) > _PROJECTS:
            _remembered.popitem(last=False)
    points = known.sums.points()
    measured = Measured(points, known.sums.answers, known.sums.documents)
    return SurveyFigures(measured, known.surveyed, known.acceptable)


def _now(session: Session, project_id: str, version_id: str, known: _Known | None) -> _Known:
    # The places are read first: what is committed after it only makes the figures newer.
    cursor, basis = changes.newest(session), _basis(session, project_id)
    touched: set[str] | None = None
    of_version = SurveyAnswer.project_id == project_id, SurveyAnswer.model_version_id == version_id
    newest = session.scalar(select(func.max(SurveyAnswer.created_at)).where(*of_version))
    if known is not None and known.basis == basis:
        cursor, touched = changes.touched_documents(session, project_id, known.cursor)
        if touched is not None and known.newest is not None and newest is not None:
            # A survey is not told to screens. Answers of the last seconds may have become visible late.
            later = SurveyAnswer.created_at > known.newest - changes.LATE
            if newest == known.newest:
                later = SurveyAnswer.created_at > newest
            touched |= set(session.scalars(select(SurveyAnswer.document_id).where(*of_version, later).distinct()))
        elif newest != known.newest:
            touched = None
    if known is None or touched is None or len(touched) > _AT_ONCE:
        empty = _Known(cursor, basis, newest, {}, Sums(), 0, Counter())
        return empty if newest is None else _update(empty, _read_figures(session, project_id, version_id, None))
    moved = _Known(cursor, basis, newest, known.documents, known.sums, known.surveyed, known.acceptable)
    if newest is None or not touched:
        return moved
    documents = session.scalars(select(Document.id).where(Document.id.in_(touched), Document.project_id == project_id))
    newer = _read_figures(session, project_id, version_id, documents.all())  # the others lie in the bin
    return _update(moved, {document: newer.get(document, _NONE) for document in touched})


def _basis(session: Session, project_id: str) -> object:
    """Return what changes many documents at once: changes that tasks follow, and the newest survey."""
    followed = select(TaskChange.kind, TaskChange.number, TaskChange.place, TaskChange.finished_at).where(
        TaskChange.project_id == project_id, TaskChange.kind.in_(_FOLLOWED)
    )
    job = select(Job.id, Job.status).where(Job.project_id == project_id, Job.kind == SURVEY)
    job = job.order_by(Job.created_at.desc(), Job.id.desc())  # as in its index
    rows = sorted(tuple(row) for row in session.execute(followed))
    return rows, session.execute(job.limit(1)).first()


def _read_figures(
    session: Session, project_id: str, version_id: str, documents: Collection[str] | None
) -> dict[str, _Of]:
    """Return the figures of some documents, or of all."""
    right = judge_holdouts(session, project_id, version_id, documents)
    # By document alone, where these are given: with the project, SQLite would read all of its tasks.
    mine = Task.project_id == project_id if documents is None else Task.document_id.in_(documents)
    same = (SurveyAnswer.document_id == Task.document_id) & (SurveyAnswer.question_id == Task.question_id)
    counted = select(Task.document_id, func.count()).join(SurveyAnswer, same & fresh(version_id))
    surveyed = dict(
        session.execute(counted.where(mine, Task.closed_at.is_(None)).group_by(Task.document_id)).tuples().all()
    )
    could: dict[str, list[float]] = {}
    chosen = acceptable(mine, version_id, THRESHOLDS[0]).with_only_columns(Task.document_id, SurveyAnswer.confidence)
    for document_id, confidence in session.execute(chosen.order_by(None)):
        could.setdefault(document_id, []).append(confidence)
    return {
        document: _Of(tuple(right.get(document, ())), surveyed.get(document, 0), tuple(could.get(document, ())))
        for document in right.keys() | surveyed.keys() | could.keys()
    }


def _update(known: _Known, newer: Mapping[str, _Of]) -> _Known:
    """Return what is known with these documents in place of what was known of them."""
    documents, sums = dict(known.documents), known.sums.copy()
    surveyed, could = known.surveyed, Counter(known.acceptable)
    for document, now_so in newer.items():
        before = documents.pop(document, _NONE)
        for figures, sign in ((before, -1), (now_so, 1)):
            sums.add(figures.right, sign)
            surveyed += sign * figures.surveyed
            for threshold in _thresholds_reached(figures.acceptable):
                could[threshold] += sign
        if now_so != _NONE:
            documents[document] = now_so
    return _Known(known.cursor, known.basis, known.newest, documents, sums, surveyed, could)


def _thresholds_reached(confidences: Iterable[float]) -> Iterable[float]:
    return (threshold for confidence in confidences for threshold in THRESHOLDS if confidence >= threshold)
