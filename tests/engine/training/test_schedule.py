"""The clock that retrains: each due time once, whoever looks, whatever was missed, wherever the clock jumps."""

import random
import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from db.base import now
from db.session import Database
from db.tables import Firing, Job, Project
from engine.errors import Refused
from engine.jobs import job_list, queue
from engine.projects.project_settings import settings_of
from engine.projects.projects import change_settings
from engine.training.retraining import schedule, trigger, trigger_history
from engine.training.retraining.trigger_status import triggers_of
from engine.workspace import Workspace
from tests.support.factories import make_bills, make_project

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)  # a Monday
HOUR = timedelta(hours=1)


def clocked(workspace: Workspace, cron: str = "0 * * * *", *, since: datetime = NOON, answers: int = 1) -> Project:
    """A project whose clock stands since a moment, with something to learn from."""
    project = make_project(workspace)
    change_settings(workspace, project.id, retrain_cron=cron)
    with workspace.database.write() as session:
        session.get_one(Project, project.id).clock_since = since
    if answers:
        make_bills(workspace, project.id, {"train": answers})
    return project


def fired(workspace: Workspace, trigger_name: str = "clock") -> Sequence[Firing]:
    with workspace.database.read() as session:
        return session.scalars(select(Firing).where(Firing.trigger == trigger_name).order_by(Firing.id)).all()


def end_jobs(workspace: Workspace) -> None:
    for job in job_list.list_jobs(workspace):
        if job.status not in queue.ENDED:
            queue.cancel(workspace, job.id)


def test_what_comes_due_asks_for_a_retraining_once(workspace: Workspace) -> None:
    project = clocked(workspace)
    assert schedule.fire(workspace, project.id, current_time=NOON + timedelta(minutes=59)) is None
    firing = schedule.fire(workspace, project.id, current_time=NOON + HOUR, scheduler="here")
    assert firing is not None
    assert (firing.due_at, firing.outcome, firing.scheduler) == (NOON + HOUR, "asked", "here")
    assert firing.message == "3 answers were newly accepted."
    [job] = job_list.list_jobs(workspace, project.id)
    assert (job.id, job.kind, job.key) == (firing.job_id, "retrain", trigger.retrain_key(project.id))
    end_jobs(workspace)
    assert schedule.fire(workspace, project.id, current_time=NOON + HOUR + timedelta(minutes=5)) is None
    assert len(job_list.list_jobs(workspace)) == 1


def test_many_schedulers_that_all_believe_to_be_elected_fire_it_once(workspace: Workspace) -> None:
    project = clocked(workspace)
    for hour in range(1, 6):
        ready = threading.Barrier(6)
        found: list[Firing] = []

        def look(at: datetime, ready: threading.Barrier = ready, found: list[Firing] = found) -> None:
            database = Database(workspace.settings.url)  # as a process of its own
            ready.wait()
            firing = schedule.fire(
                Workspace(workspace.settings, database, workspace.blobs), project.id, current_time=at
            )
            found.extend([firing] if firing is not None else [])
            database.dispose()

        schedulers = [
            threading.Thread(target=look, args=(NOON + hour * HOUR + timedelta(seconds=each),)) for each in range(6)
        ]
        for scheduler in schedulers:
            scheduler.start()
        for scheduler in schedulers:
            scheduler.join()
        assert [firing.due_at for firing in found] == [NOON + hour * HOUR]
        end_jobs(workspace)
    assert [one.due_at for one in fired(workspace)] == [NOON + hour * HOUR for hour in range(1, 6)]
    assert len(job_list.list_jobs(workspace)) == 5


def test_what_was_missed_while_nothing_ran_is_made_up_for_once(workspace: Workspace) -> None:
    project = clocked(workspace)
    firing = schedule.fire(workspace, project.id, current_time=NOON + 9.5 * HOUR)
    assert firing is not None
    assert (firing.due_at, firing.outcome) == (NOON + 9 * HOUR, "asked")
    end_jobs(workspace)
    assert schedule.fire(workspace, project.id, current_time=NOON + 9.6 * HOUR) is None
    later = schedule.fire(workspace, project.id, current_time=NOON + 10 * HOUR)
    assert later is not None and later.due_at == NOON + 10 * HOUR


