"""A long document opens with its first page, and is whole in the end: also when its reading was killed."""

import contextlib
import threading
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import httpx2
import pytest
from sqlalchemy import func, select
from starlette.testclient import TestClient

from db.base import now
from db.tables import Document, DocumentGroup, Lease, Page, PageWord, Task
from engine.accounts.users import ensure_local_user
from engine.documents.arrival import Arrival
from engine.documents.incoming import place_in_line, resume, take, take_early
from engine.documents.ingest import ingest, limits_of
from engine.documents.open import read_document
from engine.documents.refusal import DocumentRefused
from engine.documents.views import document_view
from engine.errors import NotFound, TooMany
from engine.projects.projects import create_project
from engine.tasks.standard_questions import replace_standard_questions
from engine.workspace import Workspace
from tests.engine.documents.test_ingest import pdf

PAGES = 40


def whole(workspace: Workspace, document_id: str) -> None:
    """Wait until nobody reads the document any more."""
    end = time.monotonic() + 120
    while document_view(workspace, document_id).reading is not None:
        assert time.monotonic() < end
        time.sleep(0.05)


def content(workspace: Workspace, document_id: str) -> list[tuple[int, str, int]]:
    """Number, picture and words of each page."""
    with workspace.database.read() as session:
        return [
            (
                page.number,
                page.image_sha256,
                session.scalar(select(func.count()).where(PageWord.page_id == page.id)) or 0,
            )
            for page in session.scalars(select(Page).where(Page.document_id == document_id).order_by(Page.number))
        ]


def test_a_long_document_is_there_before_it_is_whole_and_whole_in_the_end(workspace: Workspace, tmp_path: Path) -> None:
    project = create_project(workspace, "p")
    source = pdf(tmp_path / "long.pdf", "Invoice number", pages=PAGES)
    ended = threading.Event()
    early = take_early(workspace, source, name="long.pdf", project_id=project.id, user_id=None, done=ended.set)
    assert early.created and 1 <= early.pages <= PAGES
    view = document_view(workspace, early.document_id)
    assert [page.number for page in view.pages] == list(range(1, len(view.pages) + 1))
    assert view.reading in (None, PAGES)
    whole(workspace, early.document_id)
    assert ended.wait(30)
    other = create_project(workspace, "at once")
    at_once = ingest(workspace, source, name="long.pdf", project_id=other.id, user_id=None)
    assert content(workspace, early.document_id) == content(workspace, at_once.document_id)


def test_a_short_document_is_whole_when_it_is_answered(workspace: Workspace, tmp_path: Path) -> None:
    project = create_project(workspace, "p")
    source = pdf(tmp_path / "a.pdf", "Total 12.50")
    early = take_early(workspace, source, name="a.pdf", project_id=project.id, user_id=None)
    assert (early.pages, early.words) == (1, 2)
    whole(workspace, early.document_id)
    again = take_early(workspace, source, name="b.pdf", project_id=project.id, user_id=None)
    assert (again.document_id, again.created) == (early.document_id, False)


def test_a_file_that_cannot_be_read_is_refused_and_nothing_is_kept(workspace: Workspace, tmp_path: Path) -> None:
    project = create_project(workspace, "p")
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7 and then nothing")
    with pytest.raises(DocumentRefused, match="broken"):
        take_early(workspace, broken, name="broken.pdf", project_id=project.id, user_id=None)
    with pytest.raises(NotFound):
        take_early(workspace, pdf(tmp_path / "a.pdf", "Hello"), name="a.pdf", project_id="0" * 32, user_id=None)
    with workspace.database.read() as session:
        for table in (Document, DocumentGroup, Lease):
            assert session.scalar(select(func.count()).select_from(table)) == 0


def test_the_same_file_twice_at_once_is_one_document(workspace: Workspace, tmp_path: Path) -> None:
    project = create_project(workspace, "p")
    source = pdf(tmp_path / "a.pdf", "Hello", pages=5)
    found: list[str] = []

    def take() -> None:
        early = take_early(workspace, source, name="a.pdf", project_id=project.id, user_id=None)
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
    workspace: Workspace, tmp_path: Path
) -> None:
    project, user = create_project(workspace, "p"), ensure_local_user(workspace)
    replace_standard_questions(workspace, project.id, ["What is the number?", "Who pays?"], user.id)
    source = pdf(tmp_path / "long.pdf", "Invoice number", pages=5)
    early = take_early(workspace, source, name="long.pdf", project_id=project.id, user_id=user.id)
    with workspace.database.read() as session:
        assert session.scalar(select(func.count()).where(Task.document_id == early.document_id)) == 2
    whole(workspace, early.document_id)
    with workspace.database.read() as session:
        assert session.scalar(select(func.count()).where(Task.document_id == early.document_id)) == 2


def test_what_was_read_stays_when_the_rest_cannot_be(workspace: Workspace, tmp_path: Path) -> None:
    """Too many words come to light when the first pages are there already."""
    project = create_project(workspace, "p")
    source = pdf(tmp_path / "long.pdf", "one two three", pages=12)
    limits = replace(limits_of(workspace.settings), words=30)
    early = take_early(workspace, source, name="long.pdf", project_id=project.id, user_id=None, limits=limits)
    whole(workspace, early.document_id)
    view = document_view(workspace, early.document_id)
    assert len(view.pages) == 7  # of four words each
    assert view.warnings[0].startswith("Only the first 7 of 12 pages could be read: ")


