"""What the page shows of annotations. Reading only."""

from collections.abc import Sequence
from datetime import datetime

from pydantic import BaseModel
from sqlalchemy import select
from sqlalchemy.orm import Session

from db.tables import Annotation, Page, PageWord, Question, Revision, User
from engine.annotation.proposal import Proposal, RankedPage, newest_proposal, proposal_of, proposal_state
from engine.annotation.revisions import state_at
from engine.annotation.state import AnnotationState
from engine.errors import NotFound
from engine.workspace import Workspace


class QuestionView(BaseModel):
    """A question as it was put."""

    id: str
    text: str


class UserView(BaseModel):
    """A person as others see them."""

    id: str
    name: str


class AnnotationView(BaseModel):
    """An annotation with its newest state; with `head` 0 that is the model's proposal."""

    id: str
    document_id: str
    question: QuestionView
    status: str
    head: int
    author: UserView
    updated_at: datetime | None
    state: AnnotationState
    text: str
    proposal: Proposal | None
    ranked: list[RankedPage] = []
    existing: bool = False


class AnnotationLine(BaseModel):
    """An annotation in a list of questions."""

    id: str
    question: QuestionView
    status: str
    head: int
    author: UserView
    text: str
    no_answer: bool
    pages: list[str]
    answered: float | None
    score: float | None
    updated_at: datetime | None


def annotation_view(workspace: Workspace, annotation_id: str) -> AnnotationView:
    """Return one annotation whole. NotFound when there is none."""
    with workspace.database.read() as session:
        annotation = session.get(Annotation, annotation_id)
        if annotation is None:
            raise NotFound("There is no such annotation.")
        question = session.get_one(Question, annotation.question_id)
        author = session.get_one(User, annotation.author_id)
        prediction = newest_proposal(session, annotation_id)
        state, updated_at = _head(session, annotation)
        proposal = proposal_of(session, prediction) if prediction is not None else None
        return AnnotationView(
            id=annotation.id,
            document_id=annotation.document_id,
            question=QuestionView(id=question.id, text=question.text),
            status=annotation.status,
            head=annotation.head,
            author=UserView(id=author.id, name=author.name),
            updated_at=updated_at,
            state=state,
            text=answer_text(session, state),
            proposal=proposal,
            ranked=proposal.ranked if proposal else [],
        )


def annotation_lines(workspace: Workspace, document_id: str) -> list[AnnotationLine]:
    """Return the questions asked about a document, oldest first, with what was answered."""
    with workspace.database.read() as session:
        rows = session.execute(
            select(Annotation, Question, User)
            .join(Question, Question.id == Annotation.question_id)
            .join(User, User.id == Annotation.author_id)
            .where(Annotation.document_id == document_id)
            .order_by(Annotation.id)
        ).all()
        return [_line(session, annotation, question, author) for annotation, question, author in rows]


def answer_text(session: Session, state: AnnotationState) -> str:
    """Return the words of an answer in reading order, pages in their order, joined by spaces."""
    if state.no_answer:
        return ""
    marked = {page: mark.words for page, mark in state.pages.items() if mark.words}
    if not marked:
        return ""
    rows = session.execute(
        select(PageWord.page_id, PageWord.number, PageWord.text)
        .join(Page, Page.id == PageWord.page_id)
        .where(PageWord.page_id.in_(marked))
        .order_by(Page.number, PageWord.position)
    )
    return " ".join(text for page_id, number, text in rows if number in set(marked[page_id]))


def next_annotation(workspace: Workspace, project_id: str, user_id: str, after: str | None) -> Annotation | None:
    """Return the next answer of this person that nobody has accepted yet, going round after `after`."""
    with workspace.database.read() as session:
        waiting: Sequence[Annotation] = session.scalars(
            select(Annotation)
            .where(
                Annotation.project_id == project_id,
                Annotation.author_id == user_id,
                Annotation.status.in_(["draft", "rejected"]),
                Annotation.id != (after or ""),
            )
            .order_by(Annotation.id)
        ).all()
    return next((each for each in waiting if after is None or each.id > after), waiting[0] if waiting else None)


def text_of(workspace: Workspace, state: AnnotationState) -> str:
    """Return the words of an answer; see answer_text."""
    with workspace.database.read() as session:
        return answer_text(session, state)


def _line(session: Session, annotation: Annotation, question: Question, author: User) -> AnnotationLine:
    state, updated_at = _head(session, annotation)
    prediction = newest_proposal(session, annotation.id)
    return AnnotationLine(
        id=annotation.id,
        question=QuestionView(id=question.id, text=question.text),
        status=annotation.status,
        head=annotation.head,
        author=UserView(id=author.id, name=author.name),
        text=answer_text(session, state),
        no_answer=state.no_answer,
        pages=state.marked_pages(),
        answered=prediction.answered if prediction else None,
        score=prediction.score if prediction else None,
        updated_at=updated_at,
    )


def _head(session: Session, annotation: Annotation) -> tuple[AnnotationState, datetime | None]:
    if annotation.head == 0:
        return proposal_state(session, annotation.id), None
    saved_at = session.scalar(
        select(Revision.created_at).where(Revision.annotation_id == annotation.id, Revision.number == annotation.head)
    )
    return state_at(session, annotation.id, annotation.head), saved_at
