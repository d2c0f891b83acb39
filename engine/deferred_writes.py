"""What may be written a moment later than it happened: gathered, and written together, at most once a second.

Strangers can make any number of these happen (wrong passwords), or programs with every request (the last use of a token).
Writing each at once would take the database's write turn away from the people at work. What waits here is lost when the
process is killed: nothing belongs here that somebody was told is stored.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sqlalchemy.exc import DataError, IntegrityError
from sqlalchemy.orm import Session

from db.session import Database

PAUSE = 1.0  # seconds between two writes
MOST = 10_000  # what waits at most, while the database cannot be written
_UNSTORABLE = (DataError, IntegrityError)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Waiting:
    write: Callable[[Session], object]
    done: Callable[[], object] | None
    due: float  # monotonic


class DeferredWrites:
    """Gathers what is to be written, and writes it in a thread that lives while something waits."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: dict[object, _Waiting] = {}
        self._lock = threading.Lock()  # of the two fields around it; never held while the database is written
        self._thread: threading.Thread | None = None
        self._one_write = threading.Lock()
        self._closing = threading.Event()

    @property
    def is_full(self) -> bool:
        """Whether so much waits already that nothing more is taken."""
        return len(self._waiting) >= MOST

    def add(
        self,
        write: Callable[[Session], object],
        *,
        done: Callable[[], object] | None = None,
        key: object = None,
        delay: float = 0.0,
    ) -> bool:
        """Have `write` called in the next unit of work, and `done` after its commit. False when nothing more is taken.

        What has a `key` that waits already is dropped: it says the same. `delay`: seconds before it is due.
        """
        with self._lock:
            if self.is_full:
                return False
            self._waiting.setdefault(object() if key is None else key, _Waiting(write, done, time.monotonic() + delay))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="write-later", daemon=True)
                self._thread.start()
        return True

    def flush(self, *, everything: bool = True) -> None:
        """Write what waits now; without `everything`, what is due. Whatever is raised leaves it waiting."""
        with self._one_write:
            moment = time.monotonic()
            with self._lock:
                taken = {key: each for key, each in self._waiting.items() if everything or each.due <= moment}
            if not taken:
                return
            try:
                self._write(taken.values())
            except _UNSTORABLE:  # one of them cannot be stored; the others shall not wait for it for ever
                for each in taken.values():
                    try:
                        self._write([each])
                    except _UNSTORABLE:
                        _log.exception("one entry that was put off cannot be stored, and is left out")
            with self._lock:
                for key in taken:
                    del self._waiting[key]
            for each in taken.values():
                if each.done is not None:
                    each.done()

    def _write(self, taken: Iterable[_Waiting]) -> None:
        with self._database.write() as session:
            for each in taken:
                each.write(session)

    def close(self) -> None:
        """Write what waits, if the database still takes it, and let the thread end."""
        self._closing.set()
        try:
            self.flush()
        except Exception:
            _log.exception("what was to be written at the end could not be")

    def _run(self) -> None:
        while not self._closing.wait(PAUSE):
            try:
                self.flush(everything=False)
            except Exception:
                _log.exception("writing what was put off failed; trying again")
            with self._lock:
                if not self._waiting:
                    self._thread = None
                    return
