"""Pieces of a long change: each holds the write lock for a few milliseconds, and others write in between."""

import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TypeVar

from sqlalchemy.orm import Session

from engine.workspace import Workspace

AIM_SECONDS = 0.02  # that a piece holds the lock; the bar is 50 ms, on a busy machine too
FIRST = 25  # rows of the first piece
_LEAST, _MOST = 10, 1000
_LEAST_REST = 0.002
_Row = TypeVar("_Row")


class Pace:
    """Finds out how many rows make a short piece, and rests after each one.

    Enter it around each piece's unit of work, and read `size` inside. It rests as long as the piece took: a thread that
    begins its next piece at once would leave nobody else a turn.
    """

    def __init__(self, first: int = FIRST) -> None:
        self.size = first
        self._began = 0.0

    def __enter__(self) -> "Pace":
        self._began = time.monotonic()
        return self

    def locked(self) -> None:
        """Measure from now on: the piece has waited for its turn until here."""
        self._began = time.monotonic()

    def __exit__(self, kind: type[BaseException] | None, _error: object, _trace: TracebackType | None) -> None:
        if kind is not None:
            return
        took = time.monotonic() - self._began
        times = min(2.0, max(0.3, AIM_SECONDS / max(took, 1e-4)))
        self.size = min(_MOST, max(_LEAST, int(self.size * times)))
        time.sleep(max(took, _LEAST_REST))


def in_pieces(
    workspace: Workspace,
    rows: Sequence[_Row],
    act: Callable[[Session, Sequence[_Row]], object],
    begin: Callable[[Session], bool] = lambda _: True,
    pace: Pace | None = None,
) -> bool:
    """Do something with many rows, some in each unit of work; return whether all were done.

    Args:
        workspace: open workspace.
        rows: what to do it with.
        act: does it with some of them.
        begin: called first in each unit of work, for its locks; False ends the work before this piece.
        pace: of earlier rows of the same kind.
    """
    pace, done = pace or Pace(), 0
    while done < len(rows):
        with pace, workspace.database.write() as session:
            stands = begin(session)
            pace.locked()
            if stands:
                some = rows[done : done + pace.size]
                act(session, some)
        if not stands:
            return False
        done += len(some)
    return True
