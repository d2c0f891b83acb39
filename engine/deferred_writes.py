"""Deferred database writes, gathered and written together at most once a second.

They come from strangers (wrong passwords) or with every request of a program (last use of a token). Writing each at
once would take the database's write lock from annotators. Waiting writes are lost when the process is killed, so
nothing that was acknowledged to a person may be deferred.
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
MOST = 10_000  # waiting writes at most, while the database cannot be written
_UNSTORABLE = (DataError, IntegrityError)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Waiting:
    write: Callable[[Session], object]
    done: Callable[[], object] | None
    due: float  # monotonic


class DeferredWrites:
    """Gathers writes, and performs them in a thread that runs while some are waiting.

    Args:
        database: database to write to.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: dict[object, _Waiting] = {}
        self._lock = threading.Lock()  # guards the fields around it; never held while the database is written
        self._thread: threading.Thread | None = None
        self._one_write = threading.Lock()
        self._closing = threading.Event()

    @property
    def is_full(self) -> bool:
        """Whether no further write is accepted."""
        return len(self._waiting) >= MOST

    def add(
        self,
        write: Callable[[Session], object],
        *,
        done: Callable[[], object] | None = None,
        key: object = None,
        delay: float = 0.0,
    ) -> bool:
        """Queue a write.

        Args:
            write: called in the next unit of work.
            done: called after its commit.
            key: a write whose key is waiting already is dropped.
            delay: seconds before the write is due.

        Returns:
            Whether the write was accepted.
        """
        with self._lock:
            if self.is_full:
                return False
            self._waiting.setdefault(object() if key is None else key, _Waiting(write, done, time.monotonic() + delay))
            if self._thread is None:
                self._thread = threading.Thread(target=self._flush_until_empty, name="write-later", daemon=True)
                self._thread.start()
        return True

    def flush(self, *, everything: bool = True) -> None:
        """Perform the waiting writes; after an exception they keep waiting.

        Args:
            everything: also writes that are not due yet.
        """
        with self._one_write:
            instant = time.monotonic()
            with self._lock:
                taken = {key: write for key, write in self._waiting.items() if everything or write.due <= instant}
            if not taken:
                return
            try:
                self._write(taken.values())
            except _UNSTORABLE:  # one of them cannot be stored; the others must not wait for it
                for write in taken.values():
                    try:
                        self._write([write])
                    except _UNSTORABLE:
                        _log.exception("a deferred write cannot be stored and is dropped")
            with self._lock:
                for key in taken:
                    del self._waiting[key]
            for write in taken.values():
                if write.done is not None:
                    write.done()

    def _write(self, taken: Iterable[_Waiting]) -> None:
        with self._database.write() as session:
            for write in taken:
                write.write(session)

    def close(self) -> None:
        """Perform the waiting writes if possible, and end the thread."""
        self._closing.set()
        try:
            self.flush()
        except Exception:
            _log.exception("deferred writes were lost at the end of the process")

    def _flush_until_empty(self) -> None:
        while not self._closing.wait(PAUSE):
            try:
                self.flush(everything=False)
            except Exception:
                _log.exception("deferred writes failed; trying again")
            with self._lock:
                if not self._waiting:
                    self._thread = None
                    return
