"""Memory and processor time of what runs during the benchmark, from /proc."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import dataclass, field
from pathlib import Path

LOOK = 10.0  # seconds between two looks
_TICKS, _PAGE = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")


@dataclass
class Watch:
    """Looks at the processes of a server.

    Attributes:
        web: ids of the web processes.
        database: id of the first process of PostgreSQL.
        memory: process -> seconds since the beginning, and resident memory in MB.
    """

    web: list[int]
    database: int
    memory: dict[int, list[tuple[float, float]]] = field(default_factory=dict)
    _begun: float = 0.0
    _processor: dict[str, float] = field(default_factory=dict)

    async def look(self) -> None:
        """Note memory until cancelled."""
        self._begun = time.monotonic()
        self._processor = self._seconds()
        while True:
            for process in self.web:
                self.memory.setdefault(process, []).append((time.monotonic() - self._begun, resident(process)))
            await asyncio.sleep(LOOK)

    def shares(self) -> dict[str, float]:
        """Return seconds of processor time a second, since `look` began, of each part."""
        passed = time.monotonic() - self._begun
        return {part: (seconds - self._processor[part]) / passed for part, seconds in self._seconds().items()}

    def _seconds(self) -> dict[str, float]:
        spent = {f"web process {number}": processor_seconds(process) for number, process in enumerate(self.web, 1)}
        spent["PostgreSQL"] = sum(map(processor_seconds, [self.database, *children(self.database)]))
        spent["the clients"] = processor_seconds(os.getpid())
        user, nice, system, _idle, _waiting, *more = map(int, Path("/proc/stat").read_text().split()[1:8])
        spent["whole machine"] = (user + nice + system + sum(more)) / _TICKS
        return spent


def web_processes(command: int) -> list[int]:
    """Return the ids of the web processes of a `glossator serve`."""
    return [process for process in children(command) if "web_processes" in Path(f"/proc/{process}/cmdline").read_text()]


def database_process(folder: Path) -> int:
    """Return the id of the first process of the PostgreSQL whose data are in a folder."""
    return int((folder / "postmaster.pid").read_text().split()[0])


def children(process: int) -> list[int]:
    """Return the ids of the children of a process, in order."""
    listed = Path(f"/proc/{process}/task").glob("*/children")
    return sorted(int(child) for file in listed for child in file.read_text().split())


def resident(process: int) -> float:
    """Return the resident memory of a process in MB."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * _PAGE / 1024**2


def processor_seconds(process: int) -> float:
    """Return the processor time of a process and of its children that have ended."""
    after_name = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, after_name[11:15])) / _TICKS
