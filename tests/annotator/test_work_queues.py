"""Queues for imports and exports: two at work, some waiting, the others told to come back.

Everybody else is answered meanwhile.
"""

import http.client
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from annotator.app import create_app
from annotator.in_process_workers import InProcessWorkers
from annotator.routes.documents import UPLOADS
from annotator.routes.exports import EXPORTS
from annotator.routes.imports import IMPORTS
from annotator.work_queues import REPORTS, WorkQueue
from db.base import now
from engine.interchange.exports import export
from engine.jobs import job_list, queue
from engine.projects.projects import DEFAULT_NAME, project_named
from engine.settings import Settings
from engine.workspace import Workspace
from tests.engine.documents.test_ingest import pdf
from tests.support.accounts import cookie_of, make_user
from tests.support.factories import accept, line, make_document
from tests.support.server_thread import served

ALL = 45  # at once: more than there are threads that answer requests
BODY = 20_000_000  # bytes that are declared and never sent
HEAD = {"content-type": "multipart/form-data; boundary=b", "content-length": str(BODY)}


def taken(line: WorkQueue, everything: bool = False) -> AbstractContextManager[Callable[[], None]]:
    """Take the room for work in a line, or every place in it; yields what gives it back."""
    return held(line.places if everything else line.room)


@contextmanager
def waiting(workspace: Workspace, kind: str, project: str, count: int) -> Iterator[None]:
    """Jobs that wait until tomorrow, and take places meanwhile."""
    tomorrow = now() + timedelta(days=1)
    jobs = [queue.enqueue(workspace, kind, project, {"user_id": ""}, run_after=tomorrow).id for _ in range(count)]
    yield
    for job in jobs:
        queue.cancel(workspace, job)


@contextmanager
def held(semaphore: threading.BoundedSemaphore) -> Iterator[Callable[[], None]]:
    """Take all of a semaphore; yields what gives it back."""
    held = 0
    while semaphore.acquire(timeout=1):
        held += 1

    def give_back() -> None:
        nonlocal held
        while held:
            held -= 1
            semaphore.release()

    try:
        yield give_back
    finally:
        give_back()


def until(true: Callable[[], object]) -> None:
    end = time.monotonic() + 120
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def free(line: WorkQueue) -> int:
    """How many places are free."""
    with ExitStack() as stack:
        count = 0
        while line.places.acquire(blocking=False):
            count += 1
            stack.callback(line.places.release)
        return count


@pytest.fixture
def app(sqlite_workspace: Workspace) -> FastAPI:
    """An application without logins."""
    return create_app(Settings(data_dir=sqlite_workspace.settings.data_dir, _env_file=None), with_page=False)


@pytest.fixture
def workers(app: FastAPI) -> InProcessWorkers:
    """Its in-process workers."""
    found: InProcessWorkers = app.state.in_process_workers
    return found


@pytest.fixture
def desk(app: FastAPI) -> Iterator[tuple[str, Workspace, str]]:
    """A served application: its address, its workspace, and a project with an answer."""
    workspace: Workspace = app.state.answer_service.workspace
    project = project_named(workspace, DEFAULT_NAME).id
    accept(workspace, make_document(workspace, project, [line("Total due: 7.00")]), "What is the total?", [2])
    with served(app) as address:
        yield address, workspace, project


def begun(address: str, path: str, **headers: str) -> http.client.HTTPConnection:
    """An upload of which nothing but the head is sent."""
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=30)
    connection.putrequest("POST", path)
    for name, value in {**HEAD, **headers}.items():
        connection.putheader(name, value)
    connection.endheaders()
    return connection


def asked(address: str, path: str, **headers: str) -> http.client.HTTPResponse:
    """The answer to such an upload."""
    return begun(address, path, **headers).getresponse()


def test_uploads_without_a_place_are_refused_before_they_are_sent(desk: tuple[str, Workspace, str]) -> None:
    address, workspace, project = desk
    with waiting(workspace, "import", project, 10), taken(UPLOADS, everything=True):
        for path in ("import", "import?progress=true", "import?background=true", "documents"):
            said = asked(address, f"/api/projects/{project}/{path}")
            assert said.status == 429 and int(said.headers["retry-after"]) > 0
            assert b"Try again in a few" in said.read()


def test_uploads_of_those_who_may_not_are_refused_before_they_are_sent(
    sqlite_workspace: Workspace,
) -> None:
    app = create_app(
        Settings(data_dir=sqlite_workspace.settings.data_dir, auth="login", _env_file=None), with_page=False
    )
    workspace: Workspace = app.state.answer_service.workspace
    project = project_named(workspace, DEFAULT_NAME).id
    (name, token), *_ = cookie_of(workspace, make_user(workspace, "ann", **{project: "annotator"})).items()
    (_, stranger), *_ = cookie_of(workspace, make_user(workspace, "ben")).items()
    with served(app) as address:
        assert asked(address, f"/api/projects/{project}/import", cookie=f"{name}={token}").status == 403
        assert asked(address, f"/api/projects/{project}/documents", cookie=f"{name}={stranger}").status == 404
    assert (IMPORTS.free(workspace), free(UPLOADS)) == (10, 24)


