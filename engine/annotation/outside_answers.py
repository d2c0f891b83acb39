"""Answers of models of others to questions that no person has answered yet.

They count in the figures of their own version (engine.annotation.outside_models), in none of the project's own model,
and never without people: the survey, the gate and automatic acceptance know of the own model's answers alone.
"""

from collections.abc import Collection

from sqlalchemy import ColumnElement, delete, exists, select
from sqlalchemy.orm import Session

from db.tables import Annotation, Document, OutsideAnswer, OutsideModel, Page, Prediction
from engine.annotation.proposal import Candidate, StoredAnswer
from engine.annotation.survey_answers import Prepared
from engine.annotation.unaided import is_asked_unaided
from engine.queries import not_removed


def load_outside_answers(session: Session, document_id: str, questions: Collection[str]) -> dict[str, Prepared]:
    """Return the newest outside answer by question; none to a question that a person has answered."""
    rows = session.execute(
        select(OutsideAnswer, Page.words_version)
        .join(Page, Page.id == OutsideAnswer.page_id)
        .where(OutsideAnswer.document_id == document_id, OutsideAnswer.question_id.in_(questions))
        .where(~exists().where(_is_answered(document_id), Annotation.question_id == OutsideAnswer.question_id))
        .order_by(OutsideAnswer.created_at, OutsideAnswer.model)
    )
    return {outside.question_id: _to_prepared(outside, words_version) for outside, words_version in rows}


def questions_answered(session: Session, document_id: str, questions: Collection[str]) -> set[str]:
    """Return those questions of a document that a person has answered."""
    chosen = select(Annotation.question_id).where(_is_answered(document_id), Annotation.question_id.in_(questions))
    return set(session.scalars(chosen))


def store_outside_answer(
    session: Session,
    document: Document,
    question_id: str,
    page: Page,
    answer: StoredAnswer,
    *,
    model: OutsideModel,
    confidence: float,
) -> None:
    """Store an answer in place of the same model's earlier one, and show it where the question stands open.

    The caller has found that nobody has answered the question (`questions_answered`), and has locked the project.
    """
    key = {"document_id": document.id, "question_id": question_id, "model": model.name}
    session.execute(delete(OutsideAnswer).filter_by(**key))
    outside = OutsideAnswer(
        **key,
        outside_model_id=model.id,
        page_id=page.id,
        words_version=page.words_version,
        answer=answer.model_dump(mode="json"),
        confidence=confidence,
    )
    session.add(outside)
    if is_asked_unaided(session, document.project_id, document.id, question_id):
        return
    here = Annotation.document_id == document.id, Annotation.question_id == question_id
    opened = select(Annotation.id).where(*here, Annotation.head == 0, not_removed())
    for annotation_id in session.scalars(opened.with_for_update()).all():  # a save that has begun comes first
        session.add(
            Prediction(
                annotation_id=annotation_id,
                page_id=page.id,
                question_id=question_id,
                model_version_id=None,
                outside_model_id=model.id,
                answer=outside.answer,
                score=answer.score,
                answered=confidence,
                milliseconds=0.0,
            )
        )


def _is_answered(document_id: str) -> ColumnElement[bool]:
    return (Annotation.document_id == document_id) & (Annotation.head > 0) & not_removed()


def _to_prepared(outside: OutsideAnswer, words_version: int) -> Prepared:
    answer = StoredAnswer.model_validate(outside.answer)
    if outside.words_version != words_version:  # the pixels hold; the numbers may be of other words
        answer = answer.model_copy(update={"words": [], "candidates": [_without_words(c) for c in answer.candidates]})
    return Prepared(outside.page_id, answer, answer.score, outside.confidence, 0.0, outside.outside_model_id)


def _without_words(candidate: Candidate) -> Candidate:
    return candidate.model_copy(update={"words": []})
