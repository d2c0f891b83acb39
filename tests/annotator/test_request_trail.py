"""The id of a request, from the proxy to the log, and the answer to an error that nobody foresaw."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from annotator.app import create_app
from engine.commands.servers.serve import server_options
from engine.logs import ACCESS, JsonLines, shown_path
from engine.settings import Settings
from engine.tasks import standard_questions
from tests.support.server_thread import served

HERE = "http://127.0.0.1:7860"


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Iterator[list[dict[str, Any]]]:
    """What the JSON log says meanwhile, as a program reads it."""
    read: list[dict[str, Any]] = []

    class Reader(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            read.append(json.loads(self.format(record)))

    reader = Reader()
    reader.setFormatter(JsonLines("web-1"))
    root, access = logging.getLogger(), logging.getLogger(ACCESS)
    root.addHandler(reader)
    access.setLevel(logging.INFO)
    yield read
    root.removeHandler(reader)
    access.setLevel(logging.NOTSET)


@pytest.fixture
def app(tmp_path: Path) -> FastAPI:
    settings = Settings(data_dir=tmp_path / "data", access_log=True, _env_file=None)
    return create_app(settings, with_page=False)


def test_an_unforeseen_error_has_an_id_in_answer_header_and_log(
    app: FastAPI, lines: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("the cause")

    monkeypatch.setattr(standard_questions, "standard_questions", fail)
    with TestClient(app, base_url=HERE) as client:
        project = client.get("/api/projects").json()[0]["id"]
        answer = client.get(f"/api/projects/{project}/standard-questions")
    request_id = answer.headers["x-request-id"]
    assert answer.status_code == 500 and answer.json()["request_id"] == request_id
    assert answer.json()["detail"].endswith(f"Error id for the administrator: {request_id}.")
    assert answer.headers["x-content-type-options"] == "nosniff"
    [trail] = [line for line in lines if "exception" in line]
    path = f"/api/projects/{project}/standard-questions"
    assert trail["message"] == f"GET {path} failed (error id {request_id})"
    assert (trail["request_id"], trail["path"]) == (request_id, path)
    assert trail["route"] == "/api/projects/{project_id}/standard-questions"
    assert "RuntimeError: the cause" in trail["exception"]
    [access] = [line for line in lines if line["logger"] == ACCESS and line["path"] == path]
    assert (access["status"], access["request_id"], access["method"]) == (500, request_id, "GET")
    assert access["person_id"] and access["milliseconds"] > 0


def test_only_a_trusted_proxy_chooses_the_id_of_a_request(tmp_path: Path) -> None:
    def id_of(trusted: str, sent: dict[str, str]) -> str:
        settings = Settings(data_dir=tmp_path / "data", trusted_proxies=[trusted], _env_file=None)
        options = server_options(settings)
        with served(create_app(settings, with_page=False), **options) as address:
            return httpx.get(f"{address}/api/health/live", headers=sent).headers["x-request-id"]

    sent = {"x-request-id": "from-the-proxy.1"}
    assert id_of("127.0.0.1", {**sent, "x-forwarded-for": "203.0.113.9"}) == "from-the-proxy.1"
    assert id_of("10.0.0.1", sent) != "from-the-proxy.1"
    made = id_of("127.0.0.1", {"x-request-id": "with spaces, and\ttabs"})
    assert len(made) == 12 and made.isalnum()


def test_every_answer_has_an_id_also_a_refusal_before_the_routes(app: FastAPI) -> None:
    with TestClient(app, base_url=HERE) as client:
        answers = [
            client.get("/api/health/live"),
            client.get("/nothing"),
            client.get("/", headers={"host": "elsewhere.example"}, follow_redirects=False),
            client.post("/api/projects", content=b"{"),
            client.get("/static/icon.svg"),
        ]
    ids = [answer.headers["x-request-id"] for answer in answers]
    assert [answer.status_code for answer in answers] == [200, 404, 421, 422, 200]
    assert len(set(ids)) == len(answers)


def test_logged_paths_hold_no_invitation_and_stay_on_one_line() -> None:
    assert shown_path("/invite/secret-token") == "/invite/..."
    assert shown_path("/gloss/invite/secret-token") == "/gloss/invite/..."
    assert shown_path("/tools/gloss/invite/secret-token") == "/tools/gloss/invite/..."
    assert shown_path("/api/a\nb\x1b[31m") == "/api/a\\nb\\x1b[31m"
