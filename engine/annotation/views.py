"""Views of annotations for the user interface. Reads only."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from pydantic import BaseModel, Field
from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session, defer

from db.statuses import REMOVED
from db.tables import Annotation, Document, Prediction, Question, RemovedQuestion, Revision, Task, User
from db.tables.annotations import UNFINISHED
from engine.accounts.visibility import hidden_questions, load_visible, sees_all
from engine.annotation.proposal import (
    Proposal,
    RankedPage,
    newest_alone,
    newest_proposal,
    newest_rows,
    proposal_of,
    proposal_state,
    shown_state,
    without_given,
)
from engine.annotation.revisions import state_at
from engine.annotation.state import AnnotationState
from engine.annotation.texts import answer_text, answer_texts, shown_texts
from engine.annotation.unaided import is_without_model
from engine.annotation.values import FieldView, ValueView, load_field, view_values
from engine.queries import existing, is_head, not_removed
from engine.workspace import Workspace


class QuestionView(BaseModel):
    """Question with its text."""

    id: str
    text: str


class Author(BaseModel):
    """Author of an answer, by display name."""

    id: str
    name: str


class AnnotationView(BaseModel):
    """Annotation with its newest state; with `head` 0 the state is the model's proposal."""

    id: str
    document_id: str
    question: QuestionView
    status: str = Field(description="draft, submitted, accepted, rejected or fixed.")
    head: int = Field(description="Number of the newest revision; 0: nothing was saved yet.")
    author: Author
    editor: Author | None = Field(description="Author of the newest revision; null without one.")
    updated_at: datetime | None = Field(description="Time of the newest revision.")
    state: AnnotationState
    text: str = Field(description="Words of the answer, joined.")
    field: FieldView | None = Field(None, description="The field that the question is; null for a free question.")
    values: list[ValueView] = Field(default=[], description="Typed values, where the question is a field.")
    proposal: Proposal | None = Field(description="The newest proposal of the model; null when it was never asked.")
    ranked: list[RankedPage] = []
    existing: bool = False
    unaided: bool = Field(False, description="It is answered without the model, to measure agreement.")


class AnnotationLine(BaseModel):
    """Annotation as a row in a list of questions."""

    id: str
    question: QuestionView
    status: str = Field(description="draft, submitted, accepted, rejected or fixed.")
    head: int = Field(description="Number of the newest revision; 0: nothing was saved yet.")
    author: Author
    text: str = Field(
        description="Text of the answer as a person corrected it, else its words; values are joined by ·."
    )
    no_answer: bool = Field(description="Whether the answer is: not answered in this document.")
    pages: list[str] = Field(description="Ids of the marked pages.")
    answered: float | None = Field(
        description="Probability, by the model, that the document answers; null without a proposal."
    )
    score: float | None = Field(description="Predicted IoU of the proposal, 0..1; null without one.")
    updated_at: datetime | None = Field(description="Time of the newest revision.")
    gold: bool = Field(False, description="Known answer of a gold question. Only reviewers are told.")


def annotation_view(workspace: Workspace, annotation_id: str, viewer_id: str | None = None) -> AnnotationView:
    """Return one annotation. Raises NotFound when it is absent or hidden from the viewer."""
    with workspace.database.read() as session:
        annotation = load_visible(session, annotation_id, viewer_id)
        question = session.get_one(Question, annotation.question_id)
        author = session.get_one(User, annotation.author_id)
        field = load_field(session, question.id, annotation.document_id)
        is_table = field is not None and bool(field[0].columns)
        rows = newest_rows(session, annotation_id) if is_table and annotation.head else None
        prediction = rows or newest_proposal(session, annotation_id)
        state, updated_at = _head(session, annotation)
        editor = session.execute(
            select(User.id, User.name)
            .join(Revision, Revision.author_id == User.id)
            .where(Revision.annotation_id == annotation_id, Revision.number == annotation.head)
        ).one_or_none()
        proposal = proposal_of(session, prediction) if prediction is not None else None
        if rows is not None and proposal is not None:
            proposal = proposal.model_copy(update={"cells": without_given(proposal.cells, rows.prompts)})
        texts = answer_texts(session, state.single_values()) if field is not None else []
        return AnnotationView(
            id=annotation.id,
            document_id=annotation.document_id,
            question=QuestionView(id=question.id, text=question.text),
            status=annotation.status,
            head=annotation.head,
            author=Author(id=author.id, name=author.name),
            editor=Author(id=editor.id, name=editor.name) if editor is not None else None,
            updated_at=updated_at,
            state=state,
            text=answer_text(session, state),
            field=None if field is None else FieldView.model_validate(field[0], from_attributes=True),
            values=[] if field is None else view_values(field[0], state, texts, field[1]),
            proposal=proposal,
            ranked=proposal.ranked if proposal else [],
            unaided=proposal is None and is_without_model(session, annotation),
        )


def annotation_lines(workspace: Workspace, document_id: str, viewer_id: str | None = None) -> list[AnnotationLine]:
    """Return the questions of a document, oldest first, with the answers that the viewer may see."""
    here = (Annotation.document_id == document_id) & not_removed()
    with workspace.database.read() as session:
        hidden = hidden_questions(session, document_id, viewer_id) if viewer_id is not None else set()
        lines = _lines(session, here, lambda one: one.question_id not in hidden or one.author_id == viewer_id)
        gold = _gold_answers(session, document_id, viewer_id)
    return [line.model_copy(update={"gold": True}) if line.id in gold else line for line in lines]


