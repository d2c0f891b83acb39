"""Table of the changes of many tasks that go on in batches."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String, text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base, Moment, Reference

_GOES_ON = text("finished_at IS NULL")


class TaskChange(Base):
    """A change that all tasks of a project follow, document by document (engine.tasks.opening.task_changes).

    What is wanted stands elsewhere: standard questions, settings, members. A newer change of the same kind takes the
    place of this one, with another `number`, and begins at the first document.
    """

    __tablename__ = "task_changes"
    __table_args__ = (Index("ix_task_changes_goes_on", "moved_at", sqlite_where=_GOES_ON, postgresql_where=_GOES_ON),)

    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    kind: Mapped[str] = mapped_column(String(20), primary_key=True)
    person_id: Mapped[Reference] = mapped_column(primary_key=True, default="")  # who came or went; "": nobody
    number: Mapped[int] = mapped_column(default=1)  # of the changes of this kind
    place: Mapped[Reference] = mapped_column(default="")  # id of the last document whose tasks have followed
    done: Mapped[int] = mapped_column(default=0)  # documents until there
    total: Mapped[int] = mapped_column(default=0)  # documents of the project when it was asked for
    was_there: Mapped[bool | None]  # whether the person could fix answers before
    asked_by: Mapped[Reference | None] = mapped_column(ForeignKey("users.id"))
    asked_at: Mapped[Moment]
    moved_at: Mapped[Moment]  # time of the newest batch
    finished_at: Mapped[datetime | None]
