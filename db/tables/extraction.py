"""Table of the callbacks of extractions: papers whose values somebody still waits for."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base, Id, Moment, Reference
from db.tables.webhooks import LONGEST_ADDRESS

_DUE = text("due_at IS NOT NULL")


class ExtractionCallback(Base):
    """A request to send the values of a document to an address, first once it is read, then once people are done.

    A row is deleted when nothing more is to be sent.
    """

    __tablename__ = "extraction_callbacks"
    __table_args__ = (
        Index("ix_extraction_callbacks_document_id", "document_id"),
        Index("ix_extraction_callbacks_project_id", "project_id"),
        Index("ix_extraction_callbacks_due", "due_at", "id", sqlite_where=_DUE, postgresql_where=_DUE),
    )

    id: Mapped[Id]
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))
    document_id: Mapped[Reference] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"))
    person_id: Mapped[Reference] = mapped_column(ForeignKey("users.id"))
    url: Mapped[str] = mapped_column(String(LONGEST_ADDRESS))
    awaited: Mapped[list[Any] | None]  # questions that people have yet to decide; null: nothing was sent yet
    due_at: Mapped[datetime | None]  # when it is looked at; null: when the document changes
    held_until: Mapped[datetime | None]  # a process looks at it; afterwards another one may
    created_at: Mapped[Moment]
