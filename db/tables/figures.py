"""Tables of figures derived from documents, their tasks and answers (engine.followers)."""

from datetime import date, datetime

from sqlalchemy import BigInteger, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base, Reference

EVERYBODY = ""  # in place of a person
COMPARED_CHOICES = ("model", "random")  # who chose a document; the corrections of these are compared


class FinishedMask(Base):
    """An answer that a person has finished, as its first finishing revision left it.

    `seconds`: active work until then. `unchanged`: finished by the first revision without an edit of words or pixels,
    and neither rejected nor fixed by a reviewer. `version_id`: model version whose proposal was corrected;
    `outside_model_id`: that of a model of others.
    """

    __tablename__ = "finished_masks"
    __table_args__ = (
        Index("ix_finished_masks_question", "document_id", "question_id"),
        Index("ix_finished_masks_person", "project_id", "person_id", "seconds", "day"),
        Index("ix_finished_masks_at", "project_id", "at", "person_id"),
        Index("ix_finished_masks_version", "project_id", "version_id", "seconds"),
        Index("ix_finished_masks_outside", "project_id", "outside_model_id", "seconds"),
    )

    annotation_id: Mapped[Reference] = mapped_column(ForeignKey("annotations.id"), primary_key=True)
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))
    document_id: Mapped[Reference] = mapped_column(ForeignKey("documents.id"))
    question_id: Mapped[Reference] = mapped_column(ForeignKey("questions.id"))
    version_id: Mapped[Reference | None] = mapped_column(ForeignKey("model_versions.id"))
    outside_model_id: Mapped[Reference | None]
    person_id: Mapped[Reference] = mapped_column(ForeignKey("users.id"))
    at: Mapped[datetime]
    day: Mapped[date]  # of `at`, in UTC
    seconds: Mapped[float]
    unchanged: Mapped[bool]


class MaskCount(Base):
    """Number of a person's finished masks of a day and a model version, also of a model of others; version "": none."""

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


class QueueDocument(Base):
    """Share of a document in the queue: tasks without enough answers, and answers without a verdict."""

    __tablename__ = "queue_documents"

    document_id: Mapped[Reference] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True)
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"), index=True)
    open: Mapped[int]
    submitted: Mapped[int]


class QueueDay(Base):
    """Change of a project's queue on a day: tasks without enough answers, and answers without a verdict.

    The depth at the end of a day is the sum of all days until then. It shows what waited on that day: an answer that is
    removed later has waited all the same.
    """

    __tablename__ = "queue_days"

    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)
    open: Mapped[int]
    submitted: Mapped[int]


class DocumentFigures(Base):
    """Numbers of a document that its project's sums are made of; person "": those of everybody.

    `bytes`: of its file, and `uploader_id`: who uploaded it, "" for nobody; both stand in the row of everybody alone.
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
    bytes: Mapped[int] = mapped_column(BigInteger, server_default="0")
    uploader_id: Mapped[Reference] = mapped_column(server_default="")


class ProjectFigures(Base):
    """Sums of a project's DocumentFigures; person "": of everybody. Of a person, `documents` and `bytes` of uploads."""

    __tablename__ = "project_figures"
    __table_args__ = (Index("ix_project_figures_person_id", "person_id"),)  # what a person has uploaded

    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    person_id: Mapped[Reference] = mapped_column(primary_key=True)
    documents: Mapped[int]
    pages: Mapped[int]
    questions: Mapped[int]
    accepted: Mapped[int]
    compared: Mapped[int]
    bytes: Mapped[int] = mapped_column(BigInteger, server_default="0")


class AskedDocument(Base):
    """A document of which a question was asked, with the newest answer that was not removed."""

    __tablename__ = "asked_documents"
    __table_args__ = (Index("ix_asked_documents_question", "question_id", "last_asked"),)

    document_id: Mapped[Reference] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True)
    question_id: Mapped[Reference] = mapped_column(ForeignKey("questions.id"), primary_key=True)
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"), index=True)
    last_asked: Mapped[Reference]  # id of the answer


class WaitingReview(Base):
    """An answer that waits for a reviewer: submitted without a verdict, or a label with an open label review."""

    __tablename__ = "waiting_reviews"

    annotation_id: Mapped[Reference] = mapped_column(ForeignKey("annotations.id", ondelete="CASCADE"), primary_key=True)
    document_id: Mapped[Reference] = mapped_column(ForeignKey("documents.id"), index=True)
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"), index=True)
    author_id: Mapped[Reference] = mapped_column(ForeignKey("users.id"))
    editor_id: Mapped[Reference] = mapped_column(ForeignKey("users.id"))  # author of the newest revision


class ReviewCount(Base):
    """Number of a project's answers that wait for a reviewer; of a person, those that they wrote or edited last."""

    __tablename__ = "review_counts"

    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    person_id: Mapped[Reference] = mapped_column(primary_key=True)
    number: Mapped[int]
