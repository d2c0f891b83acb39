"""Reading as a job: gone on with after a crash, a full disk and a signal; stopped and resumed by people."""

import contextlib
import os
import signal
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

from db.base import now
from db.tables import Job
from engine.accounts.users import ensure_local_user
from engine.documents.incoming import go_on, take, take_early
from engine.documents.ingest import limits_of
from engine.documents.lists.views import document_view
from engine.documents.reading import page_stream, read_jobs
from engine.documents.reading.reading_state import READ
from engine.jobs import queue
from engine.jobs.in_process_worker import InProcessWorker
from engine.jobs.worker import do
from engine.projects.projects import create_project
from engine.workspace import Workspace
from tests.engine.documents.test_ingest import pdf
from tests.support.half_read import content, half_read, stored, whole
from tests.support.waiting import wait_until

PAGES = 40


def test_a_document_left_half_read_is_read_on_at_the_next_start(workspace: Workspace, tmp_path: Path) -> None:
    _, _, document = stored(workspace, tmp_path)
    before = content(workspace, document)
    half_read(workspace, document, 6)
    server = InProcessWorker(workspace, {READ: read_jobs.read_further_pages}, at_once=2)
    server.start()
    whole(workspace, document)
    server.stop()
    assert content(workspace, document) == before


def test_a_reader_that_was_killed_is_followed_by_another_when_its_lease_ends(
    workspace: Workspace, tmp_path: Path
) -> None:
    _, _, document = stored(workspace, tmp_path)
    before = content(workspace, document)
    half_read(workspace, document, 6)
    killed = queue.lease(workspace, "killed", [READ], seconds=2)
    assert killed is not None
    server = InProcessWorker(workspace, {READ: read_jobs.read_further_pages}, at_once=2)
    server.start()
    whole(workspace, document)
    server.stop()
    assert content(workspace, document) == before
    with workspace.database.read() as session:
        job = session.get_one(Job, killed.id)
        assert job.status == "done" and job.attempts == 2 and job.started_at is not None
        assert job.finished_at is not None and (job.finished_at - job.started_at).total_seconds() >= 2


def test_a_half_read_file_is_not_called_whole_and_resumed_by_a_new_upload(
    workspace: Workspace, tmp_path: Path, worker: InProcessWorker
) -> None:
    source, project, document = stored(workspace, tmp_path)
    before = content(workspace, document)
    half_read(workspace, document, 6, failure="OSError: no folder")
    view = document_view(workspace, document)
    assert view.reading == 6
    assert view.warnings[0].startswith("Reading stopped before the last of 6 pages: OSError: no folder. It is tried")
    again = take_early(workspace, source, name="long.pdf", project_id=project, user_id=None, worker=worker)
    assert (again.document_id, again.created, again.whole) == (document, False, False)
    whole(workspace, document)
    assert content(workspace, document) == before and document_view(workspace, document).warnings == []
    half_read(workspace, document, 6, failure="OSError: no folder")
    again = take(workspace, source, name="long.pdf", project_id=project, user_id=None)
    assert (again.created, again.whole, again.pages) == (False, True, 6)
    assert content(workspace, document) == before


def test_a_document_that_somebody_reads_is_left_to_them(
    workspace: Workspace, tmp_path: Path, worker: InProcessWorker
) -> None:
    source, project, document = stored(workspace, tmp_path)
    half_read(workspace, document, 6)
    assert queue.lease(workspace, "another process", [READ]) is not None
    for again in (
        take(workspace, source, name="long.pdf", project_id=project, user_id=None),
        take_early(workspace, source, name="long.pdf", project_id=project, user_id=None, worker=worker),
    ):
        assert (again.whole, again.pages) == (False, 2)


