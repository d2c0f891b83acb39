"""Imports as jobs: an attempt goes on where another one ended; stopping, uploads and in-process workers."""

import io
import json
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from sqlalchemy import func, select
from starlette.testclient import TestClient

from db.tables import Annotation, Document, Job
from engine.accounts.users import ensure_local_user
from engine.errors import Refused
from engine.interchange import import_jobs, uploaded_sets
from engine.interchange.import_jobs import Step
from engine.jobs import queue
from engine.jobs.cancellation import Stopped
from engine.jobs.in_process_worker import InProcessWorker
from engine.workspace import Workspace
from tests.support.factories import make_project

PAGES = 5


@pytest.fixture
def packed(tmp_path: Path) -> bytes:
    """A zip file of pages with a word and an answer each."""
    folder = tmp_path / "set"
    folder.mkdir()
    lines = []
    for number in range(PAGES):
        Image.new("RGB", (100, 60), (255, 255, number)).save(folder / f"{number}.png")
        page = {
            "page_id": str(number), "image": f"{number}.png", "width": 100, "height": 60,
            "words": [{"text": f"w{number}", "box": [at, 10, at + 30, 20]} for at in (10, 50)],
            "questions": [{"question_id": "q", "question": "Which word?", "answers": [[0], [1]]}],
        }  # fmt: skip
        lines.append(json.dumps(page))
    (folder / "pages.jsonl").write_text("\n".join(lines) + "\n")
    return Path(shutil.make_archive(str(tmp_path / "packed"), "zip", folder)).read_bytes()


def asked(workspace: Workspace, content: bytes, name: str = "goes on") -> Job:
    sha256 = uploaded_sets.receive(workspace.settings.data_dir, io.BytesIO(content))
    by = ensure_local_user(workspace).id
    return import_jobs.request(
        workspace, make_project(workspace, name).id, sha256,
        name="set.zip", form="grounded", status="accepted", ocr=False, user_id=by,
    )  # fmt: skip


def leased(workspace: Workspace, holder: str, seconds: float = 60.0) -> Job:
    job = queue.lease(workspace, holder, [uploaded_sets.IMPORT], seconds=seconds)
    assert job is not None
    return job


def counted(workspace: Workspace, project: str | None) -> tuple[int, int]:
    with workspace.database.read() as session:
        rows = (Document, Annotation)
        return tuple(  # type: ignore[return-value]
            session.scalar(select(func.count()).select_from(one).where(one.project_id == project)) for one in rows
        )


class Killed(BaseException):
    """Stands for the end of the process."""


def killed_at(at: Step) -> Callable[[float, str], None]:
    def hear(_: float, message: str) -> None:
        if Step.parse(message) == at:
            raise Killed

    return hear


def test_an_attempt_goes_on_where_a_killed_one_ended(workspace: Workspace, packed: bytes) -> None:
    asked(workspace, packed)
    first = leased(workspace, "first", seconds=-1.0)
    with pytest.raises(Killed):
        import_jobs.run_import(
            workspace, first, on_progress=killed_at(Step("Storing", 3, PAGES)), should_stop=lambda: None
        )
    assert counted(workspace, first.project_id) == (2, 2)
    second = leased(workspace, "second")
    steps: list[Step] = []
    result = import_jobs.run_import(
        workspace, second, on_progress=lambda _, said: steps.append(Step.parse(said)), should_stop=lambda: None
    )
    found = result["imported"]
    assert (found["documents"], found["known"], found["answers"]) == (PAGES, 0, 2 * PAGES)
    assert found["lost"] == {}  # the second acceptable answer is a second value
    assert [step.done for step in steps if step.doing == "Storing"] == [2, 3, 4, 5]
    assert counted(workspace, first.project_id) == (PAGES, PAGES)


def test_a_former_holder_of_an_import_stores_nothing_more(workspace: Workspace, packed: bytes) -> None:
    asked(workspace, packed)
    first = leased(workspace, "first", seconds=-1.0)
    leased(workspace, "second")
    with pytest.raises(queue.LeaseLost):
        import_jobs.run_import(workspace, first, on_progress=lambda *_: None, should_stop=lambda: None)
    assert counted(workspace, first.project_id) == (0, 0)


def test_a_stopped_import_says_what_stays(workspace: Workspace, packed: bytes) -> None:
    asked(workspace, packed)
    job, said = leased(workspace, "first"), [""]
    with pytest.raises(Stopped) as stopped:
        import_jobs.run_import(
            workspace, job,
            on_progress=lambda _, message: said.append(message),
            should_stop=lambda: "cancel" if said[-1] == f"Storing: 3 of {PAGES}." else None,
        )  # fmt: skip
    assert stopped.value.reason == "cancel"
    assert stopped.value.sentence.startswith("Stopped. Everything stored so far is kept (documents: 2, answers: 4)")


