"""The thread in which followers run, in servers and in workers; one at work in the installation.

A lease says which one. It is taken when there is something to follow, and renewed while there is: an idle installation
writes nothing. It saves work and is no safeguard; places are moved conditionally (engine.followers.positions).
"""

import logging
import threading
import time
import uuid
from collections.abc import Sequence

from engine import leases
from engine.followers.follower import Follower
from engine.followers.following import Following
from engine.followers.registry import FOLLOWERS
from engine.workspace import Workspace

SUBJECT = "followers"
LEASE_SECONDS = 10.0  # another process takes over when the holder has been silent for so long
LOOK_SECONDS = 0.25
_LONGEST_PAUSE = 30.0  # while the database cannot be reached
_STOP_SECONDS = 10.0
_log = logging.getLogger(__name__)


class FollowerRunner:
    """Lets the followers follow while no other process does.

    Args:
        workspace: Where changes and figures are.
        followers: All of the product; tests give others.
        pauses: Whether followers rest between two looks, as in a server; a command wants all at once.
    """

    def __init__(self, workspace: Workspace, followers: Sequence[Follower] = FOLLOWERS, *, pauses: bool = True) -> None:
        self._workspace = workspace
        self._following = Following(workspace, followers, pauses=pauses)
        self._holder = f"follower-{uuid.uuid4().hex}"
        self._held_until = 0.0  # by the monotonic clock
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="followers", daemon=True)

    def start(self) -> None:
        """Follow from now on, in a thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop after the transaction at hand; another process does the rest."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(_STOP_SECONDS)

    def look(self) -> bool:
        """Follow what is behind, if no other process does; return whether there was anything to do here."""
        return self._following.is_behind() and self._hold() and self._following.look()

    def release(self) -> None:
        """Give the lease back, so that another process need not wait for its end."""
        if self._held_until > time.monotonic():
            self._held_until = 0.0
            with self._workspace.database.write() as session:
                leases.release(session, SUBJECT, self._holder)

    def _hold(self) -> bool:
        """Take the lease, or renew it when half of it is over; return whether this process has it."""
        moment = time.monotonic()
        if self._held_until - moment > LEASE_SECONDS / 2:
            return True
        with self._workspace.database.write() as session:
            until = leases.acquire(session, SUBJECT, self._holder, LEASE_SECONDS)
        self._held_until = moment + LEASE_SECONDS if until is not None else 0.0
        return until is not None

    def _follow(self) -> None:
        pause = LOOK_SECONDS
        while not self._stop.wait(pause):
            pause = LOOK_SECONDS
            try:
                while self.look() and not self._stop.is_set():
                    pass
            except Exception:  # the database may be restarting; a thread that died of it would stay dead
                _log.exception("followers could not follow the changes; trying again")
                pause = min(_LONGEST_PAUSE, 2 * max(pause, 1.0))
        try:
            self.release()
        except Exception:
            _log.exception("the lease of the followers could not be given back; it ends by itself")


def catch_up(workspace: Workspace, *, patience: float = 0.0) -> bool:
    """Follow all changes until now; return whether nothing is left.

    Commands call it, because no server may run beside them. Where another process follows, it is left to that.

    Args:
        workspace: Where changes and figures are.
        patience: Seconds to wait for another process that follows.
    """
    runner = FollowerRunner(workspace, pauses=False)
    until = time.monotonic() + patience
    try:
        while runner._following.is_behind():
            if not runner.look():
                if time.monotonic() >= until:
                    return False
                time.sleep(min(LOOK_SECONDS, max(until - time.monotonic(), 0)))
        return True
    finally:
        runner.release()
