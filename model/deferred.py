"""Compute a value once, when it is first needed, also where several threads need it."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Deferred(Generic[Value]):
    """A value that is computed at the first `get`; other threads wait for it. A failure is tried again."""

    def __init__(self, compute: Callable[[], Value]) -> None:
        self._compute: Callable[[], Value] | None = compute
        self._value: Value | None = None
        self._lock = threading.Lock()

    @property
    def is_known(self) -> bool:
        """Whether the value is computed; never waits."""
        return self._compute is None

    def get(self) -> Value:
        """Return the value; raises what its computation raises."""
        with self._lock:
            if self._compute is not None:
                self._value = self._compute()
                self._compute = None  # frees what the computation held
            return self._value  # type: ignore[return-value]
