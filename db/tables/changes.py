"""Table of changes: what was changed, told to the open screens (db.changes)."""

from sqlalchemy import BigInteger, Integer, String
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base, Moment, Reference


class Change(Base):
    """One thing that a unit of work changed; appended in its transaction, never updated, deleted after an hour.

    Ids grow with time. On PostgreSQL a smaller one may become visible after a larger one (engine.changes). No foreign
    keys: each would lock a row at every save, and the rows are gone soon.
    """

    __tablename__ = "changes"

    id: Mapped[int] = mapped_column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True)
    project_id: Mapped[Reference | None]  # None: of the whole installation
    topic: Mapped[str] = mapped_column(String(20))  # see db.changes.Topic
    subject_id: Mapped[Reference | None]  # see db.changes.Topic; None: any number of them
    question_id: Mapped[Reference | None]  # of a changed answer
    author_id: Mapped[Reference | None]  # of a changed answer; decides whether an annotator may hear of it
    created_at: Mapped[Moment]
