"""Tables of the model's own work: survey, label review, stages, automatic answers."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, LargeBinary, String, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base, Id, Moment, Reference

_OPEN, _DECIDED = text("verdict IS NULL"), text("verdict IS NOT NULL")


class SurveyAnswer(Base):
    """A model version's answer before anybody asked, from the newest survey alone."""

    __tablename__ = "survey_answers"
    __table_args__ = (Index("ix_survey_answers_newest", "project_id", "model_version_id", "created_at"),)

    document_id: Mapped[Reference] = mapped_column(ForeignKey("documents.id"), primary_key=True)
    question_id: Mapped[Reference] = mapped_column(ForeignKey("questions.id"), primary_key=True)
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))
    model_version_id: Mapped[Reference] = mapped_column(ForeignKey("model_versions.id"))
    page_id: Mapped[Reference] = mapped_column(ForeignKey("pages.id"), index=True)
    words_version: Mapped[int]  # sum over the document's pages; corrected words outdate the answer
    answer: Mapped[dict[str, Any]]  # engine.annotation.proposal.StoredAnswer
    score: Mapped[float]  # predicted IoU, 0..1
    answered: Mapped[float]  # probability that the document answers, 0..1
    disagreement: Mapped[float]  # 1 - IoU of both paths' answers, 0..1
    confidence: Mapped[float]  # probability that the mark is right, 0..1; engine.selection.uncertainty
    uncertainty: Mapped[float]  # 0..1
    milliseconds: Mapped[float]
    created_at: Mapped[Moment]


class DocumentSignature(Base):
    """A document's feature vector under a model version, for telling kinds of documents apart."""

    __tablename__ = "document_signatures"

    document_id: Mapped[Reference] = mapped_column(ForeignKey("documents.id"), primary_key=True)
    model_version_id: Mapped[Reference] = mapped_column(ForeignKey("model_versions.id"))
    vector: Mapped[bytes] = mapped_column(LargeBinary)  # float16, little-endian
    created_at: Mapped[Moment]


class LabelReview(Base):
    """An accepted label for review by another person: a model version contradicts it, or its words are gone.

    Without a model version, its page was read again and has other words where the label named some (kind "words").
    """

    __tablename__ = "second_looks"
    __table_args__ = (
        CheckConstraint("kind in ('elsewhere', 'here', 'not_here', 'words')", name="kind"),
        CheckConstraint("verdict in ('kept', 'mended', 'returned')", name="verdict"),
        UniqueConstraint("annotation_id", "model_version_id"),
        Index("ix_second_looks_project_id_verdict", "project_id", "verdict"),
        Index("ix_second_looks_open", "project_id", "id", sqlite_where=_OPEN, postgresql_where=_OPEN),
        Index(
            "ix_second_looks_queue",
            "project_id",
            "iou",
            "created_at",
            "id",
            sqlite_where=_OPEN,
            postgresql_where=_OPEN,
        ),
        Index("ix_second_looks_decided", "project_id", "id", sqlite_where=_DECIDED, postgresql_where=_DECIDED),
    )

    id: Mapped[Id]
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))
    annotation_id: Mapped[Reference] = mapped_column(ForeignKey("annotations.id"))
    # The label as it was contradicted.
    revision_id: Mapped[Reference] = mapped_column(ForeignKey("revisions.id"), index=True)
    model_version_id: Mapped[Reference | None] = mapped_column(ForeignKey("model_versions.id"))
    kind: Mapped[str] = mapped_column(String(20))  # the model marks another place, marks one, finds none; words gone
    page_id: Mapped[Reference] = mapped_column(ForeignKey("pages.id"), index=True)
    answer: Mapped[dict[str, Any]]  # the model's: engine.annotation.proposal.StoredAnswer; or the text of gone words
    score: Mapped[float]
    answered: Mapped[float]
    iou: Mapped[float]  # of the model's answer with the label, 0..1
    verdict: Mapped[str | None] = mapped_column(String(20))  # None: not reviewed yet
    decided_by: Mapped[Reference | None] = mapped_column(ForeignKey("users.id"))
    decided_at: Mapped[datetime | None]
    created_at: Mapped[Moment]


class StageChange(Base):
    """A change between assisted, semi-automatic and automatic; without any, a project is assisted."""

    __tablename__ = "stage_changes"
    __table_args__ = (
        CheckConstraint("stage in ('assisted', 'semi_automatic', 'automatic')", name="stage"),
        UniqueConstraint("project_id", "sequence"),
    )

    id: Mapped[Id]
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))
    sequence: Mapped[int]  # from 1; two at once collide here, and one of them loses
    stage: Mapped[str] = mapped_column(String(20))
    model_version_id: Mapped[Reference | None] = mapped_column(ForeignKey("model_versions.id"))  # the champion then
    figures: Mapped[dict[str, Any]] = mapped_column(default=dict)  # the evidence for the change
    reason: Mapped[str] = mapped_column(Text, default="")
    changed_by: Mapped[Reference | None] = mapped_column(ForeignKey("users.id"))  # None: the project itself
    created_at: Mapped[Moment]


class AutomaticAnswer(Base):
    """An answer accepted without a person.

    It is no annotation: nothing trains on it or is judged by it. Exports contain it, marked, only on request. `audit`
    marks answers drawn for a person to answer without seeing them; any person's answer decides `verdict`.
    """

    __tablename__ = "automatic_answers"
    __table_args__ = (
        CheckConstraint("verdict in ('right', 'wrong')", name="verdict"),
        Index("ix_automatic_answers_task_id", "task_id"),
        Index("ix_automatic_answers_in_force", "project_id", "withdrawn_at", "verdict"),
        Index("ix_automatic_answers_project_id_id", "project_id", "id"),
    )

    id: Mapped[Id]
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))
    task_id: Mapped[Reference] = mapped_column(ForeignKey("tasks.id"))
    model_version_id: Mapped[Reference] = mapped_column(ForeignKey("model_versions.id"))
    page_id: Mapped[Reference] = mapped_column(ForeignKey("pages.id"), index=True)
    answer: Mapped[dict[str, Any]]
    score: Mapped[float]
    answered: Mapped[float]
    confidence: Mapped[float]  # compared with the threshold
    threshold: Mapped[float]
    audit: Mapped[bool] = mapped_column(default=False)
    verdict: Mapped[str | None] = mapped_column(String(20))
    checked_by: Mapped[Reference | None] = mapped_column(ForeignKey("users.id"))
    checked_at: Mapped[datetime | None]
    withdrawn_at: Mapped[datetime | None]  # undone: its task is open again
    withdrawn_by: Mapped[Reference | None] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[Moment]
