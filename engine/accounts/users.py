"""Users, their roles in the installation, and their preferences."""

import json
from datetime import datetime
from typing import Any

from pydantic import BaseModel
from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from db.base import now
from db.tables import User
from db.tables.people import ROLES
from engine import audit
from engine.accounts import names, passwords, second_factor, sessions
from engine.errors import Conflict, Forbidden, NotFound, Refused
from engine.paging import Order, Page
from engine.queries import existing
from engine.workspace import Workspace

LOCAL_NAME = names.LOCAL_NAME
LARGEST_PREFERENCES = 64 * 1024  # bytes of JSON
MOST_LISTED = 1000  # users of one page
DEEPEST_PREFERENCES = 20  # levels of nesting; JSON writers fail at some hundred


class UserView(BaseModel):
    """A user as admins see them. `role`: admin applies to every project; projects assign all other roles.

    `second_factor`: whether the user has set one up. `erased`: the name is a label, and nobody can log in by it.
    """

    id: str
    name: str
    role: str
    disabled: bool
    created_at: datetime
    second_factor: bool
    erased: bool


def local_user(session: Session) -> User:
    """Return the user of local mode, created at first use."""
    user = session.scalar(select(User).where(User.name == LOCAL_NAME))
    if user is None:
        user = User(name=LOCAL_NAME, role="admin")
        session.add(user)
        session.flush()
    return user


def ensure_local_user(workspace: Workspace) -> User:
    """Return the user of local mode.

    Called at the start of a process, so that loading the page never writes.
    """
    with workspace.database.write() as session:
        return local_user(session)


def add_user(workspace: Workspace, name: str, password: str, role: str, *, by: str | None = None) -> User:
    """Add a user who can log in.

    Args:
        workspace: open workspace.
        name: login name.
        password: initial password.
        role: admin, reviewer or annotator.
        by: id of the acting user.

    Raises:
        Refused: role, name or password is invalid.
        Conflict: the name is taken.
    """
    check_role(role)
    name = names.check_new_name(name)
    stored = passwords.hash_password(password, name)
    try:
        with workspace.database.write() as session:
            names.check_free(session, name)
            user = User(name=name, role=role, password_hash=stored)
            session.add(user)
            session.flush()
            audit.record(session, by, "users.add", user.id, name=name, role=role)
            return user
    except IntegrityError:
        raise Conflict(f"The name {name!r} is taken. Choose another one.") from None


def users(workspace: Workspace, *, limit: int = MOST_LISTED, cursor: str | None = None) -> Page[User]:
    """Return a page of the users by name.

    `limit`: at most MOST_LISTED. Raises Refused for the cursor of another list.
    """
    with workspace.database.read() as session:
        rows, following = Order("users", (User.name,)).rows(session, select(User), min(limit, MOST_LISTED), cursor)
    return Page((user for (user,) in rows), following)


def count_users(workspace: Workspace) -> int:
    """Return the number of users."""
    with workspace.database.read() as session:
        return session.scalar(select(func.count()).select_from(User)) or 0


def user_named(workspace: Workspace, name: str) -> User:
    """Return a user by name.

    Raises:
        NotFound: there is no such user.
    """
    with workspace.database.read() as session:
        user = session.scalar(select(User).where(User.name == name))
    if user is None:
        raise NotFound(f"There is no user {name!r}. Run glossator users list for all names.")
    return user


def change_user(
    workspace: Workspace, user_id: str, *, role: str | None = None, disabled: bool | None = None, by: User
) -> User:
    """Change a user's role, or disable or enable the user. Disabling ends all sessions.

    Args:
        workspace: open workspace.
        user_id: user to change.
        role: new role; None: unchanged.
        disabled: new state; None: unchanged.
        by: acting admin.

    Raises:
        Refused: the user is the local user, erased, or `by`: admins cannot lock themselves out.
        Forbidden: `by` is no longer an admin.
        NotFound: there is no such user.
    """
    if role is not None:
        check_role(role)
    with workspace.database.write() as session:
        _take_turn(session, by)
        user = _changeable(session, user_id)
        if user.id == by.id:
            raise Refused("You cannot change your own role or disable yourself. Ask another admin.")
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
    """Set a user's password and end all their sessions; for admins.

    Args:
        workspace: open workspace.
        user_id: user to change.
        password: new password.
        by: acting admin.
    """
    with workspace.database.read() as session:
        user = _changeable(session, user_id)
    stored = passwords.hash_password(password, user.name)
    with workspace.database.write() as session:
        _take_turn(session, by)
        user = _changeable(session, user_id)
        user.password_hash = stored
        sessions.revoke_all(session, user.id)
        audit.record(session, by.id, "users.password", user.id, name=user.name)


def reset_second_factor(workspace: Workspace, user_id: str, *, by: User) -> None:
    """Remove a user's second factor and end all their sessions; for admins, when its device is lost.

    Args:
        workspace: open workspace.
        user_id: user to change.
        by: acting admin.

    Raises:
        NotFound: the user has none.
    """
    with workspace.database.write() as session:
        _take_turn(session, by)
        user = _changeable(session, user_id)
        if not second_factor.is_confirmed(session, user.id):
            raise NotFound(f"{user.name} has no second factor. There is nothing to reset.")
        second_factor.forget(session, user.id)
        sessions.revoke_all(session, user.id)
        audit.record(session, by.id, "users.second_factor", user.id, name=user.name)


