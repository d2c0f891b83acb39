"""Tables of people and their access: users, login sessions, projects, members, the audit trail."""

from datetime import datetime
from typing import Any, Literal

from sqlalchemy import CheckConstraint, ForeignKey, Index, String, Text, UniqueConstraint, false, text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base, Id, Moment, Reference, Sha256

Role = Literal["admin", "reviewer", "annotator"]
ROLES: tuple[Role, ...] = ("admin", "reviewer", "annotator")
Scope = Literal["read", "extract", "annotate", "admin"]


_STANDING = text("revoked_at IS NULL")


class User(Base):
    """A person, or "local" without logins.

    Users are never deleted, only disabled, because revisions name their author.
    """

    __tablename__ = "users"
    __table_args__ = (CheckConstraint("role in ('admin', 'reviewer', 'annotator')", name="role"),)

    id: Mapped[Id]
    name: Mapped[str] = mapped_column(String(100), unique=True)
    role: Mapped[str] = mapped_column(String(20), default="annotator")
    password_hash: Mapped[str | None] = mapped_column(String(200))  # argon2id; None cannot log in
    preferences: Mapped[dict[str, Any]] = mapped_column(default=dict)  # keys, colours; see the routes of /me
    created_at: Mapped[Moment]
    disabled_at: Mapped[datetime | None]


class LoginSession(Base):
    """A browser's login or a program's token; the client holds the token, the database only its SHA-256."""

    __tablename__ = "login_sessions"
    __table_args__ = (
        CheckConstraint("scope in ('read', 'extract', 'annotate', 'admin')", name="scope"),
        Index("ix_login_sessions_newest", "user_id", "created_at", "token_sha256"),
        Index("ix_login_sessions_standing", "expires_at", sqlite_where=_STANDING, postgresql_where=_STANDING),
    )

    token_sha256: Mapped[Sha256] = mapped_column(primary_key=True)
    user_id: Mapped[Reference] = mapped_column(ForeignKey("users.id"))
    client: Mapped[str] = mapped_column(String(200), default="")  # the browser's name, for recognition by its owner
    address: Mapped[str] = mapped_column(String(60), default="")
    created_at: Mapped[Moment]
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
    scope: Mapped[str | None] = mapped_column(String(20))  # of a program's token; None: a browser, with all rights
    last_used_at: Mapped[datetime | None]  # to some minutes; see engine.accounts.sessions
    # Of a browser that signed in through a provider: what its logout shows there. Read at the logout alone.
    id_token: Mapped[str | None] = mapped_column(Text, deferred=True)
    proxy_user: Mapped[str | None] = mapped_column(String(255))  # the session holds while a proxy names this person
    # A code was shown beside the password, or a provider vouches for the person.
    second_factor: Mapped[bool] = mapped_column(default=False, server_default=false())


class Identity(Base):
    """A person as a provider of single sign-on knows them, and their account here.

    The provider never gives a subject to another person; names and addresses it may.
    """

    __tablename__ = "identities"
    __table_args__ = (UniqueConstraint("issuer", "subject"), Index("ix_identities_user_id", "user_id"))

    id: Mapped[Id]
    issuer: Mapped[str] = mapped_column(String(255))
    subject: Mapped[str] = mapped_column(String(255))
    user_id: Mapped[Reference] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[Moment]
    used_at: Mapped[datetime | None]  # last sign-in


class LoginAttempt(Base):
    """A password attempt, recorded so that every serving process can slow down guessing."""

    __tablename__ = "login_attempts"
    __table_args__ = (
        Index("ix_login_attempts_name_created_at", "name", "created_at"),
        Index("ix_login_attempts_address_created_at", "address", "created_at"),
        Index("ix_login_attempts_created_at", "created_at"),
    )

    id: Mapped[Id]
    name: Mapped[str] = mapped_column(String(100))  # as typed; may be unknown
    address: Mapped[str] = mapped_column(String(60))
    succeeded: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[Moment]


class Project(Base):
    """Documents, questions, and one line of models that learn from them.

    `settings` is an engine.projects.projects.ProjectSettings. `bin_of`: a bin is a project without members that holds
    the removed documents of another one (db.tables.bin); a removed project is the bin of itself.
    `archived_at`: since then it is read-only.
    """

    __tablename__ = "projects"

    id: Mapped[Id]
    name: Mapped[str] = mapped_column(String(100), unique=True)
    description: Mapped[str] = mapped_column(Text, default="")
    settings: Mapped[dict[str, Any]] = mapped_column(default=dict)
    clock_since: Mapped[datetime | None]  # start of its retrain_cron; earlier due times are not made up
    bin_of: Mapped[Reference | None] = mapped_column(ForeignKey("projects.id"), index=True)
    archived_at: Mapped[datetime | None]
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
    """A link that makes its user a member of a project, once; the database holds only the token's SHA-256."""

    __tablename__ = "invitations"
    __table_args__ = (
        CheckConstraint("role in ('admin', 'reviewer', 'annotator')", name="role"),
        Index("ix_invitations_newest", "project_id", "created_at", "id"),
    )

    id: Mapped[Id]
    token_sha256: Mapped[Sha256] = mapped_column(unique=True)
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))
    role: Mapped[str] = mapped_column(String(20))
    created_by: Mapped[Reference] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[Moment]
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
    used_by: Mapped[Reference | None] = mapped_column(ForeignKey("users.id"))
    used_at: Mapped[datetime | None]


class AuditEntry(Base):
    """A decision that the data itself does not show: a forced promotion, a deletion, a changed role."""

    __tablename__ = "audit_entries"
    __table_args__ = (
        Index("ix_audit_entries_of", "project_id", "created_at", "id"),
        Index("ix_audit_entries_created_at_id", "created_at", "id"),
        Index("ix_audit_entries_subject", "subject"),
    )

    id: Mapped[Id]
    actor_id: Mapped[Reference | None] = mapped_column(ForeignKey("users.id"))
    project_id: Mapped[Reference | None] = mapped_column(ForeignKey("projects.id"))
    action: Mapped[str] = mapped_column(String(60))
    subject: Mapped[str] = mapped_column(String(200))
    details: Mapped[dict[str, Any]] = mapped_column(default=dict)
    created_at: Mapped[Moment]
