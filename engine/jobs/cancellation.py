"""Cancellation: why a job stops before its end, and how a handler is told."""

from collections.abc import Callable
from typing import Literal

StopReason = Literal["cancel", "end", "lost", "memory", "time"]
"""Why a job stops.

cancel: a person asked for it. end: the worker ends, another one will go on. lost: another worker has the job already.
memory, time: the attempt exceeds a limit (engine.jobs.limits).
"""

ShouldStop = Callable[[], StopReason | None]
OnProgress = Callable[[float, str], None]  # share done, 0..1, and one sentence


class Stopped(Exception):
    """Raised when a job stopped because `should_stop` said so. The state to resume from is on disk.

    Attributes:
        sentence: Shown to people when a person stopped the job; "Cancelled." by default.
    """

    def __init__(self, reason: StopReason, sentence: str = "Cancelled.") -> None:
        super().__init__(reason)
        self.reason: StopReason = reason
        self.sentence = sentence


def check(should_stop: ShouldStop) -> None:
    """Raise Stopped when `should_stop` returns a reason."""
    reason = should_stop()
    if reason is not None:
        raise Stopped(reason)
