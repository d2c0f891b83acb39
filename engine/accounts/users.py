"""Users: who they are, what they may do everywhere, and what their page remembers."""

import json
from datetime import datetime
from typing import Any

from pydantic import BaseModel
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from db.base import now
from db.tables import User
from db.tables.people import ROLES
from engine import audit
from engine.accounts import names, passwords, sessions
from engine.errors import Conflict, Forbidden, NotFound, Refused
from engine.queries import existing
from engine.workspace import Workspace

LOCAL_NAME = names.LOCAL_NAME
LARGEST_PREFERENCES = 64 * 1024  # bytes of JSON
DEEPEST_PREFERENCES = 20  # levels; what writes answers ends at some hundred


class UserView(BaseModel):
    """A user as admins see them. `role`: admin is one in every project; the others are what projects make them."""

    id: str
    name: str
    role: str
    disabled: bool
    created_at: datetime


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


def add_user(workspace: Workspace, name: str, password: str, role: str, *, by: str | None = None) -> User:
    """Add a user who can log in. Refused for an unknown role or a short password, Conflict for a taken name."""
    check_role(role)
    name = names.chosen(name)
    stored = passwords.hashed(password, name)
    try:
        with workspace.database.write() as session:
            names.check_free(session, name)
            user = User(name=name, role=role, password_hash=stored)
            session.add(user)
            session.flush()
            audit.record(session, by, "users.add", user.id, name=name, role=role)
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


def change_user(
    workspace: Workspace, user_id: str, *, role: str | None = None, disabled: bool | None = None, by: User
) -> User:
    """Change a user's role, or disable or enable them; who is disabled loses all sessions. What is None stays.

    Refused for the local user, and for oneself: an admin cannot lock the last admin out by mistake. Forbidden for who is no
    admin any more by the time of the change.
    """
    if role is not None:
        check_role(role)
    with workspace.database.write() as session:
        _take_turn(session, by)
        user = _changeable(session, user_id)
        if user.id == by.id:
            raise Refused("You cannot change your own role or disable yourself; ask another admin.")
        if role is not None and role != user.role:
            audit.record(session, by.id, "users.role", user.id, name=user.name, before=user.role, role=role)
            user.role = role
        if disabled is not None and disabled != (user.disabled_at is not None):
            user.disabled_at = now() if disabled else None
            audit.record(session, by.id, "users.disable" if disabled else "users.enable", user.id, name=user.name)
            if disabled:
                sessions.revoke_all(session, user.id)
        return user


def set_password(workspace: Workspace, user_id: str, password: str, *, by: User) -> None:
    """Give somebody a new password, as an admin does for who forgot theirs; ends all their sessions."""
    with workspace.database.read() as session:
        user = _changeable(session, user_id)
    stored = passwords.hashed(password, user.name)
    with workspace.database.write() as session:
        _take_turn(session, by)
        user = _changeable(session, user_id)
        user.password_hash = stored
        sessions.revoke_all(session, user.id)
        audit.record(session, by.id, "users.password", user.id, name=user.name)


def end_sessions(workspace: Workspace, user_id: str, *, by: User) -> None:
    """End all sessions of a user, as an admin does for a lost machine."""
    with workspace.database.write() as session:
        _take_turn(session, by)
        user = _found(session, user_id)
        sessions.revoke_all(session, user.id)
        audit.record(session, by.id, "users.sessions", user.id, name=user.name)


def user_by_id(workspace: Workspace, user_id: str) -> User:
    """Return a user by id. NotFound when there is none."""
    with workspace.database.read() as session:
        return _found(session, user_id)


def user_view(user: User) -> UserView:
    """Return a user as admins see them."""
    return UserView(
        id=user.id,
        name=user.name,
        role=user.role,
        disabled=user.disabled_at is not None,
        created_at=user.created_at,
    )


def preferences(workspace: Workspace, user_id: str) -> dict[str, Any]:
    """Return what a person's page remembers, as it was stored."""
    with workspace.database.read() as session:
        return dict(_found(session, user_id).preferences)


def set_preferences(workspace: Workspace, user_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Store what a person's page shall remember, all of it.

    Refused above 64 KB, and for what could not be sent back: half a character, NaN, and values too deep in each other.
    """
    try:
        size = len(json.dumps(wanted, ensure_ascii=False, allow_nan=False).encode("utf-8"))
    except UnicodeEncodeError:
        raise Refused("Preferences hold half a character, which cannot be stored.") from None
    except ValueError:
        raise Refused("Preferences hold a number that JSON does not know: NaN or Infinity.") from None
    if _is_deep(wanted, DEEPEST_PREFERENCES):
        raise Refused(f"Preferences hold more than {DEEPEST_PREFERENCES} levels of lists and objects.")
    if size > LARGEST_PREFERENCES:
        raise Refused(f"Preferences take {size:,} bytes; {LARGEST_PREFERENCES:,} are allowed.")
    with workspace.database.write() as session:
        user = _found(session, user_id)
        user.preferences = wanted
        return wanted


def _is_deep(value: Any, levels: int) -> bool:
    """Whether lists and objects lie more than so many levels deep in each other."""
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deep(each, levels - 1) for each in inner)


def check_role(role: str) -> None:
    """Refused, with a sentence, for what is no role."""
    if role not in ROLES:
        raise Refused(f"There is no role {role!r}; choose one of {', '.join(ROLES)}.")


def _found(session: Session, user_id: str) -> User:
    return existing(session, User, user_id)


def _take_turn(session: Session, by: User) -> None:
    """Let one admin at a time change users, and only who is an admin now: two could remove each other at once.

    `by` was read before this transaction. The locks are taken in one order, so that nobody waits for each other.
    """
    admins = select(User.id).where(User.role == "admin", User.disabled_at.is_(None)).order_by(User.id)
    if by.id not in session.scalars(admins.with_for_update(key_share=True)).all():
        raise Forbidden("Only an admin may do this.")


def _changeable(session: Session, user_id: str) -> User:
    """Return a user, locked until the commit, so that no login in flight misses the change."""
    user = sessions.locked(session, user_id)
    if user is None:
        raise NotFound("There is no such user.")
    if user.name == LOCAL_NAME:
        raise Refused(f"{LOCAL_NAME!r} is who works without login and on the command line; it cannot be changed.")
    return user
