"""Tables of tasks that people passed over: left for later by one person, or skipped for a reviewer."""

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base, Moment, Reference


class LeftTask(Base):
    """A person left a task unanswered; it comes behind the others for that person, the one left longest ago first."""

    __tablename__ = "left_tasks"
    __table_args__ = (Index("ix_left_tasks_of", "project_id", "person_id", "left_at"),)

    task_id: Mapped[Reference] = mapped_column(ForeignKey("tasks.id"), primary_key=True)
    person_id: Mapped[Reference] = mapped_column(ForeignKey("users.id"), primary_key=True)
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))
    left_at: Mapped[Moment]