def test_a_document_left_half_read_is_read_on_at_the_next_start(workspace: Workspace, tmp_path: Path) -> None:
    project = create_project(workspace, "p")
    source = pdf(tmp_path / "long.pdf", "Invoice number", pages=6)
    done = ingest(workspace, source, name="long.pdf", project_id=project.id, user_id=None)
    before = content(workspace, done.document_id)
    # As a server leaves it that was killed after the second page.
    with workspace.database.write() as session:
        for page in session.scalars(select(Page).where(Page.document_id == done.document_id, Page.number > 2)):
            for word in session.scalars(select(PageWord).where(PageWord.page_id == page.id)):
                session.delete(word)
            session.flush()
            session.delete(page)
        session.add(Lease(subject=f"reading:{done.document_id}", holder="6", expires_at=now() - timedelta(seconds=1)))
    view = document_view(workspace, done.document_id)
    assert view.reading is None and view.warnings[0].startswith("Reading stopped before the last of 6 pages")
    for thread in resume(workspace):
        thread.join()
    assert document_view(workspace, done.document_id).reading is None
    assert content(workspace, done.document_id) == before
    assert resume(workspace) == []


def half_read(workspace: Workspace, document_id: str, pages: int, expires: timedelta, there: int = 2) -> None:
    """Leave a document as somebody does who stopped reading after `there` of `pages` pages."""
    with workspace.database.write() as session:
        for page in session.scalars(select(Page).where(Page.document_id == document_id, Page.number > there)):
            for word in session.scalars(select(PageWord).where(PageWord.page_id == page.id)):
                session.delete(word)
            session.flush()
            session.delete(page)
        session.add(Lease(subject=f"reading:{document_id}", holder=str(pages), expires_at=now() + expires))


def test_a_file_that_is_half_read_is_not_called_whole_and_read_on_when_it_comes_again(
    workspace: Workspace, tmp_path: Path
) -> None:
    project = create_project(workspace, "p")
    source = pdf(tmp_path / "long.pdf", "Invoice number", pages=6)
    done = take(workspace, source, name="long.pdf", project_id=project.id, user_id=None)
    before = content(workspace, done.document_id)
    half_read(workspace, done.document_id, 6, -timedelta(seconds=1))
    again = take_early(workspace, source, name="long.pdf", project_id=project.id, user_id=None)
    assert (again.document_id, again.created, again.whole) == (done.document_id, False, False)
    whole(workspace, done.document_id)
    assert content(workspace, done.document_id) == before
    half_read(workspace, done.document_id, 6, -timedelta(seconds=1))
    again = take(workspace, source, name="long.pdf", project_id=project.id, user_id=None)
    assert (again.created, again.whole, again.pages) == (False, True, 6)
    assert content(workspace, done.document_id) == before


def test_what_breaks_off_for_want_of_a_disk_is_said_and_read_on_when_the_file_comes_again(
    workspace: Workspace, tmp_path: Path
) -> None:
    project = create_project(workspace, "p")
    source = pdf(tmp_path / "long.pdf", "Invoice number", pages=PAGES)
    early = take_early(workspace, source, name="long.pdf", project_id=project.id, user_id=None)
    blobs = workspace.settings.data_dir / "blobs"
    assert blobs.is_dir()
    away = blobs.rename(blobs.with_name("away"))
    blobs.write_text("no folder")  # every picture that is to be stored fails now
    end = time.monotonic() + 60
    while document_view(workspace, early.document_id).reading is not None:
        assert time.monotonic() < end
        time.sleep(0.05)
    blobs.unlink()
    away.rename(blobs)
    view = document_view(workspace, early.document_id)
    assert len(view.pages) < PAGES and view.warnings[0].startswith("Reading stopped before the last of")
    again = take(workspace, source, name="long.pdf", project_id=project.id, user_id=None)
    assert (again.whole, again.pages) == (True, PAGES)
    assert document_view(workspace, early.document_id).warnings == []


def test_a_document_that_another_process_reads_is_left_to_it_until_its_lease_runs_out(
    workspace: Workspace, tmp_path: Path
) -> None:
    project = create_project(workspace, "p")
    source = pdf(tmp_path / "long.pdf", "Invoice number", pages=6)
    done = take(workspace, source, name="long.pdf", project_id=project.id, user_id=None)
    before = content(workspace, done.document_id)
    half_read(workspace, done.document_id, 6, timedelta(seconds=4))
    with workspace.database.read() as session:
        expires_at = session.get_one(Lease, f"reading:{done.document_id}").expires_at
    waiting = resume(workspace)
    again = take(workspace, source, name="long.pdf", project_id=project.id, user_id=None)
    with workspace.database.read() as session:
        assert session.get_one(Lease, f"reading:{done.document_id}").expires_at == expires_at
    assert (again.whole, again.pages) == (False, 2)
    for thread in waiting:
        thread.join()
    assert now() > expires_at
    assert content(workspace, done.document_id) == before


def test_two_who_read_the_same_document_both_come_to_its_end(workspace: Workspace, tmp_path: Path) -> None:
    """The lease of a process that was stopped for long runs out while it still reads."""
    project = create_project(workspace, "p")
    source = pdf(tmp_path / "long.pdf", "Invoice number", pages=6)
    done = take(workspace, source, name="long.pdf", project_id=project.id, user_id=None)
    before = content(workspace, done.document_id)
    half_read(workspace, done.document_id, 6, timedelta(seconds=60))
    slow, fast = (Arrival(workspace, source, "long.pdf", lambda: None) for _ in range(2))
    for each in (slow, fast):
        each.document_id = done.document_id
    # The slower one has counted what is there, and stores its pages after the other one has ended.
    slow.pages = 2
    fast.run()
    read = read_document(source, name="long.pdf", limits=slow.limits, out_dir=tmp_path / "slow", on_read=slow._hear)
    slow._write(read.warnings)
    assert (fast.whole, slow.whole, slow.pages) == (True, True, 6)
    assert content(workspace, done.document_id) == before


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
