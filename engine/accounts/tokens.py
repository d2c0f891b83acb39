"""Tokens for programs: a login that is told once, lasts long, and is seen and ended like any other session.

A token carries a scope, which never adds to what its person may do: see annotator.scopes, where it is asked.
"""

import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import get_args

from pydantic import BaseModel

from db.base import now
from db.tables import LoginSession
from db.tables.people import Scope as Scope
from engine import audit
from engine.accounts.sessions import TOKEN_CLIENT, digest, locked
from engine.accounts.users import user_named
from engine.errors import Refused
from engine.workspace import Workspace

LONGEST_DAYS = 3650
SCOPES: Mapping[Scope, str] = {
    "read": "sees documents, answers, figures and exports, and changes nothing",
    "annotate": "also uploads, asks, marks, mends words, works through the queue and reviews",
    "admin": "may do through the API whatever its person may",
}


class MadeToken(BaseModel):
    """A token that was just made. It is told this once and stored nowhere."""

    token: str
    scope: Scope
    days: int


def issue(
    workspace: Workspace, name: str, *, purpose: str, days: int, scope: str = "annotate", by: str | None = None
) -> str:
    """Return a new token of the user `name`, valid for so many days; the database keeps only its SHA-256.

    It is sent as `Authorization: Bearer TOKEN`. Refused without a purpose, for an impossible time or an unknown scope,
    NotFound for an unknown user. Disabling the user, or ending the session, ends the token.
    """
    if scope not in get_args(Scope):
        raise Refused(f"There is no scope {scope!r}; choose one of {', '.join(SCOPES)}.")
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
                scope=scope,
            )
        )
        what = purpose.strip()
        audit.record(session, by, "users.token", user.id, name=user.name, purpose=what, days=days, scope=scope)
    return token
