"""Second looks: accepted labels that the champion contradicts with confidence, for a reviewer who is not their author.

As in confident learning (Northcutt, Jiang and Chuang 2021, JAIR 70, section 3), a label is doubted where the model is sure of another one.
There the model must not have seen the label; here it may have learned it, and then contradicts it the less: what is found is worth
a look, what is not found is not thereby right. Labels of the holdouts are never doubted by the model that they judge: mended
towards it, they would judge it too kindly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from db.tables import (
    Annotation,
    Document,
    DocumentGroup,
    ModelVersion,
    Question,
    Revision,
    SecondLook,
    SurveyAnswer,
    User,
)
from engine.annotation.agreement import AGREED, compare
from engine.annotation.proposal import marked
from engine.annotation.state import AnnotationState
from engine.annotation.survey_answers import fresh
from engine.models import registry
from engine.queries import is_newest
from engine.statuses import ACCEPTED, TRAIN
from engine.tasks.label_review_queue import pending, sentence
from engine.workspace import Workspace

SURE, ABSENT = 0.9, 0.1  # probability that the document answers: it does, it does not
FITS, APART = 0.8, 0.3  # predicted IoU of a mark that is believed, and the IoU from which down it is another one
_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class LookLine:
    """A second look in a list. `sentence`: why; `verdict`: None while nobody has looked."""

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
    """Return how a model contradicts a label with confidence, and their IoU; None where it does not. Pure.

    "here": the label says that the document does not answer, the model marks a place. "not_here": the other way round.
    "elsewhere": both mark, and hardly a pixel is the same.
    """
    iou = compare(label, model).iou
    there = bool(label.marked_pages())
    if there and answered < ABSENT:
        return "not_here", 0.0
    if answered > SURE and score >= FITS and model.marked_pages():
        if not there:
            return "here", 0.0
        if iou < APART:
            return "elsewhere", iou
    return None


def find(workspace: Workspace, project_id: str) -> int:
    """Queue the labels that the champion contradicts now, and return how many there are more.

    A label that was looked at for this version is not queued again; nor one that a reviewer kept when an earlier version said
    the same.
    """
    with workspace.database.read() as session:
        version = registry.champion(session, project_id)
        ids = list(session.scalars(_labels(project_id, version.id).with_only_columns(Annotation.id)))
    found = 0
    for start in range(0, len(ids), _AT_ONCE):
        # Masks are compared before the turn to write; there, what changed since is left for the next time.
        with workspace.database.read() as session:
            doubted = _contradicted(session, project_id, version.id, ids[start : start + _AT_ONCE])
        if not doubted:
            continue
        with workspace.database.write() as session:
            rows = session.execute(_labels(project_id, version.id).where(Annotation.id.in_(doubted)))
            for annotation, revision, said in rows.all():
                revision_id, said_at, seen = doubted[annotation.id]
                if (revision.id, said.created_at) != (revision_id, said_at):
                    continue
                session.add(
                    SecondLook(
                        project_id=project_id,
                        annotation_id=annotation.id,
                        revision_id=revision.id,
                        model_version_id=version.id,
                        kind=seen[0],
                        page_id=said.page_id,
                        answer=said.answer,
                        score=said.score,
                        answered=said.answered,
                        iou=seen[1],
                    )
                )
                found += 1
    return found


def lines(workspace: Workspace, project_id: str, limit: int = 200) -> list[LookLine]:
    """Return a project's second looks: those that wait first, the newest first."""
    head = is_newest()
    with workspace.database.read() as session:
        names = {user.id: user.name for user in session.scalars(select(User))}
        rows = session.execute(
            select(SecondLook, Annotation, Document.name, Question.text, ModelVersion)
            .join(Annotation, Annotation.id == SecondLook.annotation_id)
            .join(Revision, head)
            .join(Document, Document.id == Annotation.document_id)
            .join(Question, Question.id == Annotation.question_id)
            .join(ModelVersion, ModelVersion.id == SecondLook.model_version_id)
            .where(SecondLook.project_id == project_id, pending() | SecondLook.verdict.is_not(None))
            .order_by(SecondLook.verdict.is_not(None), SecondLook.id.desc())
            .limit(limit)
        )
        return [
            LookLine(
                annotation_id=annotation.id,
                document_id=annotation.document_id,
                document=document,
                question=question,
                author=names[annotation.author_id],
                kind=look.kind,
                sentence=sentence(look, registry.label(version)),
                model=registry.label(version),
                iou=look.iou,
                verdict=look.verdict,
                decided_by=names.get(look.decided_by or ""),
                created_at=look.created_at,
            )
            for look, annotation, document, question, version in rows
        ]


def _labels(project_id: str, version_id: str) -> Select[Annotation, Revision, SurveyAnswer]:
    """Accepted labels of training documents that the version has answered too, and was not held against yet."""
    same = (SurveyAnswer.document_id == Annotation.document_id) & (SurveyAnswer.question_id == Annotation.question_id)
    looked = select(SecondLook.id).where(
        SecondLook.annotation_id == Annotation.id, SecondLook.model_version_id == version_id
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


def _contradicted(
    session: Session, project_id: str, version_id: str, annotations: Sequence[str]
) -> dict[str, tuple[str, datetime, tuple[str, float]]]:
    """Return which of the labels are contradicted: annotation -> the revision, when the model spoke, and the contradiction."""
    found = {}
    rows = session.execute(_labels(project_id, version_id).where(Annotation.id.in_(annotations)))
    for annotation, revision, said in rows.all():
        label, model = AnnotationState.model_validate(revision.state), marked(said.answer, said.page_id)
        seen = contradiction(label, model, said.answered, said.score)
        if seen is not None and not _kept_before(session, annotation.id, model, seen[0]):
            found[annotation.id] = revision.id, said.created_at, seen
    return found


def _kept_before(session: Session, annotation_id: str, model: AnnotationState, kind: str) -> bool:
    """Whether a reviewer kept this label when an earlier version said the same."""
    kept: Sequence[SecondLook] = session.scalars(
        select(SecondLook).where(
            SecondLook.annotation_id == annotation_id, SecondLook.verdict == "kept", SecondLook.kind == kind
        )
    ).all()
    return any(kind == "not_here" or compare(marked(look.answer, look.page_id), model).iou >= AGREED for look in kept)
