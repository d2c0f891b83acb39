"""Batches of a long change: each holds the write lock for a few milliseconds, and others write in between."""

import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TypeVar

from sqlalchemy.orm import Session

from db.lock_waits import wait_shortly, write_patiently
from engine.workspace import Workspace

AIM_SECONDS = 0.02  # that a batch holds the lock; the bar is 50 ms, on a busy machine too
FIRST = 25  # rows of the first batch
_LEAST, _MOST = 10, 1000
_LEAST_REST = 0.002
_Row = TypeVar("_Row")
_Result = TypeVar("_Result")


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
    act: Callable[[Session, Sequence[_Row]], _Result],
    begin: Callable[[Session], bool] = lambda _: True,
    throttle: Throttle | None = None,
    *,
    on_commit: Callable[[_Result], object] = lambda _: None,
) -> bool:
    """Do something with many rows, some in each unit of work; return whether all were done.

    A batch that waits for a lock gives way and is tried again, so that it never blocks those who wait for it.

    Args:
        workspace: open workspace.
        rows: what to do it with.
        act: does it with some of them, perhaps several times until one commits.
        begin: called first in each unit of work, for its locks, which may be waited for; False ends the work before
            this batch.
        throttle: of earlier rows of the same kind.
        on_commit: hears what `act` has returned for each batch.
    """
    throttle, done = throttle or Throttle(), 0

    def batch(session: Session) -> tuple[int, list[_Result]]:
        stands = begin(session)
        throttle.start_timing()
        if not stands:
            return 0, []
        wait_shortly(session)
        some = rows[done : done + throttle.size]
        return len(some), [act(session, some)]

    while done < len(rows):
        with throttle:
            number, results = write_patiently(workspace.database, batch)
        if not number:
            return False
        done += number
        on_commit(results[0])
    return True
