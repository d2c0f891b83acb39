"""Proposals of the model: the stored answer of a prediction and its form for people."""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, Field
from sqlalchemy import ColumnElement, Select, String, cast, func, select
from sqlalchemy.orm import Session

from db.tables import ModelVersion, Prediction, Revision
from engine.annotation.change import state_of
from engine.annotation.state import AnnotationState, AnswerValue, Cell, Correction, PageMark, Patch
from engine.errors import NotFound
from engine.models.registry import label


class Candidate(BaseModel):
    """One candidate answer."""

    words: list[int] = Field(description="Numbers of its words.")
    mask: Patch
    text: str = Field(description="Its words, joined.")
    score: float = Field(description="Predicted IoU, 0..1.")
    place: str = Field(
        default="",
        description="What tells this place apart where the page prints the key again, as the heading above it.",
    )


class RankedPage(BaseModel):
    """Scores of a page for a question: probability that it answers, and predicted IoU."""

    page_id: str
    answered: float = Field(description="Probability that the page answers.")
    score: float = Field(description="Predicted IoU of its proposal, 0..1.")


def _is_empty(part: object) -> bool:
    """Return whether a part is left out of the JSON: few answers are tables."""
    return not part


class ProposedCell(BaseModel):
    """Cell of a proposed table."""

    row: int = Field(description="Number of its row, from 0.")
    column: str = Field(description="Name of its column.")
    page_id: str
    words: list[int] = Field(description="Numbers of its words.")
    mask: Patch
    text: str = Field(description="Its words, joined.")


class StoredAnswer(Candidate):
    """JSON in `predictions.answer`; `ranked` is filled when the whole document was asked."""

    candidates: list[Candidate] = Field(
        default_factory=list,
        description="Other proposals: up to 3, best first. If the key is repeated: up to 8, from the top of the page.",
    )
    repeated: int = Field(
        default=0, description="How often the page prints the key of the question, from 2; 0 otherwise."
    )
    ranked: list[RankedPage] = Field(default_factory=list)
    source: Literal["model", "form", "outside", "table"] = Field(
        default="model",
        description="What answers: the model, the field of the PDF's form that the question names, a model of "
        "others whose prediction was sent here, or the layout of the words, which makes the cells of a table.",
    )
    proposer: str = Field(default="", description="Name and version of the model of others; empty for others.")
    cells: list[ProposedCell] = Field(
        default_factory=list, exclude_if=_is_empty, description="Of a table: its cells, row by row."
    )

    @property
    def by_model(self) -> bool:
        """Return whether the project's own model has a part in it."""
        return self.source in ("model", "form")

    @property
    def rival(self) -> float:
        """Return the predicted IoU of the best other proposal; 0 without one.

        Beside the value of the field that the question names, the proposals of the model are no rivals.
        """
        if self.source == "form" and self.score == 1:
            return 0.0
        return max((other.score for other in self.candidates), default=0.0)


class ModelName(BaseModel):
    """Model with its display label."""

    id: str | None = Field(description="Id of the model version; null for a model of others.")
    label: str


class Proposal(StoredAnswer):
    """Prediction with its model version and the time it took, in milliseconds."""

    prediction_id: str
    page_id: str
    answered: float
    milliseconds: float
    model: ModelName


def proposal_of(session: Session, prediction: Prediction) -> Proposal:
    """Return a stored prediction as a proposal."""
    key = prediction.model_version_id
    version = session.get_one(ModelVersion, key) if key is not None else None
    return build_proposal(
        prediction, StoredAnswer.model_validate({**prediction.answer, "score": prediction.score}), version
    )


def build_proposal(prediction: Prediction, answer: StoredAnswer, version: ModelVersion | None) -> Proposal:
    """Build a proposal from a prediction, its answer and its model version; None: a model of others."""
    return Proposal(
        **answer.model_dump(),
        prediction_id=prediction.id,
        page_id=prediction.page_id,
        answered=prediction.answered,
        milliseconds=prediction.milliseconds,
        model=ModelName(id=None, label=answer.proposer)
        if version is None
        else ModelName(id=version.id, label=label(version)),
    )


def newest_proposal(session: Session, annotation_id: str) -> Prediction | None:
    """Return the newest answer to the question alone, without a person's prompts; None without any."""
    return session.scalar(_newest(annotation_id))


def newest_proposal_id(session: Session, annotation_id: str) -> str | None:
    """Return the id of `newest_proposal`, without loading its masks."""
    return session.scalar(_newest(annotation_id).with_only_columns(Prediction.id))


