"""Stored survey answers: the questions that a version has yet to answer, and its answers.

On training documents the survey also asks questions that people have answered, to find contradicted labels. On holdouts
it asks the standard questions only: nothing here reads people's answers there.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Subquery, and_, delete, exists, func, select
from sqlalchemy.orm import Session

from db.statuses import ACCEPTED, TRAIN
from db.tables import Annotation, Document, DocumentGroup, DocumentSignature, Page, Question, SurveyAnswer, Task
from engine.annotation.proposal import StoredAnswer
from engine.fields.kinds import load_kinds
from model.kinds import Kind


@dataclass(frozen=True, slots=True)
class Prepared:
    """Answer of a whole document to a question, on one of its pages; `milliseconds` is the time it took.

    `outside_model_id`: version of a model of others that answers.
    """

    page_id: str
    answer: StoredAnswer
    score: float
    answered: float
    milliseconds: float
    outside_model_id: str | None = None


def documents_to_ask(session: Session, project_id: str, version_id: str) -> list[str]:
    """Return the documents with questions that the version has not answered for the current words."""
    asked = _questions(project_id)
    wanted = select(asked.c.document_id).where(~_has_answer(asked, version_id)).distinct()
    return list(session.scalars(wanted.order_by(asked.c.document_id)))


def held_out_group(session: Session, document_id: str) -> str | None:
    """Return the group of a document that belongs to a holdout; None of a training document."""
    held_out = select(DocumentGroup.id).join(Document, Document.group_id == DocumentGroup.id)
    return session.scalar(held_out.where(Document.id == document_id, DocumentGroup.split != TRAIN))


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """Question that a survey asks, with the kind of value that its field wants."""

    id: str
    text: str
    kind: Kind | None


def questions_to_ask(session: Session, project_id: str, document_id: str, version_id: str) -> list[AskedQuestion]:
    """Return those questions of a document."""
    asked = _questions(project_id, document_id)
    wanted = (
        select(Question.id, Question.text)
        .join(asked, asked.c.question_id == Question.id)
        .where(~_has_answer(asked, version_id))
        .order_by(Question.position, Question.id)
    )
    texts = dict(session.execute(wanted).tuples().all())
    kinds = load_kinds(session, list(texts))
    return [AskedQuestion(key, text, kinds.get(key)) for key, text in texts.items()]


def store(session: Session, answers: Sequence[SurveyAnswer], signature: DocumentSignature) -> None:
    """Replace the stored answers to some questions of a document, and its signature."""
    of_document = SurveyAnswer.document_id == signature.document_id
    asked = [answer.question_id for answer in answers]
    session.execute(delete(SurveyAnswer).where(of_document, SurveyAnswer.question_id.in_(asked)))
    session.execute(delete(DocumentSignature).where(DocumentSignature.document_id == signature.document_id))
    session.add_all([*answers, signature])


def load_prepared(session: Session, document_id: str, question: str, version_id: str) -> Prepared | None:
    """Return the survey answer to a question; None when of another version or of other words."""
    found = session.scalar(
        select(SurveyAnswer)
        .join(Question, Question.id == SurveyAnswer.question_id)
        .where(fresh(version_id), SurveyAnswer.document_id == document_id, Question.text == question)
    )
    return None if found is None else _to_prepared(found)


def load_prepared_answers(
    session: Session, document_id: str, questions: Collection[str], version_id: str
) -> dict[str, Prepared]:
    """Return the survey answers to some questions by question id; those of another version or words are left out."""
    here = SurveyAnswer.document_id == document_id, SurveyAnswer.question_id.in_(questions)
    found = session.scalars(select(SurveyAnswer).where(fresh(version_id), *here))
    return {row.question_id: _to_prepared(row) for row in found}


def fresh(version_id: str) -> ColumnElement[bool]:
    """Return the condition that a survey answer is of this version and of the pages' current words."""
    words = select(func.sum(Page.words_version)).where(Page.document_id == SurveyAnswer.document_id)
    return and_(
        SurveyAnswer.model_version_id == version_id,
        SurveyAnswer.words_version == func.coalesce(words.scalar_subquery(), 0),
    )


def pack_signature(vector: NDArray[np.float32]) -> bytes:
    """Pack a signature for storage: half precision, little-endian."""
    return np.asarray(vector, "<f2").tobytes()


def unpack_signature(stored: bytes) -> NDArray[np.float32]:
    """Unpack a stored signature."""
    return np.frombuffer(stored, "<f2").astype(np.float32)


def _to_prepared(found: SurveyAnswer) -> Prepared:
    answer = StoredAnswer.model_validate(found.answer)
    return Prepared(found.page_id, answer, found.score, found.answered, found.milliseconds)


def _has_answer(asked: Subquery, version_id: str) -> ColumnElement[bool]:
    return exists().where(
        SurveyAnswer.document_id == asked.c.document_id,
        SurveyAnswer.question_id == asked.c.question_id,
        fresh(version_id),
    )


def _questions(project_id: str, document_id: str | None = None) -> Subquery:
    """Return the (document, question) pairs that a survey asks, of a project or of one document."""
    standard = select(Task.document_id, Task.question_id).where(Task.project_id == project_id, Task.closed_at.is_(None))
    labelled = (
        select(Annotation.document_id, Annotation.question_id)
        .join(Document, Document.id == Annotation.document_id)
        .join(DocumentGroup, DocumentGroup.id == Document.group_id)
        .where(
            Annotation.project_id == project_id,
            Annotation.status.in_(ACCEPTED),
            DocumentGroup.split == TRAIN,
            DocumentGroup.quarantined_at.is_(None),
        )
    )
    if document_id is not None:
        standard = standard.where(Task.document_id == document_id)
        labelled = labelled.where(Annotation.document_id == document_id)
    return standard.union(labelled).subquery("asked")
