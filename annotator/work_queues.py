"""Queues for long work: limited numbers run and wait; further requests are refused with Retry-After.

A waiting request holds no thread of the server: the work has a thread of its own, and the request awaits its end.
"""

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import copy_context
from types import TracebackType
from typing import Self, TypeVar

from fastapi import Depends, Request

from engine.errors import TooMany
from engine.jobs import job_list
from engine.workspace import Workspace

_Result = TypeVar("_Result")
_ASKED = 1.0  # seconds between two checks whether the client is still connected


class WorkQueue:
    """Queue for one kind of work.

    Args:
        what: plural of the kind, as in "Too many imports".
        at_work: most pieces of work that run at a time.
        waiting: most pieces that wait.
        come_back: seconds for Retry-After when the queue is full.
        of_one: most places of one user; None: no limit.
    """

    def __init__(self, what: str, *, at_work: int, waiting: int, come_back: int, of_one: int | None = None) -> None:
        self.what, self._come_back, self._of_one = what, come_back, of_one
        self._taken: Counter[str] = Counter()  # person -> places
        self._counting = threading.Lock()
        self.room = threading.BoundedSemaphore(at_work)
        self.places = threading.BoundedSemaphore(at_work + waiting)

    def place(self, person: str = "") -> "Place":
        """Take a place in the queue.

        Args:
            person: id of the user, for the limit `of_one`.

        Raises:
            TooMany: the queue is full, or the user has too many places.
        """
        again = f"Try again in {_minutes(self._come_back)}."
        with self._counting:
            if self._of_one is not None and self._taken[person] >= self._of_one:
                raise TooMany(f"Too many of your {self.what} are running. {again}", self._come_back)
            if not self.places.acquire(blocking=False):
                raise TooMany(f"Too many {self.what} are waiting. {again}", self._come_back)
            self._taken[person] += 1
        return Place(self, person)

    def release(self, person: str) -> None:
        """Release a place of `person`; `Place.leave` calls this once."""
        with self._counting:
            self._taken[person] -= 1
            if not self._taken[person]:
                del self._taken[person]
        self.places.release()


class JobLine:
    """Queue for requests that become jobs; requests on the way and open jobs count together.

    Jobs are counted in the database, so the limit holds after a restart, and for several servers.

    Args:
        what: plural of the kind, as in "Too many imports".
        kind: kind of the jobs.
        places: most requests and jobs together.
        come_back: seconds for Retry-After when the queue is full.
    """

    def __init__(self, what: str, kind: str, *, places: int, come_back: int) -> None:
        self._what, self._kind, self._most, self._come_back = what, kind, places, come_back
        self._on_the_way = 0
        self._counting = threading.Lock()

    def place(self, workspace: Workspace) -> "Place":
        """Return a place to hold until the job was asked for. TooMany when all are taken."""
        with self._counting:
            if self.free(workspace) <= 0:
                again = f"Try again in {_minutes(self._come_back)}."
                raise TooMany(f"Too many {self._what} are waiting. {again}", self._come_back)
            self._on_the_way += 1
        return Place(self)

    def release(self, _person: str) -> None:
        """Take back a place; `Place.leave` calls it, once."""
        with self._counting:
            self._on_the_way -= 1

    def free(self, workspace: Workspace) -> int:
        """Return how many places are free."""
        return self._most - self._on_the_way - job_list.count_open(workspace, self._kind)


class Place:
    """Place in a queue; a context manager that releases it at the end."""

    def __init__(self, line: "WorkQueue | JobLine", person: str = "") -> None:
        self._line, self._person = line, person
        self._left = threading.Lock()  # acquired at the release, so that it happens once

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.leave()

    def leave(self) -> None:
        """Release the place."""
        if self._left.acquire(blocking=False):
            self._line.release(self._person)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for the turn of this place, in a thread that may block."""
        assert isinstance(self._line, WorkQueue)
        with self._line.room:
            yield


def run_in_thread(work: Callable[[], _Result], name: str) -> "Future[_Result]":
    """Run `work` in a thread of its own, which continues when nobody awaits it.

    Args:
        work: function to run.
        name: name of the thread.

    Raises:
        RuntimeError: no thread could be started.
    """
    context = copy_context()  # what the work logs belongs to the request
    outcome: Future[_Result] = Future()
    outcome.set_running_or_notify_cancel()  # an abandoned request does not cancel it

    def work_once() -> None:
        try:
            outcome.set_result(context.run(work))
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=work_once, name=name, daemon=True).start()
    return outcome


async def end_of(outcome: "Future[_Result]") -> _Result:
    """Await work started with `run_in_thread`, without holding a thread, and return its result."""
    return await asyncio.wrap_future(outcome)


REPORTS = WorkQueue("reports", at_work=8, waiting=0, come_back=5)  # per process


async def _one_report() -> AsyncIterator[None]:
    with REPORTS.place():
        yield


ONE_REPORT = Depends(_one_report)  # for routes that compute figures over a whole project


async def end_unless_gone(outcome: "Future[_Result]", request: Request, gone: threading.Event) -> _Result:
    """Await work started with `run_in_thread`.

    Set `gone` when the client disconnects, so that the work can stop early.
    """
    waiting = asyncio.wrap_future(outcome)
    while not (await asyncio.wait({waiting}, timeout=_ASKED))[0]:
        if not gone.is_set() and await request.is_disconnected():
            gone.set()
    return waiting.result()


def _minutes(seconds: int) -> str:
    return "a few seconds" if seconds < 30 else "a few minutes" if seconds > 60 else "a minute"