def newest_rows(session: Session, annotation_id: str) -> Prediction | None:
    """Return the proposal of the other rows of a table that was taken last; None where none was."""
    return session.scalar(
        select(Prediction)
        .join(Revision, Revision.prediction_id == Prediction.id)
        .where(Revision.annotation_id == annotation_id, cast(Prediction.prompts, String).like('{"rows"%'))
        .order_by(Revision.number.desc())
        .limit(1)
    )


def without_given(cells: Sequence[ProposedCell], prompts: dict[str, Any]) -> list[ProposedCell]:
    """Return the cells of the rows that the model found, without those that a person had given it."""
    given = {
        frozenset(
            (column, page, *sorted(words)) for column, marks in row.items() for page, words in marks.items() if words
        )
        for row in prompts.get("rows", [])
    }
    rows: dict[int, list[ProposedCell]] = {}
    for cell in cells:
        rows.setdefault(cell.row, []).append(cell)
    found = [
        row
        for row in rows.values()
        if frozenset((cell.column, cell.page_id, *sorted(cell.words)) for cell in row) not in given
    ]
    return [cell for row in found for cell in row]


def newest_alone(which: ColumnElement[bool]) -> Select[Prediction]:
    """Return the statement for the newest proposal of each annotation, among the chosen predictions."""
    newest_first = (Prediction.created_at.desc(), Prediction.id.desc())
    place = func.row_number().over(partition_by=Prediction.annotation_id, order_by=newest_first)
    ranked = select(Prediction.id, place.label("place")).where(which, alone()).subquery()
    return select(Prediction).join(ranked, ranked.c.id == Prediction.id).where(ranked.c.place == 1)


def alone(prediction: type[Prediction] = Prediction) -> ColumnElement[bool]:
    """Return the condition that a prediction answers the question alone, without points, boxes or a mask.

    Evaluated by the database: every click stores a prediction, and each holds masks.
    """
    return cast(prediction.prompts, String) == "{}"


def _newest(annotation_id: str) -> Select[Prediction]:
    return (
        select(Prediction)
        .where(Prediction.annotation_id == annotation_id, alone())
        .order_by(Prediction.created_at.desc(), Prediction.id.desc())
        .limit(1)
    )


def proposal_state(session: Session, annotation_id: str, prediction_id: str | None = None) -> AnnotationState:
    """Return the state of the named proposal, else of the newest. Raises NotFound for an unknown id."""
    if prediction_id is None:
        return newest_state(session, annotation_id)[1]
    prediction = session.get(Prediction, prediction_id)
    if prediction is None:
        raise NotFound("The proposal that this edit builds on does not exist; reload the answer.")
    return shown_state(prediction)


def newest_state(session: Session, annotation_id: str) -> tuple[str | None, AnnotationState]:
    """Return the newest proposal's id (None without any) and its state."""
    prediction = newest_proposal(session, annotation_id)
    return (None, AnnotationState()) if prediction is None else (prediction.id, shown_state(prediction))


def shown_state(prediction: Prediction) -> AnnotationState:
    """Return the state that a prediction showed to the person."""
    return read_state({**prediction.answer, "score": prediction.score}, prediction.page_id)


def read_state(answer: dict[str, Any], page_id: str) -> AnnotationState:
    """Return the state that a stored model answer marks on a page."""
    stored = StoredAnswer.model_validate(answer)
    if stored.cells:
        return table_state(stored.cells)
    if not stored.mask.counts:
        return AnnotationState()
    # An empty box to tick has no word on the page that says so.
    said = Correction(text=stored.text) if stored.source == "form" and not stored.words and stored.text else None
    return AnnotationState(pages={page_id: PageMark(words=stored.words, mask=stored.mask)}, correction=said)


def table_state(cells: Sequence[ProposedCell]) -> AnnotationState:
    """Return the state of a table: each cell is a value with its place."""
    values: dict[Cell, AnswerValue] = {}
    for cell in cells:
        place = Cell(row=cell.row, column=cell.column)
        value = values.setdefault(place, AnswerValue(cell=place))
        value.pages[cell.page_id] = PageMark(words=cell.words, mask=cell.mask)
    return state_of(list(values.values()), no_answer=False)


def cell_texts(cells: Sequence[ProposedCell]) -> list[str]:
    """Return the text of each value of `table_state`: a cell over two pages has one."""
    texts: dict[tuple[int, str], list[str]] = {}
    for cell in cells:
        texts.setdefault((cell.row, cell.column), []).append(cell.text)
    return [" ".join(parts) for parts in texts.values()]
