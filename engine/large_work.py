"""A lane for work that is large: one at a time, so that many large pieces do not take the processor from small ones."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from engine.errors import TooMany

MAX_IN_QUEUE = 16  # at work and waiting: each holds a thread that answers requests
WAIT_SECONDS = 2


class SerialQueue:
    """A line that large work stands in. Safe for threads."""

    def __init__(self) -> None:
        self._places = threading.BoundedSemaphore(MAX_IN_QUEUE)
        self._turn = threading.Lock()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for the others in line, and keep them waiting meanwhile. TooMany when the line is full."""
        if not self._places.acquire(blocking=False):
            raise TooMany(
                "Many large edits are being saved at this moment; save this one again in a moment.", WAIT_SECONDS
            )
        try:
            with self._turn:
                yield
        finally:
            self._places.release()
