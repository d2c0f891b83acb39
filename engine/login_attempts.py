"""Login attempts in memory, before or instead of being written; bounded in size."""

import hashlib
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import datetime

from db.base import now
from db.ids import new_id

REFUSALS = 5_000  # kept at most; the oldest are dropped first
REMEMBERED = 10.0  # seconds before the counts are read again: failures leave their window meanwhile
SAID = 10  # audit entries a minute that name a throttled login; the rest is one entry with a count
MINUTE = 60.0


@dataclass(slots=True)
class Attempt:
    """A password attempt. It counts as failed until `right` is set."""

    name: str
    address: str
    failures: int = 0  # of this name and address, including this one if it fails
    right: bool = False
    id: str = field(default_factory=new_id)
    moment: datetime = field(default_factory=now)


@dataclass(frozen=True, slots=True)
class _Refusal:
    again: float  # monotonic time at which the counts are read again
    until: float  # monotonic time at which the wait ends
    what: str


class LoginAttempts:
    """Attempts that are running or unwritten, and recent refusals. Thread-safe."""

    def __init__(self) -> None:
        self.turn = (
            threading.Lock()
        )  # one attempt is counted at a time, so that simultaneous ones cannot exceed the count
        self._lock = threading.Lock()
        self._unwritten: dict[str, Attempt] = {}
        self._refused: OrderedDict[str, _Refusal] = OrderedDict()
        self._said: list[float] = []  # monotonic times of the last minute
        self.unsaid = 0
        self._cleared = -MINUTE

    def unwritten(self, name: str, address: str) -> list[Attempt]:
        """Return the unwritten attempts of a name or address."""
        with self._lock:
            return [
                attempt for attempt in self._unwritten.values() if attempt.name == name or attempt.address == address
            ]

    def add(self, attempt: Attempt) -> None:
        """Keep an attempt until `drop`."""
        with self._lock:
            self._unwritten[attempt.id] = attempt

    def drop(self, attempt: Attempt) -> None:
        """Drop an attempt that succeeded or was written."""
        with self._lock:
            self._unwritten.pop(attempt.id, None)

    def refuse(self, name: str, address: str, seconds: int, what: str) -> None:
        """Record a refusal.

        Args:
            name: name as typed.
            address: network of the client.
            seconds: seconds to wait.
            what: counted thing, as "wrong passwords".
        """
        instant = time.monotonic()
        with self._lock:
            self._refused[_key(name, address)] = _Refusal(instant + min(REMEMBERED, seconds), instant + seconds, what)
            self._refused.move_to_end(_key(name, address))
            if len(self._refused) > REFUSALS:
                self._refused.popitem(last=False)

    def find_refusal(self, name: str, address: str) -> tuple[int, str] | None:
        """Return seconds to wait and counted thing of a recent refusal; None without one."""
        with self._lock:
            refusal = self._refused.get(_key(name, address))
        instant = time.monotonic()
        if refusal is None or refusal.again <= instant:
            return None
        return max(1, -int(-(refusal.until - instant) // 1)), refusal.what

    def may_say(self) -> bool:
        """Return whether the audit trail may name one more throttled login; otherwise count it."""
        instant = time.monotonic()
        with self._lock:
            self._said = [at for at in self._said if at > instant - MINUTE]
            if len(self._said) < SAID:
                self._said.append(instant)
                return True
            self.unsaid += 1
            return False

    def mark_named(self, times: int) -> None:
        """Record that the audit trail now includes so many of the unnamed ones."""
        with self._lock:
            self.unsaid -= times

    def may_clear(self) -> bool:
        """Return whether old attempts are to be deleted now, once a minute."""
        instant = time.monotonic()
        with self._lock:
            due = self._cleared <= instant - MINUTE
            self._cleared = instant if due else self._cleared
            return due


def _key(name: str, address: str) -> str:
    """Return a key without the typed name, which may be a password by mistake."""
    return hashlib.sha256(f"{name}\n{address}".encode(errors="replace")).hexdigest()
