"""Passwords: argon2id, never stored or compared in the clear."""

import threading
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from engine.errors import Refused

SHORTEST = 10
LONGEST = 1000
_HASHER = PasswordHasher()  # argon2id with the library's defaults (RFC 9106, low-memory profile): 64 MB a hash
_AT_ONCE = threading.BoundedSemaphore(4)  # so that many who try at once cannot use up the memory


def check(password: str, name: str) -> None:
    """Refused, with a sentence, for a password that is too short, endless, or the person's name."""
    if len(password) < SHORTEST:
        raise Refused(f"A password has at least {SHORTEST} characters.")
    if len(password) > LONGEST:
        raise Refused(f"A password has at most {LONGEST:,} characters.")
    if password.casefold() == name.casefold():
        raise Refused("The password must not be the name.")


def hashed(password: str, name: str) -> str:
    """Return the hash to store. Refused as in `check`."""
    check(password, name)
    with _AT_ONCE:
        return _HASHER.hash(password)


def fits(stored: str | None, password: str) -> bool:
    """Return whether a password is the stored one. Without a stored one it takes as long, and never fits."""
    try:
        with _AT_ONCE:
            return _HASHER.verify(stored or _nobody(), password) and stored is not None
    except (VerificationError, InvalidHashError):
        return False


@cache
def _nobody() -> str:
    """A hash to check against where there is no user: an unknown name takes as long as a wrong password."""
    return _HASHER.hash("nobody has this password")
