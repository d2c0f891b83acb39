"""What goes wrong while a model is trained: workers killed, a full disk, a database that restarts, two workers after one job."""

import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import torch
from sqlalchemy import select

from db.tables import Job, ModelVersion, Promotion, Run, RunMetric
from engine.commands.servers.background import HANDLERS, run_worker
from engine.jobs import queue
from engine.jobs.worker import do
from engine.models import registry
from engine.projects.projects import change_settings
from engine.settings import Settings
from engine.training.retraining import trigger
from engine.training.retraining.cleanup import clean_up, run_folder
from engine.workspace import Workspace, open_workspace
from model.inference import Predictor
from tests.support.factories import make_bills, make_project, save_tiny_model
from tests.support.own_postgresql import own_server, restart  # noqa: F401 (a fixture)
from tests.support.small_disk import small_filesystem

RUN: dict[str, Any] = {
    "steps": 12,
    "generated_pages": 6,
    "pages": 2,
    "questions": 3,
    "images": 0.25,
    "checkpoint_every": 2,
    "metrics_every": 1,
    "seed": 5,
}
KILLS = 20


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "tiny.safetensors"
    save_tiny_model(path)
    return path


def starting_from(workspace: Workspace, tiny: Path) -> Workspace:
    settings = workspace.settings.model_copy(update={"model_path": tiny, "poll_seconds": 0.05})
    return Workspace(settings, workspace.database, workspace.blobs)


def bills(shop: Workspace) -> str:
    """A project to learn in, where nothing is promoted: every run has the same parent."""
    project = make_project(shop)
    change_settings(shop, project.id, promotion="by_hand", retrain_automatically=False)
    make_bills(shop, project.id, {"train": 3, "recent": 2}, questions=2)
    return project.id


def ask(shop: Workspace, project_id: str, *, attempts: int = 3, **settings: Any) -> Job:
    payload = {"settings": {**RUN, **settings}}
    key = trigger.retrain_key(project_id)
    return queue.enqueue(shop, trigger.RETRAIN, project_id, payload, key, max_attempts=attempts)


def run_of(shop: Workspace, job: Job) -> Run | None:
    with shop.database.read() as session:
        return session.scalars(select(Run).where(Run.job_id == job.id)).one_or_none()


def steps_of(shop: Workspace, job: Job) -> list[int]:
    chosen = select(RunMetric.step).join(Run, Run.id == RunMetric.run_id).where(Run.job_id == job.id)
    with shop.database.read() as session:
        return sorted(session.scalars(chosen))


def learned(shop: Workspace, job: Job) -> tuple[str, dict[str, Any]]:
    """What a run made: the hash of its weights, bit for bit, and the figures of its verdict."""
    run = run_of(shop, job)
    assert run is not None and run.status == "judged" and run.challenger_id is not None
    with shop.database.read() as session:
        version = session.get_one(ModelVersion, run.challenger_id)
    return Predictor.load(shop.blobs.path(version.checkpoint_sha256)).version, untimed(run.verdict["holdouts"])


def untimed(figures: Any) -> Any:
    """Figures without how long answers took, which is never the same twice."""
    if isinstance(figures, dict):
        return {name: untimed(each) for name, each in figures.items() if "_ms" not in name}
    return figures


def eventually(happens: Callable[[], bool], seconds: float = 120, every: float = 0.02) -> None:
    latest = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < latest, "it did not happen in time"
        time.sleep(every)


def environment(shop: Workspace, tiny: Path) -> dict[str, str]:
    return {
        **os.environ,
        "GLOSSATOR_DATA_DIR": str(shop.settings.data_dir),
        "GLOSSATOR_DATABASE_URL": str(shop.database.url.render_as_string(hide_password=False)),
        "GLOSSATOR_MODEL_PATH": str(tiny),
        "GLOSSATOR_POLL_SECONDS": "0.05",
    }


