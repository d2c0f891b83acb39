"""Quotas of single projects and people, in place of those of the settings."""

from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base, Moment, Reference


class Quota(Base):
    """How much a project may hold, or a person upload; None: as the settings say, 0: without a limit."""

    __tablename__ = "quotas"

    subject_id: Mapped[Reference] = mapped_column(primary_key=True)  # a project or a user
    documents: Mapped[int | None]
    megabytes: Mapped[int | None]
    changed_at: Mapped[Moment]
