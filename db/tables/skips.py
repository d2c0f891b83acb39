"""Tables of tasks that people passed over: left for later by one person, or skipped for a reviewer."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, String, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base, Id, Moment, Reference

_UNDECIDED = text("verdict IS NULL")


class LeftTask(Base):
    """A person left a task unanswered; it comes behind the others for that person, the one left longest ago first."""

    __tablename__ = "left_tasks"
    __table_args__ = (Index("ix_left_tasks_of", "project_id", "person_id", "left_at"),)

    task_id: Mapped[Reference] = mapped_column(ForeignKey("tasks.id"), primary_key=True)
    person_id: Mapped[Reference] = mapped_column(ForeignKey("users.id"), primary_key=True)
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))
    left_at: Mapped[Moment]


class Skip(Base):
    """A person could not answer a task, and says why; the task waits until a reviewer decides.

    `verdict`: "returned" (the task is open again), "dismissed" (it cannot be answered), "withdrawn" (by the person);
    None: undecided. `remark` is the reviewer's.
    """

    __tablename__ = "skips"
    __table_args__ = (
        Index("ix_skips_project_id_id", "project_id", "id"),
        Index("ix_skips_task_id", "task_id"),
        Index("ix_skips_undecided", "project_id", "id", sqlite_where=_UNDECIDED, postgresql_where=_UNDECIDED),
        CheckConstraint("reason in ('unreadable', 'not_sure', 'wrong_document', 'other')", name="reason"),
        CheckConstraint("verdict in ('returned', 'dismissed', 'withdrawn')", name="verdict"),
    )

    id: Mapped[Id]
    task_id: Mapped[Reference] = mapped_column(ForeignKey("tasks.id"))
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))
    person_id: Mapped[Reference] = mapped_column(ForeignKey("users.id"))
    reason: Mapped[str] = mapped_column(String(20))
    note: Mapped[str] = mapped_column(Text, default="")
    created_at: Mapped[Moment]
    verdict: Mapped[str | None] = mapped_column(String(10))
    remark: Mapped[str] = mapped_column(Text, default="")
    decided_by: Mapped[Reference | None] = mapped_column(ForeignKey("users.id"))
    decided_at: Mapped[datetime | None]
