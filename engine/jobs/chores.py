"""Chores of a worker beside its jobs: at its start, and at each poll, also while a job runs."""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy.exc import DBAPIError

from engine.jobs import poll_lease
from engine.jobs.presence import Presence
from engine.outage import is_outage
from engine.workspace import Workspace

_log = logging.getLogger(__name__)

Chore = Callable[[Workspace, str], object]
"""A short task: workspace and name of the worker. It may run in several workers at once and must then do no harm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chores:
    """Functions that a worker calls beside its jobs, each group in its order.

    Attributes:
        at_start: Called once, before the first job. An error ends the worker.
        at_polls: Called every `poll_seconds` by one worker at a time. An error is logged.
    """

    at_start: Sequence[Chore] = ()
    at_polls: Sequence[Chore] = ()


class Polls:
    """Shows that a worker lives, and does its chores at each poll.

    Use it as a context, and either `start` a thread or call `poll` by hand. At the end of the context another worker
    may do the chores at once.
    """

    def __init__(self, workspace: Workspace, holder: str, chores: Sequence[Chore] = ()) -> None:
        self._workspace, self._holder, self._chores = workspace, holder, chores
        self._presence = Presence(workspace, holder)
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> "Polls":
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
        try:
            poll_lease.release(self._workspace, self._holder)
            self._presence.leave()
        except DBAPIError:
            _log.exception("the lease could not be given back; another worker takes over when it has ended")

    def start(self) -> None:
        """Poll every `poll_seconds` from a thread of its own, until the context ends."""
        self._thread = threading.Thread(target=self._poll_until_ended, name="polls", daemon=True)
        self._thread.start()

    def poll(self, *, shared: bool = True) -> bool:
        """Show that the worker lives, then do the chores; return whether they were done here.

        Not to be called from several threads at once.

        Args:
            shared: Leave the chores to another worker while that one holds the lease for them.

        Raises:
            DBAPIError: The database does not answer.
        """
        self._presence.show()
        if shared and not poll_lease.acquire(self._workspace, self._holder):
            return False
        for chore in self._chores:
            try:
                chore(self._workspace, self._holder)
            except Exception as error:
                if is_outage(error):
                    raise
                _log.exception("a chore of the worker failed; it runs again at the next poll")
        return True

    def _poll_until_ended(self) -> None:
        while not self._ended.is_set():
            try:
                self.poll()
            except Exception:
                # The database may be restarting, or a disk may be full. A thread that died of it would stay dead.
                _log.exception("the poll failed; trying again")
            self._ended.wait(self._workspace.settings.poll_seconds)
