"""Tables of the second factor: secrets, recovery codes, and logins that wait for a code."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base, Id, Moment, Reference, Sha256


class SecondFactor(Base):
    """A person's secret for codes by time (RFC 6238). `confirmed_at` None: a code has not proved it yet."""

    __tablename__ = "second_factors"

    user_id: Mapped[Reference] = mapped_column(ForeignKey("users.id"), primary_key=True)
    secret: Mapped[str] = mapped_column(String(64))  # as it is: each code is made of it
    confirmed_at: Mapped[datetime | None]
    last_step: Mapped[int] = mapped_column(BigInteger, default=0)  # 30 s each; codes up to it are used up
    failures: Mapped[int] = mapped_column(default=0)  # wrong codes since the last right one
    failed_at: Mapped[datetime | None]
    created_at: Mapped[Moment]


class RecoveryCode(Base):
    """A code that stands in once for one of the second factor; the database holds only its SHA-256."""

    __tablename__ = "recovery_codes"
    __table_args__ = (Index("ix_recovery_codes_user_id", "user_id"),)

    id: Mapped[Id]
    user_id: Mapped[Reference] = mapped_column(ForeignKey("users.id"))
    code_sha256: Mapped[Sha256] = mapped_column(unique=True)
    used_at: Mapped[datetime | None]
    created_at: Mapped[Moment]


class LoginStep(Base):
    """A login whose password was right and whose code is missing. Its token opens no other door than that step."""

    __tablename__ = "login_steps"
    __table_args__ = (Index("ix_login_steps_user_id", "user_id"),)

    token_sha256: Mapped[Sha256] = mapped_column(primary_key=True)
    user_id: Mapped[Reference] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[Moment]
    expires_at: Mapped[datetime]
