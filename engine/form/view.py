"""The form of a document, as one person sees it. Reads only."""

from collections.abc import Collection, Mapping, Sequence

from pydantic import BaseModel, Field
from sqlalchemy import select
from sqlalchemy.orm import Session

from db.tables import Annotation, Document, Prediction, Project, SurveyAnswer
from engine.annotation.issuers import load_context
from engine.annotation.proposal import StoredAnswer
from engine.annotation.state import AnnotationState
from engine.annotation.texts import answer_texts
from engine.annotation.unaided import unaided_questions
from engine.annotation.values import ValueView, view_values
from engine.annotation.views import newest_heads, newest_proposals, state_of
from engine.fields.definition import FieldDefinition
from engine.fields.project_fields import StoredField, load_fields
from engine.fields.rules import broken_rules
from engine.fields.table_rows import is_table, table_rows
from engine.fields.types import FieldType
from engine.projects.project_stage import accepted_from
from engine.queries import existing, not_removed
from engine.selection.uncertainty import confidence
from engine.workspace import Workspace
from model.boxes import Box


class FormMark(BaseModel):
    """Place of a value on a page."""

    page_id: str
    box: Box
    place: int = Field(description="Number of the value among `values`.")


class FormField(BaseModel):
    """Field of a form with the answer of one person."""

    question_id: str
    name: str = Field(description="Key for programs.")
    question: str
    type: FieldType
    required: bool
    annotation_id: str | None = Field(description="Id of the person's answer; null until the field is asked.")
    head: int = Field(description="Number of the newest revision; 0: nothing was saved yet.")
    status: str | None = Field(description="Status of the answer; null until the field is asked.")
    prediction_id: str | None = Field(description="The newest proposal of the model; null without one.")
    confidence: float | None = Field(
        description="Confidence of the model, 0..1; null without a proposal of it, and once a person saved."
    )
    accepted_from: float | None = Field(
        description="Confidence from which a value counts without people: the field's, else the project's; null "
        "without either."
    )
    no_answer: bool = Field(description="Whether the answer is: not answered in this document.")
    unaided: bool = Field(description="It is answered without the model, to measure agreement.")
    values: list[ValueView]
    marks: list[FormMark]
    broken: list[str] = Field(description="Rules that the values break, as sentences.")


class FormView(BaseModel):
    """All fields of a project in their order, with one person's answers of a document."""

    document_id: str
    fields: list[FormField]
    left: int = Field(description="Number of fields that nobody has asked yet for this person; ask again for more.")


def load_form(workspace: Workspace, document_id: str, user_id: str) -> FormView:
    """Return the form of a document with a person's answers. Raises NotFound for an unknown document."""
    with workspace.database.read() as session:
        document = existing(session, Document, document_id)
        project = session.get_one(Project, document.project_id)
        fields = load_fields(session, project.id)
        answers = _load_answers(session, document_id, user_id, [field.id for field in fields])
        unaided = unaided_questions(session, project.id, document_id)
        sure_from = accepted_from(session, project.id)
        context = load_context(session, project.settings, document_id)
    rows = []
    for field in fields:
        answer = answers.get(field.id)
        values = view_values(field.definition, answer.state, answer.texts, context) if answer is not None else []
        rows.append(_row(field, answer, values, field.id in unaided, sure_from))
    broken = _rules_broken(fields, rows)
    filled = [row.model_copy(update={"broken": broken.get(row.name, [])}) for row in rows]
    return FormView(document_id=document_id, fields=filled, left=sum(1 for row in filled if row.annotation_id is None))


class _Answer(BaseModel):
    """A person's answer, with the printed text of each of its values."""

    annotation_id: str
    head: int
    status: str
    state: AnnotationState
    texts: list[str]
    prediction_id: str | None
    confidence: float | None


