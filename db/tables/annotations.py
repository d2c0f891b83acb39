"""Tables of questions and their answers: annotations, revisions, reviews, leases, predictions."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, String, Text, UniqueConstraint, false, text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base, Id, Moment, Reference
from db.tables.documents import LONGEST_KEY, search_key

UNRANKED = 1_000_000_000  # priority of a task without a rank


def _key_of_text(context: Any) -> str:
    return search_key(context.get_current_parameters()["text"])[:LONGEST_KEY]


_STANDING = text("status <> 'removed'")
_SUBMITTED = text("status = 'submitted'")
# It stands in statements as it stands in the index, so that databases recognise it.
UNFINISHED = text("annotations.status IN ('draft', 'rejected')")
_UNFINISHED = text("status IN ('draft', 'rejected')")
_EDITED = text("status = 'submitted' AND edited_by IS NOT NULL")
_GOLD = text("gold_revision_id IS NOT NULL")
_BUILT_ON = text("prediction_id IS NOT NULL")
_COMPARED = text("closed_at IS NULL AND (wanted > 1 OR gold_revision_id IS NOT NULL)")


class Question(Base):
    """A question in the words of its author, unique in a project.

    A standard question is asked of every document. `documents` and `last_asked` repeat what its answers say, removed
    ones left out; each unit of work keeps them (db.question_uses).
    """

    __tablename__ = "questions"
    __table_args__ = (
        UniqueConstraint("project_id", "text"),
        Index("ix_questions_used", "project_id", "documents", "last_asked", "id"),
        Index("ix_questions_project_id_text_key_id", "project_id", "text_key", "id"),
        Index(
            "ix_questions_standard",
            "project_id",
            "position",
            "id",
            sqlite_where=text("standard = 1"),
            postgresql_where=text("standard"),
        ),
    )

    id: Mapped[Id]
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))
    text: Mapped[str] = mapped_column(String(1000))
    text_key: Mapped[str] = mapped_column(String(LONGEST_KEY), default=_key_of_text)
    standard: Mapped[bool] = mapped_column(default=False)
    position: Mapped[int] = mapped_column(default=0)  # among the standard questions of its project
    documents: Mapped[int] = mapped_column(default=0)  # that it was asked of
    last_asked: Mapped[Reference] = mapped_column(default="")  # id of its newest answer; "": none
    created_by: Mapped[Reference | None] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[Moment]


class Annotation(Base):
    """One person's answer to a question on a document; `head` and `status` repeat its newest revision.

    A removed answer has the status "removed" and keeps its head, whose status it gets back when it is restored. It
    counts nowhere (engine.queries.not_removed), and its author may answer the question anew. One that was removed with
    its question comes back with it.
    """

    __tablename__ = "annotations"
    __table_args__ = (
        CheckConstraint("status in ('draft', 'submitted', 'accepted', 'rejected', 'fixed', 'removed')", name="status"),
        Index(
            "uq_annotations_standing",
            "document_id",
            "question_id",
            "author_id",
            unique=True,
            sqlite_where=_STANDING,
            postgresql_where=_STANDING,
        ),
        Index("ix_annotations_document_id_question_id", "document_id", "question_id"),
        Index("ix_annotations_question_id_id", "question_id", "id"),
        Index(
            "ix_annotations_unfinished",
            "project_id",
            "author_id",
            "id",
            sqlite_where=_UNFINISHED,
            postgresql_where=_UNFINISHED,
        ),
        # The last column lets answers of a project be counted by document without reading their rows.
        Index("ix_annotations_standing_of", "project_id", "status", "author_id", "question_id", "document_id"),
        Index("ix_annotations_submitted", "project_id", "id", sqlite_where=_SUBMITTED, postgresql_where=_SUBMITTED),
        # With the status: SQLite takes the index with most columns that are given.
        Index(
            "ix_annotations_edited_by",
            "project_id",
            "status",
            "edited_by",
            sqlite_where=_EDITED,
            postgresql_where=_EDITED,
        ),
        Index(
            "ix_annotations_removed_with_question",
            "document_id",
            sqlite_where=text("removed_with_question = 1"),
            postgresql_where=text("removed_with_question"),
        ),
    )

    id: Mapped[Id]
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))
    document_id: Mapped[Reference] = mapped_column(ForeignKey("documents.id"))
    question_id: Mapped[Reference] = mapped_column(ForeignKey("questions.id"))
    author_id: Mapped[Reference] = mapped_column(ForeignKey("users.id"))
    status: Mapped[str] = mapped_column(String(20), default="draft")
    head: Mapped[int] = mapped_column(default=0)  # number of the newest revision; 0: only the model has answered
    source: Mapped[str] = mapped_column(String(200), default="page")
    edited_by: Mapped[Reference | None]  # another person, author of the newest revision
    removed_with_question: Mapped[bool] = mapped_column(default=False, server_default=false())
    created_at: Mapped[Moment]


class Revision(Base):
    """One saved step of an annotation: its edits and the resulting state; never updated."""

    __tablename__ = "revisions"
    __table_args__ = (
        UniqueConstraint("annotation_id", "number"),
        UniqueConstraint("annotation_id", "idempotency_key"),
        CheckConstraint("number > base", name="follows_its_base"),
        # Who builds on a proposal, before it is deleted.
        Index("ix_revisions_prediction_id", "prediction_id", sqlite_where=_BUILT_ON, postgresql_where=_BUILT_ON),
    )

    id: Mapped[Id]
    annotation_id: Mapped[Reference] = mapped_column(ForeignKey("annotations.id"))
    number: Mapped[int]  # from 1
    base: Mapped[int]  # the revision that the author saw
    author_id: Mapped[Reference] = mapped_column(ForeignKey("users.id"))
    action: Mapped[str] = mapped_column(String(20))  # edit, accept, submit, reopen, reject, import
    status: Mapped[str] = mapped_column(String(20))  # of the annotation, from here on
    edits: Mapped[list[Any]] = mapped_column(default=list)
    state: Mapped[dict[str, Any]]  # engine.annotation.state.AnnotationState
    prediction_id: Mapped[Reference | None] = mapped_column(ForeignKey("predictions.id"))  # the proposal corrected
    field_version: Mapped[int | None]  # of the question's field, as the person saw it; None without one
    idempotency_key: Mapped[str] = mapped_column(String(64))
    seconds: Mapped[float] = mapped_column(default=0.0)  # of active work since the revision before
    interactions: Mapped[dict[str, Any]] = mapped_column(default=dict)  # tool -> how often
    created_at: Mapped[Moment]


class Review(Base):
    """A reviewer's verdict on one revision.

    Mask quality and completeness are judged separately (SAM 3, data engine).
    """

    __tablename__ = "reviews"

    id: Mapped[Id]
    annotation_id: Mapped[Reference] = mapped_column(ForeignKey("annotations.id"), index=True)
    revision_id: Mapped[Reference] = mapped_column(ForeignKey("revisions.id"), index=True)
    reviewer_id: Mapped[Reference] = mapped_column(ForeignKey("users.id"))
    verdict: Mapped[str] = mapped_column(String(20))  # accepted, rejected, fixed
    quality: Mapped[bool | None]
    completeness: Mapped[bool | None]
    reason: Mapped[str] = mapped_column(Text, default="")
    seconds: Mapped[float] = mapped_column(default=0.0)  # of the reviewer's active work
    becomes_label: Mapped[bool] = mapped_column(default=False, server_default=false())  # over contradicting answers
    created_at: Mapped[Moment]


class Task(Base):
    """A standard question to be answered on one document by `wanted` people; the queue assigns it.

    `gold_revision_id` marks a gold question: its answer is known and inserted unannounced to measure accuracy.
    `answered` and `state` repeat what its answers say; each unit of work keeps them (db.task_states).
    """

    __tablename__ = "tasks"
    __table_args__ = (
        CheckConstraint("chosen_by in ('model', 'random', 'age', 'hand')", name="chosen_by"),
        UniqueConstraint("document_id", "question_id"),
        Index("ix_tasks_project_id_id", "project_id", "id"),
        Index("ix_tasks_project_id_document_id", "project_id", "document_id"),
        Index("ix_tasks_queue", "project_id", "state", "priority", "document_id"),
        Index(
            "ix_tasks_compared",
            "project_id",
            "document_id",
            "question_id",
            sqlite_where=_COMPARED,
            postgresql_where=_COMPARED,
        ),
        Index("ix_tasks_gold", "project_id", "gold_revision_id", sqlite_where=_GOLD, postgresql_where=_GOLD),
    )

    id: Mapped[Id]
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))
    document_id: Mapped[Reference] = mapped_column(ForeignKey("documents.id"))
    question_id: Mapped[Reference] = mapped_column(ForeignKey("questions.id"), index=True)
    wanted: Mapped[int] = mapped_column(default=1)  # answers by different people
    gold_revision_id: Mapped[Reference | None] = mapped_column(ForeignKey("revisions.id"))
    priority: Mapped[int] = mapped_column(default=UNRANKED)  # the smallest comes first; engine.selection.ranking
    chosen_by: Mapped[str | None] = mapped_column(String(10))  # source of its priority; None: order of arrival
    closed_at: Mapped[datetime | None]  # its question is no longer a standard one
    answered: Mapped[int] = mapped_column(default=0)  # submitted and accepted answers
    state: Mapped[str] = mapped_column(String(10), default="")  # see db.task_states; "": new
    created_at: Mapped[Moment]


class TaskCount(Base):
    """Number of a project's tasks in a state, kept with them (db.task_states)."""

    __tablename__ = "task_counts"

    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    state: Mapped[str] = mapped_column(String(10), primary_key=True)
    number: Mapped[int]