class Nursery:
    """Starts real workers quickly; see tests/long/nursery.py."""

    def __init__(self, shop: Workspace, tiny: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.forked_workers"],
            env=environment(shop, tiny),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._read() == "ready"

    def bear(self, lease_seconds: float) -> int:
        """A new worker's process id."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{lease_seconds}\n")
        self._process.stdin.flush()
        return int(self._read())

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


def kill(process: int) -> None:
    """SIGKILL: nothing is tidied up."""
    os.kill(process, signal.SIGKILL)
    eventually(lambda: not Path(f"/proc/{process}").exists(), 30, 0.002)


def test_workers_killed_at_twenty_random_moments_lose_and_double_nothing(
    sqlite_workspace: Workspace, tiny: Path
) -> None:
    shop = starting_from(sqlite_workspace, tiny)
    project_id = bills(shop)
    undisturbed = ask(shop, project_id)
    began = time.monotonic()
    assert run_worker(shop, once=True) == 1
    lasts = time.monotonic() - began
    wanted = learned(shop, undisturbed)
    draw, nursery = random.Random(7), Nursery(shop, tiny)
    jobs, kills, phases = list[Job](), 0, set[str]()
    worker: int | None = None
    try:
        while kills < KILLS:
            if not jobs or queue.job_by_id(shop, jobs[-1].id).status in queue.ENDED:
                jobs.append(ask(shop, project_id, attempts=2 * KILLS))
            job = jobs[-1]
            worker = worker or nursery.bear(lease_seconds=0.4)
            # A worker that was born while the last one's lease still holds waits for it.
            holds = f":{worker}:"
            eventually(lambda job=job, holds=holds: _begun_by(shop, job, holds))  # type: ignore[misc]
            time.sleep(draw.uniform(0, lasts) * draw.choice((0.05, 1.0, 1.0)))  # some while it reads what it will use
            if queue.job_by_id(shop, job.id).status != "running":
                continue  # it was faster; the same worker takes the next job
            kill(worker)
            worker = None
            if queue.job_by_id(shop, job.id).status == "running":
                kills += 1
                run = run_of(shop, job)
                phases.add("freezing" if run is None else "judging" if run.challenger_id else "training")
        worker = nursery.bear(lease_seconds=0.4)
        eventually(lambda: queue.job_by_id(shop, jobs[-1].id).status in queue.ENDED)
    finally:
        if worker is not None:
            kill(worker)
        nursery.close()
    assert phases >= {"training", "judging"}
    ended = [queue.job_by_id(shop, job.id) for job in jobs]
    assert [job.status for job in ended] == ["done"] * len(jobs), [job.message for job in ended]
    assert sum(job.attempts for job in ended) == len(jobs) + kills
    for job in jobs:
        assert learned(shop, job) == wanted
        assert steps_of(shop, job) == list(range(1, RUN["steps"] + 1))  # type: ignore[operator]
    with shop.database.read() as session:
        versions = session.scalars(select(ModelVersion).where(ModelVersion.project_id == project_id)).all()
        assert session.scalars(select(Promotion)).all() == []
    assert sorted(version.number for version in versions) == list(range(1, len(jobs) + 2)), "one version a run"
    clean_up(shop)
    assert list((shop.settings.data_dir / "runs").iterdir()) == []


def _begun_by(shop: Workspace, job: Job, holds: str) -> bool:
    there = queue.job_by_id(shop, job.id)
    return there.status in queue.ENDED or (there.status == "running" and holds in (there.holder or ""))


def test_two_worker_processes_after_one_job_make_one_run(workspace: Workspace, tiny: Path) -> None:
    shop = starting_from(workspace, tiny)
    registry.ensure_shipped(shop)
    project_id = bills(shop)
    nursery = Nursery(shop, tiny)
    workers = [nursery.bear(lease_seconds=30) for _ in range(2)]
    try:
        jobs = []
        for _ in range(2):
            jobs.append(ask(shop, project_id))
            eventually(lambda: queue.job_by_id(shop, jobs[-1].id).status in queue.ENDED)
    finally:
        for worker in workers:
            kill(worker)
        nursery.close()
    for job in jobs:
        ended = queue.job_by_id(shop, job.id)
        assert (ended.status, ended.attempts) == ("done", 1), ended.message
        assert run_of(shop, job) is not None
    assert learned(shop, jobs[0]) == learned(shop, jobs[1])
    assert [one.label for one in registry.versions(shop, project_id)] == ["v2", "v1", "nano"]


# --- a full disk


@contextmanager
def small_files(_folder: Path) -> Iterator[Callable[[], Callable[[], None]]]:
    """The system's limit on the size of a file; what is yielded sets it so that no checkpoint fits."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill() -> Callable[[], None]:
        resource.setrlimit(resource.RLIMIT_FSIZE, (FITS, before[1]))
        return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, before)

    try:
        yield fill
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


FITS = 1_000_000  # bytes: less than the state of a run


