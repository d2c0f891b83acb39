"""Why a job stops before its end."""

from collections.abc import Callable
from typing import Literal

StopReason = Literal["cancel", "end", "lost", "memory", "time"]
"""cancel: somebody asked for it. end: the worker ends, another will go on. lost: another worker has the job already.
memory, time: the attempt is beyond a limit of its own (engine.jobs.limits)."""

ShouldStop = Callable[[], StopReason | None]
OnProgress = Callable[[float, str], None]  # share done, 0..1, and one sentence


class Stopped(Exception):
    """The job stopped where `should_stop` told it to; what is needed to go on is on disk."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason)
        self.reason: StopReason = reason


def check(should_stop: ShouldStop) -> None:
    """Raise Stopped when it is time to stop."""
    reason = should_stop()
    if reason is not None:
        raise Stopped(reason)
