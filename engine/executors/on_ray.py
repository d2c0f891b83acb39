"""Ray executor: parts run as tasks of a Ray cluster, side by side.

A cluster of other processes is reached by Ray's client (ray://HOST:10001), because Ray ends a process that is part of
a cluster when the head is lost. The client's process lives on, and the next attempt at the job connects again.

A task opens the deployment's workspace in its process, once, and does its part with the same code as a local worker.
Database and blobs are those of the deployment; nothing lies on a disk that machines share, so a cluster of several
machines takes PostgreSQL and an object store. Reports go to an actor of the worker, the board, which tells tasks to
stop.

Ray starts a lost task again (Moritz et al. 2018, "Ray: A Distributed Framework for Emerging AI Applications", section
4.2.3). When the head is lost, the attempt at the job fails, and the queue of jobs tries it again.
"""

import json
import logging
import os
import pickle
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any, Self

import grpc
import ray
from ray.exceptions import RayError, RayTaskError

from db.blobs import BlobFolder
from db.ids import new_id
from engine.errors import Refused
from engine.executors.executor import OnReport, Part
from engine.jobs.cancellation import StopReason
from engine.settings import Settings
from engine.workspace import Workspace, open_workspace

_LOOK_SECONDS = 0.5  # between two looks at the board
_STOP_SECONDS = 30.0  # that a part has to end by itself; then its process is ended
_START_SECONDS = 300.0  # of the board's process, which imports what this one has imported
_LOST_SECONDS = 60.0  # after which a board that does not answer is lost
_RETRIES = 3  # of a part whose process was lost
_CONNECT_TRIES = 3  # Ray's client gives up after 30 s, and the first start of its server can take longer
_NICENESS = 10
# Ray ends a process that was idle for a second where more live than there are cores, and the board's counts as one:
# each job would wait for new processes, which take seconds to import the network.
_WARM = {"idle_worker_killing_time_threshold_ms": 3_600_000}
_AHEAD = 1  # parts that wait in the cluster beside those that run, so that no slot is idle


class RayExecutor:
    """Runs parts on the Ray cluster of GLOSSATOR_RAY_ADDRESS; on one of this process's own where that is empty."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._running: dict[Any, int] = {}  # reference of a task -> number of its part
        self._board: Any = None
        self._job = new_id()  # names this executor on the board

    def __enter__(self) -> Self:
        _connect(self._workspace.settings)
        _check_reach(self._workspace)
        with _lost_cluster_said():
            self._board = _board_of_process()
            ray.get(self._board.take.remote(self._job), timeout=_START_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.cancel()
            with _lost_cluster_said():
                ray.get(self._board.end.remote(self._job), timeout=_LOST_SECONDS)
        except ClusterLost:  # and with it whatever ran there
            ray.shutdown()

    @property
    def has_room(self) -> bool:
        """Whether the cluster has a slot for another part, or the next one would not wait behind others."""
        cpus, gpus = _share(self._workspace.settings)
        with _lost_cluster_said():
            total = ray.cluster_resources()
        slots = total.get("CPU", 0) / cpus
        if gpus:
            slots = min(slots, total.get("GPU", 0) / gpus)
        return len(self._running) < max(1, int(slots)) + _AHEAD

    @property
    def shares_disk(self) -> bool:
        """Whether every machine of the cluster is this one."""
        with _lost_cluster_said():
            return not _other_machines()

    def submit(self, number: int, part: Part) -> None:
        """Send a part to the cluster."""
        cpus, gpus = _share(self._workspace.settings)
        name = f"{part.function.__module__}:{part.function.__qualname__}"
        settings = self._workspace.settings
        # As many threads as a worker here: a run stores their number, by which it can be reproduced.
        settings = settings.model_copy(update={"threads": settings.job_threads})
        with _lost_cluster_said():
            task = ray.remote(_do).options(num_cpus=cpus, num_gpus=gpus, max_retries=_RETRIES, name=name)
            self._running[
                task.remote(settings.model_dump_json(), name, part.arguments, (self._job, number), self._board)
            ] = number

    def progress(self, on_report: OnReport) -> Sequence[tuple[int, Any]]:
        """Wait up to half a second for results, and hand over the reports that came before them."""
        failure: BaseException | None = None
        results = []
        with _lost_cluster_said():
            done, _ = ray.wait(list(self._running), num_returns=1, timeout=_LOOK_SECONDS)
            for reference in done:
                number = self._running.pop(reference)
                try:
                    results.append((number, ray.get(reference)))
                except RayTaskError as error:
                    failure = error.cause or error
            reports = ray.get(self._board.take.remote(self._job), timeout=_LOST_SECONDS)
        for number, value in reports:
            on_report(number, pickle.loads(value))
        if failure is not None:
            raise failure
        return results

    def cancel(self) -> None:
        """Ask all tasks to stop; end those that do not."""
        if not self._running:
            return
        with _lost_cluster_said():
            ray.get(self._board.stop.remote(self._job), timeout=_LOST_SECONDS)
            _, late = ray.wait(list(self._running), num_returns=len(self._running), timeout=_STOP_SECONDS)
            for reference in late:
                ray.cancel(reference, force=True)
            ray.wait(late, num_returns=len(late), timeout=_STOP_SECONDS) if late else None
        self._running.clear()


class ClusterLost(ConnectionError):
    """Raised when the cluster does not answer any more; the attempt at the job fails, and is tried again."""


@contextmanager
def _lost_cluster_said() -> Iterator[None]:
    """Raise ClusterLost for the errors by which Ray and its client tell that the cluster is lost."""
    try:
        yield
    except ClusterLost:
        raise
    except (RayError, ConnectionError, grpc.RpcError) as error:
        raise ClusterLost(f"The Ray cluster was lost: {type(error).__name__}. The job is tried again.") from error


class _Board:
    """Actor of a worker: collects what the parts of its jobs report, and tells them to stop.

    Reports are pickled: unpacking them would import networks here, and everybody would wait for that.
    """

    def __init__(self) -> None:
        self._reports: dict[str, list[tuple[int, bytes]]] = {}
        self._stopped: set[str] = set()

    def report(self, job: str, number: int, values: Sequence[bytes]) -> bool:
        """Take what a part of a job reports; return whether it should stop."""
        if values:
            self._reports.setdefault(job, []).extend((number, value) for value in values)
        return job in self._stopped

    def take(self, job: str) -> list[tuple[int, bytes]]:
        """Return the reports of a job since the last call."""
        return self._reports.pop(job, [])

    def stop(self, job: str) -> None:
        """Tell all parts of a job to stop at their next step."""
        self._stopped.add(job)

    def end(self, job: str) -> None:
        """Forget the reports of a job that has ended; a part of it that is left somewhere stops."""
        self._reports.pop(job, None)
        self._stopped.add(job)


class _Line:
    """A task's line to the board: sends reports together, twice a second, from a thread of its own."""

    def __init__(self, part: tuple[str, int], board: Any) -> None:
        self._part, self._board = part, board
        self._values: list[bytes] = []
        self._lock = threading.Lock()
        self._stopped: StopReason | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._follow, name=f"part-{part[1]}", daemon=True)

    def __enter__(self) -> Self:
        self._send()  # a part that waited may have to stop at once
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def report(self, value: Any) -> None:
        """Send a report soon."""
        packed = pickle.dumps(value)
        with self._lock:
            self._values.append(packed)

    def should_stop(self) -> StopReason | None:
        """Return "end" once the job wants its parts to stop."""
        return self._stopped

    def _follow(self) -> None:
        while not self._ended.wait(_LOOK_SECONDS):
            self._send()
        self._send()  # before the result, which ends the part

    def _send(self) -> None:
        with self._lock:
            values, self._values = self._values, []
        try:
            if ray.get(self._board.report.remote(*self._part, values)):
                self._stopped = "end"
        except (RayError, ConnectionError):  # the job has ended or was lost, and nobody waits for this part
            self._stopped = "lost"


