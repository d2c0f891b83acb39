"""Users, passwords and login sessions."""

import hashlib
import secrets
from datetime import timedelta
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerifyMismatchError
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from db.base import now
from db.tables import LoginSession, User
from db.tables.people import ROLES
from engine.errors import Conflict, NotFound, Refused
from engine.workspace import Workspace

LOCAL_NAME = "local"
SHORTEST_PASSWORD = 10
_HASHER = PasswordHasher()  # argon2id with the library's defaults (RFC 9106, low-memory profile)


def local_user(session: Session) -> User:
    """Return the one user of local mode, made at first use."""
    user = session.scalar(select(User).where(User.name == LOCAL_NAME))
    if user is None:
        user = User(name=LOCAL_NAME, role="admin")
        session.add(user)
        session.flush()
    return user


def ensure_local_user(workspace: Workspace) -> User:
    """Return the user of local mode. Called when a process starts, so that no page load has to write."""
    with workspace.database.write() as session:
        return local_user(session)


def add_user(workspace: Workspace, name: str, password: str, role: str) -> User:
    """Add a user who can log in. Refused for an unknown role or a short password, Conflict for a taken name."""
    if role not in ROLES:
        raise Refused(f"There is no role {role!r}; choose one of {', '.join(ROLES)}.")
    if not name.isprintable() or not name.strip() or name != name.strip() or len(name) > 100:
        raise Refused("A user's name has 1 to 100 printable characters and no space at its ends.")
    if len(password) < SHORTEST_PASSWORD:
        raise Refused(f"A password has at least {SHORTEST_PASSWORD} characters.")
    try:
        with workspace.database.write() as session:
            user = User(name=name, role=role, password_hash=_HASHER.hash(password))
            session.add(user)
            session.flush()
            return user
    except IntegrityError:
        raise Conflict(f"There is a user {name!r} already.") from None


def users(workspace: Workspace) -> list[User]:
    """Return all users by name."""
    with workspace.database.read() as session:
        return list(session.scalars(select(User).order_by(User.name)))


def user_named(workspace: Workspace, name: str) -> User:
    """Return a user. NotFound with a sentence when there is none."""
    with workspace.database.read() as session:
        user = session.scalar(select(User).where(User.name == name))
    if user is None:
        raise NotFound(f"There is no user {name!r}.")
    return user


def log_in(workspace: Workspace, name: str, password: str) -> str | None:
    """Check a password; return the token of a new login session for the cookie, or None when it does not fit."""
    with workspace.database.read() as session:
        user = session.scalar(select(User).where(User.name == name, User.disabled_at.is_(None)))
    try:
        _HASHER.verify((user and user.password_hash) or _nobody(), password)
    except (VerifyMismatchError, InvalidHashError):
        return None
    if user is None or user.password_hash is None:
        return None
    token = secrets.token_urlsafe(32)
    with workspace.database.write() as session:
        session.add(
            LoginSession(
                token_sha256=_digest(token),
                user_id=user.id,
                expires_at=now() + timedelta(hours=workspace.settings.session_hours),
            )
        )
    return token


def user_of_token(workspace: Workspace, token: str) -> User | None:
    """Return who is logged in with `token`; None for an unknown, revoked or expired one."""
    with workspace.database.read() as session:
        return session.scalar(
            select(User)
            .join(LoginSession, LoginSession.user_id == User.id)
            .where(
                LoginSession.token_sha256 == _digest(token),
                LoginSession.revoked_at.is_(None),
                LoginSession.expires_at > now(),
                User.disabled_at.is_(None),
            )
        )


def log_out(workspace: Workspace, token: str) -> None:
    """Revoke a login session."""
    with workspace.database.write() as session:
        login = session.get(LoginSession, _digest(token))
        if login is not None and login.revoked_at is None:
            login.revoked_at = now()


@cache
def _nobody() -> str:
    """A hash to check against where there is no user: an unknown name takes as long as a wrong password."""
    return _HASHER.hash("nobody has this password")


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
