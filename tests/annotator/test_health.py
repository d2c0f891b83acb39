"""Whether people can work: told truly, part by part, to whatever watches over a server."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

from annotator import health_checks
from annotator.app import create_app
from db.base import now
from db.blobs import BlobFolder
from db.tables import Lease
from engine.annotation.predictors import Predictors
from engine.commands.servers.background import run_worker
from engine.jobs.chores import Polls
from engine.jobs.presence import Presence
from engine.lifecycle import health
from engine.settings import Settings
from engine.workspace import Workspace
from tests.support.accounts import here, make_user, somebody

READY, LIVE, OLD = "/api/health/ready", "/api/health/live", "/api/health"


@pytest.fixture(autouse=True)
def _asked_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health_checks, "REUSED_SECONDS", 0.0)


@pytest.fixture
def on_file(tmp_path: Path) -> Any:
    """A client of an application on a SQLite file."""
    settings = Settings(data_dir=tmp_path / "data", _env_file=None)
    with TestClient(create_app(settings, with_page=False), base_url="http://127.0.0.1:7860") as client:
        yield client


def failing(client: TestClient) -> dict[str, str]:
    """The parts that are not well, as the check names them, once all three checks agree on what that means."""
    ready, old = client.get(READY), client.get(OLD)
    told = ready.json()
    parts = {name: told[name] for name in health.PARTS}
    bad = {name: part["sentence"] for name, part in parts.items() if not part["ok"]}
    needed = {name: sentence for name, sentence in bad.items() if name in health.NEEDED}
    assert ready.status_code == old.status_code == (503 if needed else 200)
    assert told["status"] == old.json()["status"] == ("unready" if needed else "ok")
    assert all(sentence in told["detail"] and sentence in old.json()["detail"] for sentence in needed.values())
    assert client.get(LIVE).json() == {"status": "ok"} and client.get(LIVE).status_code == 200
    return bad


def test_a_server_that_is_well_says_so_part_by_part(client: TestClient) -> None:
    told = client.get(READY).json()
    assert {name for name in health.PARTS if told[name]["ok"]} == {"database", "blobs", "disk", "figures", "networks"}
    assert all(told[name]["sentence"].endswith(".") for name in health.PARTS)
    old = client.get(OLD)
    assert old.status_code == 200 and set(old.json()) >= {"status", "version"} and old.json()["status"] == "ok"


def test_a_database_file_that_is_gone_is_told_until_it_is_back(on_file: TestClient, tmp_path: Path) -> None:
    file = tmp_path / "data" / "glossator.db"
    assert "database" not in failing(on_file)
    file.rename(tmp_path / "away.db")
    assert failing(on_file)["database"] == "The database does not respond."
    assert not file.exists(), "asking made an empty database"
    (tmp_path / "away.db").rename(file)
    assert "database" not in failing(on_file)


def test_a_database_file_that_is_none_is_told(on_file: TestClient, tmp_path: Path) -> None:
    file = tmp_path / "data" / "glossator.db"
    here(on_file).close()
    file.write_bytes(b"no database at all" * 1000)
    for suffix in ("-wal", "-shm"):  # a worker may have connected meanwhile; the pages of before are read from its log
        file.with_name(file.name + suffix).unlink(missing_ok=True)
    assert set(failing(on_file)) >= {"database"}


def test_a_folder_of_files_that_is_gone_is_told_until_it_is_back(on_file: TestClient, tmp_path: Path) -> None:
    folder = tmp_path / "data" / "blobs"
    folder.rename(tmp_path / "away")
    assert set(failing(on_file)) >= {"blobs"}
    folder.write_text("a file where the folder was")
    assert set(failing(on_file)) >= {"blobs"}
    folder.unlink()
    shutil.move(tmp_path / "away", folder)
    assert "blobs" not in failing(on_file)
    assert not list(folder.glob(".new-*")), "what was written to try it is still there"


@pytest.mark.skipif(not Path("/sys/kernel").is_dir(), reason="Linux has folders in which even root writes nothing")
def test_a_folder_that_can_only_be_read_is_told(sqlite_workspace: Workspace) -> None:
    shut = Workspace(sqlite_workspace.settings, sqlite_workspace.database, BlobFolder(Path("/sys/kernel")))
    found: dict[str, health.Part] = {}
    health.Look(shut, Predictors(shut)).all(found.__setitem__)
    assert not found["blobs"].ok and found["database"].ok and not health_checks.is_ready(found)


def test_a_disk_that_is_almost_full_is_a_warning_and_people_can_work(tmp_path: Path) -> None:
    free_gb = shutil.disk_usage(tmp_path).free / 1e9
    settings = Settings(data_dir=tmp_path / "data", disk_warning_gb=2 * free_gb, _env_file=None)
    with TestClient(create_app(settings, with_page=False), base_url="http://127.0.0.1:7860") as client:
        assert "disk" not in failing(client)
        disk = client.get(READY).json()["disk"]
    assert disk["warning"] is True
    assert "almost full" in disk["sentence"]
    assert disk["details"].endswith("MB free.")


def test_a_disk_without_room_is_told(on_file: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "LEAST_FREE_BYTES", 1 << 62)
    assert failing(on_file)["disk"] == "The disk is full."


def test_a_worker_is_seen_while_it_works_and_while_it_waits(client: TestClient) -> None:
    shop = here(client)
    assert "worker" in failing(client)
    with Polls(shop, "a worker") as polls:
        polls.start()
        eventually(lambda: "worker" not in failing(client))
    assert failing(client)["worker"].startswith("No worker has been seen: ")
    run_worker(shop, once=True)
    with shop.database.read() as session:
        left = session.scalars(select(Lease.subject).where(Lease.subject.startswith("worker"))).all()
        assert left == [], "a worker that ended left its sign behind"


def test_a_worker_that_died_is_told_since_when(client: TestClient) -> None:
    shop = here(client)
    Presence(shop, "dead").show()
    assert "worker" not in failing(client)
    with shop.database.write() as session:
        session.get_one(Lease, "worker:dead").expires_at = now()
        died = session.get_one(Lease, "worker:dead").heartbeat_at
    assert f"since {died:%Y-%m-%d %H:%M:%S} UTC" in failing(client)["worker"]
    another = Presence(shop, "another")
    another.show()
    assert "worker" not in failing(client)
    with shop.database.read() as session:
        assert session.get(Lease, "worker:dead") is None
    another.leave()


def test_a_sign_of_life_is_written_now_and_then_alone(sqlite_workspace: Workspace) -> None:
    one = Presence(sqlite_workspace, "one")
    one.show()
    with sqlite_workspace.database.write() as session:
        session.delete(session.get_one(Lease, "worker:one"))
    for _ in range(50):
        one.show()
    with sqlite_workspace.database.read() as session:
        assert session.get(Lease, "worker:one") is None


def test_only_admins_are_told_details(app_client: TestClient) -> None:
    shop = here(app_client)
    people = {
        "stranger": somebody(app_client, shop),
        "annotator": somebody(app_client, shop, make_user(shop, "anna")),
        "admin": somebody(app_client, shop, make_user(shop, "olga", "admin")),
    }
    told = {who: person.get(READY) for who, person in people.items()}
    assert all("details" in told["admin"].json()[name] for name in ("database", "blobs", "disk"))
    for who in ("stranger", "annotator"):
        assert told[who].status_code == 200 and "details" not in told[who].text
        assert str(shop.settings.data_dir) not in told[who].text and "postgresql" not in told[who].text
        assert people[who].get(OLD).json().keys() >= {"status", "version"}
        assert people[who].get(LIVE).json() == {"status": "ok"}


def test_an_outage_tells_strangers_no_address(app_client: TestClient) -> None:
    shop = here(app_client)
    folder = shop.blobs.folder
    folder.rename(folder.with_name("away"))
    answer = somebody(app_client, shop).get(READY)
    assert answer.status_code == 503 and str(folder) not in answer.text


def eventually(happens: Callable[[], bool], seconds: float = 30) -> None:
    latest = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < latest, "it did not happen in time"
        time.sleep(0.02)
