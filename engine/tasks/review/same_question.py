"""Answers of several people to one question of one document, as a reviewer judges them: together.

Equal answers are accepted at once. Two accepted answers that contradict each other have no common label, so the second
is refused until the reviewer says that it becomes the label. In a field with a type, values decide: "12.03.2026" equals
"March 12, 2026" elsewhere, and two amounts contradict each other where their marks overlap.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Literal

from pydantic import BaseModel, Field
from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from db.statuses import ACCEPTED, ANSWERED, SUBMITTED
from db.tables import Annotation, Revision, User
from engine.annotation.agreement import AGREED, Agreement, compare
from engine.annotation.state import AnnotationState
from engine.annotation.texts import shown_texts
from engine.annotation.typed_values import TypedValues, load_typed_values
from engine.errors import Refused
from engine.fields.compare_values import TEXTS
from engine.queries import is_newest, not_removed

MOST_COMPARED = 50  # answers to one question of one document; as many people rarely answer it
EQUAL = 0.95  # IoU from which marks without words are equal: a pixel row more or less
Relation = Literal["equal", "similar", "contradicts"]


class OtherAnswer(BaseModel):
    """Another person's answer to the same question of the same document, beside the one under review.

    `relation`: equal (the same words, or the same pixels where no word is marked, and the same said of their text; or
    the same date, amount or other typed value at any place), similar (it overlaps, or has the same text at another
    place), contradicts (another value or text, or only one of both marks anything).
    """

    annotation_id: str
    author: str
    status: str
    text: str = Field(description="Words of the answer, as a person corrected them; empty when it marks none.")
    no_answer: bool
    relation: Relation


@dataclass(frozen=True, slots=True)
class Beside:
    """An answer beside another one, with its newest revision."""

    annotation: Annotation
    author: str
    state: AnnotationState
    text: str
    relation: Relation


def relation_of(
    state: AnnotationState, typed: TypedValues, other: AnnotationState, other_typed: TypedValues
) -> Relation:
    """Return how two answers to one question relate.

    Args:
        state: Marks of an answer.
        typed: Its values.
        other: Marks of the other answer.
        other_typed: Its values.
    """
    return _relation(compare(state, other, (typed, other_typed)), typed, other_typed)


def _relation(agreement: Agreement, typed: TypedValues, other_typed: TypedValues) -> Relation:
    if agreement.says_same:
        return "equal"
    agrees = agreement.iou >= AGREED
    same_words = agreement.word_f1 == 1.0 if agreement.word_f1 is not None else agreement.iou >= EQUAL
    if same_words and agrees:  # what people said of the same words: corrected texts, picked readings
        same_text = agreement.values is None or agreement.values.exact == 1.0
        return "equal" if same_text and agreement.same_value is not False else "contradicts"
    if agrees:
        others_value = agreement.same_value is False and typed.type not in TEXTS
        return "contradicts" if others_value and _is_read(typed) and _is_read(other_typed) else "similar"
    return "similar" if agreement.values is not None and agreement.values.exact == 1.0 else "contradicts"


def _is_read(typed: TypedValues) -> bool:
    """Return whether every value of an answer can be read as the type of its field."""
    return all(value.value is not None for value in typed.values)


def is_disputed(state: AnnotationState, typed: TypedValues, other: AnnotationState, other_typed: TypedValues) -> bool:
    """Return whether two answers differ so that they are judged first; arguments as `relation_of`.

    The same text at another place is a difference too, but for values that are equal as the type of their field.
    """
    agreement = compare(state, other, (typed, other_typed))
    relation = _relation(agreement, typed, other_typed)
    return relation == "contradicts" or (relation == "similar" and agreement.iou < AGREED)


def lock_answers(session: Session, annotation: Annotation) -> None:
    """Keep all answers to the question of an answer as they are until the commit; before any of them is changed."""
    # All in one order, so that two reviewers of one question never wait for each other.
    chosen = select(Annotation.id).where(*_same_question(annotation)).order_by(Annotation.id)
    session.execute(chosen.with_for_update(key_share=True))


def answers_beside(session: Session, annotation: Annotation, state: AnnotationState) -> list[Beside]:
    """Return the other people's answers to the question of an answer, oldest first; drafts and rejected ones are none.

    Args:
        session: Open session.
        annotation: The answer.
        state: Its marks, as they are or are about to be.
    """
    rows = session.execute(
        select(Annotation, Revision.state, User.name)
        .join(Revision, is_newest())
        .join(User, User.id == Annotation.author_id)
        .where(*_same_question(annotation), Annotation.id != annotation.id, Annotation.status.in_(ANSWERED))
        .order_by(Annotation.id)
        .limit(MOST_COMPARED)
        .execution_options(populate_existing=True)
    ).all()
    if not rows:
        return []
    states = [AnnotationState.model_validate(stored) for _, stored, _ in rows]
    typed, *others = load_typed_values(session, [(annotation.question_id, each) for each in (state, *states)])
    texts = shown_texts(session, states)
    return [
        Beside(row, author, other, text, relation_of(state, typed, other, other_typed))
        for (row, _, author), other, text, other_typed in zip(rows, states, texts, others, strict=True)
    ]


def refuse_contradiction(beside: Sequence[Beside]) -> None:
    """Raise Refused when an accepted answer contradicts the one that these stand beside."""
    contradicting = (answer for answer in beside if answer.relation == "contradicts")
    answer = next((answer for answer in contradicting if answer.annotation.status in ACCEPTED), None)
    if answer is not None:
        quoted = f"“{shorten(answer.text, 60, placeholder='…')}”" if answer.text else _without_text(answer.state)
        raise Refused(
            f"{answer.author}'s answer to this question is accepted and contradicts this one: {quoted}. Say that this "
            "answer becomes the label, or reject one of them."
        )


def equal_submitted(beside: Sequence[Beside]) -> list[Beside]:
    """Return those of the answers beside one that wait for a verdict and are equal to it."""
    return [answer for answer in beside if answer.relation == "equal" and answer.annotation.status == SUBMITTED]


def submitted_beside(session: Session, annotation: Annotation) -> list[str]:
    """Return the ids of the other answers to the question of an answer that wait for a verdict, oldest first."""
    chosen = select(Annotation.id).where(*_same_question(annotation), Annotation.id != annotation.id)
    chosen = chosen.where(Annotation.status == SUBMITTED).order_by(Annotation.id).limit(MOST_COMPARED)
    return list(session.scalars(chosen))


def other_answers(session: Session, annotation: Annotation, state: AnnotationState) -> list[OtherAnswer]:
    """Return the answers beside one as the reviewer's page shows them."""
    return [
        OtherAnswer(
            annotation_id=answer.annotation.id,
            author=answer.author,
            status=answer.annotation.status,
            text=answer.text,
            no_answer=answer.state.no_answer,
            relation=answer.relation,
        )
        for answer in answers_beside(session, annotation, state)
    ]


def _same_question(annotation: Annotation) -> tuple[ColumnElement[bool], ...]:
    return (
        Annotation.document_id == annotation.document_id,
        Annotation.question_id == annotation.question_id,
        not_removed(),
    )


def _without_text(state: AnnotationState) -> str:
    return "it says that the document does not answer" if state.no_answer else "it marks a place without words"
