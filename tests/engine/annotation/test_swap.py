"""A promoted model answers without a restart; one that cannot be loaded never does."""

import itertools
import time
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from starlette.testclient import TestClient

from db.tables import ModelVersion
from engine.workspace import Workspace
from model import checkpoint
from model.inference import SHIPPED

_serial = itertools.count(1)


@pytest.fixture
def workspace(client: TestClient) -> Workspace:
    return client.app.state.answer_service.workspace  # type: ignore[attr-defined]


@pytest.fixture
def document(client: TestClient) -> dict[str, Any]:
    project = client.get("/api/projects").json()[0]["id"]
    paper = pymupdf.open()
    paper.new_page().insert_text((72, 72), "Total due: 12.50")
    files = [("files", ("a.pdf", paper.tobytes(), "application/pdf"))]
    taken = client.post(f"/api/projects/{project}/documents", files=files).json()["documents"][0]
    return {"id": taken["document_id"], "project_id": project}


def register(workspace: Workspace, project_id: str, path: Path) -> str:
    with workspace.database.write() as session:
        version = ModelVersion(
            project_id=project_id,
            number=next(_serial),
            checkpoint_sha256=workspace.blobs.put_file(path),
            code_version="test",
        )
        session.add(version)
        session.flush()
        return version.id


def answered_by(client: TestClient, document: dict[str, Any]) -> dict[str, Any]:
    question = f"Question {next(_serial)}: what is the total due?"
    answer = client.post(f"/api/documents/{document['id']}/ask", json={"question": question})
    assert answer.status_code == 200, answer.text
    model: dict[str, Any] = answer.json()["proposal"]["model"]
    return model


def wait_for(client: TestClient, document: dict[str, Any], version_id: str) -> None:
    latest = time.monotonic() + 60
    while answered_by(client, document)["id"] != version_id:
        assert time.monotonic() < latest, "the application did not follow the promotion"
        time.sleep(0.2)


def promote(client: TestClient, document: dict[str, Any], version_id: str) -> Any:
    url = f"/api/projects/{document['project_id']}/models/{version_id}/promote"
    return client.post(url, json={"force": True, "reason": "a test"})


def test_a_promoted_model_answers_and_a_rollback_brings_the_old_one_back(
    client: TestClient, workspace: Workspace, document: dict[str, Any], tmp_path: Path
) -> None:
    before = answered_by(client, document)
    assert before["label"] == "nano"
    shipped = checkpoint.load(SHIPPED)
    changed = {name: tensor * 1.01 for name, tensor in shipped.state.items()}
    checkpoint.save(tmp_path / "new.safetensors", changed, shipped.config)
    version = register(workspace, document["project_id"], tmp_path / "new.safetensors")
    assert (
        client.post(f"/api/projects/{document['project_id']}/models/{version}/promote", json={}).status_code == 422
    ), "past a missing verdict only with force"
    assert promote(client, document, version).status_code == 200
    wait_for(client, document, version)
    back = client.post(f"/api/projects/{document['project_id']}/rollback", json={})
    assert back.status_code == 200, back.text
    wait_for(client, document, before["id"])


def test_a_model_that_cannot_be_loaded_never_answers(
    client: TestClient, workspace: Workspace, document: dict[str, Any], tmp_path: Path
) -> None:
    before = answered_by(client, document)
    content = bytearray(SHIPPED.read_bytes())
    content[-1000] ^= 0xFF
    (tmp_path / "damaged.safetensors").write_bytes(bytes(content))
    version = register(workspace, document["project_id"], tmp_path / "damaged.safetensors")
    assert promote(client, document, version).status_code == 200
    time.sleep(2)  # ten looks of the thread that follows promotions
    assert answered_by(client, document) == before
