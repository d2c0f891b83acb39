"""User names.

A name identifies one person in answers, plots and the audit trail, so no two names may look alike.
"""

import unicodedata

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.tables import User
from engine.audit import NOBODY
from engine.errors import Conflict, Refused
from engine.text import check_name

LOCAL_NAME = "local"  # user of local mode and of the command line
RESERVED = frozenset({LOCAL_NAME, NOBODY.casefold(), "others"})  # others: sum of further people in figures and plots
LONGEST = 100
_ERASED = "Erased person"  # and the last digits of the id: the same in every copy of an installation


def compose_name(name: str) -> str:
    """Return a name as it is stored (Unicode NFC): "é" may be typed as one character or as two."""
    return unicodedata.normalize("NFC", name)


def check_new_name(name: str) -> str:
    """Return a new user's name as it is stored.

    Raises:
        Refused: the name is invalid or reserved.
    """
    name = compose_name(name)
    check_name(name, "A user's name", longest=LONGEST, joiners=False)
    if _looks(name) in RESERVED or _looks(name).startswith(_looks(_ERASED)):
        raise Refused(f"The name {name!r} is reserved. Choose another one.")
    return name


def label_of_erased(user_id: str) -> str:
    """Return what stands in place of the name of an erased person, as "Erased person 91c5e07a"."""
    return f"{_ERASED} {user_id[-8:]}"


def check_free(session: Session, name: str) -> None:
    """Check that no user has this name or one that looks alike; holds until the caller's commit.

    The table's index compares equal names only. Names of earlier users are not changed.

    Raises:
        Conflict: the name is taken.
    """
    if session.get_bind().dialect.name == "postgresql":  # SQLite allows one writer only
        session.execute(select(func.pg_advisory_xact_lock(func.hashtext("names of users"))))
    if is_taken(session, name):
        raise Conflict(f"The name {name!r}, or one that looks like it, is taken. Choose another one.")


def is_taken(session: Session, name: str) -> bool:
    """Return whether a user has this name or one that looks like it."""
    wanted = _looks(name)
    return any(_looks(other) == wanted for other in session.scalars(select(User.name)))


def _looks(name: str) -> str:
    """Return a key that is equal for names that look alike (Unicode compatibility caseless matching)."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
