"""The worker: does the jobs of the queue one at a time.

It is a process of its own, so that training never blocks an annotator. It knows no job. Handlers and chores are
handed in (engine.commands.servers.background).
"""

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextvars import copy_context
from functools import partial
from typing import Any, Protocol

from sqlalchemy.exc import DBAPIError

from db.blobs import StoreUnavailable
from db.ids import new_id
from db.tables import Job
from engine.errors import Refused
from engine.jobs import queue
from engine.jobs.cancellation import OnProgress, ShouldStop, Stopped, StopReason
from engine.jobs.chores import Chores, Polls
from engine.jobs.failure_message import sentence_for
from engine.jobs.limits import Limits, limits_of
from engine.jobs.memory import give_back
from engine.logs import log_fields
from engine.metrics.counted import JOB_SECONDS
from engine.outage import is_disconnect, is_outage, lasting
from engine.tracing import span
from engine.workspace import Workspace

_log = logging.getLogger(__name__)
_BEATS = 4  # heartbeats within a lease
_SAID_EVERY = 1.0  # seconds between two reports of progress
_WATCHED_EVERY = 1.0  # seconds between two looks at the limits
_GONE = "The database did not answer."


class Handler(Protocol):
    """Does the jobs of one kind."""

    def __call__(
        self, workspace: Workspace, job: Job, *, on_progress: OnProgress, should_stop: ShouldStop
    ) -> dict[str, Any]:
        """Do a job and return its result; `sentence` in it becomes the job's message.

        Args:
            workspace: Where the job was asked for.
            job: As it was leased.
            on_progress: Hears the share done, 0..1, and one sentence.
            should_stop: Returns why the job should stop now. The handler asks at each step.

        Raises:
            Stopped: It stopped where `should_stop` told it to.
            Refused: It would fail again as it is. Any other error is tried again.
        """
        ...


def work(
    workspace: Workspace,
    *,
    handlers: Mapping[str, Handler],
    chores: Chores | None = None,
    once: bool = False,
    stop: threading.Event | None = None,
    lease_seconds: float = queue.LEASE_SECONDS,
) -> int:
    """Do jobs until `stop` is set; return how many were done.

    A job that runs when `stop` is set stops at its next step and waits for another worker.

    Args:
        workspace: Where the queue is.
        handlers: A handler for each kind of job that this worker does.
        chores: Functions beside its jobs. Those of a poll run in a thread of their own, also while a job runs.
        once: End when no job is left to do now. The chores of a poll then run before each look at the queue.
        stop: Set it to end the worker.
        lease_seconds: After so long without a sign of life, another worker takes the job.

    Raises:
        Exception: Whatever a chore of the start raises, as Refused without a model to begin with.
    """
    stop = stop or threading.Event()
    chores = chores or Chores()
    holder = holder_name()
    for chore in chores.at_start:
        chore(workspace, holder)
    done = 0
    with Polls(workspace, holder, chores.at_polls) as polls:
        if not once:
            polls.start()
        while not stop.is_set():
            try:
                if once:
                    polls.poll(shared=False)
                job = queue.lease(workspace, holder, list(handlers), seconds=lease_seconds)
            except DBAPIError:
                # The database may be restarting; a worker that died of it would have to be started by hand.
                _log.exception("the database did not answer; trying again")
                stop.wait(workspace.settings.poll_seconds)
                continue
            if job is not None:
                do(workspace, job, holder, handlers=handlers, stop=stop, lease_seconds=lease_seconds)
                done += 1
            elif once:
                break
            else:
                stop.wait(workspace.settings.poll_seconds)
    return done


def do(
    workspace: Workspace,
    job: Job,
    holder: str,
    *,
    handlers: Mapping[str, Handler],
    stop: threading.Event,
    lease_seconds: float = queue.LEASE_SECONDS,
    limits: Limits | None = None,
    watch: OnProgress | None = None,
) -> None:
    """Do one leased job and report how it ended, success or not.

    Args:
        workspace: Where the queue is.
        job: As `queue.lease` returned it.
        holder: Name of the worker that leased it.
        handlers: One for the job's kind must be among them.
        stop: Set it to stop the job at its next step; it then waits for another worker.
        lease_seconds: How long the lease holds without a heartbeat.
        limits: What the attempt may take; the deployment's limits without it.
        watch: Hears of the progress too, share done (0..1) and one sentence.
    """
    limits = limits or limits_of(workspace.settings)
    cancelled = job.cancel_requested_at is not None  # see queue.WINDS_UP
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
                _log.warning("progress did not reach the database")  # the work goes on as long as the lease holds

    began = time.monotonic()
    with log_fields(job_id=job.id, job_kind=job.kind), span(f"job {job.kind}", job_id=job.id) as attributes:
        lease = HeldLease(workspace, job.id, holder, stop, lease_seconds, limits, cancelled=cancelled)
        outcome = _attempt(workspace, job, holder, handlers[job.kind], lease, limits, on_progress)
        attributes["outcome"] = outcome
    JOB_SECONDS.labels(job.kind, outcome).observe(time.monotonic() - began)


