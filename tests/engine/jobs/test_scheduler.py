"""The scheduler's seat, and who sits there: one process, another one when it is gone, whatever the clocks say."""

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import delete, select

from db.base import now
from db.tables import Firing, Lease, Project
from engine.jobs import scheduler as schedulers
from engine.jobs.election import SEAT, Candidate, elected
from engine.jobs.scheduler import Scheduler
from engine.projects.projects import change_settings
from engine.workspace import Workspace
from tests.support.factories import make_bills, make_project


class Steady:
    """A clock that only goes forwards, by hand."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


def candidate(workspace: Workspace, name: str, steady: Steady) -> Candidate:
    return Candidate(workspace, name, seconds=20, steady=steady)


def seat(workspace: Workspace, **values: object) -> None:
    with workspace.database.write() as session:
        row = session.get_one(Lease, SEAT)
        for name, value in values.items():
            setattr(row, name, value)


def test_of_many_who_stand_at_once_one_is_elected(workspace: Workspace) -> None:
    for _ in range(5):
        ready, found, steady = threading.Barrier(6), list[bool](), Steady()

        def stand(name: str, ready=ready, found=found, steady=steady) -> None:  # type: ignore[no-untyped-def]
            one = candidate(workspace, name, steady)
            ready.wait()
            found.append(one.stand())

        people = [threading.Thread(target=stand, args=(f"worker {number}",)) for number in range(6)]
        for person in people:
            person.start()
        for person in people:
            person.join()
        assert sorted(found) == [False] * 5 + [True]
        with workspace.database.write() as session:
            session.execute(delete(Lease))


def test_who_is_elected_stays_so_and_is_named_with_the_time_since(workspace: Workspace) -> None:
    steady = Steady()
    first, second = candidate(workspace, "first", steady), candidate(workspace, "second", steady)
    assert elected(workspace) is None
    assert first.stand() and not second.stand()
    since = elected(workspace)
    for _ in range(5):
        steady.seconds += 6
        assert first.stand() and not second.stand()
    named = elected(workspace)
    assert since is not None and named is not None
    assert (named.holder, named.since) == ("first", since.since)
    assert named.heartbeat_at > since.heartbeat_at


def test_who_leaves_or_dies_is_followed_by_another(workspace: Workspace) -> None:
    steady = Steady()
    first, second = candidate(workspace, "first", steady), candidate(workspace, "second", steady)
    assert first.stand()
    first.leave()
    assert second.stand() and not first.stand()
    seat(workspace, expires_at=now() - timedelta(seconds=1))  # second was killed, and its lease ran out
    assert first.stand()
    steady.seconds += 6
    assert not second.stand(), "it was not dead after all: its next heartbeat tells it"


def test_a_seat_that_a_dead_process_holds_far_into_the_future_is_taken(workspace: Workspace) -> None:
    steady = Steady()
    dead, living = candidate(workspace, "dead", steady), candidate(workspace, "living", steady)
    assert dead.stand()
    tomorrow = now() + timedelta(days=1)  # the clock is set back by a day, and then the process is killed
    seat(workspace, heartbeat_at=tomorrow, expires_at=tomorrow + timedelta(seconds=20))
    for _ in range(4):
        assert not living.stand()
        steady.seconds += 5.5
    assert living.stand()
    named = elected(workspace)
    assert named is not None and named.holder == "living"


def test_a_living_process_keeps_its_seat_through_a_jump_of_the_clock(workspace: Workspace) -> None:
    steady = Steady()
    one, other = candidate(workspace, "one", steady), candidate(workspace, "other", steady)
    assert one.stand()
    tomorrow = now() + timedelta(days=1)
    seat(workspace, heartbeat_at=tomorrow, expires_at=tomorrow + timedelta(seconds=20))
    for _ in range(10):
        steady.seconds += 6
        assert one.stand() and not other.stand()


def hourly(workspace: Workspace, name: str = "bills") -> Project:
    project = make_project(workspace, name)
    change_settings(workspace, project.id, retrain_cron="0 * * * *", retrain_after=100)
    make_bills(workspace, project.id, {"train": 1})
    return project


def long_ago(workspace: Workspace, project: Project) -> None:
    with workspace.database.write() as session:
        session.get_one(Project, project.id).clock_since = now() - timedelta(hours=3)


def all_fired(workspace: Workspace) -> list[Firing]:
    with workspace.database.read() as session:
        return list(session.scalars(select(Firing).order_by(Firing.id)))


def test_the_elected_scheduler_makes_up_for_what_was_missed_and_wakes_up_when_the_next_is_due(
    workspace: Workspace,
) -> None:
    project = hourly(workspace)
    long_ago(workspace, project)
    first, second = Scheduler(workspace, "first"), Scheduler(workspace, "second")
    for _ in range(3):
        first.look()
        second.look()
    assert (first.elected, second.elected) == (True, False)
    [firing] = all_fired(workspace)
    assert (firing.project_id, firing.outcome, firing.scheduler) == (project.id, "asked", "first")
    alarms = first._alarms
    assert alarms is not None
    [alarm] = alarms.get_jobs()
    assert now() < alarm.next_run_time <= now() + timedelta(hours=1)
    assert (alarm.next_run_time.minute, alarm.next_run_time.second) == (0, 0)
    first.end()
    second.look()
    assert (first.elected, second.elected) == (False, True)
    assert len(all_fired(workspace)) == 1
    second.end()


def test_clocks_that_change_or_go_are_followed(sqlite_workspace: Workspace) -> None:
    project = hourly(sqlite_workspace)
    one = Scheduler(sqlite_workspace, "one")
    one.look()
    assert one._alarms is not None
    [before] = one._alarms.get_jobs()
    change_settings(sqlite_workspace, project.id, retrain_cron="30 2 1 1 *")
    other = hourly(sqlite_workspace, "others")
    one.look()
    alarms = {alarm.id: alarm.next_run_time.astimezone(UTC) for alarm in one._alarms.get_jobs()}
    assert set(alarms) == {project.id, other.id}
    assert (alarms[project.id].month, alarms[project.id].day) == (1, 1)
    assert alarms[project.id] != before.next_run_time
    change_settings(sqlite_workspace, project.id, retrain_cron="")
    change_settings(sqlite_workspace, other.id, retrain_automatically=False)
    one.look()
    assert one._alarms.get_jobs() == []
    one.end()


def test_a_jump_of_the_clock_has_all_triggers_looked_at_anew(
    sqlite_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = hourly(sqlite_workspace)
    jump = [0.0]
    real: Callable[[], float] = schedulers._offset
    monkeypatch.setattr(schedulers, "_offset", lambda: real() + jump[0])
    one = Scheduler(sqlite_workspace, "one")
    one.look()
    long_ago(sqlite_workspace, project)
    hung = dict(one._hung)
    one._hung = {name: (clock, now_stands(sqlite_workspace, name)) for name, (clock, _) in hung.items()}
    one.look()
    assert all_fired(sqlite_workspace) == [], "nothing has changed that it could see"
    jump[0] = 3 * 3600.0
    one.look()
    assert [firing.outcome for firing in all_fired(sqlite_workspace)] == ["asked"]
    one.end()


def now_stands(workspace: Workspace, project_id: str) -> datetime | None:
    with workspace.database.read() as session:
        return session.get_one(Project, project_id).clock_since


def test_its_thread_gives_up_the_seat_when_the_worker_ends(sqlite_workspace: Workspace) -> None:
    settings = sqlite_workspace.settings.model_copy(update={"poll_seconds": 0.05})
    quick = Workspace(settings, sqlite_workspace.database, sqlite_workspace.blobs)
    with Scheduler(quick, "one") as one:
        latest = time.monotonic() + 30
        while not one.elected:
            assert time.monotonic() < latest
            time.sleep(0.02)
        named = elected(quick)
        assert named is not None and named.holder == "one"
    assert elected(quick) is None