def end_sessions(workspace: Workspace, user_id: str, *, by: User) -> None:
    """End all sessions of a user; for admins.

    Args:
        workspace: open workspace.
        user_id: user to change.
        by: acting admin.
    """
    with workspace.database.write() as session:
        _take_turn(session, by)
        user = _load_user(session, user_id)
        sessions.revoke_all(session, user.id)
        audit.record(session, by.id, "users.sessions", user.id, name=user.name)


def names_of(workspace: Workspace, user_ids: set[str]) -> dict[str, str]:
    """Return the names of users, by id."""
    with workspace.database.read() as session:
        return {row.id: row.name for row in session.execute(select(User.id, User.name).where(User.id.in_(user_ids)))}


def user_by_id(workspace: Workspace, user_id: str) -> User:
    """Return a user by id.

    Raises:
        NotFound: there is no such user.
    """
    with workspace.database.read() as session:
        return _load_user(session, user_id)


def user_view(workspace: Workspace, user: User) -> UserView:
    """Return a user as admins see them."""
    with workspace.database.read() as session:
        return _view(user, second_factor.owners(session, [user.id]))


def user_views(workspace: Workspace, *, limit: int = MOST_LISTED, cursor: str | None = None) -> Page[UserView]:
    """Return a page of the users by name, as admins see them. Arguments and errors as of `users`."""
    page = users(workspace, limit=limit, cursor=cursor)
    with workspace.database.read() as session:
        owners = second_factor.owners(session, [user.id for user in page])
    return page.map(lambda user: _view(user, owners))


def _view(user: User, owners: set[str]) -> UserView:
    return UserView(
        id=user.id,
        name=user.name,
        role=user.role,
        disabled=user.disabled_at is not None,
        created_at=user.created_at,
        second_factor=user.id in owners,
        erased=user.name == names.label_of_erased(user.id),
    )


def preferences(workspace: Workspace, user_id: str) -> dict[str, Any]:
    """Return a user's stored preferences."""
    with workspace.database.read() as session:
        return dict(_load_user(session, user_id).preferences)


def set_preferences(workspace: Workspace, user_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Replace a user's preferences.

    Args:
        workspace: open workspace.
        user_id: id of the user.
        wanted: all preferences, as JSON.

    Returns:
        The stored preferences.

    Raises:
        Refused: above 64 KB, nested too deeply, or with lone surrogates, NaN or Infinity.
    """
    try:
        size = len(json.dumps(wanted, ensure_ascii=False, allow_nan=False).encode("utf-8"))
    except UnicodeEncodeError:
        raise Refused("The preferences contain a lone surrogate, which cannot be stored. Remove it.") from None
    except ValueError:
        raise Refused("The preferences contain NaN or Infinity, which JSON cannot hold. Remove it.") from None
    if _is_deep(wanted, DEEPEST_PREFERENCES):
        raise Refused(
            f"The preferences have more than {DEEPEST_PREFERENCES} levels of lists and objects. Flatten them."
        )
    if size > LARGEST_PREFERENCES:
        raise Refused(f"The preferences have {size:,} bytes; {LARGEST_PREFERENCES:,} are allowed. Shorten them.")
    with workspace.database.write() as session:
        user = _load_user(session, user_id)
        user.preferences = wanted
        return wanted


def _is_deep(value: Any, levels: int) -> bool:
    """Return whether lists and objects are nested more than so many levels deep."""
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deep(each, levels - 1) for each in inner)


def check_role(role: str) -> None:
    """Check the name of a role.

    Raises:
        Refused: the role is unknown.
    """
    if role not in ROLES:
        raise Refused(f"Unknown role {role!r}. Choose from {', '.join(ROLES)}.")


def _load_user(session: Session, user_id: str) -> User:
    return existing(session, User, user_id)


def _take_turn(session: Session, by: User) -> None:
    """Lock all admins and check that `by` still is one: two could otherwise remove each other at once.

    `by` was read before this transaction. The locks are taken in one order, which prevents deadlocks.
    """
    admins = select(User.id).where(User.role == "admin", User.disabled_at.is_(None)).order_by(User.id)
    if by.id not in session.scalars(admins.with_for_update(key_share=True)).all():
        raise Forbidden("Only an admin can do this. Ask an admin of this server.")


def _changeable(session: Session, user_id: str) -> User:
    """Return a user, locked until the commit, so that no simultaneous login misses the change."""
    user = sessions.lock_user(session, user_id)
    if user is None:
        raise NotFound("There is no such user.")
    if user.name == LOCAL_NAME:
        raise Refused(f"The user {LOCAL_NAME!r} of the command line cannot be changed. Choose another user.")
    if user.name == names.label_of_erased(user.id):
        raise Refused("An erased person cannot be changed. Add a new user.")
    return user
