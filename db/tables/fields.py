"""Tables of fields: a standard question with its name and type, and every version of it."""

from typing import Any

from sqlalchemy import ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base, Moment, Reference


class ProjectField(Base):
    """Field of a standard question, as its newest version defines it.

    A question that is no longer a standard one keeps its row without a name, so that its versions go on when it comes
    back.
    """

    __tablename__ = "fields"
    __table_args__ = (UniqueConstraint("project_id", "name"),)

    question_id: Mapped[Reference] = mapped_column(ForeignKey("questions.id"), primary_key=True)
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))
    name: Mapped[str | None] = mapped_column(String(60))
    version: Mapped[int]  # from 1
    definition: Mapped[dict[str, Any]]  # engine.fields.definition.FieldDefinition


class FieldVersion(Base):
    """Definition of a field from a moment on; never updated. Answers name the version they were given under."""

    __tablename__ = "field_versions"

    question_id: Mapped[Reference] = mapped_column(ForeignKey("fields.question_id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    definition: Mapped[dict[str, Any]]
    created_by: Mapped[Reference | None] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[Moment]
