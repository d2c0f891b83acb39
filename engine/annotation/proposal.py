"""What the model proposed, as it is stored with a prediction and shown to the person."""

from typing import Any

from pydantic import BaseModel, Field
from sqlalchemy import ColumnElement, Select, String, cast, func, select
from sqlalchemy.orm import Session

from db.tables import ModelVersion, Prediction
from engine.annotation.state import AnnotationState, PageMark, Patch
from engine.errors import NotFound
from engine.models.registry import label


class Candidate(BaseModel):
    """One way to answer."""

    words: list[int]
    mask: Patch
    text: str
    score: float


class RankedPage(BaseModel):
    """How likely a page answers the question."""

    page_id: str
    answered: float
    score: float


class StoredAnswer(Candidate):
    """The JSON in `predictions.answer`. `ranked` is there where the whole document was asked."""

    candidates: list[Candidate] = Field(default_factory=list)
    ranked: list[RankedPage] = Field(default_factory=list)


class ModelName(BaseModel):
    """A model version as people see it."""

    id: str
    label: str


class Proposal(StoredAnswer):
    """A prediction with who made it and how long it took."""

    prediction_id: str
    page_id: str
    answered: float
    milliseconds: float
    model: ModelName


def proposal_of(session: Session, prediction: Prediction) -> Proposal:
    """Return a stored prediction as a proposal."""
    version = session.get_one(ModelVersion, prediction.model_version_id)
    return proposed(prediction, StoredAnswer.model_validate({**prediction.answer, "score": prediction.score}), version)


def proposed(prediction: Prediction, answer: StoredAnswer, version: ModelVersion) -> Proposal:
    """Return a prediction with its answer, of a version of the model, as a proposal."""
    return Proposal(
        **answer.model_dump(),
        prediction_id=prediction.id,
        page_id=prediction.page_id,
        answered=prediction.answered,
        milliseconds=prediction.milliseconds,
        model=ModelName(id=version.id, label=label(version)),
    )


def newest_proposal(session: Session, annotation_id: str) -> Prediction | None:
    """Return the newest answer that the model gave to the question alone, without a person's points or boxes."""
    return session.scalar(_newest(annotation_id))


def newest_proposal_id(session: Session, annotation_id: str) -> str | None:
    """Return the id of `newest_proposal`, without its masks."""
    return session.scalar(_newest(annotation_id).with_only_columns(Prediction.id))


def newest_alone(which: ColumnElement[bool]) -> Select[Prediction]:
    """Return the statement for the newest proposal of each annotation, among the predictions that `which` chooses."""
    newest_first = (Prediction.created_at.desc(), Prediction.id.desc())
    place = func.row_number().over(partition_by=Prediction.annotation_id, order_by=newest_first)
    ranked = select(Prediction.id, place.label("place")).where(which, alone()).subquery()
    return select(Prediction).join(ranked, ranked.c.id == Prediction.id).where(ranked.c.place == 1)


def alone() -> ColumnElement[bool]:
    """Return the condition that a prediction answers the question alone: no point, box or mask of a person went into it.

    Asked of the database: every click of a person leaves a prediction, and each holds masks.
    """
    return cast(Prediction.prompts, String) == "{}"


def _newest(annotation_id: str) -> Select[Prediction]:
    return (
        select(Prediction)
        .where(Prediction.annotation_id == annotation_id, alone())
        .order_by(Prediction.created_at.desc(), Prediction.id.desc())
        .limit(1)
    )


def proposal_state(session: Session, annotation_id: str, prediction_id: str | None = None) -> AnnotationState:
    """Return the state that a proposal stands for: the named one, else the newest. NotFound when the named one is not there."""
    if prediction_id is None:
        return newest_state(session, annotation_id)[1]
    prediction = session.get(Prediction, prediction_id)
    if prediction is None:
        raise NotFound("The proposal that this edit builds on is unknown.")
    return shown_state(prediction)


def newest_state(session: Session, annotation_id: str) -> tuple[str | None, AnnotationState]:
    """Return the id of the newest proposal, None without any, and the state that it stands for."""
    prediction = newest_proposal(session, annotation_id)
    return (None, AnnotationState()) if prediction is None else (prediction.id, shown_state(prediction))


def shown_state(prediction: Prediction) -> AnnotationState:
    """Return what a prediction marks on its page, as the person saw it."""
    return marked({**prediction.answer, "score": prediction.score}, prediction.page_id)


def marked(answer: dict[str, Any], page_id: str) -> AnnotationState:
    """Return what a stored answer of a model marks on its page."""
    stored = StoredAnswer.model_validate(answer)
    if not stored.mask.counts:
        return AnnotationState()
    return AnnotationState(pages={page_id: PageMark(words=stored.words, mask=stored.mask)})
