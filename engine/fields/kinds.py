"""Kind of value that a field's type tells the model to look for."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.tables import ProjectField
from engine.fields.types import FieldType
from model.kinds import Kind

# A text may be anything, and so may a choice; signatures, regions and tables are not made of words of one kind.
_KINDS = {
    FieldType.NUMBER: Kind.NUMBER,
    FieldType.INTEGER: Kind.NUMBER,
    FieldType.CURRENCY: Kind.AMOUNT,
    FieldType.DATE: Kind.DATE,
    FieldType.TIME: Kind.TIME,
    FieldType.BOOLEAN: Kind.TICK,
    FieldType.PHONE: Kind.PHONE,
    FieldType.COUNTRY: Kind.COUNTRY,
    FieldType.ADDRESS: Kind.ADDRESS,
}


def kind_of_type(field_type: FieldType) -> Kind | None:
    """Return the kind of value of a field's type; None where the type does not tell."""
    return _KINDS.get(field_type)


def load_kinds(session: Session, question_ids: Sequence[str]) -> dict[str, Kind]:
    """Return the kinds of those questions that are fields of their project with a type that tells, by question id."""
    chosen = select(ProjectField.question_id, ProjectField.definition).where(
        ProjectField.question_id.in_(question_ids), ProjectField.name.is_not(None)
    )
    kinds = {key: kind_of_type(FieldType(definition["type"])) for key, definition in session.execute(chosen).tuples()}
    return {key: kind for key, kind in kinds.items() if kind is not None}
