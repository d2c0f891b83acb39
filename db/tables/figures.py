"""Tables of figures that are kept as the work happens (db.finished_work, db.queue_days)."""

from datetime import date, datetime

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base, Reference


class FinishedMask(Base):
    """An answer that a person has finished, as its first finishing revision left it; kept with its revisions.

    `seconds`: active work until then. `unchanged`: finished by the first revision without an edit of words or pixels,
    and neither rejected nor fixed by a reviewer. `version_id`: model version whose proposal was corrected.
    """

    __tablename__ = "finished_masks"
    __table_args__ = (
        Index("ix_finished_masks_question", "document_id", "question_id"),
        Index("ix_finished_masks_person", "project_id", "person_id", "seconds", "day"),
        Index("ix_finished_masks_version", "project_id", "version_id", "seconds"),
    )

    annotation_id: Mapped[Reference] = mapped_column(ForeignKey("annotations.id"), primary_key=True)
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))
    document_id: Mapped[Reference] = mapped_column(ForeignKey("documents.id"))
    question_id: Mapped[Reference] = mapped_column(ForeignKey("questions.id"))
    version_id: Mapped[Reference | None] = mapped_column(ForeignKey("model_versions.id"))
    person_id: Mapped[Reference] = mapped_column(ForeignKey("users.id"))
    at: Mapped[datetime]
    day: Mapped[date]  # of `at`, in UTC
    seconds: Mapped[float]
    unchanged: Mapped[bool]


class MaskCount(Base):
    """Number of a person's finished masks of a day and a model version, kept with them; version "": none."""

    __tablename__ = "mask_counts"

    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)
    person_id: Mapped[Reference] = mapped_column(ForeignKey("users.id"), primary_key=True)
    version_id: Mapped[Reference] = mapped_column(primary_key=True)
    masks: Mapped[int]
    timed: Mapped[int]  # those with active seconds
    unchanged: Mapped[int]


class FinishedDocument(Base):
    """A document all of whose open tasks have a finished mask, where model or chance chose it for people."""

    __tablename__ = "finished_documents"
    __table_args__ = (Index("ix_finished_documents_of", "project_id", "chosen_by", "pages", "corrections"),)

    document_id: Mapped[Reference] = mapped_column(ForeignKey("documents.id"), primary_key=True)
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))
    chosen_by: Mapped[str] = mapped_column(String(10))
    pages: Mapped[int]
    corrections: Mapped[int]  # answers that people had to change


class QueueDay(Base):
    """Change of a project's queue on a day: tasks without enough answers, and answers without a verdict."""

    __tablename__ = "queue_days"

    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)
    open: Mapped[int]
    submitted: Mapped[int]


class DocumentFigures(Base):
    """Numbers of a document that its project's sums are made of; person "": those of everybody.

    `compared`: questions with an accepted answer that are answered by several people, or have a known answer. Of a
    person, those of them that they have answered, so that they see the answers.
    """

    __tablename__ = "document_figures"

    document_id: Mapped[Reference] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True)
    person_id: Mapped[Reference] = mapped_column(primary_key=True)
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"), index=True)
    pages: Mapped[int]
    questions: Mapped[int]
    accepted: Mapped[int]  # questions with an accepted answer
    compared: Mapped[int]


class ProjectFigures(Base):
    """Sums of a project's DocumentFigures, kept with them; person "": of everybody."""

    __tablename__ = "project_figures"

    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    person_id: Mapped[Reference] = mapped_column(primary_key=True)
    documents: Mapped[int]
    pages: Mapped[int]
    questions: Mapped[int]
    accepted: Mapped[int]
    compared: Mapped[int]
