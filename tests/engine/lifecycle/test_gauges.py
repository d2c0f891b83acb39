"""Metrics of the installation: what they say, and that they cost the same whatever there is to count."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import insert, text, update

from db.base import now
from db.ids import new_id
from db.tables import Change, Job, LoginSession
from engine.jobs.presence import Presence
from engine.lifecycle import gauges
from engine.lifecycle.gauges import InstallationGauges, PoolGauges
from engine.workspace import Workspace
from tests.support.accounts import cookie_of, make_user

Values = dict[tuple[str, ...], float]


def read(workspace: Workspace, name: str) -> Values:
    """Values of a metric by labels, of a reading of now."""
    families = {family.name: family for family in InstallationGauges(workspace.settings, workspace.database).collect()}
    return {tuple(sample.labels.values()): sample.value for sample in families[f"glossator_{name}"].samples}


def add_jobs(workspace: Workspace, number: int, status: str, kind: str = "read") -> None:
    """Rows of jobs, the oldest an hour old."""
    moment = now() - timedelta(hours=1)
    rows: list[dict[str, Any]] = [
        {"id": new_id(), "kind": kind, "status": status, "payload": {}, "result": {}, "run_after": moment,
         "created_at": moment, "finished_at": moment if status == "done" else None}
        for _ in range(number)
    ]  # fmt: skip
    with workspace.database.write() as session:
        session.execute(insert(Job), rows)


def add_ended_logins(workspace: Workspace, number: int) -> None:
    """Logins of a new person that were ended by hand."""
    user_id = make_user(workspace, "erik").id
    rows: list[dict[str, Any]] = [
        {"token_sha256": f"{digit:064x}", "user_id": user_id, "created_at": now(), "revoked_at": now(),
         "expires_at": now() + timedelta(days=14)}
        for digit in range(number)
    ]  # fmt: skip
    with workspace.database.write() as session:
        session.execute(insert(LoginSession), rows)


def test_jobs_are_counted_by_kind_and_state(workspace: Workspace) -> None:
    add_jobs(workspace, 3, "waiting")
    add_jobs(workspace, 2, "dead", "retrain")
    add_jobs(workspace, 5, "done")
    assert read(workspace, "jobs") == {("read", "waiting"): 3.0, ("retrain", "dead"): 2.0}
    [waited] = read(workspace, "jobs_oldest_wait_seconds").values()
    assert 3600 <= waited < 3700


def test_living_workers_logins_and_the_disk_are_shown(workspace: Workspace) -> None:
    Presence(workspace, "worker-a").show()
    cookie_of(workspace, make_user(workspace, "olga", "admin"))
    assert read(workspace, "sessions") == {("browser",): 1.0, ("token",): 0.0}
    assert read(workspace, "workers") == {(): 1.0}
    assert read(workspace, "database_up") == {(): 1.0}
    assert 0 < read(workspace, "disk_free_bytes")[()] < read(workspace, "disk_bytes")[()]


def test_ended_and_idle_logins_neither_count_nor_hide_others(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gauges, "MOST", 10)
    add_ended_logins(workspace, 20)
    cookie_of(workspace, make_user(workspace, "olga", "admin"))
    assert read(workspace, "sessions") == {("browser",): 1.0, ("token",): 0.0}
    idle = timedelta(hours=workspace.settings.session_idle_hours, minutes=1)
    with workspace.database.write() as session:
        session.execute(update(LoginSession).values(created_at=now() - idle, last_used_at=None))
    assert read(workspace, "sessions") == {("browser",): 0.0, ("token",): 0.0}


def test_a_follower_that_rests_falls_behind(workspace: Workspace) -> None:
    with workspace.database.write() as session:
        session.add(Change(project_id=None, topic="dirty", documents=["d"], created_at=now() - timedelta(minutes=5)))
    lags = read(workspace, "follower_lag_seconds")
    assert all(300 <= lag < 400 for lag in lags.values()) and ("document_figures",) in lags


def test_a_reading_is_used_again_for_some_seconds(workspace: Workspace) -> None:
    shown = InstallationGauges(workspace.settings, workspace.database)
    first = list(shown.collect())
    add_jobs(workspace, 1, "waiting")
    assert list(shown.collect()) == first


def test_a_database_that_does_not_answer_is_said_to_be_down(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> Iterator[None]:
        raise OSError("gone")
        yield

    monkeypatch.setattr(gauges, "_GAUGES", (fail,))
    assert read(workspace, "database_up") == {(): 0.0}
    assert read(workspace, "disk_bytes")


def test_connections_in_use_are_counted(workspace: Workspace) -> None:
    def in_use() -> float:
        [used, most] = [family.samples[0].value for family in PoolGauges(workspace.database).collect()]
        assert most == 40
        return used

    before = in_use()
    with workspace.database.read() as session:
        session.execute(text("SELECT 1"))
        assert in_use() == before + 1
    assert in_use() == before


def test_a_reading_stops_counting_at_its_bound(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gauges, "MOST", 10)
    add_jobs(workspace, 30, "waiting")
    assert read(workspace, "jobs") == {("read", "waiting"): 10.0}


def test_no_reading_scans_a_table_that_grows_with_the_work(workspace: Workspace) -> None:
    """SQLite's own steps do not grow with what ended well, nor with documents: it reads indexes alone."""
    if workspace.database.dialect != "sqlite":
        pytest.skip("PostgreSQL scans small tables, whatever indexes there are.")
    add_jobs(workspace, 20, "waiting")
    with workspace.database.read() as session:
        few = steps(session, workspace)
    add_jobs(workspace, 2000, "done")
    add_ended_logins(workspace, 2000)
    with workspace.database.read() as session:
        assert steps(session, workspace) < few + 20  # a scan would take 200 or more


def steps(session, workspace: Workspace) -> int:  # type: ignore[no-untyped-def]
    """Steps of SQLite's machine for one reading of all gauges."""
    counted = 0

    def step() -> int:
        nonlocal counted
        counted += 1
        return 0

    connection = session.connection().connection.driver_connection
    connection.set_progress_handler(step, 10)
    try:
        for gauge in gauges._GAUGES:
            list(gauge(session, workspace.settings))
    finally:
        connection.set_progress_handler(None, 0)
    return counted
