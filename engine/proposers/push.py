"""Predictions of a model of others, as they are sent: each becomes a proposal for a person, or is reported as left out.

Everything is checked before anything is stored. A prediction marks a place itself, or gives plain text, which is
grounded to the words of the pages (engine.proposers.grounding).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat
from sqlalchemy import select
from sqlalchemy.orm import Session

from db.tables import Document, Page, Project, ProjectField, Question
from engine.annotation.issuers import load_context
from engine.annotation.outside_answers import questions_answered, store_outside_answer
from engine.annotation.outside_models import load_outside_model
from engine.annotation.page_cache import PageWords, words_of
from engine.annotation.proposal import Candidate, StoredAnswer
from engine.annotation.state import to_patch
from engine.errors import Refused
from engine.fields.definition import FieldDefinition
from engine.fields.normalisation import LocaleContext
from engine.fields.read_value import MARK_ALONE
from engine.proposers.grounding import Place, SoughtText
from engine.proposers.shapes import Shape, mask_of
from engine.queries import existing, lock_question
from engine.tasks.opening.open_tasks import lock_project
from engine.text import check_question, storable
from engine.workspace import Workspace
from model.masks import Mask, rasterise, words_under
from model.printed_text import printed_text

MOST_PREDICTIONS = 200  # of one request
_MOST_PLACES = 8  # of one text, offered to a person
LONGEST_TEXT = 2000  # characters of a text
_QUESTION = 1000  # characters

Name = Annotated[str, Field(min_length=1, max_length=100)]
Share = Annotated[FiniteFloat, Field(ge=0, le=1)]


class PushedPrediction(BaseModel):
    """One prediction: a question or the name of a field, and either marks of one page or plain text."""

    model_config = ConfigDict(extra="forbid")

    question: str | None = Field(None, max_length=_QUESTION, description="Text of the question; new ones are stored.")
    field: str | None = Field(None, max_length=100, description="Name of a field, in place of the question.")
    marks: list[Shape] | None = Field(None, min_length=1, max_length=200, description="What answers, on `page`.")
    text: str | None = Field(
        None, min_length=1, max_length=LONGEST_TEXT, description="What answers, as text; its places are looked for."
    )
    page: int | None = Field(
        None,
        ge=1,
        le=100_000,
        description="Number of the page; of a text, null looks at all pages; of marks, null is 1.",
    )
    confidence: Share | None = Field(None, description="Confidence of the model, 0..1.")


class PushedPredictions(BaseModel):
    """Predictions of a model of others for one document."""

    model_config = ConfigDict(extra="forbid")

    model: Name = Field(description="Name of the model. A later prediction of it replaces an earlier one.")
    version: str = Field("", max_length=80, description="Its version, for people.")
    predictions: list[PushedPrediction] = Field(min_length=1, max_length=MOST_PREDICTIONS)


class PredictionOutcome(BaseModel):
    """What became of a prediction."""

    question: str
    outcome: Literal["proposed", "answered", "not_found"] = Field(
        description="proposed: people see it; answered: a person has answered the question, and nothing was stored; "
        "not_found: no page prints the text, and nothing was stored."
    )
    page: int | None = Field(description="Page that the proposal marks; null without one.")
    text: str = Field(description="Words that the proposal marks; of a text that was not found, that text.")
    places: int = Field(description="Number of places offered on the page.")


@dataclass(frozen=True, slots=True)
class _Sent:
    """A checked prediction: its question with the field, if it is one."""

    prediction: PushedPrediction
    question: str
    field: FieldDefinition | None


class _Pages:
    """Pages of a document with their words, each read once."""

    def __init__(self, workspace: Workspace, pages: Sequence[Page]) -> None:
        self.pages = {page.number: page for page in pages}
        self._workspace, self._words = workspace, dict[str, PageWords]()

    def words_of(self, page: Page) -> PageWords:
        if page.id not in self._words:
            self._words[page.id] = words_of(self._workspace, page.id)
        return self._words[page.id]


def push_predictions(workspace: Workspace, document_id: str, sent: PushedPredictions) -> list[PredictionOutcome]:
    """Store predictions of a model of others as proposals; return what became of each, in their order.

    Answers of people stay as they are. Where a question is sent twice, the last counts.

    Args:
        workspace: Open workspace.
        document_id: Document that they are about.
        sent: The predictions.

    Raises:
        NotFound: There is no such document.
        Refused: A prediction is wrong; nothing is stored, and the sentence names its place in the list.
    """
    with workspace.database.read() as session:
        document = existing(session, Document, document_id)
        fields = _load_fields(workspace, document.project_id)
        context = load_context(session, session.get_one(Project, document.project_id).settings, document_id)
        pages = _Pages(
            workspace, session.scalars(select(Page).where(Page.document_id == document_id).order_by(Page.number)).all()
        )
    checked = [_check(prediction, at, fields) for at, prediction in enumerate(sent.predictions, 1)]
    proposer = " ".join(storable(f"{sent.model} {sent.version}").split())
    answers = [_answer(one, at, pages, context, proposer) for at, one in enumerate(checked, 1)]
    outcomes = []
    with workspace.database.write() as session:
        document = existing(session, Document, document_id)
        lock_project(session, document.project_id)
        model = load_outside_model(session, document.project_id, storable(sent.model), storable(sent.version))
        ids = {one.question: question_id_of(session, document, one.question) for one in checked}
        answered = questions_answered(session, document_id, list(ids.values()))
        for one, answer in zip(checked, answers, strict=True):
            key = ids[one.question]
            if key in answered or answer is None:
                outcome: Literal["answered", "not_found"] = "answered" if key in answered else "not_found"
                text = "" if key in answered else one.prediction.text or ""
                outcomes.append(
                    PredictionOutcome(question=one.question, outcome=outcome, page=None, text=text, places=0)
                )
                continue
            page, stored = answer
            confidence = 1.0 if one.prediction.confidence is None else one.prediction.confidence
            store_outside_answer(session, document, key, page, stored, model=model, confidence=confidence)
            outcomes.append(
                PredictionOutcome(
                    question=one.question,
                    outcome="proposed",
                    page=page.number,
                    text=stored.text,
                    places=1 + len(stored.candidates),
                )
            )
    return outcomes


def _load_fields(workspace: Workspace, project_id: str) -> dict[str, tuple[str, FieldDefinition]]:
    """Return question and definition of the fields of a project, by name and by question."""
    with workspace.database.read() as session:
        rows = session.execute(
            select(Question.text, ProjectField.name, ProjectField.definition)
            .join(ProjectField, ProjectField.question_id == Question.id)
            .where(ProjectField.project_id == project_id, ProjectField.name.is_not(None))
        ).all()
    return {row.name: (row.text, FieldDefinition.model_validate(row.definition)) for row in rows}


def _check(prediction: PushedPrediction, at: int, fields: dict[str, tuple[str, FieldDefinition]]) -> _Sent:
    where = f"Prediction {at}"
    if (prediction.question is None) == (prediction.field is None):
        raise Refused(f"{where} needs either a question or a field.")
    if (prediction.marks is None) == (prediction.text is None):
        raise Refused(f"{where} needs either marks or a text.")
    if prediction.field is not None:
        if prediction.field not in fields:
            raise Refused(f"{where} names the field {prediction.field!r}, which the project does not have.")
        question, field = fields[prediction.field]
        return _Sent(prediction, question, field)
    question = " ".join(storable(prediction.question or "").split())
    check_question(question)
    return _Sent(prediction, question, next((field for text, field in fields.values() if text == question), None))


def _answer(
    sent: _Sent, at: int, pages: _Pages, context: LocaleContext, proposer: str
) -> tuple[Page, StoredAnswer] | None:
    """Return the page and the answer of a prediction; None for a text that no page prints."""
    prediction = sent.prediction
    number = prediction.page or (1 if prediction.marks is not None else None)
    if number is not None and number not in pages.pages:
        raise Refused(f"Prediction {at} names page {number}, which the document does not have.")
    if prediction.marks is not None:
        page = pages.pages[number or 1]
        mask = mask_of(prediction.marks, (page.height, page.width), f"Prediction {at}")
        by_words = (sent.field is None or sent.field.type not in MARK_ALONE) and all(
            shape.rle is None for shape in prediction.marks
        )
        score = 1.0 if prediction.confidence is None else prediction.confidence
        marked = marked_candidate(mask, pages.words_of(page), score, by_words=by_words)
        return page, outside_answer([marked], proposer)
    sought = SoughtText(prediction.text or "", sent.field, context)
    best: tuple[Page, list[Place]] | None = None
    for page in pages.pages.values() if number is None else [pages.pages[number]]:
        places = sought.places_on(pages.words_of(page).words)
        if places and (best is None or places[0].likeness > best[1][0].likeness):
            best = page, sorted(places, key=lambda place: -place.likeness)
        if best is not None and best[1][0].likeness == 1.0:
            break
    if best is None:
        return None
    page, places = best
    found = [_place(place, page, pages.words_of(page), prediction.confidence) for place in places[:_MOST_PLACES]]
    return page, outside_answer(found, proposer)


def outside_answer(places: Sequence[Candidate], proposer: str) -> StoredAnswer:
    """Return the answer of a model of others; the first place is proposed, the others are offered."""
    first, *others = places
    return StoredAnswer(**first.model_dump(), candidates=others, source="outside", proposer=proposer)


def marked_candidate(mask: Mask, words: PageWords, score: float, *, by_words: bool) -> Candidate:
    """Return what a mask marks, bool [height, width] of the page.

    `by_words`: where it covers words, these are the mark: boxes of other programs are wider or narrower than ours.
    """
    boxes = [word.box for word in words.words]
    under = words_under(mask, boxes)
    pixels = rasterise([boxes[at] for at in under], (mask.shape[0], mask.shape[1]))
    exact = bool(under) and (by_words or np.array_equal(pixels, mask))
    text = printed_text(words.words[at] for at in under)
    numbers = [words.numbers[at] for at in under] if exact else []
    return Candidate(words=numbers, mask=to_patch(pixels if exact else mask), text=text, score=score)


def _place(place: Place, page: Page, words: PageWords, confidence: float | None) -> Candidate:
    some = [words.words[at] for at in place.words]
    mask = rasterise([word.box for word in some], (page.height, page.width))
    return Candidate(
        words=[words.numbers[at] for at in place.words],
        mask=to_patch(mask),
        text=printed_text(some),
        score=place.likeness if confidence is None else place.likeness * confidence,
    )


def question_id_of(session: Session, document: Document, text: str) -> str:
    """Return the id of a question of the document's project, which is stored where it is new."""
    of_project = Question.project_id == document.project_id
    known = session.scalar(select(Question).where(of_project, Question.text == text))
    if known is not None:
        lock_question(session, known)
        return known.id
    question = Question(project_id=document.project_id, text=text)
    session.add(question)
    session.flush()
    return question.id
