"""Attempts, their limits, and trying again."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, text

from db.base import now
from db.blobs import StoreUnavailable
from db.session import Database
from db.tables import AuditEntry, Job
from engine.accounts.users import ensure_local_user
from engine.errors import Conflict, NotFound
from engine.jobs import queue
from engine.jobs.cancellation import OnProgress, ShouldStop, check
from engine.jobs.limits import resident_mb
from engine.jobs.memory import give_back
from engine.jobs.worker import do
from engine.settings import MEGABYTE
from engine.workspace import Workspace

KINDS = ("retrain",)


def taken(workspace: Workspace, job: Job, holder: str = "a") -> Job:
    with workspace.database.write() as session:
        session.get_one(Job, job.id).run_after = now()
    leased = queue.lease(workspace, holder, [job.kind], job_id=job.id)
    assert leased is not None
    return leased


def given_up(workspace: Workspace, key: str | None = None) -> Job:
    job = queue.enqueue(workspace, "retrain", key=key, max_attempts=2)
    for _ in range(2):
        taken(workspace, job)
        queue.fail(workspace, job.id, "a", "The disk is full.")
    assert queue.job_by_id(workspace, job.id).status == "dead"
    return job


def test_waiting_grows_with_the_attempts_up_to_an_hour(workspace: Workspace) -> None:
    job, waits = queue.enqueue(workspace, "retrain", max_attempts=12), []
    for _ in range(11):
        taken(workspace, job)
        queue.fail(workspace, job.id, "a", "The disk is full.")
        waits.append((queue.job_by_id(workspace, job.id).run_after - now()).total_seconds())
    assert all(wait == pytest.approx(min(3600, 10 * 2**at), abs=5) for at, wait in enumerate(waits))


def attempt(workspace: Workspace, job: Job, handler: Callable[..., dict[str, Any]]) -> Job:
    leased = taken(workspace, job)
    do(workspace, leased, "a", handlers={job.kind: handler}, stop=threading.Event())
    return queue.job_by_id(workspace, job.id)


@pytest.mark.parametrize("database_url", [pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True)
def test_attempts_that_a_restart_of_postgresql_ends_do_not_count(workspace: Workspace) -> None:
    job = queue.enqueue(workspace, "retrain", max_attempts=2)

    def lose_connection(workspace: Workspace, *_: object, **__: object) -> dict[str, Any]:
        with workspace.database.write() as session:
            session.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
        return {}

    for _ in range(3):
        ended = attempt(workspace, job, lose_connection)
        assert (ended.status, ended.attempts) == ("waiting", 0)
        assert ended.failure.startswith("The database did not answer")
    assert attempt(workspace, job, lambda *_, **__: {"sentence": "Ready."}).status == "done"


def test_attempts_that_an_outage_of_the_file_store_ends_count_after_a_day(workspace: Workspace) -> None:
    job = queue.enqueue(workspace, "retrain", max_attempts=1)

    def read_file(*_: object, **__: object) -> dict[str, Any]:
        raise StoreUnavailable("The file store does not answer.")

    assert attempt(workspace, job, read_file).status == "waiting"
    with workspace.database.write() as session:
        session.get_one(Job, job.id).started_at = now() - timedelta(hours=20)
    waits = attempt(workspace, job, read_file)
    assert waits.status == "waiting"
    assert (waits.run_after - now()).total_seconds() == pytest.approx(3600, abs=30)
    with workspace.database.write() as session:
        session.get_one(Job, job.id).started_at = now() - timedelta(hours=25)
    assert attempt(workspace, job, read_file).status == "dead"


def test_a_statement_that_fails_counts(workspace: Workspace) -> None:
    job = queue.enqueue(workspace, "retrain", max_attempts=1)

    def misspell(workspace: Workspace, *_: object, **__: object) -> dict[str, Any]:
        with workspace.database.read() as session:
            session.execute(text("SELECT nothing FROM nowhere"))
        return {}

    assert attempt(workspace, job, misspell).status == "dead"


def test_a_job_that_was_given_up_is_tried_again_with_all_its_attempts(workspace: Workspace) -> None:
    job = given_up(workspace, "retrain:x")
    by = ensure_local_user(workspace)
    back = queue.retry(workspace, job.id, by=by.id)
    assert (back.status, back.attempts, back.key, back.finished_at) == ("waiting", 0, "retrain:x", None)
    assert back.failure == "The disk is full."
    assert queue.enqueue(workspace, "retrain", key="retrain:x").id == job.id
    again = queue.lease(workspace, "b", KINDS)
    assert again is not None and (again.id, again.attempts) == (job.id, 1)
    with workspace.database.read() as session:
        assert session.scalars(select(AuditEntry.action)).all()[-1] == "jobs.retry"


def test_a_job_that_failed_for_good_can_be_retried_by_hand(workspace: Workspace) -> None:
    job = queue.enqueue(workspace, "retrain")
    taken(workspace, job)
    queue.fail(workspace, job.id, "a", "There is nothing to learn from.", retry=False)
    assert queue.retry(workspace, job.id).status == "waiting"


def test_only_what_failed_is_tried_again_and_not_beside_another_one(workspace: Workspace) -> None:
    waiting = queue.enqueue(workspace, "retrain", key="retrain:y")
    with pytest.raises(Conflict, match="this one is waiting"):
        queue.retry(workspace, waiting.id)
    queue.cancel(workspace, waiting.id)
    with pytest.raises(Conflict, match="this one is cancelled"):
        queue.retry(workspace, waiting.id)
    with pytest.raises(NotFound):
        queue.retry(workspace, "0" * 32)
    dead = given_up(workspace, "retrain:x")
    newer = queue.enqueue(workspace, "retrain", key="retrain:x")
    assert newer.id != dead.id
    with pytest.raises(Conflict, match="Another such job waits or runs already"):
        queue.retry(workspace, dead.id)
    assert queue.job_by_id(workspace, dead.id).status == "dead"


def test_a_worker_that_died_is_said_to_be_why_the_next_attempt_runs(workspace: Workspace) -> None:
    job = queue.enqueue(workspace, "retrain")
    queue.lease(workspace, "a", KINDS, seconds=0.01)
    time.sleep(0.05)
    again = queue.lease(workspace, "b", KINDS)
    assert again is not None and again.id == job.id
    assert (again.attempts, again.failure.split(":")[0]) == (2, "The worker stopped before the job was done")


def test_two_workers_after_one_job_do_it_once(workspace: Workspace) -> None:
    done: list[str] = []

    def handler(workspace: Workspace, job: Job, *, on_progress: OnProgress, should_stop: ShouldStop) -> dict[str, Any]:
        done.append(job.id)
        on_progress(0.5, "Half way.")
        time.sleep(0.05)
        return {"sentence": "Done."}

    asked = []
    for _ in range(10):
        job = queue.enqueue(workspace, "count", key="the one job")
        asked.append(job.id)
        ready = threading.Barrier(2)

        def work(holder: str, job: Job = job, ready: threading.Barrier = ready) -> None:
            database = Database(workspace.settings.url)  # as a process of its own
            own = Workspace(workspace.settings, database, workspace.blobs)
            ready.wait()
            leased = queue.lease(own, holder, ["count"])
            if leased is not None:
                do(own, leased, holder, handlers={"count": handler}, stop=threading.Event(), lease_seconds=5)
            database.dispose()

        workers = [threading.Thread(target=work, args=(name,)) for name in ("one", "other")]
        for each in workers:
            each.start()
        for each in workers:
            each.join()
        ended = queue.job_by_id(workspace, job.id)
        assert (ended.status, ended.attempts, ended.message) == ("done", 1, "Done.")
    assert done == asked


def limited(workspace: Workspace, **limits: float) -> Workspace:
    return Workspace(workspace.settings.model_copy(update=limits), workspace.database, workspace.blobs)


def test_a_job_over_its_memory_limit_ends_with_a_sentence_as_an_attempt(
    sqlite_workspace: Workspace,
) -> None:
    peak = [0.0]

    def greedy(workspace: Workspace, job: Job, *, on_progress: OnProgress, should_stop: ShouldStop) -> dict[str, Any]:
        hoard = []
        for _ in range(300):
            hoard.append(b"x" * (4 * MEGABYTE))
            peak[0] = resident_mb() or 0.0
            time.sleep(0.05)
            check(should_stop)
        return {}

    give_back()  # what earlier tests left would go with the first attempt
    allowed = int(resident_mb() or 0) + 60
    small = limited(sqlite_workspace, job_memory_mb=allowed)
    job = queue.enqueue(small, "greedy", max_attempts=2)
    for status in ("waiting", "dead"):
        do(small, taken(small, job), "a", handlers={"greedy": greedy}, stop=threading.Event())
        ended = queue.job_by_id(small, job.id)
        assert ended.status == status
        assert f"; {allowed:,} MB are allowed. Raise GLOSSATOR_JOB_MEMORY_MB" in ended.failure
        assert allowed < peak[0] < allowed + 400
    assert ended.attempts == 2


def test_a_job_that_takes_too_long_is_ended_with_a_sentence(sqlite_workspace: Workspace) -> None:
    def endless(workspace: Workspace, job: Job, *, on_progress: OnProgress, should_stop: ShouldStop) -> dict[str, Any]:
        while True:
            time.sleep(0.02)
            check(should_stop)

    short = limited(sqlite_workspace, job_minutes=0.01)
    job = queue.enqueue(short, "endless")
    do(short, taken(short, job), "a", handlers={"endless": endless}, stop=threading.Event())
    ended = queue.job_by_id(short, job.id)
    assert (ended.status, ended.attempts) == ("waiting", 1)
    assert ended.failure.startswith("The attempt was stopped after 0.01 minutes")


def test_a_stop_by_order_is_no_attempt_even_if_the_worker_is_killed(workspace: Workspace) -> None:
    """Three deploys in the middle of a long step, each ending with SIGKILL, must not make the job dead."""
    stepping, go_on = threading.Event(), threading.Event()

    def deaf(workspace: Workspace, job: Job, *, on_progress: OnProgress, should_stop: ShouldStop) -> dict[str, Any]:
        stepping.set()
        assert go_on.wait(60)
        check(should_stop)
        return {"sentence": "Done."}

    job = queue.enqueue(workspace, "deaf", max_attempts=3)
    for deploy in range(4):
        stepping.clear()
        go_on.clear()
        stop = threading.Event()
        leased = queue.lease(workspace, f"worker {deploy}", ["deaf"])
        assert leased is not None, queue.job_by_id(workspace, job.id).message
        named = {"handlers": {"deaf": deaf}, "stop": stop}
        work = threading.Thread(target=do, args=(workspace, leased, f"worker {deploy}"), kwargs=named)
        work.start()
        assert stepping.wait(60)
        stop.set()
        while queue.job_by_id(workspace, job.id).attempts:
            assert work.is_alive()
            time.sleep(0.02)
        if deploy < 3:  # killed: another one finds the lease run out
            with workspace.database.write() as session:
                session.get_one(Job, job.id).lease_until = now() - timedelta(seconds=1)
            taken_over = queue.lease(workspace, "next", ["deaf"])
            assert taken_over is not None
            queue.release(workspace, job.id, "next")
        go_on.set()
        work.join()
    ended = queue.job_by_id(workspace, job.id)
    assert (ended.status, ended.attempts) == ("waiting", 0)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (MemoryError(), "The machine has not enough memory for this job."),
        (
            RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9"),
            "not enough",
        ),
        (
            OSError(28, "No space left on device", "/data/state.pt"),
            "The disk is full: the file /data/state.pt could not",
        ),
        (KeyError("width"), "KeyError: 'width'"),
        (AssertionError(), "AssertionError"),
    ],
)
def test_why_it_failed_is_one_sentence(sqlite_workspace: Workspace, error: Exception, sentence: str) -> None:
    def failing(workspace: Workspace, job: Job, *, on_progress: OnProgress, should_stop: ShouldStop) -> dict[str, Any]:
        raise error

    job = queue.enqueue(sqlite_workspace, "failing")
    do(sqlite_workspace, taken(sqlite_workspace, job), "a", handlers={"failing": failing}, stop=threading.Event())
    ended = queue.job_by_id(sqlite_workspace, job.id)
    assert ended.status == "waiting" and sentence in ended.failure and "\n" not in ended.failure
