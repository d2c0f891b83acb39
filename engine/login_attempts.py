"""What the process remembers of attempts to log in before, or instead of, writing them: in memory, and bounded."""

import hashlib
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import datetime

from db.base import now
from db.ids import new_id

REFUSALS = 5_000  # remembered at most; the oldest are forgotten first
REMEMBERED = 10.0  # seconds before the counts are looked at again: failures leave their window meanwhile
SAID = 10  # entries of the audit trail a minute that name who is slowed down; the rest is one entry with a count
MINUTE = 60.0


@dataclass(slots=True)
class Attempt:
    """A password that is about to be tried. It counts as wrong until `right` is set."""

    name: str
    address: str
    failures: int = 0  # of this name from this address, this one included, if it fails
    right: bool = False
    id: str = field(default_factory=new_id)
    moment: datetime = field(default_factory=now)


@dataclass(frozen=True, slots=True)
class _Refusal:
    again: float  # monotonic: when the counts are looked at again
    until: float  # monotonic: when the waiting ends
    what: str


class LoginAttempts:
    """Attempts under way or not yet written, and who was refused a moment ago. Safe for threads."""

    def __init__(self) -> None:
        self.turn = threading.Lock()  # one attempt is counted at a time, so that many at once cannot outrun the count
        self._lock = threading.Lock()
        self._unwritten: dict[str, Attempt] = {}
        self._refused: OrderedDict[str, _Refusal] = OrderedDict()
        self._said: list[float] = []  # monotonic, of the last minute
        self.unsaid = 0
        self._cleared = -MINUTE

    def unwritten(self, name: str, address: str) -> list[Attempt]:
        """Return the attempts of a name or from an address that the database does not hold yet."""
        with self._lock:
            return [each for each in self._unwritten.values() if each.name == name or each.address == address]

    def put(self, attempt: Attempt) -> None:
        """Remember an attempt until `drop`."""
        with self._lock:
            self._unwritten[attempt.id] = attempt

    def drop(self, attempt: Attempt) -> None:
        """Forget an attempt that was right, or that the database holds now."""
        with self._lock:
            self._unwritten.pop(attempt.id, None)

    def refuse(self, name: str, address: str, seconds: int, what: str) -> None:
        """Remember that an attempt was refused for so many seconds."""
        moment = time.monotonic()
        with self._lock:
            self._refused[_key(name, address)] = _Refusal(moment + min(REMEMBERED, seconds), moment + seconds, what)
            self._refused.move_to_end(_key(name, address))
            if len(self._refused) > REFUSALS:
                self._refused.popitem(last=False)

    def refused(self, name: str, address: str) -> tuple[int, str] | None:
        """Return the seconds to wait, and what for, of an attempt that was refused a moment ago."""
        with self._lock:
            refusal = self._refused.get(_key(name, address))
        moment = time.monotonic()
        if refusal is None or refusal.again <= moment:
            return None
        return max(1, -int(-(refusal.until - moment) // 1)), refusal.what

    def may_say(self) -> bool:
        """Return whether the audit trail may name one more who is slowed down; counts those that it may not name."""
        moment = time.monotonic()
        with self._lock:
            self._said = [each for each in self._said if each > moment - MINUTE]
            if len(self._said) < SAID:
                self._said.append(moment)
                return True
            self.unsaid += 1
            return False

    def said(self, times: int) -> None:
        """Note that the audit trail holds so many of those that it might not name."""
        with self._lock:
            self.unsaid -= times

    def may_clear(self) -> bool:
        """Return whether it is time, once a minute, to delete old attempts."""
        moment = time.monotonic()
        with self._lock:
            due = self._cleared <= moment - MINUTE
            self._cleared = moment if due else self._cleared
            return due


def _key(name: str, address: str) -> str:
    """A key without the name as it was typed, which may be a password by mistake."""
    return hashlib.sha256(f"{name}\n{address}".encode(errors="replace")).hexdigest()
