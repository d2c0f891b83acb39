"""The scheduler of a worker process: stands for election and, while elected, watches the triggers of all projects.

APScheduler wakes up when a project's clock comes due. Its job store is memory, for its stores cannot be shared; what was fired and
what is due stands in our tables (engine.training.retraining.schedule). It sleeps by the wall clock, so a clock that jumps would keep it asleep: each
look here compares that clock with one that nobody sets, and hangs the clocks up anew when they part.
"""

import logging
import threading
import time
from datetime import UTC, datetime

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from sqlalchemy.exc import DBAPIError

from engine.jobs.election import SEAT_SECONDS, Candidate
from engine.jobs.presence import Presence
from engine.training.retraining import schedule, trigger
from engine.workspace import Workspace

_log = logging.getLogger(__name__)
_JUMP_SECONDS = 2.0  # by which wall clock and steady clock part between two looks when somebody set the former
_Hung = tuple[object, datetime | None]  # a project's clock, and since when it stands


class Scheduler:
    """Use as a context: a thread of its own looks every `poll_seconds`. Or call `look` by hand, and `end` at last."""

    def __init__(self, workspace: Workspace, holder: str, *, seat_seconds: float = SEAT_SECONDS) -> None:
        self._workspace, self._holder = workspace, holder
        self._candidate = Candidate(workspace, holder, seconds=seat_seconds)
        self._presence = Presence(workspace, holder)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="scheduler", daemon=True)
        self._alarms: BackgroundScheduler | None = None
        self._hung: dict[str, _Hung] = {}
        self._offset = _offset()

    def __enter__(self) -> "Scheduler":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    @property
    def elected(self) -> bool:
        """Whether this process watches the triggers."""
        return self._alarms is not None

    def look(self) -> None:
        """Show that this worker lives, and stand for election; if elected, follow the projects' settings and fire what is due."""
        self._presence.show()
        if not self._candidate.stand():
            self._step_down()
            return
        if self._alarms is None:
            _log.info("elected to watch the triggers")
            pools = {
                "default": ThreadPoolExecutor(1)
            }  # one after the other: firings are short, and SQLite has one writer
            self._alarms = BackgroundScheduler(executors=pools, timezone=UTC, daemon=True)
            self._alarms.start()
        self._hang(self._alarms)
        trigger.check(self._workspace, scheduler=self._holder)

    def end(self) -> None:
        """Step down, and let another process be elected at once."""
        was = self.elected
        self._step_down()
        if was:
            self._candidate.leave()
        self._presence.leave()

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                self.look()
            except Exception:
                # The database may be restarting, or a disk may be full. Nobody would start a thread that died of it again.
                _log.exception("the triggers could not be looked at; trying again")
            self._ended.wait(self._workspace.settings.poll_seconds)
        try:
            self.end()
        except DBAPIError:
            _log.exception("the seat could not be given up; another process takes it when the lease has ended")

    def _hang(self, alarms: BackgroundScheduler) -> None:
        """Give APScheduler one job for each clock; a clock that is new to it fires what it has missed."""
        offset = _offset()
        if abs(offset - self._offset) > _JUMP_SECONDS:
            _log.warning("the clock jumped by %.0f s; looking at all triggers anew", offset - self._offset)
            self._hung.clear()
        self._offset = offset
        wanted = schedule.projects_with_clock(self._workspace)
        for project_id in self._hung.keys() - wanted.keys():
            alarms.remove_job(project_id)
            self._hung.pop(project_id, None)
        for project_id, (clock, since) in wanted.items():
            if self._hung.get(project_id) == (clock, since):
                continue
            alarms.add_job(
                self._fire,
                clock.trigger,
                [project_id],
                id=project_id,
                replace_existing=True,
                coalesce=True,
                misfire_grace_time=None,  # late or not, what is due is told from our tables
            )
            self._hung[project_id] = (clock, since)
            self._fire(project_id)

    def _fire(self, project_id: str) -> None:
        try:
            schedule.fire(self._workspace, project_id, scheduler=self._holder)
        except Exception:
            _log.exception("a trigger could not be fired; it is made up for")
            self._hung.pop(project_id, None)  # the next look fires what was missed

    def _step_down(self) -> None:
        if self._alarms is not None:
            _log.info("no longer watching the triggers")
            self._alarms.shutdown()
            self._alarms = None
            self._hung.clear()


def _offset() -> float:
    """Seconds between the wall clock and one that nobody sets."""
    return time.time() - time.monotonic()
