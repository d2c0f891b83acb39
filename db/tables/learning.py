"""Tables of training: snapshots, jobs and their triggers, runs, model versions, promotions."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, String, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base, Id, Moment, Reference, Sha256

# Jobs that lists show: thousands of finished readings of documents would push all others out of sight. It stands in
# statements as it stands in the index, so that databases recognise it.
LISTED_JOBS = text("(kind <> 'read' OR status NOT IN ('done', 'cancelled'))")


class Snapshot(Base):
    """A frozen selection of accepted revisions.

    `sha256` names its manifest, a blob; equal selections are one snapshot.
    """

    __tablename__ = "snapshots"
    __table_args__ = (
        UniqueConstraint("project_id", "sha256"),
        Index("ix_snapshots_newest", "project_id", "created_at", "id"),
    )

    id: Mapped[Id]
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))
    sha256: Mapped[Sha256]
    filters: Mapped[dict[str, Any]] = mapped_column(default=dict)
    counts: Mapped[dict[str, Any]] = mapped_column(default=dict)
    created_by: Mapped[Reference | None] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[Moment]


class Job(Base):
    """Long work, leased by a worker; `key` prevents a duplicate while the first job waits or runs."""

    __tablename__ = "jobs"
    __table_args__ = (
        CheckConstraint("status in ('waiting', 'running', 'done', 'failed', 'cancelled', 'dead')", name="status"),
        Index("ix_jobs_status_run_after", "status", "run_after"),
        Index("ix_jobs_newest", "project_id", "kind", "created_at", "id"),
        Index("ix_jobs_ended", "project_id", "kind", "status", "finished_at"),
        Index("ix_jobs_of", "project_id", "created_at", "id", sqlite_where=LISTED_JOBS, postgresql_where=LISTED_JOBS),
        Index("ix_jobs_listed", "created_at", "id", sqlite_where=LISTED_JOBS, postgresql_where=LISTED_JOBS),
    )

    id: Mapped[Id]
    project_id: Mapped[Reference | None] = mapped_column(ForeignKey("projects.id"))
    kind: Mapped[str] = mapped_column(String(40))
    key: Mapped[str | None] = mapped_column(String(120), unique=True)  # cleared when the job ends
    asked_as: Mapped[str | None] = mapped_column(String(120), index=True)  # its original key, for a retry
    status: Mapped[str] = mapped_column(String(20), default="waiting")
    payload: Mapped[dict[str, Any]] = mapped_column(default=dict)
    result: Mapped[dict[str, Any]] = mapped_column(default=dict)
    progress: Mapped[float] = mapped_column(default=0.0)  # 0..1
    message: Mapped[str] = mapped_column(Text, default="")  # one sentence: its work, or the reason of its failure
    failure: Mapped[str] = mapped_column(Text, default="")  # reason why its last attempt failed
    attempts: Mapped[int] = mapped_column(default=0)
    max_attempts: Mapped[int] = mapped_column(default=3)
    holder: Mapped[str | None] = mapped_column(String(120))
    lease_until: Mapped[datetime | None]
    heartbeat_at: Mapped[datetime | None]
    cancel_requested_at: Mapped[datetime | None]
    run_after: Mapped[Moment]
    created_by: Mapped[Reference | None] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[Moment]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]


class Firing(Base):
    """A due trigger of a project and its outcome; (project, trigger, due time) is unique."""

    __tablename__ = "firings"
    __table_args__ = (
        UniqueConstraint("project_id", "trigger", "due_at"),
        CheckConstraint("trigger in ('clock', 'count', 'age')", name="trigger"),
        Index("ix_firings_project_id_id", "project_id", "id"),
    )

    id: Mapped[Id]
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))
    trigger: Mapped[str] = mapped_column(String(20))
    due_at: Mapped[datetime]
    outcome: Mapped[str] = mapped_column(String(20))  # see engine.training.retraining.trigger_history.Outcome
    message: Mapped[str] = mapped_column(Text, default="")  # one sentence: the job it started, or the reason for none
    job_id: Mapped[Reference | None] = mapped_column(ForeignKey("jobs.id"))
    scheduler: Mapped[str] = mapped_column(String(120), default="")  # the process that fired it
    created_at: Mapped[Moment]


class ModelVersion(Base):
    """A checkpoint and its origin; the shipped version belongs to no project and has no parent."""

    __tablename__ = "model_versions"
    __table_args__ = (
        UniqueConstraint("project_id", "number"),
        Index("ix_model_versions_checkpoint_sha256", "checkpoint_sha256"),
    )

    id: Mapped[Id]
    project_id: Mapped[Reference | None] = mapped_column(ForeignKey("projects.id"))
    number: Mapped[int]  # 0: shipped; then 1, 2, ... in a project
    checkpoint_sha256: Mapped[Sha256]  # a blob: the weights in use
    # Blobs of the weights that judge: of fold n those that have not learned from its documents; empty without folds.
    fold_sha256s: Mapped[list[Any]] = mapped_column(default=list, server_default="[]")
    parent_id: Mapped[Reference | None] = mapped_column(ForeignKey("model_versions.id"))
    snapshot_id: Mapped[Reference | None] = mapped_column(ForeignKey("snapshots.id"))
    seed: Mapped[int | None]
    code_version: Mapped[str] = mapped_column(String(80))
    optimizer: Mapped[dict[str, Any]] = mapped_column(default=dict)
    figures: Mapped[dict[str, Any]] = mapped_column(default=dict)
    created_at: Mapped[Moment]


class Run(Base):
    """One retraining: its start, settings, course, and the gate's verdict."""

    __tablename__ = "runs"
    __table_args__ = (
        CheckConstraint("status in ('running', 'judged', 'failed', 'cancelled')", name="status"),
        Index("ix_runs_project_id_id", "project_id", "id"),
    )

    id: Mapped[Id]
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))
    job_id: Mapped[Reference] = mapped_column(ForeignKey("jobs.id"), unique=True)
    snapshot_id: Mapped[Reference] = mapped_column(ForeignKey("snapshots.id"))
    parent_id: Mapped[Reference] = mapped_column(ForeignKey("model_versions.id"))
    challenger_id: Mapped[Reference | None] = mapped_column(ForeignKey("model_versions.id"))
    settings: Mapped[dict[str, Any]] = mapped_column(default=dict)
    seed: Mapped[int]
    code_version: Mapped[str] = mapped_column(String(80))
    status: Mapped[str] = mapped_column(String(20), default="running")
    verdict: Mapped[dict[str, Any]] = mapped_column(default=dict)
    created_at: Mapped[Moment]
    finished_at: Mapped[datetime | None]


class RunMetric(Base):
    """A point of a run's curves."""

    __tablename__ = "run_metrics"

    run_id: Mapped[Reference] = mapped_column(ForeignKey("runs.id"), primary_key=True)
    step: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    values: Mapped[dict[str, Any]]
    created_at: Mapped[Moment]


class Promotion(Base):
    """A change of champion; the champion of a project is the version of its latest promotion."""

    __tablename__ = "promotions"
    __table_args__ = (UniqueConstraint("project_id", "sequence"),)

    id: Mapped[Id]
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))
    sequence: Mapped[int]  # from 1; two at once collide here, and one of them loses
    version_id: Mapped[Reference] = mapped_column(ForeignKey("model_versions.id"))
    previous_id: Mapped[Reference | None] = mapped_column(ForeignKey("model_versions.id"))
    run_id: Mapped[Reference | None] = mapped_column(ForeignKey("runs.id"))
    kind: Mapped[str] = mapped_column(String(20))  # first, gate, by_hand, forced, rollback
    reason: Mapped[str] = mapped_column(Text, default="")
    promoted_by: Mapped[Reference | None] = mapped_column(ForeignKey("users.id"))  # None: the gate
    created_at: Mapped[Moment]
