"""Clock of a reading process: seconds that it could work, so that a busy machine takes no time from a document.

The limits of OCR count by it. Where the process gets its share of a core, it runs as a clock on the wall does. On a
busy machine it counts processor time: of the process, its threads, and the programs that it has started. A process that
waits for something else is charged a part of the time, so that one which hangs still ends.
"""

import contextlib
import os
import threading
import time
from collections.abc import Iterator

STRETCH = 5.0  # wall-clock seconds, at most, of one that is counted
_LOOK = 0.2  # seconds between two looks at the processor time
_OF_PROCESS = 2  # lowest bits of the number of a clock that counts the processor time of a process


class WorkClock:
    """Seconds since it was made; safe to use from several threads."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Begin at 0, in a process that was forked."""
        self._lock = threading.Lock()
        self._programs: set[int] = set()
        self._seconds = 0.0
        self._wall, self._worked = time.monotonic(), self._processor_seconds()

    def seconds(self) -> float:
        """Return the seconds that count."""
        with self._lock:
            wall = time.monotonic() - self._wall
            if wall >= _LOOK:
                worked = self._processor_seconds()
                self._seconds += max(min(wall, worked - self._worked), wall / STRETCH)
                self._wall, self._worked = self._wall + wall, worked
                wall = 0.0
            return self._seconds + wall / STRETCH

    @contextlib.contextmanager
    def counting(self, program: int) -> Iterator[None]:
        """Count the processor time of a program that was started, by its process id; wait for its end in here."""
        with self._lock:
            self._programs.add(program)
        try:
            yield
        finally:
            with self._lock:
                self._programs.discard(program)

    def _processor_seconds(self) -> float:
        """Return the processor time of this process and of the programs that it has started."""
        times = os.times()
        own = times.user + times.system + times.children_user + times.children_system
        return own + sum(map(_seconds_of, self._programs))


def _seconds_of(program: int) -> float:
    """Return the processor time of a program; 0 when it has ended, for it counts among the children then."""
    # The clock of clock_getcpuclockid(3). The process is kept from most of /proc, which would say the same.
    with contextlib.suppress(OSError):
        return time.clock_gettime(~program << 3 | _OF_PROCESS)
    return 0.0  # also outside Linux: programs count when they have ended


CLOCK = WorkClock()
"""Of this process."""
