"""Queue for large saves: one at a time, so that many of them leave processor time for small ones."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from engine.errors import TooMany

MAX_IN_QUEUE = 16  # running and waiting: each holds a thread of the server
WAIT_SECONDS = 2


class SaveQueue:
    """Bounded queue that runs one save at a time. Thread-safe."""

    def __init__(self) -> None:
        self._places = threading.BoundedSemaphore(MAX_IN_QUEUE)
        self._turn = threading.Lock()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a turn, and hold it inside the context.

        Raises:
            TooMany: the queue is full.
        """
        if not self._places.acquire(blocking=False):
            raise TooMany("Too many large edits are being saved. Try again in a few seconds.", WAIT_SECONDS)
        try:
            with self._turn:
                yield
        finally:
            self._places.release()
