"""What answers say as values: of each value the text, and what the field of the question makes of it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.tables import Project, ProjectField
from engine.annotation.state import AnnotationState
from engine.annotation.texts import answer_texts
from engine.annotation.values import field_of_part, view_value
from engine.fields.compare_values import ComparedValue
from engine.fields.definition import FieldDefinition
from engine.fields.normalisation import LocaleContext
from engine.fields.read_value import context_of
from engine.fields.types import FieldType

_Typed = tuple[FieldDefinition, LocaleContext]


@dataclass(frozen=True, slots=True)
class TypedValues:
    """Values of an answer, in their order, and the type of its field; None where the question is no field."""

    type: FieldType | None
    values: tuple[ComparedValue, ...]


def load_typed_values(session: Session, answers: Sequence[tuple[str, AnnotationState]]) -> list[TypedValues]:
    """Return what answers say, in their order, with the number of queries of one.

    Args:
        session: For reading.
        answers: Question and state of each.
    """
    fields = _load_fields(session, {question_id for question_id, _ in answers})
    parts = [state.single_values() for _, state in answers]
    texts = iter(answer_texts(session, [part for of_answer in parts for part in of_answer]))
    typed = []
    for (question_id, _), of_answer in zip(answers, parts, strict=True):
        field = fields.get(question_id)
        values = tuple(_say(field, part, next(texts)) for part in of_answer)
        typed.append(TypedValues(None if field is None else field[0].type, values))
    return typed


def _say(field: _Typed | None, part: AnnotationState, printed: str) -> ComparedValue:
    if field is None:
        corrected = part.correction.text if part.correction is not None else None
        return ComparedValue(printed if corrected is None else corrected)
    view = view_value(field[0], part, printed, field[1])
    if part.cell is None:
        return ComparedValue(view.text, view.value)
    return ComparedValue(view.text, view.value, (part.cell.row, part.cell.column), field_of_part(field[0], part).type)


def _load_fields(session: Session, questions: Collection[str]) -> dict[str, _Typed]:
    """Return the fields of those questions that are one, with how their project's papers print values."""
    chosen = (
        select(ProjectField.question_id, ProjectField.definition, Project.settings)
        .join(Project, Project.id == ProjectField.project_id)
        .where(ProjectField.question_id.in_(questions), ProjectField.name.is_not(None))
    )
    return {
        question_id: (FieldDefinition.model_validate(definition), context_of(settings))
        for question_id, definition, settings in session.execute(chosen)
    }
