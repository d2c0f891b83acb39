"""Chores of workers: one worker at a time checks the triggers, another when it is gone, whatever the clocks say."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from sqlalchemy import delete, select, update

from db import changes
from db.base import now
from db.tables import Firing, Job, Lease, Project, Revision
from engine.commands.servers.background import CHORES, run_worker
from engine.jobs import poll_lease, queue
from engine.jobs.cancellation import OnProgress, ShouldStop
from engine.jobs.chores import Chores, Polls
from engine.jobs.worker import work
from engine.projects.projects import change_settings
from engine.workspace import Workspace
from tests.support.factories import make_bills, make_project
from tests.support.repository import ROOT


def acquire(workspace: Workspace, holder: str) -> bool:
    return poll_lease.acquire(workspace, holder)


def set_lease(workspace: Workspace, **values: object) -> None:
    with workspace.database.write() as session:
        row = session.get_one(Lease, poll_lease.SUBJECT)
        for name, value in values.items():
            setattr(row, name, value)


def test_of_many_workers_that_poll_at_once_one_gets_the_lease(workspace: Workspace) -> None:
    for _ in range(5):
        ready, found = threading.Barrier(6), list[bool]()

        def poll(name: str, ready: threading.Barrier = ready, found: list[bool] = found) -> None:
            ready.wait()
            found.append(acquire(workspace, name))

        workers = [threading.Thread(target=poll, args=(f"worker {number}",)) for number in range(6)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert sorted(found) == [False] * 5 + [True]
        with workspace.database.write() as session:
            session.execute(delete(Lease))


def test_the_holder_keeps_the_lease_and_is_named_with_its_times(workspace: Workspace) -> None:
    assert poll_lease.current(workspace) is None
    assert acquire(workspace, "first") and not acquire(workspace, "second")
    began = poll_lease.current(workspace)
    assert began is not None and began.holder == "first"
    assert acquire(workspace, "first")
    assert poll_lease.current(workspace) == began, "a renewal is a write: not at every poll"
    set_lease(workspace, heartbeat_at=now() - timedelta(seconds=6), expires_at=now() + timedelta(seconds=14))
    assert acquire(workspace, "first") and not acquire(workspace, "second")
    renewed = poll_lease.current(workspace)
    assert renewed is not None
    assert (renewed.holder, renewed.since) == ("first", began.since)
    assert renewed.heartbeat_at >= began.heartbeat_at


def test_a_worker_that_leaves_or_dies_is_followed_by_another(workspace: Workspace) -> None:
    assert acquire(workspace, "first")
    poll_lease.release(workspace, "second")
    assert not acquire(workspace, "second"), "it gave back what was not its own"
    poll_lease.release(workspace, "first")
    assert acquire(workspace, "second") and not acquire(workspace, "first")
    long_ago = now() - timedelta(seconds=21)  # the second was killed
    set_lease(workspace, heartbeat_at=long_ago, expires_at=long_ago + timedelta(seconds=20))
    assert poll_lease.current(workspace) is None
    assert acquire(workspace, "first")
    assert not acquire(workspace, "second"), "it was not dead after all"


def test_a_lease_from_before_the_clock_was_set_back_is_taken(workspace: Workspace) -> None:
    assert acquire(workspace, "dead")
    tomorrow = now() + timedelta(days=1)
    set_lease(workspace, heartbeat_at=tomorrow, expires_at=tomorrow + timedelta(seconds=20))
    assert acquire(workspace, "living")
    named = poll_lease.current(workspace)
    assert named is not None and named.holder == "living"
    assert named.heartbeat_at <= now()


def test_after_a_jump_of_the_clock_one_living_worker_has_the_lease(workspace: Workspace) -> None:
    assert acquire(workspace, "one")
    for jump in (timedelta(days=1), timedelta(days=-1), timedelta(hours=1), timedelta(hours=-1)):
        set_lease(workspace, heartbeat_at=now() + jump, expires_at=now() + jump + timedelta(seconds=20))
        found = [acquire(workspace, name) for name in ("one", "other", "one", "other")]
        assert found == [True, False, True, False]


def test_a_clock_that_is_some_seconds_ahead_takes_no_lease_away(workspace: Workspace) -> None:
    assert acquire(workspace, "ahead")
    ahead = now() + timedelta(seconds=8)
    set_lease(workspace, heartbeat_at=ahead, expires_at=ahead + timedelta(seconds=20))
    assert not acquire(workspace, "other") and acquire(workspace, "ahead")


def hourly(workspace: Workspace, name: str = "bills", *, since: timedelta = timedelta(hours=3)) -> Project:
    """A project with something to learn from that retrains each hour; its schedule was set `since` ago."""
    project = make_project(workspace, name)
    change_settings(workspace, project.id, retrain_cron="0 * * * *", retrain_after=100)
    make_bills(workspace, project.id, {"train": 1})
    with workspace.database.write() as session:
        session.get_one(Project, project.id).clock_since = now() - since
    return project


def all_fired(workspace: Workspace) -> list[Firing]:
    with workspace.database.read() as session:
        return list(session.scalars(select(Firing).order_by(Firing.id)))


def test_one_of_two_workers_makes_up_for_what_was_missed(workspace: Workspace) -> None:
    project = hourly(workspace)
    with Polls(workspace, "second", CHORES.at_polls) as second:
        with Polls(workspace, "first", CHORES.at_polls) as first:
            found = [(first.poll(), second.poll()) for _ in range(3)]
            assert found == [(True, False)] * 3
            [firing] = all_fired(workspace)
            assert (firing.project_id, firing.outcome, firing.scheduler) == (project.id, "asked", "first")
        assert second.poll(), "the first has left"
    assert len(all_fired(workspace)) == 1
    assert poll_lease.current(workspace) is None


def test_a_schedule_that_changes_counts_from_the_next_poll(sqlite_workspace: Workspace) -> None:
    project, other = hourly(sqlite_workspace), hourly(sqlite_workspace, "others")
    change_settings(sqlite_workspace, project.id, retrain_cron="30 2 1 1 *")
    with Polls(sqlite_workspace, "one", CHORES.at_polls) as polls:
        polls.poll()
        assert [firing.project_id for firing in all_fired(sqlite_workspace)] == [other.id]
        change_settings(sqlite_workspace, project.id, retrain_cron="0 * * * *")
        with sqlite_workspace.database.write() as session:
            session.get_one(Project, project.id).clock_since = now() - timedelta(hours=2)
        polls.poll()
        assert [firing.project_id for firing in all_fired(sqlite_workspace)] == [other.id, project.id]


def test_a_project_with_broken_settings_keeps_no_other_waiting(sqlite_workspace: Workspace) -> None:
    broken, well = hourly(sqlite_workspace, "broken"), hourly(sqlite_workspace, "well")
    counting = make_project(sqlite_workspace, "counting")
    change_settings(sqlite_workspace, counting.id, retrain_after=1)
    make_bills(sqlite_workspace, counting.id, {"train": 1})
    with sqlite_workspace.database.write() as session:
        session.execute(update(Revision).values(created_at=now() - timedelta(hours=1)))  # it has been quiet
        changes.publish(session, "answers", None)
        there = session.get_one(Project, broken.id)
        there.settings = {**there.settings, "retrain_cron": "written by hand"}
    with Polls(sqlite_workspace, "one", CHORES.at_polls) as polls:
        polls.poll()
    fired = {firing.project_id: firing.trigger for firing in all_fired(sqlite_workspace)}
    assert fired == {well.id: "clock", counting.id: "count"}


def test_a_chore_that_fails_keeps_no_other_from_running(sqlite_workspace: Workspace) -> None:
    done = list[str]()

    def failing(workspace: Workspace, holder: str) -> None:
        raise RuntimeError("wrong")

    with Polls(sqlite_workspace, "one", (failing, lambda _, holder: done.append(holder))) as polls:
        assert polls.poll() and polls.poll()
    assert done == ["one", "one"]


def quick(workspace: Workspace) -> Workspace:
    """A workspace whose workers poll often."""
    settings = workspace.settings.model_copy(update={"poll_seconds": 0.05})
    return Workspace(settings, workspace.database, workspace.blobs)


def eventually(happens: Callable[[], bool], seconds: float = 30) -> None:
    latest = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < latest, "it did not happen in time"
        time.sleep(0.02)


def test_chores_are_done_while_a_job_runs_and_the_lease_ends_with_the_worker(workspace: Workspace) -> None:
    shop, polled, stop = quick(workspace), threading.Event(), threading.Event()
    began = list[str]()

    def long(workspace: Workspace, job: Job, *, on_progress: OnProgress, should_stop: ShouldStop) -> dict[str, Any]:
        polled.clear()
        assert polled.wait(30), "no chore was done during the job"
        stop.set()
        return {"sentence": "Done."}

    chores = Chores(at_start=(lambda _, holder: began.append(holder),), at_polls=(lambda *_: polled.set(),))
    job = queue.enqueue(shop, "long")
    assert work(shop, handlers={"long": long}, chores=chores, stop=stop) == 1
    assert queue.job_by_id(shop, job.id).message == "Done."
    assert len(began) == 1
    with shop.database.read() as session:
        assert session.scalars(select(Lease)).all() == []


def test_a_worker_takes_only_jobs_that_it_has_a_handler_for(sqlite_workspace: Workspace) -> None:
    other = queue.enqueue(sqlite_workspace, "other")
    assert work(sqlite_workspace, handlers={}, once=True) == 0
    assert queue.job_by_id(sqlite_workspace, other.id).status == "waiting"


def test_a_worker_that_runs_once_looks_itself_beside_another(sqlite_workspace: Workspace) -> None:
    hourly(sqlite_workspace)
    assert acquire(sqlite_workspace, "another worker")
    looked = list[str]()
    chores = Chores(at_polls=(*CHORES.at_polls, lambda _, holder: looked.append(holder)))
    assert work(sqlite_workspace, handlers={}, chores=chores, once=True) == 0
    assert len(looked) == 1
    assert [firing.outcome for firing in all_fired(sqlite_workspace)] == ["asked"]
    assert not acquire(sqlite_workspace, "a third"), "the other one still has the lease"


def test_a_worker_fires_a_schedule_from_its_thread(sqlite_workspace: Workspace) -> None:
    shop, stop = quick(sqlite_workspace), threading.Event()
    hourly(shop)
    worker = threading.Thread(target=work, args=(shop,), kwargs={"handlers": {}, "chores": CHORES, "stop": stop})
    worker.start()
    try:
        eventually(lambda: bool(all_fired(shop)))
        named = poll_lease.current(shop)
        assert named is not None and named.holder == all_fired(shop)[0].scheduler
    finally:
        stop.set()
        worker.join()
    assert poll_lease.current(shop) is None


def test_a_worker_without_jobs_imports_no_torch(sqlite_workspace: Workspace) -> None:
    hourly(sqlite_workspace, since=timedelta(seconds=0))
    code = (
        "import sys; from engine.commands.servers.background import run_worker\n"
        "from engine.commands.servers.worker import worker\n"
        "worker(once=True); assert 'torch' not in sys.modules"
    )
    data, url = str(sqlite_workspace.settings.data_dir), str(sqlite_workspace.settings.url)
    environment = {"PYTHONPATH": str(ROOT), "GLOSSATOR_DATA_DIR": data, "GLOSSATOR_DATABASE_URL": url}
    ended = subprocess.run([sys.executable, "-c", code], env=environment, cwd=data, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert "0 jobs done" in ended.stdout + ended.stderr
    assert run_worker(sqlite_workspace, once=True) == 0
