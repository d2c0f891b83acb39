"""Typed values of answers: the printed text of each value, what a person corrected, and what the field makes of it."""

from collections.abc import Sequence

from pydantic import BaseModel, Field
from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from db.tables import Project, ProjectField
from engine.annotation.issuers import load_context
from engine.annotation.state import AnnotationState, Cell
from engine.annotation.texts import answer_texts
from engine.fields.definition import ColumnDefinition, FieldDefinition
from engine.fields.normalisation import LocaleContext, Normalised, Value
from engine.fields.read_value import BY_PERSON, read_value
from engine.fields.types import FieldType


class ReadingView(BaseModel):
    """A reading of an ambiguous text, for a person to pick."""

    value: Value
    words: str = Field(description="The convention in words.")
    convention: dict[str, str] = Field(description="What to remember where this reading is picked.")


class ValueView(BaseModel):
    """A value of an answer, as the type of its field."""

    printed: str = Field(description="Words of its marks, as they are printed.")
    text: str = Field(description="The printed text, or as a person corrected it.")
    corrected: bool = Field(description="Whether a person corrected the text or picked the reading.")
    value: Value | None = Field(description="Normalised value; null where the text is ambiguous or unreadable.")
    rule: str = Field(description="Rule that made the value; `person` for a picked reading.")
    readings: list[ReadingView] = Field(description="Readings of an ambiguous text.")
    reason: str = Field(description="Why the text cannot be read as the field's type.")
    cell: Cell | None = Field(None, description="Its place in a table.")


def view_values(
    field: FieldDefinition, state: AnnotationState, texts: Sequence[str], context: LocaleContext
) -> list[ValueView]:
    """Return the values of an answer.

    Args:
        field: Field of the question.
        state: The answer.
        texts: Printed text of each of `state.single_values()`.
        context: Locale and conventions of the project.
    """
    return [
        view_value(field, part, printed, context) for part, printed in zip(state.single_values(), texts, strict=True)
    ]


def view_value(field: FieldDefinition, part: AnnotationState, printed: str, context: LocaleContext) -> ValueView:
    """Return a single value of an answer; see `view_values`. A cell of a table is read as its column."""
    text, read = read_part(field, part, printed, context)
    return ValueView(
        printed=printed,
        text=text,
        corrected=text != printed or read.rule == BY_PERSON,
        value=read.value,
        rule=read.rule,
        readings=[
            ReadingView(value=reading.value, words=reading.words, convention=dict(reading.convention))
            for reading in read.readings
        ],
        reason=read.reason,
        cell=part.cell,
    )


def read_part(
    field: FieldDefinition, part: AnnotationState, printed: str, context: LocaleContext
) -> tuple[str, Normalised]:
    """Return the text of a single value, as a person corrected it, and what it says as its type."""
    said = part.correction
    text = said.text if said is not None and said.text is not None else printed
    picked = said.reading.value if said is not None and said.reading is not None else None
    return text, read_value(field_of_part(field, part), text, picked, context)


def field_of_part(field: FieldDefinition, part: AnnotationState) -> ColumnDefinition:
    """Return the field whose type a value has: of a cell its column, of other values the field itself."""
    column = field.column(part.cell.column) if part.cell is not None else None
    return field if column is None else column


class ColumnView(BaseModel):
    """Column of a table, in short."""

    name: str
    question: str
    type: FieldType


class FieldView(BaseModel):
    """Field of a question, in short."""

    name: str
    type: FieldType
    several: bool
    columns: list[ColumnView] = []


def load_field(session: Session, question_id: str, document_id: str) -> tuple[FieldDefinition, LocaleContext] | None:
    """Return the field of a question, and how the document prints values; None where it is no field."""
    row = session.execute(_FIELD, {"question": question_id}).one_or_none()
    if row is None:
        return None
    return FieldDefinition.model_validate(row.definition), load_context(session, row.settings, document_id)


def load_values(session: Session, question_id: str, document_id: str, state: AnnotationState) -> list[ValueView]:
    """Return the values of an answer to a question; none where the question is no field."""
    known = load_field(session, question_id, document_id)
    if known is None:
        return []
    return view_values(known[0], state, answer_texts(session, state.single_values()), known[1])


_FIELD = (
    select(ProjectField.definition, Project.settings)
    .join(Project, Project.id == ProjectField.project_id)
    .where(ProjectField.question_id == bindparam("question"), ProjectField.name.is_not(None))
)