def test_a_reader_that_lost_its_lease_stores_no_page_twice(workspace: Workspace, tmp_path: Path) -> None:
    """A process that was stopped for long comes back while another one reads."""
    _, _, document = stored(workspace, tmp_path)
    before = content(workspace, document)
    half_read(workspace, document, 6)
    slow = queue.lease(workspace, "slow", [READ], seconds=-1)
    fast = queue.lease(workspace, "fast", [READ])
    assert slow is not None and fast is not None
    with pytest.raises(queue.LeaseLost):
        read_jobs.read_further_pages(workspace, slow, on_progress=lambda *_: None, should_stop=lambda: None)
    assert len(content(workspace, document)) == 2
    assert (
        read_jobs.read_further_pages(workspace, fast, on_progress=lambda *_: None, should_stop=lambda: None)["pages"]
        == 6
    )
    assert content(workspace, document) == before


def test_reading_cut_off_by_the_disk_is_reported_and_resumed_by_a_new_upload(
    workspace: Workspace, tmp_path: Path, worker: InProcessWorker
) -> None:
    project = create_project(workspace, "p")
    pages = 120  # more than are read before the folder is gone
    source = pdf(tmp_path / "long.pdf", "Invoice number", pages=pages)
    early = take_early(workspace, source, name="long.pdf", project_id=project.id, user_id=None, worker=worker)
    blobs = workspace.settings.data_dir / "blobs"
    assert blobs.is_dir()
    away = blobs.rename(blobs.with_name("away"))
    blobs.write_text("no folder")  # every picture that is to be stored fails now
    wait_until(lambda: document_view(workspace, early.document_id).warnings != [])
    blobs.unlink()
    away.rename(blobs)
    view = document_view(workspace, early.document_id)
    assert len(view.pages) < pages and view.warnings[0].startswith("Reading stopped before the last of")
    again = take(workspace, source, name="long.pdf", project_id=project.id, user_id=None)
    assert (again.whole, again.pages) == (True, pages)
    assert document_view(workspace, early.document_id).warnings == []


def test_reading_can_be_stopped_and_resumed(client: TestClient, tmp_path: Path) -> None:
    project = client.get("/api/projects").json()[0]["id"]
    pages = 120  # more than are read before the stop is heard
    body = pdf(tmp_path / "long.pdf", "Invoice number", pages=pages).read_bytes()
    sent = client.post(f"/api/projects/{project}/documents?early=true", files=[("files", ("long.pdf", body, ""))])
    document = sent.json()["documents"][0]["document_id"]
    assert client.post(f"/api/documents/{document}/reading/stop").status_code == 200

    def shown() -> dict[str, Any]:
        return client.get(f"/api/documents/{document}").json()

    wait_until(lambda: shown()["reading"] is None)
    cut = shown()
    there = len(cut["pages"])
    assert cut["cut_off"] and 1 <= there < pages
    assert cut["warnings"] == [f"Only the first {there} of {pages} pages were read: reading was stopped."]
    assert client.post(f"/api/documents/{document}/reading/stop").status_code == 409
    resumed = client.post(f"/api/documents/{document}/reading/resume").json()
    assert (resumed["reading"], resumed["cut_off"], resumed["warnings"]) == (pages, False, [])
    wait_until(lambda: shown()["reading"] is None)
    assert (len(shown()["pages"]), shown()["cut_off"], shown()["warnings"]) == (pages, False, [])
    refused = client.post(f"/api/documents/{document}/reading/resume")
    assert refused.status_code == 409 and refused.json()["detail"].startswith("The reading of this document was not")


def test_a_stop_that_comes_while_nobody_reads_is_wound_up_by_the_next_server(
    workspace: Workspace, tmp_path: Path
) -> None:
    _, _, document = stored(workspace, tmp_path)
    half_read(workspace, document, 6, failure="OSError: no folder")
    read_jobs.stop(workspace, document, by=ensure_local_user(workspace).id)
    server = InProcessWorker(workspace, {READ: read_jobs.read_further_pages}, at_once=2)
    server.start()
    wait_until(lambda: document_view(workspace, document).cut_off)
    server.stop()
    view = document_view(workspace, document)
    assert len(view.pages) == 2
    assert view.warnings == ["Only the first 2 of 6 pages were read: reading was stopped."]


