"""Logins that wait for their second step, after a right password.

Their token is no session: no route but those of this step takes it. It ends after ten minutes, with the step, and with
everything that ends the sessions of its person.
"""

import secrets
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import delete
from sqlalchemy.orm import Session

from db.base import now
from db.tables import LoginStep, User
from engine.accounts.digests import digest

MINUTES = 10


@dataclass(frozen=True, slots=True)
class SecondStep:
    """What is missing of a login.

    Attributes:
        token: token of the step.
        enrols: the person has no second factor yet and must set one up.
    """

    token: str
    enrols: bool


def begin(session: Session, user_id: str) -> str:
    """Begin a second step inside the caller's unit of work, and return its token."""
    instant = now()
    _delete(session, LoginStep.expires_at <= instant)
    token = secrets.token_urlsafe(32)
    session.add(LoginStep(token_sha256=digest(token), user_id=user_id, expires_at=instant + timedelta(minutes=MINUTES)))
    return token


def user_of(session: Session, token: str) -> User | None:
    """Return the person of a step; None when it has ended."""
    step = session.get(LoginStep, digest(token), populate_existing=True)
    user = session.get(User, step.user_id) if step is not None and step.expires_at > now() else None
    return user if user is not None and user.disabled_at is None else None


def end(session: Session, token: str) -> None:
    """End a step inside the caller's unit of work."""
    _delete(session, LoginStep.token_sha256 == digest(token))


def end_all(session: Session, user_id: str) -> None:
    """End all steps of a person inside the caller's unit of work."""
    _delete(session, LoginStep.user_id == user_id)


def _delete(session: Session, which: object) -> None:
    session.execute(delete(LoginStep).where(which).execution_options(synchronize_session=False))  # type: ignore[arg-type]
