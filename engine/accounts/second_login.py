"""The second step of a login: a code, or setting up the second factor that gives codes."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from db.tables import User
from engine.accounts import login_steps, second_factor, sessions
from engine.accounts.second_factor import Enrolment
from engine.errors import NotFound
from engine.workspace import Workspace

_ENDED = "This login has expired. Enter your name and password again."


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished login: token for the cookie, and the recovery codes of a new second factor."""

    token: str
    recovery_codes: list[str]


def secret_of(workspace: Workspace, token: str) -> Enrolment | None:
    """Return the secret that a login has to confirm; None when it waits for a code of an earlier one.

    Raises:
        NotFound: the login has expired.
    """
    with workspace.database.read() as session:
        user = login_steps.user_of(session, token)
        if user is None:
            raise NotFound(_ENDED)
        return second_factor.prepared(session, user)


def finish(
    workspace: Workspace, token: str, code: str, *, enrols: bool, client: str = "", address: str = ""
) -> Finished | None:
    """Finish a login with a code, and begin a session. The step ends with it, so it cannot be used twice.

    Args:
        workspace: open workspace.
        token: token of the step.
        code: as typed.
        enrols: the code confirms a new second factor.
        client: user agent of the browser.
        address: client address.

    Returns:
        The session; None for a wrong code.

    Raises:
        NotFound: the login has expired, or its second factor was removed or set up meanwhile.
        TooMany: too many wrong codes.
    """
    with workspace.database.read() as session:
        user = login_steps.user_of(session, token)
        if user is None:
            raise NotFound(_ENDED)
        second_factor.check_wait(session, user)
    with workspace.database.write() as session:
        user = _locked_user(session, token)
        codes: list[str] | None = []
        if enrols:
            codes = second_factor.confirm(session, user, code, address)
        elif not second_factor.accept(session, user, code, address):
            codes = None
        if codes is None:
            return None
        login_steps.end(session, token)
        begun = sessions.begin(workspace, session, user.id, client=client, address=address, strong=True)
        return Finished(begun, codes)


def _locked_user(session: Session, token: str) -> User:
    """Return the person of a step, locked: whoever disables them or sets a password waits, or ends the step first."""
    user = login_steps.user_of(session, token)
    user = sessions.lock_user(session, user.id) if user is not None else None
    if user is None or user.disabled_at is not None or login_steps.user_of(session, token) is None:
        raise NotFound(_ENDED)
    return user