def removed_lines(workspace: Workspace, document_id: str, user_id: str) -> list[AnnotationLine]:
    """Return the removed answers of a document that the user may restore, newest first.

    `status` is the status that an answer gets back. Raises NotFound for an unknown document.
    """
    with workspace.database.read() as session:
        document = existing(session, Document, document_id)
        chosen = (Annotation.document_id == document_id) & (Annotation.status == REMOVED)
        chosen &= Annotation.question_id.not_in(select(RemovedQuestion.question_id))  # it comes back with its question
        if not sees_all(session, document.project_id, user_id):
            chosen &= Annotation.author_id == user_id
        return _lines(session, chosen)[::-1]


def _gold_answers(session: Session, document_id: str, viewer_id: str | None) -> set[str]:
    """Return the ids of the known answers of a document's gold questions; none for annotators."""
    document = session.get(Document, document_id)
    if document is None or viewer_id is None or not sees_all(session, document.project_id, viewer_id):
        return set()
    known = select(Revision.annotation_id).join(Task, Task.gold_revision_id == Revision.id)
    return set(session.scalars(known.where(Task.document_id == document_id)))


def next_annotation(workspace: Workspace, project_id: str, user_id: str, after: str | None) -> Annotation | None:
    """Return this person's next unaccepted answer after `after`, wrapping around."""
    mine = Annotation.project_id == project_id, Annotation.author_id == user_id, UNFINISHED
    waiting = select(Annotation).where(*mine, Annotation.id != (after or "")).order_by(Annotation.id).limit(1)
    with workspace.database.read() as session:
        return session.scalar(waiting.where(Annotation.id > (after or ""))) or session.scalar(waiting)


def _lines(
    session: Session, chosen: ColumnElement[bool], shown: Callable[[Annotation], bool] = lambda _: True
) -> list[AnnotationLine]:
    """Return the chosen answers that are shown, oldest first."""
    rows = session.execute(
        select(Annotation, Question, User)
        .join(Question, Question.id == Annotation.question_id)
        .join(User, User.id == Annotation.author_id)
        .where(chosen)
        .order_by(Annotation.id)
    )
    lines = [row for row in rows if shown(row[0])]
    heads, proposals = newest_heads(session, chosen), newest_proposals(session, chosen)
    states = [state_of(annotation, heads, proposals) for annotation, _, _ in lines]
    texts = shown_texts(session, states)
    return [
        _line(annotation, question, author, state, text, heads.get(annotation.id), proposals.get(annotation.id))
        for (annotation, question, author), state, text in zip(lines, states, texts, strict=True)
    ]


class Head(NamedTuple):
    """Newest revision of an answer."""

    state: dict[str, Any]
    status: str
    saved_at: datetime


def newest_heads(session: Session, chosen: ColumnElement[bool]) -> dict[str, Head]:
    """Return the newest revision by annotation, of the chosen ones."""
    rows = session.execute(
        select(Annotation.id, Revision.state, Revision.status, Revision.created_at)
        .join(Revision, is_head())
        .where(chosen)
    )
    return {annotation_id: Head(*head) for annotation_id, *head in rows}


def newest_proposals(session: Session, chosen: ColumnElement[bool]) -> dict[str, Prediction]:
    """Return the newest proposal by annotation; the masks are loaded only for answers without edits."""
    here = select(Annotation.id).where(chosen)
    untouched = newest_alone(Prediction.annotation_id.in_(here.where(Annotation.head == 0)))
    edited = newest_alone(Prediction.annotation_id.in_(here.where(Annotation.head > 0)))
    found = [*session.scalars(untouched), *session.scalars(edited.options(defer(Prediction.answer)))]
    return {each.annotation_id: each for each in found if each.annotation_id is not None}


def state_of(annotation: Annotation, heads: Mapping[str, Head], proposals: Mapping[str, Prediction]) -> AnnotationState:
    """Return the state of an answer: its newest revision, else its newest proposal, else nothing."""
    if annotation.head == 0:
        proposal = proposals.get(annotation.id)
        return shown_state(proposal) if proposal is not None else AnnotationState()
    return AnnotationState.model_validate(heads[annotation.id].state)


def _line(
    annotation: Annotation,
    question: Question,
    author: User,
    state: AnnotationState,
    text: str,
    head: Head | None,
    proposal: Prediction | None,
) -> AnnotationLine:
    return AnnotationLine(
        id=annotation.id,
        question=QuestionView(id=question.id, text=question.text),
        status=annotation.status if annotation.status != REMOVED else head.status if head else "draft",
        head=annotation.head,
        author=Author(id=author.id, name=author.name),
        text=text,
        no_answer=state.no_answer,
        pages=state.marked_pages(),
        answered=proposal.answered if proposal else None,
        score=proposal.score if proposal else None,
        updated_at=head.saved_at if head else None,
    )


def _head(session: Session, annotation: Annotation) -> tuple[AnnotationState, datetime | None]:
    if annotation.head == 0:
        return proposal_state(session, annotation.id), None
    saved_at = session.scalar(
        select(Revision.created_at).where(Revision.annotation_id == annotation.id, Revision.number == annotation.head)
    )
    return state_at(session, annotation.id, annotation.head), saved_at
