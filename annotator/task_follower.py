"""The thread of a server that goes on with changes which tasks follow, after the requests that asked for them."""

import logging
import threading

from engine.tasks.opening import task_changes
from engine.workspace import Workspace

_EVERY_SECONDS = 2.0  # between two looks
_TURN_SECONDS = 30.0  # for one project, before the next one has its turn
_STOP_SECONDS = 5.0
_log = logging.getLogger(__name__)


class TaskFollower:
    """Goes on with changes of many tasks (engine.tasks.opening.task_changes) that nobody works on.

    Several servers may do it at once; each batch is done once.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="follow-tasks", daemon=True)

    def start(self) -> None:
        """Look for such changes from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Stop after the batch at hand; another server or a worker does the rest."""
        self._ended.set()
        if self._thread.ident is not None:
            self._thread.join(_STOP_SECONDS)

    def _follow(self) -> None:
        while not self._ended.wait(_EVERY_SECONDS):
            try:
                task_changes.go_on(self._workspace, seconds=_TURN_SECONDS, stop=self._ended)
            except Exception:  # the database may be restarting; a thread that died of it would stay dead
                _log.exception("tasks could not follow a change; trying again")
