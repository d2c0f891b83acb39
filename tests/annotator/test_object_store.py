"""A server whose files are in an object store: it serves them, and says so where the store does not answer."""

import hashlib
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from starlette.testclient import TestClient
from typer.testing import CliRunner

from annotator import health_checks
from annotator.app import create_app
from db.blobs import key_of
from db.tables import Document
from engine.cli import app
from engine.settings import Settings
from engine.storage import object_store
from tests.engine.documents.test_ingest import pdf
from tests.support.accounts import ADDRESS, here

READY = "/api/health/ready"


@pytest.fixture
def bucket(tmp_path: Path) -> Path:
    """The folder of an object store."""
    return tmp_path / "bucket"


@pytest.fixture
def client(tmp_path: Path, bucket: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.setattr(health_checks, "REUSED_SECONDS", 0.0)
    monkeypatch.setattr(object_store, "PATIENCE_SECONDS", 0.0)
    settings = Settings(data_dir=tmp_path / "data", blobs=f"file://{bucket}", _env_file=None)
    with TestClient(create_app(settings, with_page=False), base_url=ADDRESS) as client:
        yield client


def upload(client: TestClient, source: Path) -> tuple[int, dict[str, Any]]:
    project = client.get("/api/projects").json()[0]["id"]
    files = {"files": (source.name, source.read_bytes())}
    answer = client.post(f"/api/projects/{project}/documents", files=files)
    return answer.status_code, answer.json()


def test_a_page_is_served_from_the_object_store(client: TestClient, tmp_path: Path, bucket: Path) -> None:
    status, document = upload(client, pdf(tmp_path / "bill.pdf", "Invoice number 77"))
    assert status == 200
    pages = client.get(f"/api/documents/{document['documents'][0]['document_id']}").json()["pages"]
    blobs = here(client).blobs
    assert not (tmp_path / "data" / "blobs").exists()
    assert {path.name for path in bucket.glob("??/*")} == {line.sha256 for line in blobs.list_blobs()}
    shutil.rmtree(blobs.folder)
    blobs.folder.mkdir()
    image = client.get(f"/api/pages/{pages[0]['id']}/image")
    assert image.status_code == 200
    sha256 = hashlib.sha256(image.content).hexdigest()
    assert (bucket / key_of(sha256)).read_bytes() == image.content


def test_a_store_that_does_not_answer_is_told_and_nothing_is_acknowledged(
    client: TestClient, tmp_path: Path, bucket: Path
) -> None:
    assert client.get(READY).json()["blobs"] == {
        "ok": True,
        "warning": False,
        "sentence": "The object store of the files answers.",
    } | {"details": f"file://{bucket}"}
    bucket.rename(tmp_path / "away")
    bucket.write_text("a file where the store was")
    told = client.get(READY)
    assert told.status_code == 503
    assert told.json()["blobs"]["sentence"] == "The object store of the files does not answer."
    source = pdf(tmp_path / "bill.pdf", "Invoice number 77")
    status, answer = upload(client, source)
    assert status == 503 and answer["detail"].startswith("The server's file store does not answer; nothing was saved.")
    assert str(bucket) not in answer["detail"]
    with here(client).database.read() as session:
        assert session.scalar(select(func.count(Document.id))) == 0
    bucket.unlink()
    (tmp_path / "away").rename(bucket)
    assert client.get(READY).json()["blobs"]["ok"]
    assert upload(client, source)[0] == 200


def test_a_command_ends_with_a_sentence_where_the_store_does_not_answer(
    tmp_path: Path, bucket: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_store, "PATIENCE_SECONDS", 0.0)
    bucket.write_text("a file where the store was")
    names = {"GLOSSATOR_DATA_DIR": str(tmp_path / "data"), "GLOSSATOR_BLOBS": f"file://{bucket}"}
    ended = CliRunner().invoke(app, ["ingest", str(pdf(tmp_path / "bill.pdf", "Total"))], env=names)
    assert ended.exit_code == 1 and "does not answer" in ended.output.replace("\n", " ")
    names["GLOSSATOR_BLOBS"] = f"nowhere://{uuid.uuid4().hex}"
    ended = CliRunner().invoke(app, ["status"], env=names)
    assert ended.exit_code == 1 and "no address of an object store" in ended.output.replace("\n", " ")
