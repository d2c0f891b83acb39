"""Lines for long work: so much of a kind is done at once, so much more waits for its turn, and who comes then is told to come back.

Who waits holds no thread of those that answer requests: the work has a thread of its own, and the request waits for that thread's end.
"""

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from types import TracebackType
from typing import Self, TypeVar

from fastapi import Depends, Request

from engine.errors import TooMany

_Result = TypeVar("_Result")
_LOOK = 0.25  # seconds between two looks whether what waits for its turn should stop
_ASKED = 1.0  # seconds between two looks whether somebody still waits


class WorkQueue:
    """A line for one kind of work. `what`: the kind, as in "Too many imports"; `at_work` and `waiting`: how many at most;
    `come_back`: seconds after which somebody who found no place may try again; `of_one`: the most places that one person takes."""

    def __init__(self, what: str, *, at_work: int, waiting: int, come_back: int, of_one: int | None = None) -> None:
        self.what, self._come_back, self._of_one = what, come_back, of_one
        self._taken: Counter[str] = Counter()  # person -> places
        self._counting = threading.Lock()
        self.room = threading.BoundedSemaphore(at_work)
        self.places = threading.BoundedSemaphore(at_work + waiting)

    def place(self, person: str = "") -> "Place":
        """Return a place in the line. TooMany when all are taken, or as many by this person as one may have."""
        again = f"Try again in {_minutes(self._come_back)}."
        with self._counting:
            if self._of_one is not None and self._taken[person] >= self._of_one:
                raise TooMany(f"Many {self.what} of yours are under way just now. {again}", self._come_back)
            if not self.places.acquire(blocking=False):
                raise TooMany(f"Too many {self.what} wait already. {again}", self._come_back)
            self._taken[person] += 1
        return Place(self, person)

    def left(self, person: str) -> None:
        """Take back a place of `person`; `Place.leave` calls it, once."""
        with self._counting:
            self._taken[person] -= 1
            if not self._taken[person]:
                del self._taken[person]
        self.places.release()


class Place:
    """A place in a line. Used as a context, it is left at the end unless somebody has taken it over with `keep`."""

    def __init__(self, line: WorkQueue, person: str) -> None:
        self._line, self._person = line, person
        self._kept = False
        self._left = threading.Lock()  # held once it is left: that is done once

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if not self._kept:
            self.leave()

    def keep(self) -> Self:
        """Take the place over: whoever does leaves it."""
        self._kept = True
        return self

    def leave(self) -> None:
        """Give the place to somebody else."""
        if self._left.acquire(blocking=False):
            self._line.left(self._person)

    @contextmanager
    def turn(self, on_wait: Callable[[], None], check: Callable[[], None]) -> Iterator[None]:
        """Wait for the turn of this place, in a thread that may wait. `on_wait` is called when there is something to wait
        for, `check` now and then while it lasts: what that raises ends it."""
        room = self._line.room
        if not room.acquire(blocking=False):
            on_wait()
            while not room.acquire(timeout=_LOOK):
                check()
        try:
            yield
        finally:
            room.release()


def apart(work: Callable[[], _Result], name: str) -> "Future[_Result]":
    """Do `work` in a thread of its own, which goes on when nobody waits for it any more. RuntimeError when no thread is to be had."""
    outcome: Future[_Result] = Future()
    outcome.set_running_or_notify_cancel()  # a request that is given up does not cancel it

    def run() -> None:
        try:
            outcome.set_result(work())
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return outcome


async def end_of(outcome: "Future[_Result]") -> _Result:
    """Wait for work that was begun with `apart`, without holding a thread, and return what came of it."""
    return await asyncio.wrap_future(outcome)


REPORTS = WorkQueue(
    "reports", at_work=8, waiting=0, come_back=5
)  # in this process, of the threads that answer requests


async def _one_report() -> AsyncIterator[None]:
    with REPORTS.place():
        yield


ONE_REPORT = Depends(_one_report)  # for routes that reckon over a whole project


async def end_unless_gone(outcome: "Future[_Result]", request: Request, gone: threading.Event) -> _Result:
    """The same for a request whose client may go away: then `gone` is set, by which the work may end earlier."""
    waiting = asyncio.wrap_future(outcome)
    while not (await asyncio.wait({waiting}, timeout=_ASKED))[0]:
        if not gone.is_set() and await request.is_disconnected():
            gone.set()
    return waiting.result()


def _minutes(seconds: int) -> str:
    return "a few seconds" if seconds < 30 else "a few minutes" if seconds > 60 else "a minute"
