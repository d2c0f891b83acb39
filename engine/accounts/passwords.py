"""Passwords: argon2id, never stored or compared in the clear.

A hash costs 64 MB and a core for some 50 ms. They are made in a pool of their own, so that many who try at once can use up
neither the memory nor the cores; where the system allows it, its threads let all others go first.
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
LOOKED_AT = 72  # characters that are judged: the judge takes longer than in proportion, and refuses more
EASY = 2  # zxcvbn's score, 0 to 4: below this, less than a million guesses
_HASHER = PasswordHasher()  # argon2id with the library's defaults (RFC 9106, low-memory profile): 64 MB a hash
AT_ONCE = 2
_NICENESS = 5


def _step_back() -> None:
    """Let other threads have the core first: saving goes before guessing. On Linux, priorities are of single threads."""
    if hasattr(os, "setpriority"):
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)


_HASHING = ThreadPoolExecutor(AT_ONCE, "hashing", _step_back)


def check(password: str, name: str) -> None:
    """Refused, with a sentence, for a password that is too short, endless, the person's name, or easy to guess.

    Easy are the common ones, rows of the keyboard, sequences, repeats, dates, and names with digits behind (zxcvbn: Wheeler,
    USENIX Security 2016).
    """
    if len(password) < SHORTEST:
        raise Refused(f"A password has at least {SHORTEST} characters.")
    if len(password) > LONGEST:
        raise Refused(f"A password has at most {LONGEST:,} characters.")
    if password.casefold() == name.casefold():
        raise Refused("The password must not be the name.")
    from zxcvbn import zxcvbn  # its lists of words take a moment to load

    judged = zxcvbn(password[:LOOKED_AT], user_inputs=[name, "glossator"])
    if judged["score"] < EASY:
        why = judged["feedback"]["warning"].rstrip(".")
        because = f" ({why[0].lower()}{why[1:]})" if why else ""
        raise Refused(f"The password is easy to guess{because}. Choose several words that do not belong together.")


def hashed(password: str, name: str) -> str:
    """Return the hash to store. Refused as in `check`."""
    check(password, name)
    return _HASHING.submit(_HASHER.hash, password).result()


def fits(stored: str | None, password: str) -> bool:
    """Return whether a password is the stored one. Without a stored one it takes as long, and never fits."""
    try:
        return _HASHING.submit(_HASHER.verify, stored or _nobody(), password).result() and stored is not None
    except (VerificationError, InvalidHashError):
        return False


@cache
def _nobody() -> str:
    """A hash to check against where there is no user: an unknown name takes as long as a wrong password."""
    return _HASHER.hash("nobody has this password")
