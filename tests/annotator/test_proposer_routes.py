"""The model of others over REST: set by admins, asked by a job of the server, its key never shown."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

from db.tables import AuditEntry
from engine.settings import Settings
from engine.workspace import Workspace
from tests.support.asked_models import make_asked_project
from tests.support.factories import bill, make_document
from tests.support.model_server import ModelServer, model_server
from tests.support.waiting import wait_until


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as serving:
        yield serving


@pytest.fixture
def application_settings(database_url: str, tmp_path: Path, server: ModelServer) -> Settings:
    return Settings(
        data_dir=tmp_path / "data",
        database_url=database_url,
        poll_seconds=0.2,
        proposer_addresses=[server.url],
        _env_file=None,
    )


def test_a_model_is_set_and_asked_and_removed(client: TestClient, workspace: Workspace, server: ModelServer) -> None:
    project = make_asked_project(workspace)
    document = make_document(workspace, project.id, [bill(1)])
    path = f"/api/projects/{project.id}/proposer"
    assert client.get(path).json()["addresses"] == [server.url]
    refused = client.put(path, json={"kind": "openai", "url": "http://10.0.0.1/v1", "model": "reader"})
    assert (refused.status_code, client.get(path).json()["proposer"]) == (422, None)
    server.values = {"total": "11.50"}
    wanted = {"kind": "openai", "url": f"{server.url}/v1/", "model": "reader", "api_key": "open-sesame"}
    stored = client.put(path, json=wanted)
    assert (stored.status_code, stored.json()["has_key"], stored.json()["number"]) == (200, True, 1)
    job = client.post(f"{path}/requests", json={"documents": [document.id]}).json()
    jobs = f"/api/projects/{project.id}/jobs"
    wait_until(lambda: [(row["id"], row["status"]) for row in client.get(jobs).json()] == [(job["id"], "done")])
    assert server.keys == ["Bearer open-sesame"]
    state = client.get(path)
    assert state.json()["models"][0]["tokens_in"] == 1000
    asked = client.post(f"/api/documents/{document.id}/ask", json={"question": "What is the total due?"}).json()
    assert asked["proposal"]["model"] == {"id": None, "label": "reader settings 1"}
    with workspace.database.read() as session:
        entries = session.scalars(select(AuditEntry).where(AuditEntry.action == "proposer.set")).all()
    assert [entry.details["changed"].split(", ")[0] for entry in entries] == ["new address"]
    assert "sesame" not in state.text + stored.text + json.dumps([entry.details for entry in entries])
    assert client.delete(path).status_code == 204
    assert client.get(path).json()["proposer"] is None
    assert client.post(f"{path}/requests", json={}).status_code == 409
