"""Limits of one attempt at a job: memory and time.

The thread that renews the lease watches them. A job beyond a limit ends at its next step, with a sentence, before the
system kills it.
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
    """Memory and time that one attempt at a job may use.

    Attributes:
        memory_mb: Resident memory of the process, in MB; 0: no limit.
        minutes: Time since `began`.
        began: When the attempt began, in seconds of time.monotonic.
    """

    memory_mb: int
    minutes: float
    began: float = field(default_factory=time.monotonic)

    def find_exceeded(self) -> Limit | None:
        """Return the limit that the attempt exceeds; None while it is within both."""
        if self.memory_mb and (resident_mb() or 0) > self.memory_mb:
            return "memory"
        return "time" if time.monotonic() - self.began > self.minutes * 60 else None

    def sentence(self, limit: Limit) -> str:
        """Return one sentence: why the attempt was ended, and what to do."""
        if limit == "memory":
            return (
                f"The attempt was stopped at {resident_mb() or 0:,.0f} MB of memory; {self.memory_mb:,} MB are "
                "allowed. Raise GLOSSATOR_JOB_MEMORY_MB, or retrain with the depth quick, which takes less."
            )
        return (
            f"The attempt was stopped after {self.minutes:g} minutes, the time allowed. "
            "Raise GLOSSATOR_JOB_MINUTES, or give the run fewer steps."
        )


def limits_of(settings: Settings) -> Limits:
    """Return the limits of the deployment for an attempt that begins now."""
    return Limits(settings.job_memory_mb, settings.job_minutes)


def resident_mb() -> float | None:
    """Return the resident memory of this process in MB; None where the system does not tell (Linux does)."""
    try:
        pages = int(_STATM.read_text(encoding="ascii").split()[1])
    except (OSError, IndexError, ValueError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE") / MEGABYTE
