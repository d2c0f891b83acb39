"""Table of documents that came from another project."""

from sqlalchemy import Boolean, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base, Moment, Reference


class TransferredDocument(Base):
    """A document that was moved or copied from another project.

    A move leaves the original in the bin of its project, with all that rests on it there. No foreign key to the
    original, which may be deleted first.
    """

    __tablename__ = "transferred_documents"
    __table_args__ = (Index("ix_transferred_documents_batch", "batch", "origin_id"),)

    document_id: Mapped[Reference] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True)
    origin_id: Mapped[Reference] = mapped_column(index=True)  # the document in the other project
    batch: Mapped[str] = mapped_column(String(32))  # id of the job
    moved: Mapped[bool] = mapped_column(Boolean)
    created_at: Mapped[Moment]
