"""Login sessions with browser and address, listed and ended by their user or an admin."""

import re
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import cast

from pydantic import BaseModel
from sqlalchemy import ColumnElement, and_, bindparam, func, or_, select, update
from sqlalchemy.orm import Session

from db import changes
from db.base import now
from db.tables import LoginSession, User
from db.tables.people import Scope
from engine import audit
from engine.accounts import login_steps, login_throttle, names, passwords, second_factor
from engine.accounts.digests import digest
from engine.accounts.login_steps import SecondStep
from engine.errors import Forbidden, NotFound
from engine.paging import Order, Page
from engine.settings import Settings
from engine.workspace import Workspace

TOKEN_CLIENT = "token: "  # prefix of a token's client; see engine.accounts.tokens
USED_WITHIN = timedelta(minutes=10)  # interval at which the last use of a token or browser is written, at most
_IDLE_PARTS = 10  # a browser's last use is written this often within the time after which it counts as idle
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
MOST_LISTED = 1000  # sessions of one page
_ID_LENGTH = 16  # characters of the token's SHA-256 that identify a session of a user


class SessionView(BaseModel):
    """A session of a browser, or a token of a program. `current`: the session of this request.

    `scope`: scope of a token; None for browsers. `last_used_at`: last use, up to ten minutes old; in a browser, that of
    the person, not of the open page.
    """

    id: str
    client: str
    address: str
    created_at: datetime
    expires_at: datetime
    current: bool
    scope: Scope | None = None
    last_used_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Login:
    """User of a session or token.

    `scope`: scope of a token; None for browsers, which have all rights of the user. `proxy_user`: the session holds
    while a trusted proxy names this person (see annotator.proxy_person); None: of itself.
    """

    user: User
    scope: Scope | None
    proxy_user: str | None = None


def log_in(
    workspace: Workspace, name: str, password: str, *, client: str = "", address: str = ""
) -> str | SecondStep | None:
    """Check a password and begin a session, or the second step of a login.

    Args:
        workspace: open workspace.
        name: name as typed.
        password: password as typed.
        client: user agent of the browser.
        address: client address.

    Returns:
        Token for the cookie; a second step when a code is missing; None when name or password is wrong.

    Raises:
        TooMany: too many wrong passwords; see engine.accounts.login_throttle.
    """
    with workspace.database.read() as session:
        called = select(User).where(User.name.in_({name, names.compose_name(name)}), User.disabled_at.is_(None))
        user = session.scalar(called.order_by(User.name != name).limit(1))
    if user is not None and not may_use_password(workspace, user):
        user = None
    with login_throttle.throttled_login(workspace, name, user, address) as attempt:
        if not passwords.fits(user.password_hash if user else None, password) or user is None:
            return None
        with workspace.database.write() as session:
            if not _is_as_before(session, user):
                return None
            login_throttle.record_success(session, attempt)
            has_factor = second_factor.is_confirmed(session, user.id)
            if not has_factor and not second_factor.is_required(workspace.settings, user):
                return begin(workspace, session, user.id, client=client, address=address)
            if not has_factor:
                second_factor.prepare(session, user)
            return SecondStep(login_steps.begin(session, user.id), enrols=not has_factor)


def begin(
    workspace: Workspace,
    session: Session,
    user_id: str,
    *,
    client: str = "",
    address: str = "",
    id_token: str | None = None,
    proxy_user: str | None = None,
    strong: bool = False,
) -> str:
    """Begin a session inside the caller's unit of work, and return its token.

    `id_token`, `proxy_user`: see db.tables.LoginSession.
    `strong`: the person has shown a second factor; a provider vouches for its own.
    """
    token = secrets.token_urlsafe(32)
    session.add(
        LoginSession(
            token_sha256=digest(token),
            user_id=user_id,
            client=client[:200],
            address=address[:60],
            expires_at=now() + timedelta(hours=workspace.settings.session_hours),
            id_token=id_token,
            proxy_user=proxy_user,
            second_factor=strong or id_token is not None or proxy_user is not None,
        )
    )
    return token


def may_use_password(workspace: Workspace, user: User) -> bool:
    """Return whether a user may log in with a password, beside single sign-on."""
    allowed = workspace.settings.password_login
    return allowed == "everyone" or (allowed == "admins" and user.role == "admin")


def lock_user(session: Session, user_id: str) -> User | None:
    """Return a user, locked against other changes until the commit; rows may still refer to the user."""
    return session.get(User, user_id, with_for_update={"key_share": True}, populate_existing=True)


def _is_as_before(session: Session, user: User) -> bool:
    """Return whether neither password nor state of a user has changed since the password check began."""
    current = lock_user(session, user.id)
    return current is not None and current.disabled_at is None and current.password_hash == user.password_hash


