"""Password hashing with argon2id.

A hash costs 64 MB and a core for about 50 ms. Hashes are made in a small pool of threads with low priority, so that
many simultaneous logins exhaust neither memory nor cores.
"""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from engine.errors import Refused

SHORTEST = 10
LONGEST = 1000
LOOKED_AT = 72  # characters rated by zxcvbn, which accepts no more and slows down with length
EASY = 2  # zxcvbn's score, 0 to 4; below this, fewer than a million guesses
_HASHER = PasswordHasher()  # argon2id with the library's defaults (RFC 9106, low-memory profile): 64 MB a hash
AT_ONCE = 2
_NICENESS = 5


def _step_back() -> None:
    """Lower the priority of this thread: saves go before logins.

    On Linux, each thread has its own priority.
    """
    if hasattr(os, "setpriority"):
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)


_HASHING = ThreadPoolExecutor(AT_ONCE, "hashing", _step_back)


def check(password: str, name: str) -> None:
    """Check a new password.

    Easy to guess are common passwords, keyboard rows, sequences, repeats, dates, and names with digits (zxcvbn:
    Wheeler, USENIX Security 2016).

    Args:
        password: the password.
        name: name of the user.

    Raises:
        Refused: the password is too short, too long, equal to the name, or easy to guess.
    """
    if len(password) < SHORTEST:
        raise Refused(f"The password is too short. Use at least {SHORTEST} characters.")
    if len(password) > LONGEST:
        raise Refused(f"The password is too long. Use at most {LONGEST:,} characters.")
    if password.casefold() == name.casefold():
        raise Refused("The password equals the name. Choose another one.")
    from zxcvbn import zxcvbn  # imported late: its word lists take a moment to load

    judged = zxcvbn(password[:LOOKED_AT], user_inputs=[name, "glossator"])
    if judged["score"] < EASY:
        why = judged["feedback"]["warning"].rstrip(".")
        because = f" ({why[0].lower()}{why[1:]})" if why else ""
        raise Refused(f"The password is easy to guess{because}. Use several unrelated words.")


def hash_password(password: str, name: str) -> str:
    """Return the hash to store, after `check`."""
    check(password, name)
    return _HASHING.submit(_HASHER.hash, password).result()


def fits(stored: str | None, password: str) -> bool:
    """Return whether a password matches a stored hash.

    Args:
        stored: the hash, or None, which never matches and takes as long.
        password: the password.
    """
    try:
        return _HASHING.submit(_HASHER.verify, stored or _nobody(), password).result() and stored is not None
    except (VerificationError, InvalidHashError):
        return False


@cache
def _nobody() -> str:
    """Return a hash for unknown names, so that they take as long as wrong passwords."""
    return _HASHER.hash("nobody has this password")
