"""Limit of requests a minute of one person, in this process."""

import math
import threading
import time
from collections import OrderedDict

from engine.errors import TooMany

_MOST_PEOPLE = 10_000  # remembered; those who asked longest ago are forgotten


class RateLimit:
    """Token bucket of each person: so many requests at once, and as many a minute from then on. Thread-safe.

    Args:
        what: plural of what is limited, as in "Too many extractions".
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # person -> requests left, at which time
        self._lock = threading.Lock()

    def take(self, person: str, a_minute: int) -> None:
        """Count a request of a person.

        Args:
            person: id of the user.
            a_minute: requests that are allowed in a minute.

        Raises:
            TooMany: the person has asked too often.
        """
        instant = time.monotonic()
        with self._lock:
            left, since = self._left.pop(person, (float(a_minute), instant))
            left = min(float(a_minute), left + (instant - since) * a_minute / 60)
            allowed = left >= 1
            self._left[person] = (left - 1 if allowed else left), instant
            while len(self._left) > _MOST_PEOPLE:
                self._left.popitem(last=False)
        if not allowed:
            seconds = math.ceil((1 - left) * 60 / a_minute)
            raise TooMany(f"Too many {self._what}: {a_minute} a minute are allowed. Try again soon.", seconds)