# Limits of a browser's login hold for logins from before they were set, too. Tokens have a time of their own.
_IS_VALID = and_(
    LoginSession.revoked_at.is_(None),
    LoginSession.expires_at > bindparam("now"),
    or_(
        LoginSession.scope.is_not(None),
        and_(
            LoginSession.created_at > bindparam("begun"),
            func.coalesce(LoginSession.last_used_at, LoginSession.created_at) > bindparam("used"),
        ),
    ),
)
_LOGGED_IN = (  # built once: every request runs it
    select(User, LoginSession.scope, LoginSession.last_used_at, LoginSession.proxy_user, LoginSession.second_factor)
    .join(LoginSession, LoginSession.user_id == User.id)
    .where(LoginSession.token_sha256 == bindparam("token"), User.disabled_at.is_(None), _IS_VALID)
)


def _limits(settings: Settings, moment: datetime) -> dict[str, datetime]:
    """Return the values of _IS_VALID."""
    idle = settings.session_idle_hours
    return {
        "now": moment,
        "begun": moment - timedelta(hours=settings.session_hours),
        "used": moment - timedelta(hours=idle) if idle else _LONG_AGO,
    }


def is_valid(settings: Settings, moment: datetime) -> ColumnElement[bool]:
    """Return the condition of logins that had not ended by a moment, neither by hand nor by a limit."""
    return _IS_VALID.params(_limits(settings, moment))


def login_of_token(workspace: Workspace, token: str, *, used: bool = True) -> Login | None:
    """Return user and scope of a token, and record its use.

    Args:
        workspace: open workspace.
        token: token of a browser or program.
        used: whether this is a use by the person; an open page that only asks for news keeps no login alive.

    Returns:
        The login, or None for an unknown, ended, expired or idle session, and for one in a browser that has shown no
        second factor where the server asks for it: its person logs in again.
    """
    hashed, instant = digest(token), now()
    with workspace.database.autocommit_read() as session:
        values = {"token": hashed, **_limits(workspace.settings, instant)}
        row = session.execute(_LOGGED_IN, values).one_or_none()
    if row is None:
        return None
    user, scope, last, proxy_user, strong = row
    if scope is None and not strong and second_factor.is_required(workspace.settings, user):
        return None
    if used and (last is None or last < instant - _interval(workspace.settings)):
        write = update(LoginSession).where(LoginSession.token_sha256 == hashed).values(last_used_at=instant)
        workspace.deferred_writes.add(lambda session: session.execute(write), key=("token used", hashed))
    return Login(user, cast(Scope | None, scope), proxy_user)


def _interval(settings: Settings) -> timedelta:
    idle = settings.session_idle_hours
    return min(USED_WITHIN, timedelta(hours=idle) / _IDLE_PARTS) if idle else USED_WITHIN


def user_of_token(workspace: Workspace, token: str) -> User | None:
    """Return the user of a token of any scope, which is no use of it; None as in `login_of_token`."""
    login = login_of_token(workspace, token, used=False)
    return login.user if login is not None else None


def is_open(session: Session, token: str) -> bool:
    """Return whether nobody has ended a session or token; its user must be locked."""
    login = session.get(LoginSession, digest(token))
    return login is not None and login.revoked_at is None


def log_out(workspace: Workspace, token: str) -> None:
    """Revoke a session. An unknown token is only looked up, so that strangers take no write lock."""
    if user_of_token(workspace, token) is None:
        return
    with workspace.database.write() as session:
        login = session.get(LoginSession, digest(token))
        if login is not None and login.revoked_at is None:
            _end(login)


def sessions(
    workspace: Workspace,
    user_id: str,
    token: str | None = None,
    *,
    limit: int = MOST_LISTED,
    cursor: str | None = None,
) -> Page[SessionView]:
    """Return a page of a user's valid sessions and tokens, newest first.

    Args:
        workspace: open workspace.
        user_id: id of the user.
        token: token of the current session, or None.
        limit: maximum number, at most MOST_LISTED.
        cursor: of the page; None: the first page.

    Raises:
        Refused: the cursor is not one of this list.
    """
    mine = digest(token) if token else None
    order = Order(f"sessions {user_id}", (LoginSession.created_at, LoginSession.token_sha256), falls=True)
    chosen = select(LoginSession).where(LoginSession.user_id == user_id, is_valid(workspace.settings, now()))
    with workspace.database.read() as session:
        rows, following = order.rows(session, chosen, min(limit, MOST_LISTED), cursor)
    found = [
        SessionView(
            id=row.token_sha256[:_ID_LENGTH],
            client=browser_of(row.client),
            address=row.address,
            created_at=row.created_at,
            expires_at=row.expires_at,
            current=row.token_sha256 == mine,
            scope=cast(Scope | None, row.scope),
            last_used_at=row.last_used_at,
        )
        for (row,) in rows
    ]
    return Page(found, following)