def _load_answers(session: Session, document_id: str, user_id: str, questions: Collection[str]) -> dict[str, _Answer]:
    """Return a person's answers of a document by question, in a few statements for all of them."""
    chosen = (
        (Annotation.document_id == document_id)
        & (Annotation.author_id == user_id)
        & Annotation.question_id.in_(questions)
        & not_removed()
    )
    annotations = session.scalars(select(Annotation).where(chosen)).all()
    heads, proposals = newest_heads(session, chosen), newest_proposals(session, chosen)
    states = [state_of(annotation, heads, proposals) for annotation in annotations]
    parts = [state.single_values() for state in states]
    texts = iter(answer_texts(session, [part for some in parts for part in some]))
    surveyed = _load_survey(session, document_id, [each.question_id for each in annotations if each.head == 0])
    answers = {}
    for annotation, state, some in zip(annotations, states, parts, strict=True):
        proposal = proposals.get(annotation.id)
        answers[annotation.question_id] = _Answer.model_construct(
            annotation_id=annotation.id,
            head=annotation.head,
            status=annotation.status,
            state=state,
            texts=[next(texts) for _ in some],
            prediction_id=proposal.id if proposal is not None else None,
            confidence=_confidence(proposal, surveyed)
            if proposal is not None and proposal.model_version_id is not None and annotation.head == 0
            else None,
        )
    return answers


_Surveyed = Mapping[tuple[str, float, float], float]  # question, score, answered -> confidence


def _load_survey(session: Session, document_id: str, questions: Collection[str]) -> _Surveyed:
    """Return the confidences of a document's survey answers; they know how far words and pixels disagree."""
    columns = SurveyAnswer.question_id, SurveyAnswer.score, SurveyAnswer.answered, SurveyAnswer.confidence
    here = SurveyAnswer.document_id == document_id, SurveyAnswer.question_id.in_(questions)
    return {
        (key, score, answered): sure for key, score, answered, sure in session.execute(select(*columns).where(*here))
    }


def _confidence(proposal: Prediction, surveyed: _Surveyed) -> float:
    """Return the confidence of a proposal: the survey's, where it is its answer; else without the disagreement."""
    known = surveyed.get((proposal.question_id, proposal.score, proposal.answered))
    if known is not None:
        return known
    stored = StoredAnswer.model_validate({**proposal.answer, "score": proposal.score})
    return confidence(proposal.answered, proposal.score, 0.0, stored.rival)


def _row(
    field: StoredField,
    answer: _Answer | None,
    values: list[ValueView],
    unaided: bool,
    sure_from: float | None,
) -> FormField:
    by_hand = unaided and (answer is None or (answer.prediction_id is None and answer.status in ("draft", "rejected")))
    parts = answer.state.single_values() if answer is not None else []
    return FormField(
        question_id=field.id,
        name=field.name,
        question=field.question,
        type=field.type,
        required=field.required,
        annotation_id=answer.annotation_id if answer is not None else None,
        head=answer.head if answer is not None else 0,
        status=answer.status if answer is not None else None,
        prediction_id=answer.prediction_id if answer is not None else None,
        confidence=answer.confidence if answer is not None else None,
        accepted_from=field.confidence if field.confidence is not None else sure_from,
        no_answer=answer is not None and answer.state.no_answer,
        unaided=by_hand,
        values=values,
        marks=[
            FormMark(page_id=page, box=part.pages[page].mask.box, place=place)
            for place, part in enumerate(parts)
            for page in part.marked_pages()
        ],
        broken=[],
    )


def _rules_broken(fields: Sequence[StoredField], rows: Sequence[FormField]) -> dict[str, list[str]]:
    """Return the broken rules by field; a value that is ambiguous or not asked yet is not missing."""
    present = {row.name: [value.value for value in row.values if value.value is not None] for row in rows}
    tables = {
        field.name: table_rows(field, [(v.cell.row, v.cell.column, v.value) for v in row.values if v.cell is not None])
        for field, row in zip(fields, rows, strict=True)
        if is_table(field)
    }
    unknown = {
        row.name for row in rows if row.annotation_id is None or row.unaided or (row.values and not present[row.name])
    }
    checked: list[FieldDefinition] = [
        field.model_copy(update={"required": False}) if field.name in unknown else field for field in fields
    ]
    return broken_rules(checked, present, tables=tables)
