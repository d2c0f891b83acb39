"""User names.

A name identifies one person in answers, plots and the audit trail, so no two names may look alike.
"""

import itertools
import re
import unicodedata
from collections.abc import Iterator

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
    _take_turn(session)
    if is_taken(session, name):
        raise Conflict(f"The name {name!r}, or one that looks like it, is taken. Choose another one.")


def is_taken(session: Session, name: str) -> bool:
    """Return whether a user has this name or one that looks like it."""
    wanted = _looks(name)
    return any(_looks(taken) == wanted for taken in session.scalars(select(User.name)))


def free_name(session: Session, wanted: str) -> str:
    """Return a name for a person whom a provider calls `wanted`: that, or with a number where it is taken or reserved.

    Holds until the caller's commit, as `check_free`.
    """
    name = _printable(wanted)
    _take_turn(session)
    taken = {_looks(other) for other in session.scalars(select(User.name))} | RESERVED
    return next(numbered for numbered in _number_names(name) if _looks(numbered) not in taken)


def is_name_of(name: str, wanted: str) -> bool:
    """Return whether a name may have come from `free_name`."""
    printable, numbered = _printable(wanted), re.fullmatch(r"(.+)( \d+)", name)
    return name == printable or (numbered is not None and name == _with_ending(printable, numbered[2]))


def _number_names(name: str) -> Iterator[str]:
    yield name
    for number in itertools.count(2):
        yield _with_ending(name, f" {number}")


def _with_ending(name: str, ending: str) -> str:
    return f"{name[: LONGEST - len(ending)].rstrip()}{ending}"


def _printable(wanted: str) -> str:
    """Return a name that `check_new_name` would take, apart from reserved ones."""
    name = "".join(letter for letter in compose_name(wanted) if letter.isprintable())
    name = " ".join(name.split())[:LONGEST].rstrip()
    try:
        check_name(name, "A user's name", longest=LONGEST, joiners=False)
    except Refused:
        return "person"
    return "person" if _looks(name).startswith(_looks(_ERASED)) else name


def _take_turn(session: Session) -> None:
    if session.get_bind().dialect.name == "postgresql":  # SQLite allows one writer only
        session.execute(select(func.pg_advisory_xact_lock(func.hashtext("names of users"))))


def _looks(name: str) -> str:
    """Return a key that is equal for names that look alike (Unicode compatibility caseless matching)."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