def test_uploads_stay_as_long_as_an_import_needs_them(workspace: Workspace, packed: bytes) -> None:
    job = asked(workspace, packed)
    folder = workspace.settings.data_dir / "uploads"
    uploaded_sets.forget(workspace)
    assert [path.name for path in folder.iterdir()] == [job.payload["sha256"]]
    assert folder.stat().st_mode & 0o77 == 0
    queue.cancel(workspace, job.id)
    uploaded_sets.forget(workspace)
    assert not list(folder.iterdir())
    with pytest.raises(Refused, match="not kept any more; upload it again"):
        uploaded_sets.path_of(workspace, job.payload["sha256"])


def test_a_file_that_comes_again_stays_for_its_next_import(workspace: Workspace, packed: bytes) -> None:
    ended = asked(workspace, packed)
    queue.cancel(workspace, ended.id)
    # As a server does before it asks for the job.
    sha256 = uploaded_sets.receive(workspace.settings.data_dir, io.BytesIO(packed))
    uploaded_sets.forget(workspace)  # meanwhile another import ends
    assert sha256 == ended.payload["sha256"] and uploaded_sets.path_of(workspace, sha256).is_file()


def test_an_in_process_worker_outlives_an_error_when_it_looks_for_jobs(
    sqlite_workspace: Workspace, packed: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    look, failed = queue.is_waiting, threading.Event()

    def fails_once(*given: Any) -> bool:
        if not failed.is_set():
            failed.set()
            raise TimeoutError("QueuePool limit reached")
        return look(*given)

    monkeypatch.setattr(queue, "is_waiting", fails_once)
    worker = InProcessWorker(sqlite_workspace, {uploaded_sets.IMPORT: import_jobs.run_import}, at_once=1)
    worker.start()
    assert failed.wait(30)
    job = asked(sqlite_workspace, packed)
    until(lambda: queue.job_by_id(sqlite_workspace, job.id).status == "done")
    worker.stop()


def until(true: Callable[[], Any]) -> None:
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_an_in_process_worker_does_imports_without_a_worker_and_stops_with_its_server(
    sqlite_workspace: Workspace, packed: bytes
) -> None:
    begun, going = threading.Event(), threading.Event()

    def slow(workspace: Workspace, job: Job, **told: Any) -> dict[str, Any]:
        begun.set()
        while not told["should_stop"]():
            assert not going.wait(0.02)
        raise Stopped(told["should_stop"]())

    job = asked(sqlite_workspace, packed)
    stopping = InProcessWorker(sqlite_workspace, {uploaded_sets.IMPORT: slow}, at_once=1)
    stopping.start()
    assert begun.wait(30)
    stopping.stop()
    left = queue.job_by_id(sqlite_workspace, job.id)
    assert (left.status, left.attempts) == ("waiting", 0)
    messages: list[str | None] = []
    worker = InProcessWorker(
        sqlite_workspace, {uploaded_sets.IMPORT: import_jobs.run_import}, at_once=1, afterwards=uploaded_sets.forget
    )
    worker.listen(job.id, messages.append)
    worker.start()
    until(lambda: queue.job_by_id(sqlite_workspace, job.id).status == "done")
    until(lambda: messages[-1:] == [None])
    worker.stop()
    assert messages[0] == "Starting." and f"Storing: {PAGES} of {PAGES}." in messages
    assert not list((sqlite_workspace.settings.data_dir / "uploads").iterdir())


def test_over_rest_an_import_may_be_left_to_its_job(client: TestClient, packed: bytes) -> None:
    project = client.get("/api/projects").json()[0]["id"]
    answer = client.post(
        f"/api/projects/{project}/import?background=true", files={"file": ("set.zip", packed, "application/zip")}
    )
    assert answer.status_code == 202, answer.text
    job = answer.json()["id"]

    def now() -> dict[str, Any]:
        [found] = [one for one in client.get(f"/api/projects/{project}/jobs").json() if one["id"] == job]
        return found  # type: ignore[no-any-return]

    until(lambda: now()["status"] == "done")
    assert (now()["kind"], now()["progress"]) == ("import", 1.0)
    assert now()["message"].startswith(f"Imported {PAGES} documents and {2 * PAGES} answers.")
