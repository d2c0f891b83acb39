"""Pages that OCR did not read: tried again by a job, tasks wait for them, and warnings end with their cause."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from sqlalchemy import select, update

from db.base import now
from db.tables import AuditEntry, Document, Job, Page
from engine.accounts.users import ensure_local_user
from engine.annotation.words import page_words
from engine.documents.ingest import ingest, limits_of
from engine.documents.ocr.unread import engine_failed, out_of_time, promise_another, unknown_script, without_page
from engine.documents.reading.reading_state import READ_AGAIN
from engine.jobs import queue
from engine.jobs.failure_message import AttemptFailed
from engine.read_again import jobs as read_again
from engine.tasks.queue.next_task import next_task
from engine.tasks.standard_questions import replace_standard_questions
from engine.workspace import Workspace
from tests.support import made_documents as made
from tests.support.factories import make_project

FAILING = '#!/bin/sh\n[ "$1" = --list-langs ] && printf "List\\neng\\n" && exit 0\nexit 1\n'


@dataclass(frozen=True)
class Unread:
    """A scan on which the OCR engine failed."""

    project_id: str
    document_id: str
    page_id: str
    user_id: str


@pytest.fixture
def unread(workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Unread:
    program = tmp_path / "bin" / "tesseract"
    program.parent.mkdir()
    program.write_text(FAILING)
    program.chmod(0o755)
    user = ensure_local_user(workspace)
    project = make_project(workspace)
    replace_standard_questions(workspace, project.id, ["What is the total?"], user.id)
    source = made.image_file(tmp_path / "letter.png")
    with monkeypatch.context() as failing:
        failing.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
        failing.setattr(
            "engine.documents.ingest.limits_of",
            lambda settings: replace(limits_of(settings), ocr="tesseract", confinement="off"),
        )
        stored = ingest(workspace, source, name="letter.png", project_id=project.id, user_id=user.id)
    assert stored.words == 0
    with workspace.database.read() as session:
        page_id = session.scalars(select(Page.id).where(Page.document_id == stored.document_id)).one()
    return Unread(project.id, stored.document_id, page_id, user.id)


def lease_now(workspace: Workspace) -> Job:
    """Return the job that waits for its time, as if that had come."""
    assert queue.lease(workspace, "early", [READ_AGAIN]) is None
    with workspace.database.write() as session:
        session.execute(update(Job).where(Job.kind == READ_AGAIN).values(run_after=now()))
    job = queue.lease(workspace, "test", [READ_AGAIN])
    assert job is not None
    return job


def read_now(workspace: Workspace, job: Job) -> None:
    result = read_again.read_job_pages(workspace, job, on_progress=lambda *_: None, should_stop=lambda: None)
    queue.finish(workspace, job.id, "test", result)


def warnings_of(workspace: Workspace, unread: Unread) -> str:
    with workspace.database.read() as session:
        return session.get_one(Document, unread.document_id).warnings


def test_a_page_that_ocr_failed_on_is_read_by_a_job_and_its_tasks_wait(workspace: Workspace, unread: Unread) -> None:
    assert "failed on page 1. That is tried again by itself" in warnings_of(workspace, unread)
    waiting = next_task(workspace, unread.project_id, unread.user_id)
    assert waiting.task is None and "wait until OCR has read their pages" in str(waiting.reason)
    read_now(workspace, lease_now(workspace))
    assert list(page_words(workspace, unread.page_id).texts) == made.WORDS
    assert warnings_of(workspace, unread) == ""
    task = next_task(workspace, unread.project_id, unread.user_id).task
    assert task is not None and task.document_id == unread.document_id
    with workspace.database.read() as session:
        entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "words.read_again")).one()
        assert entry.actor_id is None  # nobody asked for it


def test_tasks_come_without_words_when_every_attempt_failed(
    workspace: Workspace, unread: Unread, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    job = lease_now(workspace)
    monkeypatch.setenv("PATH", str(tmp_path / "bin") + ":/usr/bin:/bin")
    limits = replace(limits_of(workspace.settings), ocr="tesseract", confinement="off")
    monkeypatch.setattr("engine.read_again.page_words.limits_of", lambda _: limits)
    with pytest.raises(AttemptFailed, match="Page 1 keeps its words"):
        read_again.read_job_pages(workspace, job, on_progress=lambda *_: None, should_stop=lambda: None)
    assert queue.fail(workspace, job.id, "test", "failed") == "waiting"
    assert next_task(workspace, unread.project_id, unread.user_id).task is None
    with workspace.database.write() as session:
        session.execute(update(Job).values(attempts=Job.max_attempts, run_after=now()))
    assert queue.lease(workspace, "test", [READ_AGAIN]) is None  # given up
    assert next_task(workspace, unread.project_id, unread.user_id).task is not None


def test_a_person_need_not_wait_for_the_job(workspace: Workspace, unread: Unread) -> None:
    job = read_again.ask(workspace, unread.document_id, unread.user_id)
    leased = queue.lease(workspace, "test", [READ_AGAIN])
    assert leased is not None and (leased.id, leased.created_by) == (job.id, unread.user_id)
    read_now(workspace, leased)
    assert warnings_of(workspace, unread) == ""


def test_a_warning_ends_with_its_last_page() -> None:
    other = "The file was damaged and has been repaired: compare its pages with the original."
    late = out_of_time([1, 3], 10)
    warnings = [other, *promise_another([late]), engine_failed([2]), unknown_script("Han", [4], "eng")]
    warnings = without_page(warnings, 3, last=False)
    assert warnings[1].startswith("The time for OCR ran out (10 s a page) before page 1. That is tried again")
    for number in (1, 2, 4):
        warnings = without_page(warnings, number, last=False)
    assert warnings == [other]


def test_a_warning_counts_the_pages_that_it_does_not_name() -> None:
    (warning,) = without_page([engine_failed(range(1, 24))], 5, last=False)
    assert warning.endswith("18, 19, 20 and 3 more.") and " 5," not in warning
    (warning,) = without_page([engine_failed(range(1, 24))], 23, last=False)
    assert warning.endswith("18, 19, 20 and 2 more.")