@pytest.mark.parametrize(
    ("database_url", "disk"),
    # The limit on files would hold SQLite's own, too.
    [("sqlite", small_filesystem), pytest.param("postgresql", small_files, marks=pytest.mark.postgresql)],
    indirect=["database_url"],
)
def test_a_disk_that_is_full_fails_the_run_with_a_sentence_and_leaves_the_checkpoint_before(
    workspace: Workspace, tiny: Path, disk: Any
) -> None:
    shop = starting_from(workspace, tiny)
    project_id = bills(shop)
    undisturbed = ask(shop, project_id, steps=10, checkpoint_every=4)
    with disk(shop.settings.data_dir / "runs") as fill:
        assert run_worker(shop, once=True) == 1
        wanted = learned(shop, undisturbed)
        job = ask(shop, project_id, attempts=1, steps=10, checkpoint_every=4)
        leased = queue.lease(shop, "a", [trigger.RETRAIN], job_id=job.id)
        assert leased is not None
        make_room: list[Callable[[], None]] = []

        def watch(share: float, message: str) -> None:
            if message.startswith("Training: step 6") and not make_room:
                make_room.append(fill())

        do(shop, leased, "a", handlers=HANDLERS, stop=threading.Event(), watch=watch)
        assert make_room, "the disk was never full"
        ended = queue.job_by_id(shop, job.id)
        run = run_of(shop, job)
        assert run is not None
        folder = run_folder(shop, run.id)
        assert ended.status == "dead"
        assert (
            "The disk is full" in ended.message and "state.pt" in ended.message and "Free disk space" in ended.message
        )
        assert clean_up(shop) == 1
        closed = run_of(shop, job)
        assert closed is not None and closed.status == "failed"
        state = folder / "state.pt"
        assert state.stat().st_size > FITS
        assert torch.load(state, weights_only=True)["step"] == 4
        assert [path.name for path in folder.iterdir() if path.name.endswith(".tmp")] == []
        make_room[0]()
        assert queue.retry(shop, job.id).status == "waiting"
        first_step = _metric(shop, run.id, 1)
        assert run_worker(shop, once=True) == 1
        assert queue.job_by_id(shop, job.id).status == "done", queue.job_by_id(shop, job.id).message
        assert learned(shop, job) == wanted
        assert _metric(shop, run.id, 1) == first_step, "it went on where it was"
        assert steps_of(shop, job) == list(range(1, 11))


def _metric(shop: Workspace, run_id: str, step: int) -> Any:
    with shop.database.read() as session:
        return session.get_one(RunMetric, (run_id, step)).created_at


# --- a database that restarts


@pytest.mark.postgresql
def test_a_database_that_restarts_during_a_run_costs_no_attempt(
    own_server: Any,  # noqa: F811
    tiny: Path,
    tmp_path: Path,
) -> None:
    settings = Settings(data_dir=tmp_path / "data", database_url=own_server.get_uri(), _env_file=None)
    opened = open_workspace(settings)
    shop = starting_from(opened, tiny)
    project_id = bills(shop)
    undisturbed = ask(shop, project_id, steps=40)
    assert run_worker(shop, once=True) == 1
    wanted = learned(shop, undisturbed)
    job = ask(shop, project_id, steps=40)
    stop = threading.Event()
    worker = threading.Thread(target=run_worker, args=(shop,), kwargs={"stop": stop, "lease_seconds": 20.0})
    worker.start()
    try:
        for step in (5, 20):
            eventually(lambda step=step: max(steps_of(shop, job), default=0) >= step)  # type: ignore[misc]
            assert max(steps_of(shop, job)) < 40, "it was over before the database could be restarted"
            restart(own_server, away=1.5)
        eventually(lambda: _answered(lambda: queue.job_by_id(shop, job.id).status in queue.ENDED))
        assert worker.is_alive()
        asked_later = ask(shop, project_id)
        eventually(lambda: queue.job_by_id(shop, asked_later.id).status == "done")
    finally:
        stop.set()
        worker.join()
    ended = queue.job_by_id(shop, job.id)
    assert (ended.status, ended.attempts) == ("done", 1), ended.message
    assert learned(shop, job) == wanted
    assert steps_of(shop, job) == list(range(1, 41))
    opened.close()


def _answered(question: Callable[[], bool]) -> bool:
    from sqlalchemy.exc import DBAPIError

    try:
        return question()
    except DBAPIError:
        return False


def test_a_run_whose_worker_takes_too_much_memory_is_ended_and_goes_on_where_more_is_allowed(
    sqlite_workspace: Workspace, tiny: Path
) -> None:
    shop = starting_from(sqlite_workspace, tiny)
    project_id = bills(shop)
    job = ask(shop, project_id, steps=60, minutes=60)
    small = {**environment(shop, tiny), "GLOSSATOR_JOB_MEMORY_MB": "100", "GLOSSATOR_THREADS": "1"}
    process = subprocess.Popen([sys.executable, "-m", "engine.cli", "worker", "--once"], env=small)
    try:
        assert process.wait(timeout=120) == 0, "the worker ends well: only the job does not"
    finally:
        process.kill()
        process.wait()
    ended = queue.job_by_id(shop, job.id)
    assert (ended.status, ended.attempts) == ("waiting", 1)
    assert "of memory; 100 MB are allowed. Raise GLOSSATOR_JOB_MEMORY_MB" in ended.failure
    assert ended.run_after > ended.created_at + timedelta(seconds=queue.RETRY_SECONDS)
    with shop.database.write() as session:
        session.get_one(Job, job.id).run_after = ended.created_at  # nobody has to wait for it here
    assert run_worker(shop, once=True) == 1
    again = queue.job_by_id(shop, job.id)
    assert (again.status, again.attempts) == ("done", 2), again.message
