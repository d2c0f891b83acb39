"""Questions between two processes of an installation, over a pipe that one of them inherits.

Each question has a number, so that an answer that came too late is not taken for the next one. What arrives is bytes
and never an object: nothing that a process sends can run in another one.
"""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection

_NUMBER = 8  # bytes before each message
_log = logging.getLogger(__name__)


class Asking:
    """One end of a pipe, which asks. Thread-safe."""

    def __init__(self, end: Connection) -> None:
        self._end = end
        self._lock = threading.Lock()
        self._number = 0

    def close(self) -> None:
        """Close the pipe, when nobody asks."""
        with self._lock:
            self._end.close()

    def ask(self, seconds: float) -> bytes | None:
        """Return the answer; None when the other process does not answer in time, or has ended."""
        last = time.monotonic() + seconds
        if not self._lock.acquire(timeout=seconds):
            return None
        try:
            self._number += 1
            asked = self._number.to_bytes(_NUMBER)
            self._end.send_bytes(asked)
            while self._end.poll(max(0.0, last - time.monotonic())):
                message = self._end.recv_bytes()
                if message[:_NUMBER] == asked:
                    return message[_NUMBER:] or None
            return None
        except (OSError, EOFError):
            return None
        finally:
            self._lock.release()


def answer_questions(end: Connection, answer: Callable[[], bytes]) -> None:
    """Answer the questions that come over a pipe, from a thread of its own, until the other end is closed."""

    def serve() -> None:
        with end, suppress(OSError, EOFError):
            while True:
                asked = end.recv_bytes(_NUMBER)
                try:
                    reply = answer()
                except Exception:  # a thread that died of it would answer no later question
                    _log.exception("the metrics could not be collected")
                    reply = b""
                end.send_bytes(asked + reply)

    threading.Thread(target=serve, name="metrics-pipe", daemon=True).start()