def test_one_person_cannot_take_the_places_of_all_uploads(sqlite_workspace: Workspace, tmp_path: Path) -> None:
    app = create_app(
        Settings(data_dir=sqlite_workspace.settings.data_dir, auth="login", _env_file=None), with_page=False
    )
    workspace: Workspace = app.state.answer_service.workspace
    project = project_named(workspace, DEFAULT_NAME).id
    ann, ben = (
        cookie_of(workspace, make_user(workspace, name, **{project: "annotator"})).popitem() for name in ("ann", "ben")
    )
    path = f"/api/projects/{project}/documents"
    files = {"files": ("a.pdf", pdf(tmp_path / "a.pdf", "Hello").read_bytes())}
    with served(app) as address:
        on_the_way = [begun(address, path, cookie="=".join(ann)) for _ in range(4)]
        until(lambda: free(UPLOADS) == 20)
        said = asked(address, path, cookie="=".join(ann))
        assert said.status == 429 and int(said.headers["retry-after"]) > 0
        assert b"Too many of your uploads are running." in said.read()
        assert httpx.post(address + path, files=files, cookies=dict([ben]), timeout=60).status_code == 200
        for connection in on_the_way:
            connection.close()
        until(lambda: free(UPLOADS) == 24)
        assert httpx.post(address + path, files=files, cookies=dict([ann]), timeout=60).status_code == 200


def test_of_many_plain_imports_ten_wait_and_everybody_else_is_answered(
    desk: tuple[str, Workspace, str], workers: InProcessWorkers, answered_on_file: tuple[Workspace, str], tmp_path: Path
) -> None:
    address, workspace, project = desk
    out = export(*answered_on_file, "grounded", tmp_path / "out").folder
    packed = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", out)).read_bytes()

    room = workers.imports.room

    def send(_: int) -> httpx.Response:
        files = {"file": ("set.zip", packed, "application/zip")}
        return httpx.post(f"{address}/api/projects/{project}/import", files=files, timeout=120)

    with held(room) as give_back, ThreadPoolExecutor(ALL) as people, httpx.Client(base_url=address) as other:
        sent: list[Future[httpx.Response]] = [people.submit(send, number) for number in range(ALL)]
        until(lambda: sum(one.done() for one in sent) == ALL - 10)
        # Taken is not listed yet: a file is unpacked before its import waits.
        listed = f"/api/projects/{project}/imports"
        until(lambda: [each["doing"] for each in other.get(listed).json()] == ["Waiting for other imports"] * 10)
        assert other.get("/api/projects").status_code == 200
        give_back()
        answers = [one.result() for one in sent]
    assert sorted(answer.status_code for answer in answers) == [200] * 10 + [429] * (ALL - 10)
    assert all(int(answer.headers["retry-after"]) > 0 for answer in answers if answer.status_code == 429)
    assert sum(answer.json()["documents"] for answer in answers if answer.status_code == 200) == 2
    until(lambda: IMPORTS.free(workspace) == 10)


def test_of_many_exports_eight_wait_and_everybody_else_is_answered(
    desk: tuple[str, Workspace, str], workers: InProcessWorkers
) -> None:
    address, workspace, project = desk

    def fetch(_: int) -> httpx.Response:
        return httpx.get(f"{address}/api/projects/{project}/export", params={"format": "csv"}, timeout=120)

    with held(workers.exports.room) as give_back, ThreadPoolExecutor(ALL) as people:
        asked_for = [people.submit(fetch, number) for number in range(ALL)]
        until(lambda: sum(one.done() for one in asked_for) == ALL - 8)
        assert httpx.get(f"{address}/api/projects").status_code == 200
        give_back()
        answers = [one.result() for one in asked_for]
    assert sorted(answer.status_code for answer in answers) == [200] * 8 + [429] * (ALL - 8)
    assert all(answer.content.startswith(b"PK") for answer in answers if answer.status_code == 200)
    assert all(int(answer.headers["retry-after"]) == 60 for answer in answers if answer.status_code == 429)
    until(lambda: EXPORTS.free(workspace) == 8)
    until(lambda: not list((workspace.settings.data_dir / "exports").iterdir()))  # sent, and deleted


def test_an_export_that_nobody_waits_for_any_more_leaves_the_line(
    desk: tuple[str, Workspace, str], workers: InProcessWorkers
) -> None:
    address, workspace, project = desk
    with held(workers.exports.room):
        connection = http.client.HTTPConnection(address.removeprefix("http://"))
        connection.request("GET", f"/api/projects/{project}/export?format=csv")
        until(lambda: EXPORTS.free(workspace) == 7)
        connection.close()
        until(lambda: EXPORTS.free(workspace) == 8)
    assert [job.status for job in job_list.list_jobs(workspace, project)] == ["cancelled"]


def test_of_many_reports_eight_are_made_at_once_and_others_must_come_back(
    desk: tuple[str, Workspace, str],
) -> None:
    address, _, project = desk
    paths = [f"/api/projects/{project}/figures", f"/api/projects/{project}/agreement"]
    with taken(REPORTS, everything=True):
        for path in (*paths, "/api/runs/none/changes"):
            said = httpx.get(address + path)
            assert said.status_code == (404 if "none" in path else 429)
            assert "none" in path or said.headers["retry-after"] == "5"
    assert [httpx.get(address + path).status_code for path in paths] == [200, 200] and free(REPORTS) == 8


def test_a_full_disk_is_a_sentence_and_not_a_failure(
    desk: tuple[str, Workspace, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, workspace, project = desk
    monkeypatch.setattr("annotator.uploads.SPARE_BYTES", 10**18)
    monkeypatch.setattr("engine.interchange.export_jobs.SPARE_BYTES", 10**18)
    for said in (
        asked(address, f"/api/projects/{project}/import"),
        asked(address, f"/api/projects/{project}/documents"),
    ):
        assert said.status == 422 and b"disk is almost full" in said.read()
    for exported in (
        httpx.get(f"{address}/api/projects/{project}/export"),
        httpx.post(f"{address}/api/projects/{project}/exports", headers={"x-glossator": "1"}),
    ):
        assert exported.status_code == 422 and "disk is almost full" in exported.json()["detail"]
    assert (IMPORTS.free(workspace), EXPORTS.free(workspace)) == (10, 8)
