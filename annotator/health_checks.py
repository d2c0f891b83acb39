"""Shared health checks: one check at a time, reused for a second, with a bounded wait.

A hanging database makes a check hang. Requests meanwhile share that check and report the parts known after a bounded
wait; none of them starts a thread.
"""

import asyncio
import logging
import threading
import time

from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request

from annotator.auth import user_of
from engine.annotation.predictors import Predictors
from engine.lifecycle.health import NEEDED, PARTS, Look, Part
from engine.workspace import Workspace

WAIT_SECONDS = 2.5  # after the start of a check, an unknown part counts as unanswered
REUSED_SECONDS = 1.0
GIVEN_UP_SECONDS = 20.0  # after this time another check starts beside a hanging one, which may never end
MOST_UNDER_WAY = 3
_GLANCE_SECONDS = 0.01
_log = logging.getLogger(__name__)


class _OneLook:
    """A running or finished check."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.ended: float | None = None
        self.parts: dict[str, Part] = {}

    def is_of_use(self, moment: float, more: bool) -> bool:
        """Return whether a request at `moment` shares this check; `more`: another check may start beside it."""
        if self.ended is not None:
            return moment - self.ended < REUSED_SECONDS
        return not more or moment - self.began < GIVEN_UP_SECONDS


class Checkup:
    """Health of one workspace, for many requests at once.

    Args:
        workspace: workspace whose parts are checked.
        predictors: predictors of the same process.
    """

    def __init__(self, workspace: Workspace, predictors: Predictors) -> None:
        self._look = Look(workspace, predictors)
        self._lock = threading.Lock()
        self._newest: _OneLook | None = None
        self._under_way = 0
        self._failing: set[str] = set()

    async def parts(self) -> dict[str, Part]:
        """Return the state of every part, at most a second old; waits at most `WAIT_SECONDS`."""
        look = self._current()
        while look.ended is None and time.monotonic() < look.began + WAIT_SECONDS:
            await asyncio.sleep(_GLANCE_SECONDS)
        parts = {name: look.parts.get(name) or _silent_part(name) for name in PARTS}
        self._note(parts)
        return parts

    def _current(self) -> _OneLook:
        with self._lock:
            newest = self._newest
            if newest is None or not newest.is_of_use(time.monotonic(), self._under_way < MOST_UNDER_WAY):
                newest = self._newest = _OneLook()
                self._under_way += 1
                threading.Thread(target=self._look_at_parts, args=(newest,), name="checkup", daemon=True).start()
            return newest

    def _look_at_parts(self, look: _OneLook) -> None:
        try:
            self._look.all(look.parts.__setitem__)
        except Exception:
            _log.exception("the health check failed")
        finally:
            with self._lock:
                self._under_way -= 1
            look.ended = time.monotonic()

    def _note(self, found: dict[str, Part]) -> None:
        """Log when a needed part fails, and when it recovers."""
        for name in NEEDED:
            part = found[name]
            if part.ok == (name in self._failing):
                _log.warning("%s %s", part.sentence, part.details)
            self._failing = self._failing - {name} if part.ok else self._failing | {name}


def is_ready(parts: dict[str, Part]) -> bool:
    """Return whether people can work."""
    return all(parts[name].ok for name in NEEDED)


def is_admin(request: Request, workspace: Workspace) -> bool:
    """Return whether an admin of the installation sent the request.

    False when the user cannot be looked up.
    """
    try:
        user = user_of(request, workspace)
    except SQLAlchemyError:
        return False
    return user is not None and user.role == "admin"


def _silent_part(name: str) -> Part:
    sentences = {
        "blobs": "The data folder does not respond.",
        "disk": "The disk does not respond.",
        "database": "The database does not respond.",
        "worker": "The worker's state is unknown: the database does not respond.",
        "figures": "The state of the figures is unknown: the database does not respond.",
    }
    return Part(False, sentences[name], f"No response for {WAIT_SECONDS:g} seconds.")
