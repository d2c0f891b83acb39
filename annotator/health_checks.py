"""Asking the parts for everybody who asks: one look at a time, reused for a moment, and waited for a bounded time.

A database that hangs makes a look hang. Whoever asks meanwhile shares it, and is told what is known when their time is up;
no request waits longer, and no thread is begun for it.
"""

import asyncio
import logging
import threading
import time

from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request

from annotator.auth import user_of
from annotator.health import NEEDED, PARTS, Look, Part
from engine.workspace import Workspace

WAIT_SECONDS = 2.5  # from the beginning of a look on, until it counts as unanswered
REUSED_SECONDS = 1.0
GIVEN_UP_SECONDS = (
    20.0  # after so long another look is begun beside one that hangs: what it hangs on may be gone for ever
)
MOST_UNDER_WAY = 3
_GLANCE_SECONDS = 0.01
_log = logging.getLogger(__name__)


class _OneLook:
    """A look under way, or at its end."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.ended: float | None = None
        self.parts: dict[str, Part] = {}

    def is_of_use(self, moment: float, more: bool) -> bool:
        """Whether it is shared by who asks now. `more`: whether another one may be begun beside one that hangs."""
        if self.ended is not None:
            return moment - self.ended < REUSED_SECONDS
        return not more or moment - self.began < GIVEN_UP_SECONDS


class Checkup:
    """The parts of one workspace. For many who ask at once."""

    def __init__(self, workspace: Workspace) -> None:
        self._look = Look(workspace)
        self._lock = threading.Lock()
        self._newest: _OneLook | None = None
        self._under_way = 0
        self._failing: set[str] = set()

    async def parts(self) -> dict[str, Part]:
        """Return every part, as it was at most a second ago. Waits at most `WAIT_SECONDS`."""
        look = self._current()
        while look.ended is None and time.monotonic() < look.began + WAIT_SECONDS:
            await asyncio.sleep(_GLANCE_SECONDS)
        found = {name: look.parts.get(name) or _unanswered(name) for name in PARTS}
        self._note(found)
        return found

    def _current(self) -> _OneLook:
        with self._lock:
            newest = self._newest
            if newest is None or not newest.is_of_use(time.monotonic(), self._under_way < MOST_UNDER_WAY):
                newest = self._newest = _OneLook()
                self._under_way += 1
                threading.Thread(target=self._run, args=(newest,), name="checkup", daemon=True).start()
            return newest

    def _run(self, look: _OneLook) -> None:
        try:
            self._look.all(look.parts.__setitem__)
        except Exception:
            _log.exception("the parts could not be looked at")
        finally:
            with self._lock:
                self._under_way -= 1
            look.ended = time.monotonic()

    def _note(self, found: dict[str, Part]) -> None:
        """Say in the log when a part that people need fails, and when it is back."""
        for name in NEEDED:
            part = found[name]
            if part.ok == (name in self._failing):
                _log.warning("%s %s", part.sentence, part.details)
            self._failing = self._failing - {name} if part.ok else self._failing | {name}


def is_ready(parts: dict[str, Part]) -> bool:
    """Return whether people can work."""
    return all(parts[name].ok for name in NEEDED)


def is_admin(request: Request, workspace: Workspace) -> bool:
    """Return whether an admin of the installation asks. Whoever cannot be looked up just then is none."""
    try:
        user = user_of(request, workspace)
    except SQLAlchemyError:
        return False
    return user is not None and user.role == "admin"


def _unanswered(name: str) -> Part:
    sentences = {
        "blobs": "The folder of files does not answer.",
        "disk": "The disk does not answer.",
        "database": "The database does not answer.",
        "worker": "Nobody knows whether a worker is there: the database would tell.",
    }
    return Part(False, sentences[name], f"Nothing was heard for {WAIT_SECONDS:g} seconds.")
