"""The queue of jobs, on both databases."""

import threading
import time
from datetime import timedelta
from typing import Any

import pytest

from db.base import now
from db.tables import Job
from engine.errors import Conflict, NotFound
from engine.jobs import job_list, queue
from engine.jobs.cancellation import OnProgress, ShouldStop, Stopped
from engine.jobs.worker import do
from engine.workspace import Workspace
from tests.support.factories import make_project

KINDS = ("retrain",)


def expire(workspace: Workspace, job: Job) -> None:
    with workspace.database.write() as session:
        session.get_one(Job, job.id).lease_until = now() - timedelta(seconds=1)


def test_a_key_that_is_waiting_is_asked_for_once(workspace: Workspace) -> None:
    project = make_project(workspace)
    first = queue.enqueue(workspace, "retrain", project.id, {"reason": "first"}, key="retrain:x")
    second = queue.enqueue(workspace, "retrain", project.id, {"reason": "second"}, key="retrain:x")
    assert second.id == first.id
    assert second.payload == {"reason": "first"}


def test_a_key_is_free_again_when_its_job_has_ended(workspace: Workspace) -> None:
    first = queue.enqueue(workspace, "retrain", key="retrain:x")
    queue.lease(workspace, "a", KINDS)
    queue.finish(workspace, first.id, "a", {"run": "1"})
    assert queue.enqueue(workspace, "retrain", key="retrain:x").id != first.id
    assert queue.job_by_id(workspace, first.id).result == {"run": "1"}


def test_a_job_asked_for_in_a_unit_of_work_that_fails_is_not_there(workspace: Workspace) -> None:
    with pytest.raises(ZeroDivisionError), workspace.database.write() as session:
        queue.enqueue(session, "retrain", key="retrain:x")
        _ = 1 / 0
    assert job_list.list_jobs(workspace) == []


def test_jobs_are_taken_in_the_order_of_asking_and_each_by_one_worker(workspace: Workspace) -> None:
    asked = [queue.enqueue(workspace, "retrain").id for _ in range(12)]
    taken: list[tuple[str, str]] = []
    lock = threading.Lock()

    def take(holder: str) -> None:
        while (job := queue.lease(workspace, holder, KINDS)) is not None:
            with lock:
                taken.append((job.id, holder))

    workers = [threading.Thread(target=take, args=(name,)) for name in ("a", "b", "c")]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(job for job, _ in taken) == sorted(asked)
    by_holder = {name: [job for job, holder in taken if holder == name] for name in ("a", "b", "c")}
    assert all(jobs == sorted(jobs, key=asked.index) for jobs in by_holder.values())


def test_a_worker_takes_only_kinds_it_knows(workspace: Workspace) -> None:
    queue.enqueue(workspace, "export")
    assert queue.lease(workspace, "a", KINDS) is None


def test_a_job_whose_worker_died_is_taken_again(workspace: Workspace) -> None:
    job = queue.enqueue(workspace, "retrain")
    assert queue.lease(workspace, "a", KINDS) is not None
    assert queue.lease(workspace, "b", KINDS) is None
    expire(workspace, job)
    again = queue.lease(workspace, "b", KINDS)
    assert again is not None
    assert (again.id, again.holder, again.attempts) == (job.id, "b", 2)


def test_what_a_worker_reports_after_losing_its_lease_is_ignored(workspace: Workspace) -> None:
    job = queue.enqueue(workspace, "retrain")
    queue.lease(workspace, "a", KINDS)
    expire(workspace, job)
    queue.lease(workspace, "b", KINDS)
    for report in (
        lambda: queue.heartbeat(workspace, job.id, "a"),
        lambda: queue.progress(workspace, job.id, "a", 0.9, "almost"),
        lambda: queue.finish(workspace, job.id, "a", {}),
        lambda: queue.fail(workspace, job.id, "a", "broken"),
        lambda: queue.release(workspace, job.id, "a"),
    ):
        with pytest.raises(queue.LeaseLost):
            report()
    held = queue.job_by_id(workspace, job.id)
    assert (held.status, held.holder, held.progress) == ("running", "b", 0.0)


def test_a_heartbeat_keeps_the_lease(workspace: Workspace) -> None:
    job = queue.enqueue(workspace, "retrain")
    queue.lease(workspace, "a", KINDS, seconds=0.2)
    beat = queue.heartbeat(workspace, job.id, "a", seconds=30)
    time.sleep(0.3)
    assert not beat.cancel_requested
    assert queue.lease(workspace, "b", KINDS) is None


def test_a_failed_attempt_is_repeated_later_and_given_up_in_the_end(workspace: Workspace) -> None:
    job = queue.enqueue(workspace, "retrain", max_attempts=2, key="retrain:x")
    queue.lease(workspace, "a", KINDS)
    assert queue.fail(workspace, job.id, "a", "The disk is full.") == "waiting"
    waiting = queue.job_by_id(workspace, job.id)
    assert waiting.run_after > now() + timedelta(seconds=queue.RETRY_SECONDS / 2)
    assert queue.lease(workspace, "a", KINDS) is None
    with workspace.database.write() as session:
        session.get_one(Job, job.id).run_after = now()
    queue.lease(workspace, "a", KINDS)
    assert queue.fail(workspace, job.id, "a", "The disk is full.") == "dead"
    dead = queue.job_by_id(workspace, job.id)
    assert dead.key is None
    assert dead.message == "Given up after 2 attempts: The disk is full."


