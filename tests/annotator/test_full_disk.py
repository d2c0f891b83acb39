"""A disk without room: what runs says so and goes on, and what was stopped starts again."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError
from starlette.testclient import TestClient
from typer.testing import CliRunner

from annotator.app import create_app
from db.blobs import BlobFolder, sha256_of
from engine import emergency_space
from engine.cli import app
from engine.errors import Refused
from engine.settings import Settings
from engine.workspace import open_workspace
from tests.engine.documents.test_ingest import pdf
from tests.support.accounts import ADDRESS
from tests.support.small_disk import small_filesystem

Fill = Callable[[], Callable[[], None]]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[tuple[Settings, Fill]]:
    with small_filesystem(tmp_path / "disk", megabytes=320) as fill:
        yield Settings(data_dir=tmp_path / "disk" / "data", _env_file=None), fill


def client_of(settings: Settings) -> TestClient:
    return TestClient(create_app(settings, with_page=False), base_url=ADDRESS)


def new_project(client: TestClient, name: str) -> Any:
    return client.post("/api/projects", json={"name": name, "description": "x" * 9000})


def test_a_write_on_a_full_disk_is_refused_in_a_sentence(disk: tuple[Settings, Fill]) -> None:
    settings, fill = disk
    with client_of(settings) as client:
        make_room = fill()
        answers = [new_project(client, f"project {number}") for number in range(40)]
        kept = {f"project {number}" for number, answer in enumerate(answers) if answer.status_code == 201}
        refused = [answer for answer in answers if answer.status_code != 201]
        assert refused and {answer.status_code for answer in refused} == {507}
        assert all("server's disk is full" in answer.json()["detail"] for answer in refused)
        assert all("retry-after" in answer.headers for answer in refused)
        assert {each["name"] for each in client.get("/api/projects").json()} == kept | {"default"}
        make_room()
        assert new_project(client, "with room").status_code == 201


def test_an_upload_on_a_full_disk_is_refused_in_a_sentence(disk: tuple[Settings, Fill], tmp_path: Path) -> None:
    settings, fill = disk
    source = pdf(tmp_path / "bill.pdf", "Invoice number")
    with client_of(settings) as client:
        project = client.get("/api/projects").json()[0]["id"]
        make_room = fill()
        answer = client.post(f"/api/projects/{project}/documents", files={"files": ("bill.pdf", source.read_bytes())})
        assert answer.status_code in (422, 507) and "disk" in answer.json()["detail"]
        make_room()
        answer = client.post(f"/api/projects/{project}/documents", files={"files": ("bill.pdf", source.read_bytes())})
        assert answer.status_code == 200 and answer.json()["documents"]


def test_a_server_stopped_on_a_full_disk_starts_again(disk: tuple[Settings, Fill]) -> None:
    settings, fill = disk
    with client_of(settings) as client:
        assert new_project(client, "before").status_code == 201
    assert not (settings.data_dir / "glossator.db-wal").exists(), "a clean stop leaves nothing beside the database"
    fill()
    with client_of(settings) as client:
        assert "before" in {each["name"] for each in client.get("/api/projects").json()}
    assert not (settings.data_dir / emergency_space.NAME).exists()


def test_a_command_on_a_full_disk_begins_all_the_same(
    disk: tuple[Settings, Fill], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, fill = disk
    open_workspace(settings).close()
    fill()
    monkeypatch.setenv("GLOSSATOR_DATA_DIR", str(settings.data_dir))
    said = CliRunner().invoke(app, ["projects", "list", "--json"])
    assert said.exit_code == 0, said.output
    assert not (settings.data_dir / emergency_space.NAME).exists()


def test_without_a_reserve_the_command_line_says_what_to_do(disk: tuple[Settings, Fill]) -> None:
    settings, fill = disk
    open_workspace(settings).close()
    emergency_space.release(settings.data_dir)
    make_room = fill()
    with pytest.raises(Refused, match="is full, so the database cannot be opened"):
        open_workspace(settings)
    make_room()
    open_workspace(settings).close()
    assert (settings.data_dir / emergency_space.NAME).stat().st_size == emergency_space.BYTES


def test_a_database_that_is_broken_is_not_called_a_full_disk(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data", database_url=f"sqlite:///{tmp_path}", _env_file=None)
    with pytest.raises(OperationalError):
        open_workspace(settings)


def test_a_file_that_is_stored_already_needs_no_room(disk: tuple[Settings, Fill], tmp_path: Path) -> None:
    settings, fill = disk
    source = tmp_path / "model.safetensors"
    source.write_bytes(b"weights" * 1_000_000)
    blobs = BlobFolder(settings.data_dir / "blobs")
    stored = blobs.put_file(source)
    fill()
    assert blobs.put_file(source) == stored == sha256_of(source)
    with pytest.raises(OSError, match="No space left"):
        blobs.put(b"something new" * 10_000)
