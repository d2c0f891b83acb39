"""Costly uploads: many files in one request, files of no known kind, and clients that have gone."""

import http.client
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from fastapi import Request
from starlette.testclient import TestClient

from annotator.app import create_app
from annotator.routes import documents
from annotator.work_queues import end_unless_gone
from engine.client import Glossator, ServerSaid
from engine.documents.incoming import take
from engine.documents.reading import open as opening
from engine.documents.reading.subprocess_guard import run_guarded
from engine.settings import Settings
from tests.annotator.test_work_queues import until
from tests.engine.documents.test_ingest import pdf
from tests.support.server_thread import served


@pytest.fixture
def app(tmp_path: Path) -> Any:
    return create_app(Settings(data_dir=tmp_path / "data", _env_file=None), with_page=False)


@pytest.fixture
def local(app: Any) -> Iterator[TestClient]:
    with TestClient(app, base_url="http://127.0.0.1:7860") as client:
        yield client


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """An entry for each child process that is started to read a file."""
    children: list[object] = []
    really = run_guarded

    def counted(command: Any, **named: Any) -> Any:
        children.append(command)
        return really(command, **named)

    monkeypatch.setattr(opening, "run_guarded", counted)
    return children


def post(client: TestClient, files: list[tuple[str, bytes]]) -> httpx2.Response:
    project = client.get("/api/projects").json()[0]["id"]
    sent = [("files", (name, content, "")) for name, content in files]
    return client.post(f"/api/projects/{project}/documents", files=sent)


def test_more_files_than_a_request_may_hold_are_refused(local: TestClient, started: list[object]) -> None:
    answer = post(local, [(f"{number}.pdf", b"x") for number in range(51)])
    assert answer.status_code == 422 and started == []
    assert answer.json()["detail"] == "The request has 51 files; 50 are allowed. Send them in several requests."
    fifty = post(local, [(f"{number}.pdf", b"x") for number in range(50)])
    assert fifty.status_code == 422 and len(fifty.json()["refused"]) == 50


def test_a_file_of_no_known_kind_starts_no_process(local: TestClient, started: list[object], tmp_path: Path) -> None:
    files = [("a.pdf", b"x"), ("b.pdf", b""), ("c.pdf", b"PK\x03\x04word/"), ("d.pdf", bytes(100))]
    answer = post(local, files)
    assert answer.status_code == 422 and started == []
    said = [refused["sentence"] for refused in answer.json()["refused"]]
    assert said[0].startswith('"a.pdf" is a text file, which cannot be read;') and '"b.pdf" is empty' in said[1]
    assert "is a Word document" in said[2] and '"d.pdf" is damaged' in said[3]
    assert post(local, [("a.pdf", pdf(tmp_path / "a.pdf", "Hello").read_bytes())]).status_code == 200
    assert len(started) == 1


def test_quotes_and_line_ends_in_the_name_of_an_upload_are_shown(local: TestClient, tmp_path: Path) -> None:
    content = pdf(tmp_path / "a.pdf", "Hello").read_bytes()
    answer = post(local, [('the "final"\ndraft 100%.pdf', content)])
    assert [document["name"] for document in answer.json()["documents"]] == ['the "final" draft 100%.pdf']


def test_files_behind_the_one_at_hand_are_not_read_for_a_client_that_went(
    app: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    left: list[threading.Event] = []
    taken: list[str] = []
    wait, really_take = end_unless_gone, take

    async def watched(outcome: Any, request: Request, gone: threading.Event) -> Any:
        left.append(gone)
        return await wait(outcome, request, gone)

    def take_and_go(*given: Any, name: str, **more: Any) -> Any:
        taken.append(name)
        connection.close()
        until(lambda: left and left[0].is_set())
        return really_take(*given, name=name, **more)

    monkeypatch.setattr(documents, "end_unless_gone", watched)
    monkeypatch.setattr(documents, "take", take_and_go)
    sent = [("files", (f"{n}.pdf", pdf(tmp_path / f"{n}.pdf", f"Number {n}").read_bytes())) for n in range(4)]
    with served(app) as address:
        project = httpx.get(f"{address}/api/projects").json()[0]["id"]
        path = f"/api/projects/{project}/documents"
        body = httpx.Request("POST", address + path, files=sent)
        connection = http.client.HTTPConnection(address.removeprefix("http://"))
        connection.request("POST", path, body.read(), dict(body.headers))
        until(lambda: len(httpx.get(address + path).json()) == 1)
        until(lambda: documents.UPLOADS._taken == {})
        assert taken == ["0.pdf"]
        assert [document["name"] for document in httpx.get(address + path).json()] == ["0.pdf"]


def test_the_client_sends_many_files_in_several_requests(app: Any, tmp_path: Path) -> None:
    nothing = [tmp_path / f"{number}.pdf" for number in range(51)]
    for path in nothing:
        path.write_bytes(b"x")
    read = pdf(tmp_path / "read.pdf", "Hello")
    with served(app) as address, Glossator(address) as glossator:
        project = glossator.projects()[0].id
        for paths in ([*nothing, read], [read, *nothing]):
            uploaded = glossator.upload(project, *paths)
            assert [document.name for document in uploaded.documents] == ["read.pdf"]
            assert len(uploaded.refused) == 51
        with pytest.raises(ServerSaid, match="is a text file"):
            glossator.upload(project, *nothing)
