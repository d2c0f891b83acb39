"""What people may be called. A name stands for one person in answers, plots and the audit trail, so no two may look alike."""

import unicodedata

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.tables import User
from engine.audit import NOBODY
from engine.errors import Conflict, Refused
from engine.text import check_name

LOCAL_NAME = "local"  # who works without login, and on the command line
RESERVED = frozenset({LOCAL_NAME, NOBODY.casefold(), "others"})  # others: everybody else in figures and plots
LONGEST = 100


def composed(name: str) -> str:
    """Return a name in the form that is stored (Unicode NFC): "é" may be typed as one character or as two."""
    return unicodedata.normalize("NFC", name)


def chosen(name: str) -> str:
    """Return a new user's name as it is stored. Refused, with a sentence, for what cannot be one."""
    name = composed(name)
    check_name(name, "A user's name", longest=LONGEST, joiners=False)
    if _looks(name) in RESERVED:
        raise Refused(f"The name {name!r} is the program's own; choose another one.")
    return name


def check_free(session: Session, name: str) -> None:
    """Conflict where a user is called so already, in capitals or without; names stay free until the caller's commit.

    The index of the table knows only names that are equal. Those of users from before this rule stay as they are.
    """
    if session.get_bind().dialect.name == "postgresql":  # on SQLite a writer is alone
        session.execute(select(func.pg_advisory_xact_lock(func.hashtext("names of users"))))
    if is_taken(session, name):
        raise Conflict(f"There is a user {name!r} already, or one whose name looks like it.")


def is_taken(session: Session, name: str) -> bool:
    """Return whether a user has this name, or one that looks like it."""
    wanted = _looks(name)
    return any(_looks(other) == wanted for other in session.scalars(select(User.name)))


def _looks(name: str) -> str:
    """What is the same for names that people would mistake for each other (Unicode, compatibility caseless matching)."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
