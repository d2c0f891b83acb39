"""Limits of one attempt at a job: memory and time. They are watched from the thread that keeps the lease, and end the job at its
next step, with a sentence, before the machine would end everything else.
"""

import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from engine.settings import MEGABYTE, Settings

Limit = Literal["memory", "time"]
_STATM = Path("/proc/self/statm")


@dataclass(frozen=True, slots=True)
class Limits:
    """What an attempt may take. memory_mb 0: no limit."""

    memory_mb: int
    minutes: float
    began: float = field(default_factory=time.monotonic)

    def exceeded(self) -> Limit | None:
        """Return which limit the attempt is beyond; None while it is within both."""
        if self.memory_mb and (resident_mb() or 0) > self.memory_mb:
            return "memory"
        return "time" if time.monotonic() - self.began > self.minutes * 60 else None

    def sentence(self, limit: Limit) -> str:
        """Return why the attempt was ended, and what to do."""
        if limit == "memory":
            return (
                f"It was ended at {resident_mb() or 0:,.0f} MB of memory, where {self.memory_mb:,} are allowed: raise "
                "GLOSSATOR_JOB_MEMORY_MB, or retrain on fewer pages a step."
            )
        return (
            f"It was ended after {self.minutes:g} minutes, the longest that an attempt may take: raise GLOSSATOR_JOB_MINUTES, "
            "or give the run fewer steps."
        )


def limits_of(settings: Settings) -> Limits:
    """Return the limits that a deployment names, for an attempt that begins now."""
    return Limits(settings.job_memory_mb, settings.job_minutes)


def resident_mb() -> float | None:
    """Return how much memory this process holds now, in MB; None where the system does not tell (it does on Linux)."""
    try:
        pages = int(_STATM.read_text(encoding="ascii").split()[1])
    except (OSError, IndexError, ValueError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE") / MEGABYTE
