"""The outbox: what was changed, for open screens and followers, and how far each follower has read it."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, Integer, String
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base, Id, Json, Moment, Reference

_JSON_OR_NULL = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


class Change(Base):
    """One thing that a unit of work changed; appended in its transaction, never updated, deleted after an hour.

    `documents`: ids of documents from which figures are derived anew (topic "dirty", for engine.followers alone). Such
    a change is deleted only when every follower has read it.

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
    documents: Mapped[list[Any] | None] = mapped_column(_JSON_OR_NULL)
    created_at: Mapped[Moment]


class FollowerPosition(Base):
    """How far a follower has read the changes; moved in the transaction that stores its work."""

    __tablename__ = "followers"

    name: Mapped[str] = mapped_column(String(40), primary_key=True)
    cursor: Mapped[int] = mapped_column(BigInteger)  # id of a change; everything up to it has been followed
    writes: Mapped[int] = mapped_column(BigInteger, default=0)  # its transactions so far; of two that work one commits
    attempts: Mapped[int] = mapped_column(default=0)  # that failed at the next change
    retry_at: Mapped[datetime | None]
    error: Mapped[str | None] = mapped_column(String(500))  # of the last failed attempt


class SkippedChange(Base):
    """A change that a follower could not follow after several attempts; a rebuild of the project forgets it."""

    __tablename__ = "skipped_changes"

    id: Mapped[Id]
    follower: Mapped[str] = mapped_column(String(40))
    change_id: Mapped[int] = mapped_column(BigInteger)
    project_id: Mapped[Reference | None]
    documents: Mapped[list[Any]] = mapped_column(Json)
    error: Mapped[str] = mapped_column(String(500))
    created_at: Mapped[Moment]
