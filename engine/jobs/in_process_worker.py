"""In-process worker: threads of a server that do jobs of some kinds, which so never wait for a worker process.

A retraining keeps a worker process busy for minutes. Imports are jobs of the same queue, with the same leases, and the
server does them itself. Several servers share the queue. A job whose server was killed is taken over when its lease
ends.
"""

import logging
import math
import threading
import time
from collections.abc import Callable, Mapping

from db.tables import Job
from engine.jobs import queue
from engine.jobs.limits import Limits
from engine.jobs.worker import Handler, do, holder_name
from engine.workspace import Workspace

LEASE_SECONDS = 20.0
_TIDY_SECONDS = 600.0  # between two times that it is tidied up while no job ends
_STOP_SECONDS = 5.0  # to end the jobs at their next step; another server goes on with those that do not
_log = logging.getLogger(__name__)

Listener = Callable[[str | None], None]  # each message of a job's progress; None when its attempt has ended


class InProcessWorker:
    """Does the jobs of its handlers' kinds, `at_once` of them at a time.

    Attributes:
        room: Semaphore with one place for each job that may still begin.
    """

    def __init__(
        self,
        workspace: Workspace,
        handlers: Mapping[str, Handler],
        *,
        at_once: int,
        lease_seconds: float = LEASE_SECONDS,
        afterwards: Callable[[Workspace], None] = lambda _: None,
    ) -> None:
        """Prepare the worker; `start` begins its work.

        Args:
            workspace: Where the queue is.
            handlers: A handler for each kind of job that the worker does.
            at_once: Most jobs at a time.
            lease_seconds: How long a lease holds without a heartbeat.
            afterwards: Tidies up behind jobs. It is called when the worker starts, after each attempt at a job, and
                every ten minutes.
        """
        self.room = threading.BoundedSemaphore(at_once)
        self._workspace, self._handlers, self._lease_seconds = workspace, dict(handlers), lease_seconds
        self._afterwards = afterwards
        self._stop, self._woken = threading.Event(), threading.Event()
        self._listeners: dict[str, list[Listener]] = {}
        self._changing = threading.Lock()
        self._working: set[threading.Thread] = set()
        name = "-".join(self._handlers)
        self._thread = threading.Thread(target=self._take_jobs, name=f"in-process-{name}", daemon=True)

    def start(self) -> None:
        """Take jobs from now on."""
        self._thread.start()

    def wake(self) -> None:
        """Look for a job now, without waiting for the next poll."""
        self._woken.set()

    def ask_to_stop(self) -> None:
        """Ask the jobs to stop at their next step. They go on when a server runs again."""
        self._stop.set()
        self.wake()

    def stop(self) -> None:
        """Ask the jobs to stop at their next step, and wait a few seconds for that."""
        self.ask_to_stop()
        if self._thread.ident is not None:
            self._thread.join(_STOP_SECONDS)
        for thread in list(self._working):
            thread.join(_STOP_SECONDS)

    def listen(self, job_id: str, listener: Listener) -> Callable[[], None]:
        """Call `listener` with a job's progress while this worker runs it; return a function that ends that.

        Register before the job is queued, and no message is missed. The listener is called from another thread.
        """
        with self._changing:
            self._listeners.setdefault(job_id, []).append(listener)

        def leave() -> None:
            with self._changing:
                of_job = self._listeners.get(job_id, [])
                if listener in of_job:
                    of_job.remove(listener)
                if not of_job:
                    self._listeners.pop(job_id, None)

        return leave

    def _take_jobs(self) -> None:
        self._tidy()
        tidied = time.monotonic()
        pause = min(self._workspace.settings.poll_seconds, self._lease_seconds)
        while not self._stop.is_set():
            if time.monotonic() - tidied > _TIDY_SECONDS:
                self._tidy()
                tidied = time.monotonic()
            if not self.room.acquire(timeout=pause):
                continue
            self._woken.clear()
            job, holder = None, holder_name()
            try:
                if queue.is_waiting(self._workspace, list(self._handlers)):
                    job = queue.lease(self._workspace, holder, list(self._handlers), seconds=self._lease_seconds)
            except Exception:
                # The database may be restarting, or its pool be exhausted. A thread that died of it would stay dead,
                # and every import would wait for ever.
                _log.exception("no job could be taken; trying again")
            if job is None:
                self.room.release()
                self._woken.wait(pause)
                continue
            thread = threading.Thread(target=self._work, args=(job, holder), name=f"job-{job.kind}", daemon=True)
            self._working.add(thread)
            thread.start()

    def go_on(self, job: Job, holder: str, handler: Handler) -> None:
        """Do a job that `holder` has begun in this process, in a thread of its own.

        It does not take a place of the jobs that the worker leases.

        Args:
            job: A running job of `holder` (see queue.hold).
            holder: Name of its worker.
            handler: Goes on with it. The worker's own handler does it when a later attempt is needed.
        """
        thread = threading.Thread(target=self._do, args=(job, holder, handler), name=f"job-{job.kind}", daemon=True)
        self._working.add(thread)
        thread.start()

    def _work(self, job: Job, holder: str) -> None:
        try:
            self._do(job, holder, self._handlers[job.kind])
        finally:
            self.room.release()
            self.wake()

    def _do(self, job: Job, holder: str, handler: Handler) -> None:
        try:
            do(
                self._workspace,
                job,
                holder,
                handlers={job.kind: handler},
                stop=self._stop,
                lease_seconds=self._lease_seconds,
                limits=Limits(0, math.inf),
                watch=lambda _, message: self._tell(job.id, message),
            )
        finally:
            self._tidy()
            self._tell(job.id, None)
            self._working.discard(threading.current_thread())

    def _tidy(self) -> None:
        try:
            self._afterwards(self._workspace)
        except Exception:  # as above: the worker must outlive it
            _log.exception("what ended jobs left could not be tidied")

    def _tell(self, job_id: str, message: str | None) -> None:
        with self._changing:
            of_job = list(self._listeners.get(job_id, ()))
        for listener in of_job:
            listener(message)