def test_a_job_that_kills_every_worker_is_given_up(workspace: Workspace) -> None:
    job = queue.enqueue(workspace, "retrain", max_attempts=2)
    for _ in range(2):
        assert queue.lease(workspace, "a", KINDS) is not None
        expire(workspace, job)
    assert queue.lease(workspace, "a", KINDS) is None
    assert queue.job_by_id(workspace, job.id).status == "dead"


def test_what_cannot_succeed_is_not_repeated(workspace: Workspace) -> None:
    job = queue.enqueue(workspace, "retrain")
    queue.lease(workspace, "a", KINDS)
    assert queue.fail(workspace, job.id, "a", "There is nothing to learn from.", retry=False) == "failed"


def test_a_released_job_waits_again_and_the_attempt_does_not_count(workspace: Workspace) -> None:
    job = queue.enqueue(workspace, "retrain")
    queue.lease(workspace, "a", KINDS)
    queue.release(workspace, job.id, "a")
    again = queue.lease(workspace, "b", KINDS)
    assert again is not None
    assert again.attempts == 1


def test_cancelling_a_waiting_job_ends_it_at_once(workspace: Workspace) -> None:
    job = queue.enqueue(workspace, "retrain", key="retrain:x")
    assert queue.cancel(workspace, job.id).status == "cancelled"
    assert queue.lease(workspace, "a", KINDS) is None
    with pytest.raises(Conflict):
        queue.cancel(workspace, job.id)


def test_cancelling_a_running_job_reaches_its_worker_with_the_next_heartbeat(workspace: Workspace) -> None:
    job = queue.enqueue(workspace, "retrain")
    queue.lease(workspace, "a", KINDS)
    assert queue.cancel(workspace, job.id).status == "running"
    assert queue.heartbeat(workspace, job.id, "a").cancel_requested
    queue.close_cancelled(workspace, job.id, "a")
    assert queue.job_by_id(workspace, job.id).status == "cancelled"


def test_a_cancelled_job_of_a_dead_worker_is_not_taken_again(workspace: Workspace) -> None:
    job = queue.enqueue(workspace, "retrain")
    queue.lease(workspace, "a", KINDS)
    queue.cancel(workspace, job.id)
    expire(workspace, job)
    assert queue.lease(workspace, "b", KINDS) is None
    assert queue.job_by_id(workspace, job.id).status == "cancelled"


def test_an_unknown_job_is_not_found(workspace: Workspace) -> None:
    with pytest.raises(NotFound):
        queue.cancel(workspace, "0" * 32)


def test_jobs_of_a_project_are_listed_newest_first(workspace: Workspace) -> None:
    project = make_project(workspace)
    queue.enqueue(workspace, "retrain")
    mine = [queue.enqueue(workspace, "retrain", project.id).id for _ in range(3)]
    assert [job.id for job in job_list.list_jobs(workspace, project.id)] == mine[::-1]


def test_a_job_that_winds_up_goes_to_its_handler_although_it_was_cancelled(workspace: Workspace) -> None:
    heard: list[str | None] = []

    def wind_up(workspace: Workspace, job: Job, *, on_progress: OnProgress, should_stop: ShouldStop) -> dict[str, Any]:
        heard.append(should_stop())
        raise Stopped("cancel", "Stopped; what was begun is closed.")

    plain = queue.enqueue(workspace, "retrain")
    asked = queue.enqueue(workspace, "retrain", payload={queue.WINDS_UP: True}, run_after=now() + timedelta(hours=1))
    assert queue.cancel(workspace, plain.id).status == "cancelled"
    assert queue.cancel(workspace, asked.id).status == "waiting"
    job = queue.lease(workspace, "a", KINDS)
    assert job is not None and job.id == asked.id
    do(workspace, job, "a", handlers={"retrain": wind_up}, stop=threading.Event())
    ended = queue.job_by_id(workspace, asked.id)
    assert (heard, ended.status, ended.message) == (["cancel"], "cancelled", "Stopped; what was begun is closed.")


def test_kinds_that_clutter_are_listed_until_they_have_ended(workspace: Workspace) -> None:
    read, retrained = queue.enqueue(workspace, "read"), queue.enqueue(workspace, "retrain")
    assert {job.id for job in job_list.list_jobs(workspace, without_read=True)} == {read.id, retrained.id}
    for kind in ("read", "retrain"):
        job = queue.lease(workspace, "a", (kind,))
        assert job is not None
        queue.finish(workspace, job.id, "a", {})
    assert [job.id for job in job_list.list_jobs(workspace, without_read=True)] == [retrained.id]