class PartAnswer(Base):
    """A person has answered a task that needs further people (state `partly`); kept with the task (db.task_states)."""

    __tablename__ = "part_answers"
    __table_args__ = (Index("ix_part_answers_of", "project_id", "author_id", "task_id"),)

    task_id: Mapped[Reference] = mapped_column(ForeignKey("tasks.id"), primary_key=True)
    author_id: Mapped[Reference] = mapped_column(ForeignKey("users.id"), primary_key=True)
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))


class Lease(Base):
    """A time-limited claim on a task, an annotation under review, the scheduler's role or a worker's life."""

    __tablename__ = "leases"

    # "task:<id>:<user id>", "annotation:<id>", "scheduler", "worker:<holder>", "wipe", "file left:<SHA-256>",
    # "freeze:<project id>:<id>"
    subject: Mapped[str] = mapped_column(String(120), primary_key=True)
    holder: Mapped[str] = mapped_column(String(120))
    acquired_at: Mapped[Moment]
    heartbeat_at: Mapped[Moment]
    expires_at: Mapped[datetime]


class Prediction(Base):
    """An answer of a model with the prompts it was given.

    `answer` is an engine.annotation.proposal.StoredAnswer; it names the model where that is none of this installation.
    """

    __tablename__ = "predictions"
    __table_args__ = (Index("ix_predictions_annotation_id_created_at", "annotation_id", "created_at"),)

    id: Mapped[Id]
    annotation_id: Mapped[Reference | None] = mapped_column(ForeignKey("annotations.id"))
    page_id: Mapped[Reference] = mapped_column(ForeignKey("pages.id"), index=True)
    question_id: Mapped[Reference] = mapped_column(ForeignKey("questions.id"), index=True)
    # None: a model of others proposed it, and it counts in no figure of the project's own model.
    model_version_id: Mapped[Reference | None] = mapped_column(ForeignKey("model_versions.id"), index=True)
    outside_model_id: Mapped[Reference | None]  # its version; no foreign key: SQLite would copy the table for it
    prompts: Mapped[dict[str, Any]] = mapped_column(default=dict)
    answer: Mapped[dict[str, Any]]
    score: Mapped[float]  # predicted IoU, 0..1
    answered: Mapped[float]  # probability that the page answers, 0..1
    milliseconds: Mapped[float]
    created_at: Mapped[Moment]


class OutsideAnswer(Base):
    """The newest answer of a model of others to a question about a document, on one of its pages.

    It waits until a person opens the question, and then becomes a prediction.
    """

    __tablename__ = "outside_answers"

    document_id: Mapped[Reference] = mapped_column(ForeignKey("documents.id"), primary_key=True)
    question_id: Mapped[Reference] = mapped_column(ForeignKey("questions.id"), primary_key=True)
    model: Mapped[str] = mapped_column(String(100), primary_key=True)  # a later version replaces an earlier one
    outside_model_id: Mapped[Reference | None]  # its version
    page_id: Mapped[Reference] = mapped_column(ForeignKey("pages.id"), index=True)
    words_version: Mapped[int]  # of the page; later words have other numbers
    answer: Mapped[dict[str, Any]]  # engine.annotation.proposal.StoredAnswer
    confidence: Mapped[float]  # 0..1, as the other model states it
    created_at: Mapped[Moment]