def _attempt(
    workspace: Workspace,
    job: Job,
    holder: str,
    handler: Handler,
    lease: "HeldLease",
    limits: Limits,
    on_progress: OnProgress,
) -> str:
    """Make an attempt at a job, report how it ended, and return that in one word."""
    try:
        with lease:
            result = handler(workspace, job, on_progress=on_progress, should_stop=lease.should_stop)
        _report(lambda: queue.finish(workspace, job.id, holder, result, str(result.get("sentence", ""))))
        return "done"
    except Stopped as stopped:
        _report_stop(workspace, job, holder, stopped, limits, lease)
        return f"stopped_{stopped.reason}"
    except queue.LeaseLost:
        _log.warning("the job %s was taken over by another worker", job.id)
        return "stopped_lost"
    except Refused as refused:
        sentence = str(refused)
        _report(lambda: queue.fail(workspace, job.id, holder, sentence, retry=False))
        return "refused"
    except Exception as error:
        _log.exception("the job %s failed", job.id)
        sentence = sentence_for(error)
        unreachable = not lease.excused and (is_disconnect(error) or isinstance(error, StoreUnavailable))
        _report(lambda: queue.fail(workspace, job.id, holder, sentence, unreachable=unreachable))
        return "failed"


class HeldLease:
    """Renews a job's lease from a thread of its own while the job runs, and tells why the job should stop."""

    def __init__(
        self,
        workspace: Workspace,
        job_id: str,
        holder: str,
        stop: threading.Event,
        seconds: float,
        limits: Limits,
        *,
        cancelled: bool = False,
    ) -> None:
        self._workspace, self._job_id, self._holder = workspace, job_id, holder
        self._stop, self._seconds, self._limits = stop, seconds, limits
        self._ended = threading.Event()
        self._reason: StopReason | None = "cancel" if cancelled else None
        self.excused = False  # the attempt does not count any more
        self.disconnected = False  # the lease ended because no heartbeat reached the database
        beat = partial(copy_context().run, self._beat)  # what it logs belongs to the job
        self._thread = threading.Thread(target=beat, name=f"lease-{job_id[:8]}", daemon=True)

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
            self._reason = self._reason or self._limits.find_exceeded()
            self._excuse()
            if time.monotonic() - beaten < every:
                self._hear_cancellation()
                continue
            beaten = time.monotonic()
            try:
                beat = queue.heartbeat(self._workspace, self._job_id, self._holder, seconds=self._seconds)
            except queue.LeaseLost:
                self._reason = "lost"
                return
            except Exception:  # a thread that died of it would let the lease end, and nobody would hear
                _log.exception("a heartbeat did not reach the database")
                if time.monotonic() - renewed > self._seconds:
                    self._reason, self.disconnected = "lost", True
                    return
            else:
                renewed = time.monotonic()
                if beat.cancel_requested:
                    self._reason = "cancel"

    def _hear_cancellation(self) -> None:
        """Look whether a person has stopped the job, without a write."""
        try:
            if self._reason is None and queue.job_by_id(self._workspace, self._job_id).cancel_requested_at is not None:
                self._reason = "cancel"
        except Exception as error:
            _log.warning("the database did not say whether the job %s is to stop: %s", self._job_id, error)

    def _excuse(self) -> None:
        """Take back the count of the attempt at once: the worker may be killed before the job's next step."""
        if self.excused or self._reason is not None or not self._stop.is_set():
            return
        try:
            queue.excuse(self._workspace, self._job_id, self._holder)
            self.excused = True
        except queue.LeaseLost:
            self._reason = "lost"
        except Exception:
            _log.exception("the database did not hear that the worker ends")


def holder_name() -> str:
    """Return a unique name for a worker: its host, its process id and a random part."""
    return f"{socket.gethostname()[:60]}:{os.getpid()}:{new_id()[-8:]}"


def _report_stop(
    workspace: Workspace, job: Job, holder: str, stopped: Stopped, limits: Limits, lease: HeldLease
) -> None:
    reason = stopped.reason
    if reason == "cancel":
        _report(lambda: queue.close_cancelled(workspace, job.id, holder, stopped.sentence))
    elif reason == "end":
        _report(lambda: queue.release(workspace, job.id, holder, excused=lease.excused))
    elif reason == "memory" or reason == "time":
        sentence = limits.sentence(reason)
        give_back()  # the next attempt may be this process's
        _report(lambda: queue.fail(workspace, job.id, holder, sentence))
    elif lease.disconnected and not lease.excused:
        # No other worker has the job yet, if the database was gone for all of them.
        _report(lambda: queue.fail(workspace, job.id, holder, _GONE, unreachable=True))
    else:
        _log.warning("the job %s was taken over by another worker", job.id)


def _report(report: Callable[[], object]) -> None:
    """Report the end of an attempt; wait for a database that is restarting.

    A report that is lost costs an attempt and no job: its lease ends, and another worker takes it.
    """
    try:
        lasting(report)
    except queue.LeaseLost:
        _log.warning("a job was taken over by another worker before its end could be reported")
    except DBAPIError:
        _log.exception("the end of a job did not reach the database; it is taken again when its lease has ended")
