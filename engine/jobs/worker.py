"""The worker: takes jobs and does them, one at a time, in its own process, so that training never blocks an annotator."""

import gc
import logging
import os
import socket
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

from sqlalchemy.exc import DBAPIError

from db.ids import new_id
from db.tables import Job
from engine.documents.duplicates.signature_backfill import sign
from engine.errors import Refused
from engine.jobs import queue
from engine.jobs.cancellation import OnProgress, ShouldStop, Stopped, StopReason
from engine.jobs.failure_message import sentence_for
from engine.jobs.limits import Limits, limits_of
from engine.jobs.outage import is_outage, lasting
from engine.jobs.scheduler import Scheduler
from engine.models import registry
from engine.selection import survey_trigger
from engine.training.retraining import trigger
from engine.training.retraining.sweep import sweep
from engine.workspace import Workspace

_log = logging.getLogger(__name__)
_BEATS = 4  # heartbeats within a lease
_SAID_EVERY = 1.0  # seconds between two reports of progress
_WATCHED_EVERY = 1.0  # seconds between two looks at the limits


class Handler(Protocol):
    """What does the jobs of one kind."""

    def __call__(
        self, workspace: Workspace, job: Job, *, on_progress: OnProgress, should_stop: ShouldStop
    ) -> dict[str, Any]: ...


def _retrain(workspace: Workspace, job: Job, *, on_progress: OnProgress, should_stop: ShouldStop) -> dict[str, Any]:
    from engine.training.retraining.run import retrain  # torch is imported where a job runs, not before

    return retrain(workspace, job, on_progress=on_progress, should_stop=should_stop)


def _survey(workspace: Workspace, job: Job, *, on_progress: OnProgress, should_stop: ShouldStop) -> dict[str, Any]:
    from engine.selection.survey import survey

    return survey(workspace, job, on_progress=on_progress, should_stop=should_stop)


HANDLERS: dict[str, Handler] = {trigger.RETRAIN: _retrain, survey_trigger.SURVEY: _survey}


def work(
    workspace: Workspace,
    *,
    once: bool = False,
    stop: threading.Event | None = None,
    lease_seconds: float = queue.LEASE_SECONDS,
) -> int:
    """Do jobs until `stop` is set, or with `once` until none is left to do now; return how many were done.

    Meanwhile it stands for election; the elected worker asks for the retrainings that are due, also while it does a job. Surveys that
    are due are asked for before each look at the queue. A job that is running when `stop` is set stops at its next step and waits for
    another worker. Refused when there is no model to begin with.
    """
    stop = stop or threading.Event()
    holder = holder_name()
    registry.ensure_shipped(workspace)
    sign(workspace)  # documents of earlier versions, before anything is learned from them
    scheduler = Scheduler(workspace, holder)
    if not once:
        with scheduler:
            return _work(workspace, holder, stop, lease_seconds)
    try:
        return _work(workspace, holder, stop, lease_seconds, looking=scheduler)
    finally:
        scheduler.end()


def _work(
    workspace: Workspace,
    holder: str,
    stop: threading.Event,
    lease_seconds: float,
    looking: Scheduler | None = None,
) -> int:
    """`looking`: look at the triggers with it before each look at the queue, and end when there is nothing left to do."""
    done = 0
    while not stop.is_set():
        try:
            sweep(workspace)
            if looking is not None:
                looking.look()
            survey_trigger.check(workspace)
            job = queue.lease(workspace, holder, list(HANDLERS), seconds=lease_seconds)
        except DBAPIError:
            # The database may be restarting; a worker that died of it would have to be started by hand.
            _log.exception("the database did not answer; trying again")
            stop.wait(workspace.settings.poll_seconds)
            continue
        if job is not None:
            do(workspace, job, holder, stop=stop, lease_seconds=lease_seconds)
            done += 1
        elif looking is not None:
            break
        else:
            stop.wait(workspace.settings.poll_seconds)
    return done