def test_a_stopped_document_is_read_on_when_its_file_comes_again(
    workspace: Workspace, tmp_path: Path, worker: InProcessWorker
) -> None:
    source, project, document = stored(workspace, tmp_path)
    before = content(workspace, document)
    by = ensure_local_user(workspace).id
    half_read(workspace, document, 6)
    read_jobs.stop(workspace, document, by=by)
    go_on(workspace, document, worker)
    wait_until(lambda: document_view(workspace, document).cut_off)
    assert len(content(workspace, document)) == 2
    again = take_early(workspace, source, name="long.pdf", project_id=project, user_id=by, worker=worker)
    assert (again.document_id, again.whole) == (document, False)
    wait_until(lambda: len(content(workspace, document)) == 6)
    whole(workspace, document)
    assert content(workspace, document) == before
    assert not document_view(workspace, document).cut_off


def test_a_page_that_waits_for_ocr_does_not_hold_up_those_behind_it(
    workspace: Workspace, tmp_path: Path, worker: InProcessWorker, tesseract: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_stream, "_AHEAD", 3)
    project = create_project(workspace, "p")
    printed = pymupdf.open(pdf(tmp_path / "printed.pdf", "Invoice number", pages=7))
    mixed = pymupdf.open()
    first = mixed.new_page()  # a picture, whose words come when all others are told
    first.insert_image(first.rect, pixmap=printed[0].get_pixmap(dpi=150))
    mixed.insert_pdf(printed, from_page=1)
    mixed.save(tmp_path / "mixed.pdf")
    early = take_early(
        workspace, tmp_path / "mixed.pdf", name="mixed.pdf", project_id=project.id, user_id=None, worker=worker
    )
    whole(workspace, early.document_id)
    assert [number for number, _, _ in content(workspace, early.document_id)] == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.own_readers  # found by its command
def test_a_reader_ended_by_a_signal_is_no_fault_of_the_file(
    workspace: Workspace, tmp_path: Path, worker: InProcessWorker
) -> None:
    """A service manager ends all processes of a server at once, the children that read among them."""
    project = create_project(workspace, "p")
    source = pdf(tmp_path / "long.pdf", "Invoice number", pages=120)
    early = take_early(workspace, source, name="long.pdf", project_id=project.id, user_id=None, worker=worker)
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            command = (process / "cmdline").read_bytes()
            if b"engine.documents.reading.child" in command and str(source).encode() in command:
                os.kill(int(process.name), signal.SIGTERM)
    wait_until(lambda: document_view(workspace, early.document_id).warnings != [])
    view = document_view(workspace, early.document_id)
    assert view.reading == 120 and "ended by SIGTERM" in view.warnings[0]
    again = take(workspace, source, name="long.pdf", project_id=project.id, user_id=None)
    assert (again.whole, again.pages, document_view(workspace, early.document_id).warnings) == (True, 120, [])


def test_reading_beyond_its_time_is_tried_again_and_then_cut_off(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, _, document = stored(workspace, tmp_path)
    half_read(workspace, document, 6)
    short = replace(limits_of(workspace.settings), seconds=0.01)
    monkeypatch.setattr(read_jobs, "limits_of", lambda _: short)
    for attempt in (1, 2, 3):
        with workspace.database.write() as session:
            for waiting in session.scalars(select(Job)):
                waiting.run_after = now()
        job = queue.lease(workspace, "a server", [READ])
        assert job is not None and job.attempts == attempt
        do(workspace, job, "a server", handlers={READ: read_jobs.read_further_pages}, stop=threading.Event())
        assert document_view(workspace, document).cut_off == (attempt == 3)
    assert document_view(workspace, document).warnings[0].startswith("Only the first 2 of 6 pages could be read: ")
    monkeypatch.undo()
    read_jobs.resume(workspace, document, by=None)
    job = queue.lease(workspace, "a server", [READ])
    assert job is not None
    do(workspace, job, "a server", handlers={READ: read_jobs.read_further_pages}, stop=threading.Event())
    view = document_view(workspace, document)
    assert (len(view.pages), view.cut_off, view.warnings) == (6, False, [])
