"""Batches of a long change: each holds the write lock for a few milliseconds, and others write in between."""

import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TypeVar

from sqlalchemy.orm import Session

from engine.workspace import Workspace

AIM_SECONDS = 0.02  # that a batch holds the lock; the bar is 50 ms, on a busy machine too
FIRST = 25  # rows of the first batch
_LEAST, _MOST = 10, 1000
_LEAST_REST = 0.002
_Row = TypeVar("_Row")


class Throttle:
    """Finds out how many rows make a short batch, and rests after each one.

    Enter it around each batch's unit of work, and read `size` inside. It rests as long as the batch took: a thread that
    begins its next batch at once would leave nobody else a turn.
    """

    def __init__(self, first: int = FIRST) -> None:
        self.size = first
        self._began = 0.0

    def __enter__(self) -> "Throttle":
        self._began = time.monotonic()
        return self

    def start_timing(self) -> None:
        """Measure from now on: the batch has waited for its turn until here."""
        self._began = time.monotonic()

    def __exit__(self, kind: type[BaseException] | None, _error: object, _trace: TracebackType | None) -> None:
        if kind is not None:
            return
        took = time.monotonic() - self._began
        times = min(2.0, max(0.3, AIM_SECONDS / max(took, 1e-4)))
        self.size = min(_MOST, max(_LEAST, int(self.size * times)))
        time.sleep(max(took, _LEAST_REST))


def in_batches(
    workspace: Workspace,
    rows: Sequence[_Row],
    act: Callable[[Session, Sequence[_Row]], object],
    begin: Callable[[Session], bool] = lambda _: True,
    throttle: Throttle | None = None,
) -> bool:
    """Do something with many rows, some in each unit of work; return whether all were done.

    Args:
        workspace: open workspace.
        rows: what to do it with.
        act: does it with some of them.
        begin: called first in each unit of work, for its locks; False ends the work before this batch.
        throttle: of earlier rows of the same kind.
    """
    throttle, done = throttle or Throttle(), 0
    while done < len(rows):
        with throttle, workspace.database.write() as session:
            stands = begin(session)
            throttle.start_timing()
            if stands:
                some = rows[done : done + throttle.size]
                act(session, some)
        if not stands:
            return False
        done += len(some)
    return True
