"""Setting up, changing and removing one's own second factor."""

from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import update
from sqlalchemy.orm import Session

from db.tables import LoginSession, User
from engine.accounts import login_throttle, passwords, second_factor
from engine.accounts.digests import digest
from engine.accounts.second_factor import Enrolment
from engine.errors import Forbidden, Refused
from engine.workspace import Workspace

_Result = TypeVar("_Result")


def enrol(workspace: Workspace, user: User, password: str, *, address: str = "") -> Enrolment:
    """Make a secret for a user's app, which a code has yet to confirm.

    The password is asked for, so that nobody at an open page can lock its person out.

    Args:
        workspace: open workspace.
        user: the user.
        password: current password.
        address: client address.

    Raises:
        Refused: the user logs in without a password.
        Forbidden: the password is wrong.
        TooMany: it was wrong too often.
        Conflict: the user has a second factor.
    """
    if user.password_hash is None:
        raise Refused("Your account has no password here. Set up a second factor where you log in.")
    with login_throttle.throttled_login(workspace, user.name, user, address) as attempt:
        if not passwords.fits(user.password_hash, password):
            raise Forbidden("The password is wrong. Nothing was changed; try again.")
        with workspace.database.write() as session:
            login_throttle.record_success(session, attempt)
            return second_factor.prepare(session, user)


def confirm(workspace: Workspace, user: User, code: str, *, token: str | None, address: str = "") -> list[str]:
    """Switch a user's second factor on with a code of the app, and return recovery codes.

    Args:
        workspace: open workspace.
        user: the user.
        code: code of the app.
        token: token of the present session, which counts as one with a second factor from now on.
        address: client address.

    Raises:
        Forbidden: the code is wrong.
        NotFound: there is no prepared secret.
        TooMany: too many wrong codes.
    """
    with workspace.database.write() as session:
        codes = second_factor.confirm(session, user, code, address)
        if codes is not None and token is not None:
            mine = LoginSession.token_sha256 == digest(token)
            strong = update(LoginSession).where(mine).values(second_factor=True)
            session.execute(strong.execution_options(synchronize_session=False))
    if codes is None:
        raise Forbidden(second_factor.WRONG)
    return codes


def renew_recovery_codes(workspace: Workspace, user: User, code: str, *, address: str = "") -> list[str]:
    """Replace a user's recovery codes, with a code. Raises as `remove`."""
    return _with_code(workspace, user, code, address, lambda session: second_factor.renew_recovery_codes(session, user))


def remove(workspace: Workspace, user: User, code: str, *, address: str = "") -> None:
    """Remove a user's own second factor, with a code of the app or a recovery code.

    Args:
        workspace: open workspace.
        user: the user.
        code: the code.
        address: client address.

    Raises:
        Refused: the server requires a second factor.
        Forbidden: the code is wrong.
        NotFound: the user has no second factor.
        TooMany: too many wrong codes.
    """
    _with_code(workspace, user, code, address, lambda session: second_factor.remove(session, workspace.settings, user))


def _with_code(
    workspace: Workspace, user: User, code: str, address: str, change: Callable[[Session], _Result]
) -> _Result:
    with workspace.database.write() as session:
        if second_factor.accept(session, user, code, address):
            return change(session)
    raise Forbidden(second_factor.WRONG)
