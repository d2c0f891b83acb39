"""Tokens for programs: a login that is printed once, lasts long, and is seen and ended like any other session."""

import secrets
from datetime import timedelta

from db.base import now
from db.tables import LoginSession
from engine import audit
from engine.errors import Refused
from engine.logins import TOKEN_CLIENT, digest, locked
from engine.people import user_named
from engine.workspace import Workspace

LONGEST_DAYS = 3650


def issue(workspace: Workspace, name: str, *, purpose: str, days: int, by: str | None = None) -> str:
    """Return a new token of the user `name`, valid for so many days; the database keeps only its SHA-256.

    It is sent as `Authorization: Bearer TOKEN`. Refused without a purpose or for an impossible time, NotFound for an unknown
    user. Disabling the user, or ending the session, ends the token.
    """
    if not purpose.strip() or not purpose.isprintable():
        raise Refused("Say what the token is for; its owner sees that in the list of sessions.")
    if not 1 <= days <= LONGEST_DAYS:
        raise Refused(f"A token lasts 1 to {LONGEST_DAYS} days.")
    known = user_named(workspace, name)
    token = secrets.token_urlsafe(32)
    with workspace.database.write() as session:
        user = locked(session, known.id)
        if user is None or user.disabled_at is not None:
            raise Refused(f"The user {name!r} is disabled; glossator users enable {name} comes first.")
        session.add(
            LoginSession(
                token_sha256=digest(token),
                user_id=user.id,
                client=f"{TOKEN_CLIENT}{purpose.strip()}"[:200],
                expires_at=now() + timedelta(days=days),
            )
        )
        audit.record(session, by, "users.token", user.id, name=user.name, purpose=purpose.strip(), days=days)
    return token