def test_what_was_missed_too_long_ago_says_so_and_starts_nothing(workspace: Workspace) -> None:
    project = clocked(workspace, "30 2 * * *")
    assert workspace.settings.retrain_grace_hours == 12
    firing = schedule.fire(workspace, project.id, current_time=NOON + timedelta(days=2, hours=3))
    assert firing is not None
    assert (firing.due_at, firing.outcome, firing.job_id) == (NOON + timedelta(days=1, hours=14.5), "missed", None)
    assert firing.message == "No worker ran at that time; 12 hours later it was too late to start a retraining."
    assert job_list.list_jobs(workspace) == []
    following = schedule.fire(workspace, project.id, current_time=NOON + timedelta(days=2, hours=16))
    assert following is not None and following.outcome == "asked"
    assert following.message == "3 answers were newly accepted. It starts 1 hour late: no worker ran at that time."


def test_with_nothing_new_it_says_so_and_starts_nothing(workspace: Workspace) -> None:
    project = clocked(workspace, answers=0)
    firing = schedule.fire(workspace, project.id, current_time=NOON + HOUR)
    assert firing is not None
    assert (firing.outcome, firing.job_id) == ("nothing_new", None)
    assert job_list.list_jobs(workspace) == []


def test_while_a_retraining_waits_it_starts_no_second_one(workspace: Workspace) -> None:
    project = clocked(workspace)
    asked = trigger.request(workspace, project.id)
    firing = schedule.fire(workspace, project.id, current_time=NOON + HOUR)
    assert firing is not None
    assert (firing.outcome, firing.job_id) == ("busy", asked.id)
    assert len(job_list.list_jobs(workspace)) == 1


def test_a_new_clock_makes_up_for_nothing_that_was_before_it(workspace: Workspace) -> None:
    project = make_project(workspace)
    make_bills(workspace, project.id, {"train": 1})
    assert schedule.fire(workspace, project.id) is None
    minute_ago = now() - timedelta(minutes=1)
    change_settings(workspace, project.id, retrain_cron=f"{minute_ago.minute} {minute_ago.hour} * * *")
    assert schedule.fire(workspace, project.id) is None
    assert schedule.fire(workspace, project.id, current_time=minute_ago + timedelta(days=1)) is not None


def test_a_project_that_retrains_by_hand_has_no_clock(workspace: Workspace) -> None:
    project = clocked(workspace)
    change_settings(workspace, project.id, retrain_automatically=False)
    assert schedule.fire(workspace, project.id, current_time=now() + timedelta(days=1)) is None
    change_settings(workspace, project.id, retrain_automatically=True)
    assert schedule.fire(workspace, project.id, current_time=now()) is None, "what was due meanwhile is not made up for"
    assert schedule.fire(workspace, project.id, current_time=now() + timedelta(days=1)) is not None


def test_the_time_zone_is_the_projects(workspace: Workspace) -> None:
    project = clocked(workspace, "30 2 * * *")
    change_settings(workspace, project.id, retrain_time_zone="Asia/Tokyo")
    with workspace.database.write() as session:
        session.get_one(Project, project.id).clock_since = NOON
    firing = schedule.fire(workspace, project.id, current_time=NOON + timedelta(hours=6))
    assert firing is not None and firing.due_at == NOON + timedelta(hours=5.5)  # 02:30 in Tokyo is 17:30 UTC


def test_a_clock_that_cannot_be_is_one_sentence_and_changes_nothing(sqlite_workspace: Workspace) -> None:
    project = make_project(sqlite_workspace)
    for changes, sentence in (
        ({"retrain_cron": "every night"}, "five fields"),
        ({"retrain_cron": "0 25 * * *"}, "no crontab expression"),
        ({"retrain_cron": "0 0 30 2 *"}, "a day that the month has"),
        ({"retrain_time_zone": "Europe/Atlantis"}, "'Europe/Atlantis' is no time zone"),
    ):
        with pytest.raises(Refused, match=sentence) as refused:
            change_settings(sqlite_workspace, project.id, **changes)
        assert "Value error" not in str(refused.value) and "\n" not in str(refused.value)
    with sqlite_workspace.database.read() as session:
        kept = session.get_one(Project, project.id)
    assert (settings_of(kept).retrain_cron, kept.clock_since) == ("", None)


