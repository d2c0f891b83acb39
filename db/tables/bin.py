"""Tables of removed documents, questions and projects.

A removed document belongs to a bin: a hidden project without members, for removed documents of another one. Whatever
counts, lists, exports or teaches the documents of a project leaves it out by that alone. Triggers give new rows
of its tasks and answers the project of the document (migration 0037), so that none is left behind.

A removed question stays where it is. Its answers are removed with it, document by document
(engine.tasks.opening.removed_questions).
"""

from sqlalchemy import Boolean, ForeignKey, Index, String, false
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base, Moment, Reference


class RemovedDocument(Base):
    """A document in the bin. `project_id`: the project that it was removed from."""

    __tablename__ = "removed_documents"
    __table_args__ = (Index("ix_removed_documents_newest", "project_id", "removed_at", "document_id"),)

    document_id: Mapped[Reference] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True)
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))
    removed_by: Mapped[Reference | None] = mapped_column(ForeignKey("users.id"))
    removed_at: Mapped[Moment] = mapped_column(index=True)
    # Chosen to be deleted: it cannot be restored any more, and who was interrupted goes on.
    erasing: Mapped[bool] = mapped_column(Boolean, default=False, server_default=false())


class RemovedQuestion(Base):
    """A question in the bin, with its answers. `standard`: whether it was a standard question."""

    __tablename__ = "removed_questions"
    __table_args__ = (Index("ix_removed_questions_newest", "project_id", "removed_at", "question_id"),)

    question_id: Mapped[Reference] = mapped_column(ForeignKey("questions.id"), primary_key=True)
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))
    standard: Mapped[bool]
    removed_by: Mapped[Reference | None] = mapped_column(ForeignKey("users.id"))
    removed_at: Mapped[Moment]
    erasing: Mapped[bool] = mapped_column(Boolean, default=False, server_default=false())


class RemovedProject(Base):
    """A project in the bin of the installation: its row is a bin of itself, so that it is in no list.

    `name`: its name, which another project may take meanwhile.
    """

    __tablename__ = "removed_projects"
    __table_args__ = (Index("ix_removed_projects_newest", "removed_at", "project_id"),)

    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    name: Mapped[str] = mapped_column(String(100))
    removed_by: Mapped[Reference | None] = mapped_column(ForeignKey("users.id"))
    removed_at: Mapped[Moment]
    erasing: Mapped[bool] = mapped_column(Boolean, default=False, server_default=false())
