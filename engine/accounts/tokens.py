"""Tokens for programs: long-lived logins, shown once, listed and ended like sessions.

The scope of a token restricts the rights of its user and never extends them; annotator.scopes checks it.
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
from engine.accounts.digests import digest
from engine.accounts.sessions import TOKEN_CLIENT, is_open, lock_user
from engine.accounts.users import user_named
from engine.errors import Forbidden, Refused
from engine.workspace import Workspace

LONGEST_DAYS = 3650
SCOPES: Mapping[Scope, str] = {
    "read": "documents, answers, figures and exports, without changes",
    "extract": "extraction of values from files and documents, and nothing else",
    "annotate": "what both allow, and uploads, questions, marks, word fixes, queue and reviews",
    "admin": "all rights of the user",
}


class MadeToken(BaseModel):
    """A new token. It is shown once and not stored."""

    token: str
    scope: Scope
    days: int


def issue(
    workspace: Workspace,
    name: str,
    *,
    purpose: str,
    days: int,
    scope: str = "annotate",
    by: str | None = None,
    login: str | None = None,
) -> str:
    """Create a token of a user; the database stores its SHA-256 only.

    Programs send it as `Authorization: Bearer TOKEN`. Disabling the user, or ending the session, ends the token.

    Args:
        workspace: open workspace.
        name: name of the user.
        purpose: shown in the list of sessions.
        days: validity, 1 to LONGEST_DAYS.
        scope: read, extract, annotate or admin.
        by: id of the acting user.
        login: token of the session in which the user asks for it.

    Returns:
        The token.

    Raises:
        Refused: purpose, validity or scope is invalid, or the user is disabled.
        Forbidden: `login` was ended meanwhile.
        NotFound: there is no such user.
    """
    if scope not in get_args(Scope):
        raise Refused(f"Unknown scope {scope!r}. Choose from {', '.join(SCOPES)}.")
    if not purpose.strip() or not purpose.isprintable():
        raise Refused("The purpose is missing or not printable. Enter one; it is shown in the list of sessions.")
    if not 1 <= days <= LONGEST_DAYS:
        raise Refused(f"The validity must be 1 to {LONGEST_DAYS} days. Choose another number of days.")
    known = user_named(workspace, name)
    token = secrets.token_urlsafe(32)
    with workspace.database.write() as session:
        user = lock_user(session, known.id)
        if user is None or user.disabled_at is not None:
            raise Refused(f"The user {name!r} is disabled. Run glossator users enable {name} first.")
        if login is not None and not is_open(session, login):
            raise Forbidden("Your login has ended. Log in again.")
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