@pytest.mark.parametrize("seed", range(4))
def test_a_clock_that_jumps_fires_no_time_twice_and_none_that_it_passes_never(workspace: Workspace, seed: int) -> None:
    """One of three schedulers checks every few minutes; at times the clock is set, by minutes or years."""
    draw = random.Random(seed)
    project = clocked(workspace)
    wall, seen, jumps = NOON + timedelta(minutes=1), set[datetime](), 0
    for _ in range(160):
        jumped = draw.random() < 0.12
        before = wall
        if jumped:
            jumps += 1
            wall += draw.choice((-1, 1)) * draw.choice(
                (7 * HOUR / 60, 70 * HOUR / 60, 5 * HOUR, 30 * HOUR, 9000 * HOUR)
            )
            if wall < NOON:  # before the clock was even set
                wall = NOON - HOUR / 2
        else:
            wall += timedelta(minutes=draw.randrange(1, 50))
        firing = schedule.fire(workspace, project.id, current_time=wall, scheduler=draw.choice("abc"))
        hour = wall.replace(minute=0, second=0, microsecond=0)
        passed = not jumped and before < hour <= wall  # an hour that the clock went through, as clocks do
        if passed:
            assert (firing is not None) is (hour not in seen), (before, wall)
        elif not jumped:
            assert firing is None, (before, wall)
        if firing is not None:
            assert firing.due_at == hour and hour not in seen
            assert firing.outcome == "asked"
            seen.add(hour)
            end_jobs(workspace)
    assert jumps > 8
    assert {one.due_at for one in fired(workspace)} == seen
    assert len(job_list.list_jobs(workspace, limit=1000)) == len(seen) > 20


def test_jobs_asked_for_by_a_clock_that_was_ahead_are_not_kept_waiting(workspace: Workspace) -> None:
    early = queue.enqueue(workspace, "retrain")
    taken = queue.enqueue(workspace, "retrain")
    assert queue.lease(workspace, "a", ["retrain"], job_id=taken.id) is not None
    with workspace.database.write() as session:  # as they stand when the clock is then set back by a day
        waiting, running = session.get_one(Job, early.id), session.get_one(Job, taken.id)
        waiting.created_at = waiting.run_after = now() + timedelta(days=1)
        running.heartbeat_at, running.lease_until = now() + timedelta(days=1), now() + timedelta(days=1)
    found = [queue.lease(workspace, "b", ["retrain"]) for _ in range(3)]
    assert {job.id for job in found if job is not None} == {early.id, taken.id}


def test_only_so_many_firings_are_kept(sqlite_workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trigger_history, "KEPT", 5)
    project = clocked(sqlite_workspace, answers=0)
    for hour in range(1, 12):
        schedule.fire(sqlite_workspace, project.id, current_time=NOON + hour * HOUR)
    assert [one.due_at for one in fired(sqlite_workspace)] == [NOON + hour * HOUR for hour in range(7, 12)]


def test_what_stands_says_how_near_it_is_and_when_it_comes(workspace: Workspace) -> None:
    project = clocked(workspace, "30 2 * * *", answers=0)
    empty = triggers_of(workspace, project.id)
    assert (empty.accepted, empty.near, empty.oldest_at, empty.scheduler) == (
        0,
        "0 of 20 answers accepted.",
        None,
        None,
    )
    make_bills(workspace, project.id, {"train": 1, "recent": 1})
    change_settings(workspace, project.id, retrain_after_days=7)
    standing = triggers_of(workspace, project.id)
    assert (standing.accepted, standing.wanted, standing.wanted_days) == (6, 20, 7)
    assert standing.near == "6 of 20 answers accepted, the oldest less than an hour ago (limit: 7 days)."
    assert standing.oldest_at is not None and standing.age_due_at == standing.oldest_at + timedelta(days=7)
    assert standing.clock_due_at is not None and now() < standing.clock_due_at <= now() + timedelta(days=1)
    assert (standing.clock_due_at.hour, standing.clock_due_at.minute) == (2, 30)
    assert standing.next_at == standing.clock_due_at
    schedule.fire(workspace, project.id, current_time=standing.clock_due_at)
    with workspace.database.read() as session:
        job = session.scalars(select(Job)).one()
    assert job.payload["settings"] == {"minutes": workspace.settings.retrain_scheduled_minutes}, "nobody waits for it"
    after = triggers_of(workspace, project.id)
    assert (
        after.near.startswith("A retraining waits for a worker; 6 of 20 answers accepted") and after.job_id is not None
    )
    assert [(one.trigger, one.outcome) for one in after.firings] == [("clock", "asked")]
    change_settings(workspace, project.id, retrain_automatically=False)
    end_jobs(workspace)
    by_hand = triggers_of(workspace, project.id)
    assert by_hand.near == "6 answers accepted, the oldest less than an hour ago; automatic retraining is off."
    assert (by_hand.next_at, by_hand.automatic) == (None, False)