def revoke(workspace: Workspace, user_id: str, session_id: str, *, by: str | None = None) -> None:
    """End one session or token of a user; audited when another user does it.

    Args:
        workspace: open workspace.
        user_id: id of the user.
        session_id: id of the session, as in `SessionView`.
        by: id of the acting user, or None.

    Raises:
        NotFound: the user has no such session.
    """
    with workspace.database.write() as session:
        login = session.scalar(
            select(LoginSession).where(
                LoginSession.user_id == user_id,
                LoginSession.token_sha256.startswith(session_id, autoescape=True),
                LoginSession.revoked_at.is_(None),
            )
        )
        if login is None or len(session_id) < _ID_LENGTH:
            raise NotFound("There is no such session. It may have ended; reload the list.")
        _end(login)
        if by is not None and by != user_id:
            whose = session.get_one(User, user_id).name
            audit.record(session, by, "users.session", user_id, name=whose, client=browser_of(login.client))


def _end(login: LoginSession) -> None:
    login.revoked_at, login.id_token = now(), None


def log_out_everywhere(workspace: Workspace, user: User) -> None:
    """End all of a person's logins in browsers, this one too; audited. Tokens of programs stay."""
    with workspace.database.write() as session:
        revoke_all(session, user.id, tokens=False)
        audit.record(session, user.id, "sessions.end", user.id)


def revoke_all(session: Session, user_id: str, *, but: str | None = None, tokens: bool = True) -> None:
    """End all sessions of a user, and logins that wait for a code, inside the caller's unit of work.

    The user is locked until the commit, so that no token is issued meanwhile by a login that ends here.

    Args:
        session: of the unit of work.
        user_id: id of the user.
        but: token of a session that stays.
        tokens: whether tokens of programs end, too.
    """
    session.execute(select(User.id).where(User.id == user_id).with_for_update(key_share=True))
    ended = (
        update(LoginSession)
        .where(LoginSession.user_id == user_id, LoginSession.revoked_at.is_(None))
        .values(revoked_at=now(), id_token=None)
        .execution_options(synchronize_session=False)
    )
    if but is not None:
        ended = ended.where(LoginSession.token_sha256 != digest(but))
    if not tokens:
        ended = ended.where(LoginSession.scope.is_(None))
    session.execute(ended)
    login_steps.end_all(session, user_id)
    changes.publish(session, "users", None, user_id)


def change_password(
    workspace: Workspace, user: User, old: str, new: str, *, token: str | None = None, address: str = ""
) -> None:
    """Change a user's own password and end all other sessions; audited.

    Args:
        workspace: open workspace.
        user: the user.
        old: current password.
        new: new password.
        token: token of the session to keep.
        address: client address.

    Raises:
        Forbidden: the current password is wrong.
        TooMany: it was wrong too often.
        Refused: the new password is invalid.
    """
    wrong = Forbidden("The current password is wrong. Nothing was changed; try again.")
    with login_throttle.throttled_login(workspace, user.name, user, address) as attempt:
        if not passwords.fits(user.password_hash, old):
            raise wrong
        stored = passwords.hash_password(new, user.name)
        with workspace.database.write() as session:
            if not _is_as_before(session, user):  # an admin has reset the password or disabled the user meanwhile
                raise wrong
            login_throttle.record_success(session, attempt)
            session.get_one(User, user.id).password_hash = stored
            revoke_all(session, user.id, but=token)
            audit.record(session, user.id, "password.change", user.id)


def browser_of(client: str) -> str:
    """Return browser and system from a User-Agent header, as "Firefox on Linux"; else its first word."""
    if client.startswith(TOKEN_CLIENT):
        return client
    browsers = (("Edg", "Edge"), ("OPR", "Opera"), ("Firefox", "Firefox"), ("Chrom", "Chrome"), ("Safari", "Safari"))
    systems = (
        ("Android", "Android"),
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Windows", "Windows"),
        ("Mac OS X", "macOS"),
        ("CrOS", "ChromeOS"),
        ("Linux", "Linux"),
    )
    browser = next((name for part, name in browsers if part in client), None)
    system = next((name for part, name in systems if part in client), None)
    if browser is None:
        return re.split(r"[\s(]", client, maxsplit=1)[0][:40] or "unknown"
    return f"{browser} on {system}" if system else browser
