"""A long document opens with its first page, and is whole in the end."""

import contextlib
import threading
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from sqlalchemy import func, select
from starlette.testclient import TestClient

from db.tables import Document, DocumentGroup, Job, Task
from engine.accounts.users import ensure_local_user
from engine.documents.incoming import place_in_line, take_early
from engine.documents.ingest import ingest, limits_of
from engine.documents.lists.views import document_view
from engine.documents.refusal import DocumentRefused
from engine.errors import NotFound, TooMany
from engine.jobs.in_process_worker import InProcessWorker
from engine.projects.projects import create_project
from engine.tasks.standard_questions import replace_standard_questions
from engine.workspace import Workspace
from tests.engine.documents.test_ingest import pdf
from tests.support.half_read import content, whole

PAGES = 40


def test_a_long_document_is_there_before_it_is_whole_and_whole_in_the_end(
    workspace: Workspace, tmp_path: Path, worker: InProcessWorker
) -> None:
    project = create_project(workspace, "p")
    source = pdf(tmp_path / "long.pdf", "Invoice number", pages=PAGES)
    ended = threading.Event()
    early = take_early(
        workspace, source, name="long.pdf", project_id=project.id, user_id=None, worker=worker, done=ended.set
    )
    assert early.created and 1 <= early.pages <= PAGES
    view = document_view(workspace, early.document_id)
    assert [page.number for page in view.pages] == list(range(1, len(view.pages) + 1))
    assert view.reading in (None, PAGES)
    whole(workspace, early.document_id)
    assert ended.wait(30)
    other = create_project(workspace, "at once")
    at_once = ingest(workspace, source, name="long.pdf", project_id=other.id, user_id=None)
    assert content(workspace, early.document_id) == content(workspace, at_once.document_id)


def test_a_short_document_is_whole_when_it_is_answered(
    workspace: Workspace, tmp_path: Path, worker: InProcessWorker
) -> None:
    project = create_project(workspace, "p")
    source = pdf(tmp_path / "a.pdf", "Total 12.50")
    early = take_early(workspace, source, name="a.pdf", project_id=project.id, user_id=None, worker=worker)
    assert (early.pages, early.words) == (1, 2)
    whole(workspace, early.document_id)
    again = take_early(workspace, source, name="b.pdf", project_id=project.id, user_id=None, worker=worker)
    assert (again.document_id, again.created) == (early.document_id, False)


def test_a_file_that_cannot_be_read_is_refused_and_nothing_is_kept(
    workspace: Workspace, tmp_path: Path, worker: InProcessWorker
) -> None:
    project = create_project(workspace, "p")
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7 and then nothing")
    with pytest.raises(DocumentRefused, match="broken"):
        take_early(workspace, broken, name="broken.pdf", project_id=project.id, user_id=None, worker=worker)
    with pytest.raises(NotFound):
        take_early(
            workspace, pdf(tmp_path / "a.pdf", "Hello"), name="a.pdf", project_id="0" * 32, user_id=None, worker=worker
        )
    with workspace.database.read() as session:
        for table in (Document, DocumentGroup, Job):
            assert session.scalar(select(func.count()).select_from(table)) == 0


def test_the_same_file_twice_at_once_is_one_document(
    workspace: Workspace, tmp_path: Path, worker: InProcessWorker
) -> None:
    project = create_project(workspace, "p")
    source = pdf(tmp_path / "a.pdf", "Hello", pages=5)
    found: list[str] = []

    def take() -> None:
        early = take_early(workspace, source, name="a.pdf", project_id=project.id, user_id=None, worker=worker)
        found.append(early.document_id)

    threads = [threading.Thread(target=take) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 2 and len(set(found)) == 1
    whole(workspace, found[0])
    assert [number for number, _, _ in content(workspace, found[0])] == [1, 2, 3, 4, 5]


def test_the_standard_questions_are_asked_once_of_a_document_that_opens_early(
    workspace: Workspace, tmp_path: Path, worker: InProcessWorker
) -> None:
    project, user = create_project(workspace, "p"), ensure_local_user(workspace)
    replace_standard_questions(workspace, project.id, ["What is the number?", "Who pays?"], user.id)
    source = pdf(tmp_path / "long.pdf", "Invoice number", pages=5)
    early = take_early(workspace, source, name="long.pdf", project_id=project.id, user_id=user.id, worker=worker)
    with workspace.database.read() as session:
        assert session.scalar(select(func.count()).where(Task.document_id == early.document_id)) == 2
    whole(workspace, early.document_id)
    with workspace.database.read() as session:
        assert session.scalar(select(func.count()).where(Task.document_id == early.document_id)) == 2


def test_what_was_read_stays_when_the_rest_cannot_be(
    workspace: Workspace, tmp_path: Path, worker: InProcessWorker
) -> None:
    """Too many words come to light when the first pages are there already."""
    project = create_project(workspace, "p")
    source = pdf(tmp_path / "long.pdf", "one two three", pages=12)
    limits = replace(limits_of(workspace.settings), words=30)
    early = take_early(
        workspace, source, name="long.pdf", project_id=project.id, user_id=None, worker=worker, limits=limits
    )
    whole(workspace, early.document_id)
    view = document_view(workspace, early.document_id)
    assert len(view.pages) == 7  # of four words each
    assert view.warnings[0].startswith("Only the first 7 of 12 pages could be read: ")


def test_uploads_beyond_those_that_may_wait_are_sent_back(client: TestClient, tmp_path: Path) -> None:
    project = client.get("/api/projects").json()[0]["id"]
    body = pdf(tmp_path / "a.pdf", "Hello").read_bytes()

    def send() -> httpx2.Response:
        return client.post(f"/api/projects/{project}/documents", files=[("files", ("a.pdf", body, ""))])

    with contextlib.ExitStack() as line:
        while True:
            try:
                line.enter_context(place_in_line())
            except TooMany:
                break
        answer = send()
        assert answer.status_code == 429 and int(answer.headers["retry-after"]) > 0
        assert answer.json()["detail"].endswith("send this one again in a few seconds.")
        assert client.get("/api/projects").status_code == 200
    assert send().status_code == 200
