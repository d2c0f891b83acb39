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
from pathlib import Path

STRETCH = 5.0  # wall-clock seconds, at most, of one that is counted
_LOOK = 0.2  # seconds between two looks at the processor time
_PROC = Path("/proc")


class WorkClock:
    """Seconds since it was made; safe to use from several threads."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Begin at 0, in a process that was forked."""
        self._lock = threading.Lock()
        self._seconds = 0.0
        self._wall, self._worked = time.monotonic(), processor_seconds()

    def seconds(self) -> float:
        """Return the seconds that count."""
        with self._lock:
            wall = time.monotonic() - self._wall
            if wall >= _LOOK:
                worked = processor_seconds()
                self._seconds += max(min(wall, worked - self._worked), wall / STRETCH)
                self._wall, self._worked = self._wall + wall, worked
                wall = 0.0
            return self._seconds + wall / STRETCH


def processor_seconds() -> float:
    """Return the processor time of this process's group: its own, and that of the programs that it has started."""
    times = os.times()
    own = times.user + times.system + times.children_user + times.children_system
    return own + sum(_seconds_of(process) for process in _started())


def _started() -> Iterator[list[str]]:
    """Yield the fields behind the name, of /proc/PID/stat, of each other process of this group."""
    own, group = str(os.getpid()), str(os.getpgrp())
    with contextlib.suppress(OSError):  # no such folder outside Linux: programs count when they have ended
        for entry in os.scandir(_PROC):
            if not entry.name.isdecimal() or entry.name == own:
                continue
            with contextlib.suppress(OSError):
                fields = (_PROC / entry.name / "stat").read_text(errors="replace").rpartition(")")[2].split()
                if len(fields) > 14 and fields[2] == group:
                    yield fields


def _seconds_of(fields: list[str]) -> float:
    """Return the processor time of a process and of its children that have ended."""
    return sum(int(ticks) for ticks in fields[11:15]) / os.sysconf("SC_CLK_TCK")


CLOCK = WorkClock()
"""Of this process."""
