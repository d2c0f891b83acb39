"""Label reviews: accepted labels that the champion contradicts with confidence, for another reviewer.

As in confident learning (Northcutt, Jiang and Chuang 2021, JAIR 70, section 3), a label is doubted when the model is
confident of another one. There the model has not seen the label; here it may have been trained on it, and then
contradicts it less often. A label without a review is therefore not proven right. Labels of holdouts are never reviewed
this way: fixed towards the model, they would overrate it. A date, an amount or another typed value that the model marks
at another place contradicts no label that says the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, false, func, select
from sqlalchemy.orm import Session

from db.statuses import ACCEPTED, REMOVED, TRAIN
from db.tables import (
    Annotation,
    Document,
    DocumentGroup,
    LabelReview,
    ModelVersion,
    Question,
    Revision,
    SurveyAnswer,
    User,
)
from engine.annotation.agreement import AGREED, compare
from engine.annotation.proposal import read_state
from engine.annotation.state import AnnotationState
from engine.annotation.survey_answers import fresh
from engine.annotation.typed_values import load_typed_values
from engine.models import registry
from engine.paging import Order, Page, rows_of
from engine.queries import is_newest
from engine.tasks.review.label_review_queue import sentence
from engine.workspace import Workspace

SURE, NO_ANSWER = (
    0.9,
    0.1,
)  # probability that the document answers, from which the model is sure that it does, or does not
FITS, APART = 0.8, 0.3  # predicted IoU of a credible mark, and the IoU with the label up to which it contradicts
_AT_ONCE = 200
MOST_LISTED = 1000


@dataclass(frozen=True, slots=True)
class LabelReviewLine:
    """Label review in a list; `sentence` gives the reason, `verdict` is None until decided."""

    annotation_id: str
    document_id: str
    document: str
    question: str
    author: str
    kind: str
    sentence: str
    model: str
    iou: float
    verdict: str | None
    decided_by: str | None
    created_at: datetime


def contradiction(
    label: AnnotationState, model: AnnotationState, answered: float, score: float
) -> tuple[str, float] | None:
    """Return how a model contradicts a label with confidence, and their IoU; None when it does not. Pure.

    "here": the label has no answer, the model marks one. "not_here": the reverse. "elsewhere": both mark, with IoU of
    at most APART.
    """
    iou = compare(label, model).iou
    is_marked = bool(label.marked_pages())
    if is_marked and answered < NO_ANSWER:
        return "not_here", 0.0
    if answered > SURE and score >= FITS and model.marked_pages():
        if not is_marked:
            return "here", 0.0
        if iou < APART:
            return "elsewhere", iou
    return None


def find(workspace: Workspace, project_id: str) -> int:
    """Queue reviews of the labels that the champion contradicts now; return the number of new ones.

    Skips labels that were reviewed for this version, and labels that a reviewer kept against the same contradiction by
    an earlier version.
    """
    with workspace.database.read() as session:
        version = registry.champion(session, project_id)
        ids = list(session.scalars(_labels(project_id, version.id).with_only_columns(Annotation.id)))
    number = 0
    for start in range(0, len(ids), _AT_ONCE):
        # Masks are compared before the write transaction; labels changed meanwhile are left for the next survey.
        with workspace.database.read() as session:
            doubted = _find_contradicted(session, project_id, version.id, ids[start : start + _AT_ONCE])
        if not doubted:
            continue
        with workspace.database.write() as session:
            rows = session.execute(_labels(project_id, version.id).where(Annotation.id.in_(doubted)))
            for annotation, revision, answer in rows.all():
                revision_id, said_at, seen = doubted[annotation.id]
                if (revision.id, answer.created_at) != (revision_id, said_at):
                    continue
                session.add(
                    LabelReview(
                        project_id=project_id,
                        annotation_id=annotation.id,
                        revision_id=revision.id,
                        model_version_id=version.id,
                        kind=seen[0],
                        page_id=answer.page_id,
                        answer=answer.answer,
                        score=answer.score,
                        answered=answer.answered,
                        iou=seen[1],
                    )
                )
                number += 1
    return number


def lines(workspace: Workspace, project_id: str, limit: int = 200, cursor: str | None = None) -> Page[LabelReviewLine]:
    """Return a page of a project's label reviews: undecided first, then newest first.

    `limit`: at most MOST_LISTED. Raises Refused for the cursor of another list.
    """
    mine = select(LabelReview.id).where(LabelReview.project_id == project_id)
    # Looked up for each row in turn: as joins, PostgreSQL would read and sort all label reviews to show a few.
    label = Annotation.id == LabelReview.annotation_id
    status = select(Annotation.status).where(label).scalar_subquery()
    head = select(Revision.status).join(Annotation, is_newest()).where(label, Revision.id == LabelReview.revision_id)
    parts = [
        (
            Order(f"label reviews {project_id}", (LabelReview.id,), falls=True),
            # PostgreSQL takes a comparison with a list for rare, and then sorts all; it guesses nothing of coalesce.
            mine.where(LabelReview.verdict.is_(None), func.coalesce(head.scalar_subquery().in_(ACCEPTED), false())),
        ),
        (
            Order(f"decided label reviews {project_id}", (LabelReview.id,), falls=True),
            mine.where(LabelReview.verdict.is_not(None), status != REMOVED),
        ),
    ]
    shown = (
        select(LabelReview, Annotation, Document.name, Question.text, ModelVersion)
        .join(Annotation, Annotation.id == LabelReview.annotation_id)
        .join(Document, Document.id == Annotation.document_id)
        .join(Question, Question.id == Annotation.question_id)
        .outerjoin(ModelVersion, ModelVersion.id == LabelReview.model_version_id)
    )
    with workspace.database.read() as session:
        ids, following = rows_of(session, parts, min(limit, MOST_LISTED), cursor)
        place = {look_id: at for at, (look_id,) in enumerate(ids)}
        rows = sorted(session.execute(shown.where(LabelReview.id.in_(place))), key=lambda row: place[row[0].id])
        people = {person for look, annotation, *_ in rows for person in (annotation.author_id, look.decided_by)}
        names = dict(session.execute(select(User.id, User.name).where(User.id.in_(people))).tuples().all())
        listed = [
            LabelReviewLine(
                annotation_id=annotation.id,
                document_id=annotation.document_id,
                document=document,
                question=question,
                author=names[annotation.author_id],
                kind=look.kind,
                sentence=sentence(look, registry.label(version) if version is not None else ""),
                model=registry.label(version) if version is not None else "",
                iou=look.iou,
                verdict=look.verdict,
                decided_by=names.get(look.decided_by or ""),
                created_at=look.created_at,
            )
            for look, annotation, document, question, version in rows
        ]
    return Page(listed, following)


def _labels(project_id: str, version_id: str) -> Select[Annotation, Revision, SurveyAnswer]:
    """Return the statement for accepted labels of training documents, to compare with survey answers."""
    same = (SurveyAnswer.document_id == Annotation.document_id) & (SurveyAnswer.question_id == Annotation.question_id)
    looked = select(LabelReview.id).where(
        LabelReview.annotation_id == Annotation.id, LabelReview.model_version_id == version_id
    )
    return (
        select(Annotation, Revision, SurveyAnswer)
        .join(Revision, is_newest())
        .join(SurveyAnswer, same & fresh(version_id))
        .join(Document, Document.id == Annotation.document_id)
        .join(DocumentGroup, DocumentGroup.id == Document.group_id)
        .where(
            Annotation.project_id == project_id,
            Revision.status.in_(ACCEPTED),
            DocumentGroup.split == TRAIN,
            DocumentGroup.quarantined_at.is_(None),
            ~looked.exists(),
        )
        .order_by(Annotation.id)
    )


def _find_contradicted(
    session: Session, project_id: str, version_id: str, annotations: Sequence[str]
) -> dict[str, tuple[str, datetime, tuple[str, float]]]:
    """Return the contradicted labels: annotation -> (revision, time of the survey answer, contradiction)."""
    contradicted = {}
    rows = session.execute(_labels(project_id, version_id).where(Annotation.id.in_(annotations)))
    elsewhere: dict[str, tuple[str, AnnotationState, AnnotationState]] = {}
    for annotation, revision, answer in rows.all():
        label, model = AnnotationState.model_validate(revision.state), read_state(answer.answer, answer.page_id)
        seen = contradiction(label, model, answer.answered, answer.score)
        if seen is not None and not _kept_before(session, annotation.id, model, seen[0]):
            contradicted[annotation.id] = revision.id, answer.created_at, seen
            if seen[0] == "elsewhere":
                elsewhere[annotation.id] = annotation.question_id, label, model
    for annotation_id in _same_values(session, elsewhere):
        del contradicted[annotation_id]
    return contradicted


def _same_values(
    session: Session, elsewhere: Mapping[str, tuple[str, AnnotationState, AnnotationState]]
) -> Iterator[str]:
    """Yield those of some answers that say the same value as the model does at another place.

    `elsewhere`: question, label and the model's mark by annotation.
    """
    labels = load_typed_values(session, [(question_id, label) for question_id, label, _ in elsewhere.values()])
    models = load_typed_values(session, [(question_id, model) for question_id, _, model in elsewhere.values()])
    for (annotation_id, (_, label, model)), both in zip(
        elsewhere.items(), zip(labels, models, strict=True), strict=True
    ):
        if compare(label, model, both).says_same:
            yield annotation_id


def _kept_before(session: Session, annotation_id: str, model: AnnotationState, kind: str) -> bool:
    """Return whether a reviewer kept this label against the same contradiction by an earlier version."""
    kept: Sequence[LabelReview] = session.scalars(
        select(LabelReview).where(
            LabelReview.annotation_id == annotation_id, LabelReview.verdict == "kept", LabelReview.kind == kind
        )
    ).all()
    return any(
        kind == "not_here" or compare(read_state(look.answer, look.page_id), model).iou >= AGREED for look in kept
    )
