"""What the model said of its own accord, and what came of it: the survey, second looks, stages, automatic answers."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, LargeBinary, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base, Id, Moment, Reference


class SurveyAnswer(Base):
    """What a model version answered to a question of a document before anybody asked; the newest survey's alone."""

    __tablename__ = "survey_answers"
    __table_args__ = (Index("ix_survey_answers_project_id_model_version_id", "project_id", "model_version_id"),)

    document_id: Mapped[Reference] = mapped_column(ForeignKey("documents.id"), primary_key=True)
    question_id: Mapped[Reference] = mapped_column(ForeignKey("questions.id"), primary_key=True)
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))
    model_version_id: Mapped[Reference] = mapped_column(ForeignKey("model_versions.id"))
    page_id: Mapped[Reference] = mapped_column(ForeignKey("pages.id"))
    words_version: Mapped[int]  # of all pages of the document together: mended words make the answer old
    answer: Mapped[dict[str, Any]]  # engine.annotation.proposal.StoredAnswer
    score: Mapped[float]  # predicted IoU, 0..1
    answered: Mapped[float]  # probability that the document answers, 0..1
    disagreement: Mapped[float]  # 1 - IoU of what words and pixels say, 0..1
    confidence: Mapped[float]  # that the mark is right, 0..1; engine.selection.uncertainty
    uncertainty: Mapped[float]  # 0..1
    milliseconds: Mapped[float]
    created_at: Mapped[Moment]


class DocumentSignature(Base):
    """What a document looks like to a model version: a short vector, so that documents can be told apart by kind."""

    __tablename__ = "document_signatures"

    document_id: Mapped[Reference] = mapped_column(ForeignKey("documents.id"), primary_key=True)
    model_version_id: Mapped[Reference] = mapped_column(ForeignKey("model_versions.id"))
    vector: Mapped[bytes] = mapped_column(LargeBinary)  # float16, little-endian
    created_at: Mapped[Moment]


class SecondLook(Base):
    """An accepted label that a model version contradicts with confidence: somebody else than its author looks again."""

    __tablename__ = "second_looks"
    __table_args__ = (
        CheckConstraint("kind in ('elsewhere', 'here', 'not_here')", name="kind"),
        CheckConstraint("verdict in ('kept', 'mended', 'returned')", name="verdict"),
        UniqueConstraint("annotation_id", "model_version_id"),
        Index("ix_second_looks_project_id_verdict", "project_id", "verdict"),
    )

    id: Mapped[Id]
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))
    annotation_id: Mapped[Reference] = mapped_column(ForeignKey("annotations.id"))
    revision_id: Mapped[Reference] = mapped_column(ForeignKey("revisions.id"))  # the label as it was contradicted
    model_version_id: Mapped[Reference] = mapped_column(ForeignKey("model_versions.id"))
    kind: Mapped[str] = mapped_column(String(20))  # the model marks another place; marks one; says that there is none
    page_id: Mapped[Reference] = mapped_column(ForeignKey("pages.id"))
    answer: Mapped[dict[str, Any]]  # the model's: engine.annotation.proposal.StoredAnswer
    score: Mapped[float]
    answered: Mapped[float]
    iou: Mapped[float]  # of the model's answer with the label, 0..1
    verdict: Mapped[str | None] = mapped_column(String(20))  # None: nobody has looked yet
    decided_by: Mapped[Reference | None] = mapped_column(ForeignKey("users.id"))
    decided_at: Mapped[datetime | None]
    created_at: Mapped[Moment]


class StageChange(Base):
    """A step between assisted, semi-automatic and automatic. The newest of a project is its stage; none: assisted."""

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
    figures: Mapped[dict[str, Any]] = mapped_column(default=dict)  # what the step rests on
    reason: Mapped[str] = mapped_column(Text, default="")
    changed_by: Mapped[Reference | None] = mapped_column(ForeignKey("users.id"))  # None: the project itself
    created_at: Mapped[Moment]


class AutomaticAnswer(Base):
    """An answer that was accepted without a person. It is no annotation: nothing trains on it or judges by it.
    Exports hold it only where they are asked for automatic answers, and say what it is.

    `audit`: drawn for a person to answer as if it were not there; their answer decides `verdict`. So does anybody else's.
    """

    __tablename__ = "automatic_answers"
    __table_args__ = (
        CheckConstraint("verdict in ('right', 'wrong')", name="verdict"),
        Index("ix_automatic_answers_task_id", "task_id"),
        Index("ix_automatic_answers_project_id_withdrawn_at", "project_id", "withdrawn_at"),
    )

    id: Mapped[Id]
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))
    task_id: Mapped[Reference] = mapped_column(ForeignKey("tasks.id"))
    model_version_id: Mapped[Reference] = mapped_column(ForeignKey("model_versions.id"))
    page_id: Mapped[Reference] = mapped_column(ForeignKey("pages.id"))
    answer: Mapped[dict[str, Any]]
    score: Mapped[float]
    answered: Mapped[float]
    confidence: Mapped[float]  # what the threshold was held against
    threshold: Mapped[float]
    audit: Mapped[bool] = mapped_column(default=False)
    verdict: Mapped[str | None] = mapped_column(String(20))
    checked_by: Mapped[Reference | None] = mapped_column(ForeignKey("users.id"))
    checked_at: Mapped[datetime | None]
    withdrawn_at: Mapped[datetime | None]  # undone: its task is open again
    withdrawn_by: Mapped[Reference | None] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[Moment]
