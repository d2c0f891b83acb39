"""Who works here and on what: users, login sessions, projects, members, the audit trail."""

from datetime import datetime
from typing import Any, Literal

from sqlalchemy import CheckConstraint, ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base, Id, Moment, Reference, Sha256

Role = Literal["admin", "reviewer", "annotator"]
ROLES: tuple[Role, ...] = ("admin", "reviewer", "annotator")
Scope = Literal["read", "annotate", "admin"]


class User(Base):
    """A person, or "local" where nobody logs in. Never deleted, only disabled: revisions name their author."""

    __tablename__ = "users"
    __table_args__ = (CheckConstraint("role in ('admin', 'reviewer', 'annotator')", name="role"),)

    id: Mapped[Id]
    name: Mapped[str] = mapped_column(String(100), unique=True)
    role: Mapped[str] = mapped_column(String(20), default="annotator")
    password_hash: Mapped[str | None] = mapped_column(String(200))  # argon2id; None cannot log in
    preferences: Mapped[dict[str, Any]] = mapped_column(
        default=dict
    )  # of the page: keys, colours; see the routes of /me
    created_at: Mapped[Moment]
    disabled_at: Mapped[datetime | None]


class LoginSession(Base):
    """A login of one browser, or a program's. It holds the token; the database holds only its SHA-256."""

    __tablename__ = "login_sessions"
    __table_args__ = (CheckConstraint("scope in ('read', 'annotate', 'admin')", name="scope"),)

    token_sha256: Mapped[Sha256] = mapped_column(primary_key=True)
    user_id: Mapped[Reference] = mapped_column(ForeignKey("users.id"), index=True)
    client: Mapped[str] = mapped_column(String(200), default="")  # the browser's own name, so that its owner knows it
    address: Mapped[str] = mapped_column(String(60), default="")
    created_at: Mapped[Moment]
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
    scope: Mapped[str | None] = mapped_column(String(20))  # of a program's token; None: a browser, with all rights
    last_used_at: Mapped[datetime | None]  # of a token, to some minutes; see engine.accounts.sessions


class LoginAttempt(Base):
    """A password that was tried, so that guessing can be slowed down by every process that serves."""

    __tablename__ = "login_attempts"
    __table_args__ = (
        Index("ix_login_attempts_name_created_at", "name", "created_at"),
        Index("ix_login_attempts_address_created_at", "address", "created_at"),
        Index("ix_login_attempts_created_at", "created_at"),
    )

    id: Mapped[Id]
    name: Mapped[str] = mapped_column(String(100))  # as it was typed; perhaps nobody's
    address: Mapped[str] = mapped_column(String(60))
    succeeded: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[Moment]


class Project(Base):
    """Documents, questions and one line of models that learn from them. `settings`: see engine.projects.projects.ProjectSettings."""

    __tablename__ = "projects"

    id: Mapped[Id]
    name: Mapped[str] = mapped_column(String(100), unique=True)
    description: Mapped[str] = mapped_column(Text, default="")
    settings: Mapped[dict[str, Any]] = mapped_column(default=dict)
    clock_since: Mapped[datetime | None]  # since when its retrain_cron stands: what was due before is not made up for
    created_by: Mapped[Reference | None] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[Moment]


class Member(Base):
    """A user's role in one project."""

    __tablename__ = "members"
    __table_args__ = (CheckConstraint("role in ('admin', 'reviewer', 'annotator')", name="role"),)

    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    user_id: Mapped[Reference] = mapped_column(ForeignKey("users.id"), primary_key=True)
    role: Mapped[str] = mapped_column(String(20))
    created_at: Mapped[Moment]


class Invitation(Base):
    """A link that makes whoever opens it a member of a project, once. The link holds the token; the database its SHA-256."""

    __tablename__ = "invitations"
    __table_args__ = (CheckConstraint("role in ('admin', 'reviewer', 'annotator')", name="role"),)

    id: Mapped[Id]
    token_sha256: Mapped[Sha256] = mapped_column(unique=True)
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"), index=True)
    role: Mapped[str] = mapped_column(String(20))
    created_by: Mapped[Reference] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[Moment]
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
    used_by: Mapped[Reference | None] = mapped_column(ForeignKey("users.id"))
    used_at: Mapped[datetime | None]


class AuditEntry(Base):
    """What somebody decided that cannot be read off the data itself: a forced promotion, a deletion, a changed role."""

    __tablename__ = "audit_entries"
    __table_args__ = (Index("ix_audit_entries_project_id_created_at", "project_id", "created_at"),)

    id: Mapped[Id]
    actor_id: Mapped[Reference | None] = mapped_column(ForeignKey("users.id"))
    project_id: Mapped[Reference | None] = mapped_column(ForeignKey("projects.id"))
    action: Mapped[str] = mapped_column(String(60))
    subject: Mapped[str] = mapped_column(String(200))
    details: Mapped[dict[str, Any]] = mapped_column(default=dict)
    created_at: Mapped[Moment]