def do(
    workspace: Workspace,
    job: Job,
    holder: str,
    *,
    stop: threading.Event,
    lease_seconds: float = queue.LEASE_SECONDS,
    watch: OnProgress | None = None,
) -> None:
    """Do one leased job to its end, whichever it is, and report it. `watch` hears of the progress too."""
    limits = limits_of(workspace.settings)
    lease = HeldLease(workspace, job.id, holder, stop, lease_seconds, limits)
    said = 0.0

    def on_progress(share: float, message: str) -> None:
        nonlocal said
        if watch is not None:
            watch(share, message)
        if time.monotonic() - said >= _SAID_EVERY:
            said = time.monotonic()
            try:
                queue.progress(workspace, job.id, holder, share, message)
            except DBAPIError as error:
                if not is_outage(error):
                    raise
                _log.warning("progress did not reach the database")  # the work goes on; the lease says how long it may

    try:
        with lease:
            result = HANDLERS[job.kind](workspace, job, on_progress=on_progress, should_stop=lease.should_stop)
        _report(lambda: queue.finish(workspace, job.id, holder, result, str(result.get("sentence", ""))))
    except Stopped as stopped:
        _report_stop(workspace, job, holder, stopped.reason, limits, excused=lease.excused)
    except queue.LeaseLost:
        _log.warning("the job %s was taken over by another worker", job.id)
    except Refused as refused:
        sentence = str(refused)
        _report(lambda: queue.fail(workspace, job.id, holder, sentence, retry=False))
    except Exception as error:
        _log.exception("the job %s failed", job.id)
        told = sentence_for(error)
        _report(lambda: queue.fail(workspace, job.id, holder, told))


class HeldLease:
    """Renews a job's lease from a thread of its own while the job runs, and learns whether the job should stop."""

    def __init__(
        self, workspace: Workspace, job_id: str, holder: str, stop: threading.Event, seconds: float, limits: Limits
    ) -> None:
        self._workspace, self._job_id, self._holder = workspace, job_id, holder
        self._stop, self._seconds, self._limits = stop, seconds, limits
        self._ended = threading.Event()
        self._reason: StopReason | None = None
        self.excused = False  # the attempt does not count any more
        self._thread = threading.Thread(target=self._beat, name=f"lease-{job_id[:8]}", daemon=True)

    def __enter__(self) -> "HeldLease":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def should_stop(self) -> StopReason | None:
        """Return why the job should stop now; None while it should not."""
        return self._reason or ("end" if self._stop.is_set() else None)

    def _beat(self) -> None:
        renewed = beaten = time.monotonic()
        every = self._seconds / _BEATS
        while not self._ended.wait(min(every, _WATCHED_EVERY)):
            self._reason = self._reason or self._limits.exceeded()
            self._excuse()
            if time.monotonic() - beaten < every:
                continue
            beaten = time.monotonic()
            try:
                beat = queue.heartbeat(self._workspace, self._job_id, self._holder, seconds=self._seconds)
            except queue.LeaseLost:
                self._reason = "lost"
                return
            except DBAPIError:
                _log.exception("a heartbeat did not reach the database")
                if time.monotonic() - renewed > self._seconds:
                    self._reason = "lost"
                    return
            else:
                renewed = time.monotonic()
                if beat.cancel_requested:
                    self._reason = "cancel"

    def _excuse(self) -> None:
        """Say at once that a stop by order is no attempt: whoever ordered it may not wait for the job's next step."""
        if self.excused or self._reason is not None or not self._stop.is_set():
            return
        try:
            queue.excuse(self._workspace, self._job_id, self._holder)
            self.excused = True
        except queue.LeaseLost:
            self._reason = "lost"
        except DBAPIError:
            _log.exception("the database did not hear that the worker ends")


def holder_name() -> str:
    """Return a name that no other worker has, and that tells people where it runs."""
    return f"{socket.gethostname()[:60]}:{os.getpid()}:{new_id()[-8:]}"


def _report_stop(
    workspace: Workspace, job: Job, holder: str, reason: StopReason, limits: Limits, *, excused: bool
) -> None:
    if reason == "cancel":
        _report(lambda: queue.cancelled(workspace, job.id, holder))
    elif reason == "end":
        _report(lambda: queue.release(workspace, job.id, holder, excused=excused))
    elif reason == "memory" or reason == "time":
        sentence = limits.sentence(reason)
        gc.collect()  # the next attempt may be this process's
        _report(lambda: queue.fail(workspace, job.id, holder, sentence))
    else:
        _log.warning("the job %s was taken over by another worker", job.id)


def _report(report: Callable[[], object]) -> None:
    """Say how an attempt ended, also to a database that is just restarting; what it never hears, the lease's end tells."""
    try:
        lasting(report)
    except queue.LeaseLost:
        _log.warning("a job was taken over by another worker before its end could be reported")
    except DBAPIError:
        _log.exception("the end of a job did not reach the database; it is taken again when its lease has ended")