def _do(settings: str, name: str, arguments: tuple[Any, ...], part: tuple[str, int], board: Any) -> Any:
    """Do a part in the process of a Ray worker."""
    module, function = name.split(":")
    workspace = _workspace_of(settings)
    with _Line(part, board) as line:
        return getattr(import_module(module), function)(
            workspace, *arguments, report=line.report, should_stop=line.should_stop
        )


@cache
def _board_of_process() -> Any:
    """Return the board of this worker, one for all jobs: a new actor would take a warm process from the parts."""
    return ray.remote(_Board).options(num_cpus=0).remote()


@cache
def _workspace_of(dump: str) -> Workspace:
    """Return the workspace of this worker process, which does many parts. `dump`: the settings as JSON."""
    from model.devices import use_threads

    os.setpriority(
        os.PRIO_PROCESS, 0, max(_NICENESS, os.getpriority(os.PRIO_PROCESS, 0))
    )  # as a worker beside a server
    settings = Settings(_env_file=None, **json.loads(dump))
    use_threads(settings.threads)
    return open_workspace(settings, upgrade=False)


def _share(settings: Settings) -> tuple[float, float]:
    """Return the cores and GPUs of one part."""
    return settings.job_threads, 1 if settings.device.startswith("cuda") else 0


def _connect(settings: Settings) -> None:
    if ray.is_initialized():
        return
    _board_of_process.cache_clear()  # that of a cluster that this process has left
    # Ray would hide the GPUs from tasks that asked for none by an environment variable, and warn of it at each start.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    own = {} if settings.ray_address else {"include_dashboard": False, "_system_config": _WARM}
    for tries_left in reversed(range(_CONNECT_TRIES)):
        try:
            ray.init(address=settings.ray_address or "local", log_to_driver=False, logging_level=logging.ERROR, **own)
            return
        except (ConnectionError, RuntimeError, ValueError, RayError) as error:
            if not tries_left:
                raise ConnectionError(
                    f"The Ray cluster {settings.ray_address or 'of this machine'} does not answer: {error}"
                ) from None


def _check_reach(workspace: Workspace) -> None:
    """Check that other machines of the cluster reach what this deployment stores.

    Raises:
        Refused: They would need a disk that machines share.
    """
    if not _other_machines():
        return
    if workspace.database.dialect == "sqlite":
        raise Refused(
            "The Ray cluster has other machines, which cannot reach the file of SQLite. Use PostgreSQL: set "
            "GLOSSATOR_DATABASE_URL."
        )
    if isinstance(workspace.blobs, BlobFolder):
        raise Refused(
            "The Ray cluster has other machines, which cannot reach the folder of files here. Use an object store: set "
            "GLOSSATOR_BLOBS."
        )


def _other_machines() -> bool:
    """Return whether the cluster has a machine other than this one."""
    here = {ray.util.get_node_ip_address(), "127.0.0.1"}
    return any(node["NodeManagerAddress"] not in here for node in ray.nodes() if node["Alive"])
