"""Tables of models of others: which one a project asks, its versions, and the documents that it was asked about."""

from datetime import datetime

from sqlalchemy import BigInteger, Boolean, CheckConstraint, ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base, Id, Moment, Reference, Sha256

LONGEST_ADDRESS = 2000  # characters
LONGEST_MODEL = 100
LONGEST_KEY = 1000
LONGEST_FAILURE = 300


class Proposer(Base):
    """The model of others that a project asks: where it is, and what it is told.

    `number` rises with each change of what it is asked, so that proposals say by which settings they came about.
    """

    __tablename__ = "proposers"
    __table_args__ = (CheckConstraint("kind in ('openai', 'http')", name="kind"),)

    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    kind: Mapped[str] = mapped_column(String(10))
    url: Mapped[str] = mapped_column(String(LONGEST_ADDRESS))
    model: Mapped[str] = mapped_column(String(LONGEST_MODEL))
    prompt: Mapped[str] = mapped_column(Text)
    api_key: Mapped[str] = mapped_column(String(LONGEST_KEY), default="")  # as it is: each request names it
    alone: Mapped[bool] = mapped_column(Boolean)  # the project's own model is not asked
    number: Mapped[int]
    # It is asked about documents from then on without anybody asking; all before need no look. None: it is not.
    automatic_since: Mapped[datetime | None]
    changed_by: Mapped[Reference] = mapped_column(ForeignKey("users.id"))
    changed_at: Mapped[Moment]


class OutsideModel(Base):
    """A version of a model of others that has proposed answers in a project, with what it took."""

    __tablename__ = "outside_models"
    __table_args__ = (
        UniqueConstraint("project_id", "name", "version"),
        Index("ix_outside_models_newest", "project_id", "created_at", "id"),
    )

    id: Mapped[Id]
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))
    name: Mapped[str] = mapped_column(String(LONGEST_MODEL))
    version: Mapped[str] = mapped_column(String(LONGEST_MODEL))
    prompt: Mapped[str] = mapped_column(Text, default="")  # of one that Glossator asks
    requests: Mapped[int] = mapped_column(BigInteger, default=0)  # answered ones
    tokens_in: Mapped[int] = mapped_column(BigInteger, default=0)
    tokens_out: Mapped[int] = mapped_column(BigInteger, default=0)
    milliseconds: Mapped[int] = mapped_column(BigInteger, default=0)  # of these requests together
    created_at: Mapped[Moment]


class OutsideReading(Base):
    """A document about which a project's model of others was asked, and which fields by which settings."""

    __tablename__ = "outside_readings"

    document_id: Mapped[Reference] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True)
    asked_sha256: Mapped[Sha256]  # of settings and fields: with others, it is asked again
    proposed: Mapped[int]
    not_found: Mapped[int]  # texts that no page prints
    failure: Mapped[str] = mapped_column(String(LONGEST_FAILURE), default="")  # why there is no answer: one sentence
    created_at: Mapped[Moment]
