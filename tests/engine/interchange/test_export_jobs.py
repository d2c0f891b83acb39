"""Exports as jobs: resumed with the same bytes, stopped, kept for a day, and nobody else's."""

import http.client
import io
import stat
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import select, update
from starlette.testclient import TestClient

from annotator.app import create_app
from db.base import now
from db.tables import Job, Page, Snapshot
from engine import audit
from engine.accounts.users import ensure_local_user
from engine.datasets import snapshots
from engine.datasets.filters import Filters
from engine.errors import Refused
from engine.interchange import export_files, export_jobs, exports
from engine.interchange.destination import Destination
from engine.jobs import job_list, queue
from engine.jobs.cancellation import Stopped, StopReason
from engine.settings import Settings
from engine.workspace import Workspace
from tests.support.accounts import here, make_user, somebody
from tests.support.factories import accept, bill, make_document, make_project
from tests.support.left_behind import files_with
from tests.support.server_thread import served
from tests.support.waiting import wait_until

Answered = tuple[Workspace, str]
TOTAL = "What is the total due?"


def asked(workspace: Workspace, project: str, form: str = "coco", **chosen: Any) -> Job:
    by = ensure_local_user(workspace).id
    given: dict[str, Any] = {"filters": Filters(quarantined=True, unfit=True), "snapshot": None, **chosen}
    return export_jobs.request(workspace, project, form=form, user_id=by, **given)


def leased(workspace: Workspace, holder: str = "first", seconds: float = 60.0) -> Job:
    job = queue.lease(workspace, holder, [export_files.EXPORT], seconds=seconds)
    assert job is not None
    return job


def run(
    workspace: Workspace,
    job: Job,
    hear: Callable[[str], None] = lambda _: None,
    should_stop: Callable[[], StopReason | None] = lambda: None,
) -> dict[str, Any]:
    return export_jobs.run_export(workspace, job, on_progress=lambda _, said: hear(said), should_stop=should_stop)


def done(workspace: Workspace, job: Job) -> Job:
    """Do a leased export to its end."""
    result = run(workspace, job)
    queue.finish(workspace, job.id, str(job.holder), result, result["sentence"])
    return queue.job_by_id(workspace, job.id)


def left(workspace: Workspace) -> list[str]:
    folder = workspace.settings.data_dir / "exports"
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


class Killed(BaseException):
    """Stands for the end of the process."""


def killed_at(step: str) -> Callable[[str], None]:
    def hear(said: str) -> None:
        if said.startswith(step):
            raise Killed

    return hear


@pytest.mark.parametrize("step", ["Writing: 2 of", "Packing: 0 of", "Packing: 3 of"])
def test_an_attempt_after_a_crash_gives_the_bytes_of_an_export_without_one(answered: Answered, step: str) -> None:
    workspace, project = answered
    whole = asked(workspace, project)
    done(workspace, leased(workspace))
    job = asked(workspace, project)
    with pytest.raises(Killed):
        run(workspace, leased(workspace, seconds=-1.0), killed_at(step))
    accept(workspace, make_document(workspace, project, [bill(7)]), TOTAL, [4])  # another snapshot from now on
    second = leased(workspace, "second")
    assert second.id == job.id and second.attempts == 2
    result = done(workspace, second).result
    ended = queue.job_by_id(workspace, whole.id)
    assert (result["snapshot_id"], result["answers"]) == (ended.result["snapshot_id"], 4)
    one, two = (export_files.path_of(workspace, each.id).read_bytes() for each in (whole, job))
    assert one == two and len(one) == result["bytes"]
    assert left(workspace) == sorted(f"{each.id}.zip" for each in (whole, job))
    assert [line.action for line in audit.entries(workspace, project)].count("exports.make") == 2


def test_an_export_stopped_while_answers_are_chosen_leaves_nothing(
    answered_on_file: Answered, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, project = answered_on_file
    monkeypatch.setattr(snapshots, "_AT_ONCE", 1)
    asked(workspace, project)
    heard: list[str] = []
    with pytest.raises(Stopped):
        run(
            workspace,
            leased(workspace),
            heard.append,
            lambda: "cancel" if heard[-1:] == ["Choosing answers: 3 of 4."] else None,
        )
    assert "Choosing answers: 0 of 4." in heard and not any(said.startswith("Writing") for said in heard)
    assert left(workspace) == []
    with workspace.database.read() as session:
        assert not session.scalars(select(Snapshot)).all()


def test_an_export_killed_after_its_end_is_noted_once(answered_on_file: Answered) -> None:
    workspace, project = answered_on_file
    asked(workspace, project, "csv")
    run(workspace, leased(workspace, seconds=-1.0))  # and nobody reported its end
    written = (workspace.settings.data_dir / "exports").glob("*.zip").__next__()
    before = written.stat().st_mtime_ns
    assert done(workspace, leased(workspace, "second")).message == "Exported 4 answers as csv."
    assert written.stat().st_mtime_ns == before
    assert [line.action for line in audit.entries(workspace, project)].count("exports.make") == 1


def test_an_attempt_waits_for_a_stalled_one_that_still_writes(answered_on_file: Answered) -> None:
    workspace, project = answered_on_file
    snapshot = done(workspace, (asked(workspace, project), leased(workspace))[1]).result["snapshot_id"]
    job, said = (asked(workspace, project), leased(workspace))[1], threading.Event()
    with workspace.database.read() as session:
        sha256 = session.get_one(Snapshot, snapshot).sha256
    out = export_files.folder_of(workspace, job.id) / "set"
    with Destination(workspace, out, f"coco-{sha256[:16]}"):

        def hear(one: str) -> None:
            if "earlier attempt" in one:
                said.set()

        waiting = threading.Thread(target=run, args=(workspace, job, hear))
        waiting.start()
        assert said.wait(30)
    waiting.join(30)
    assert not waiting.is_alive() and export_files.path_of(workspace, job.id).is_file()


def test_a_former_holder_of_an_export_notes_nothing(answered: Answered) -> None:
    workspace, project = answered
    asked(workspace, project)
    first = leased(workspace, seconds=-1.0)
    leased(workspace, "second")
    with pytest.raises(queue.LeaseLost):
        run(workspace, first)


def test_the_zip_holds_what_the_command_writes_under_private_rights(answered_on_file: Answered) -> None:
    workspace, project = answered_on_file
    job = (asked(workspace, project, "png"), leased(workspace))[1]
    done(workspace, job)
    path = export_files.path_of(workspace, job.id)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    with zipfile.ZipFile(path) as archive:
        assert {"manifest.json", "README.md", "answers.jsonl"} <= set(archive.namelist())
        assert archive.testzip() is None
        assert {entry.external_attr >> 16 for entry in archive.infolist()} == {0o100644}


def test_half_written_exports_stay_while_they_wait_and_go_when_stopped(answered_on_file: Answered) -> None:
    workspace, project = answered_on_file
    job = asked(workspace, project)
    heard: list[str] = []
    with pytest.raises(Stopped):
        run(workspace, leased(workspace), heard.append, lambda: "end" if "Writing: 2 of 4." in heard else None)
    queue.release(workspace, job.id, "first")
    export_files.forget(workspace)
    assert left(workspace) == [job.id]
    queue.cancel(workspace, job.id)
    export_files.forget(workspace)
    assert left(workspace) == []


def test_files_go_after_a_day_and_those_of_no_export_at_once(answered: Answered) -> None:
    workspace, project = answered
    kept, old, sent = (asked(workspace, project, "csv", once=once).id for once in (False, False, True))
    for _ in range(3):
        done(workspace, leased(workspace))
    folder = workspace.settings.data_dir / "exports"
    (folder / "nobody.zip").write_bytes(b"PK")
    (folder / "nobody").mkdir()
    export_files.forget(workspace)
    assert left(workspace) == sorted(f"{each}.zip" for each in (kept, old, sent))
    with workspace.database.write() as session:
        for job, ago in ((old, timedelta(days=1)), (sent, timedelta(minutes=10))):
            session.execute(update(Job).where(Job.id == job).values(finished_at=now() - ago))
    assert [job.id for job in export_files.list_exports(workspace, project)] == [kept]
    export_files.forget(workspace)
    assert left(workspace) == [f"{kept}.zip"]


def test_what_cannot_be_exported_is_refused_when_it_is_asked_for(
    answered_on_file: Answered, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, project = answered_on_file
    with pytest.raises(Refused, match="There is no export format 'tiff'"):
        asked(workspace, project, "tiff")
    with pytest.raises(Refused, match="cannot mark an answer as automatic"):
        asked(workspace, project, "funsd", filters=Filters(statuses=("accepted", "automatic")))
    job = asked(workspace, project)
    monkeypatch.setattr(export_jobs, "SPARE_BYTES", 10**18)
    with pytest.raises(Refused, match="disk is almost full"):
        asked(workspace, project)
    with pytest.raises(Refused, match="disk is almost full"):
        run(workspace, leased(workspace))
    assert job_list.count_open(workspace, "export") == 1 and queue.job_by_id(workspace, job.id).result == {}


def test_a_disk_that_fills_up_ends_an_export_and_leaves_nothing(
    answered_on_file: Answered, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, project = answered_on_file
    job = (asked(workspace, project), leased(workspace))[1]

    def fills(said: str) -> None:
        if said == "Writing: 2 of 4.":
            monkeypatch.setattr(export_jobs, "SPARE_BYTES", 10**18)

    with pytest.raises(Refused, match="disk is almost full"):
        run(workspace, job, fills)
    queue.fail(workspace, job.id, "first", export_jobs.FULL, retry=False)
    export_files.forget(workspace)
    assert left(workspace) == []


def test_a_snapshot_frozen_first_with_other_filters_refuses_nothing(answered_on_file: Answered) -> None:
    workspace, project = answered_on_file
    with_automatic = Filters(quarantined=True, unfit=True, statuses=("accepted", "fixed", "automatic"))
    for form, filters in (("coco", with_automatic), ("funsd", Filters(quarantined=True, unfit=True))):
        asked(workspace, project, form, filters=filters)
        assert done(workspace, leased(workspace)).status == "done"


# --- over REST


@pytest.fixture
def shop(app_client: TestClient) -> tuple[TestClient, Workspace, str]:
    """An application with a project that has an answer."""
    workspace = here(app_client)
    project = make_project(workspace).id
    accept(workspace, make_document(workspace, project, [bill(1)]), TOTAL, [4])
    return app_client, workspace, project


@contextmanager
def busy(app: Any) -> Iterator[Callable[[], None]]:
    """Take the room of the exports worker; yields what gives it back."""
    room = app.state.in_process_workers.exports.room
    with ExitStack() as stack:
        for _ in range(2):
            assert room.acquire(timeout=30)
            stack.callback(room.release)
        yield stack.close


def test_over_rest_an_export_is_started_listed_and_fetched_in_parts(
    shop: tuple[TestClient, Workspace, str],
) -> None:
    client, workspace, project = shop
    rita = somebody(client, workspace, make_user(workspace, "rita", **{project: "reviewer"}))
    address = f"/api/projects/{project}/exports"
    assert rita.get(address).json() == []
    with busy(client.app) as give_back:
        started = rita.post(f"{address}?format=grounded&split=train&split=frozen&split=recent")
        assert started.status_code == 202 and started.json()["kind"] == "export", started.text
        job = started.json()["id"]
        [line] = rita.get(address).json()
        assert (line["id"], line["state"], line["by"], line["format"]) == (job, "waiting", "rita", "grounded")
        assert (line["message"], line["chosen"]) == (
            "Waiting for other exports.",
            "train, frozen holdout, recent holdout",
        )
        early = rita.get(f"{address}/{job}/file")
        assert early.status_code == 404 and "Wait until it is done" in early.json()["detail"]
        give_back()
    wait_until(lambda: rita.get(address).json()[0]["state"] == "done")
    [line] = rita.get(address).json()
    whole = rita.get(f"{address}/{job}/file")
    assert whole.status_code == 200 and 'filename="bills-grounded.zip"' in whole.headers["content-disposition"]
    assert (line["answers"], line["bytes"], line["progress"]) == (1, len(whole.content), 1.0)
    assert line["message"] == "Exported 1 answer as grounded." and line["kept_until"] > line["asked_at"]
    rest = rita.get(f"{address}/{job}/file", headers={"range": "bytes=100-", "if-range": whole.headers["etag"]})
    assert rest.status_code == 206 and rest.content == whole.content[100:]
    with zipfile.ZipFile(io.BytesIO(whole.content)) as archive:
        assert "pages.jsonl" in archive.namelist()
    at_once = rita.get(f"/api/projects/{project}/export?format=grounded")
    assert at_once.content == whole.content
    wait_until(lambda: left(workspace) == [f"{job}.zip"])  # the one sent at once is deleted
    assert [one["id"] for one in rita.get(address).json()] == [job]
    export_files.path_of(workspace, job).unlink()
    gone = rita.get(f"{address}/{job}/file")
    assert gone.status_code == 404 and gone.json()["detail"].startswith("The file of this export is not kept any more.")
    assert rita.get(address).json() == []


def test_exports_are_their_projects_reviewers_alone(shop: tuple[TestClient, Workspace, str]) -> None:
    client, workspace, project = shop
    other = make_project(workspace, "another").id
    rita, anna, otto = (
        somebody(client, workspace, make_user(workspace, name, **given))
        for name, given in (
            ("rita", {project: "reviewer"}), ("anna", {project: "annotator"}), ("otto", {other: "admin"}),
        )
    )  # fmt: skip
    with busy(client.app):
        job = rita.post(f"/api/projects/{project}/exports").json()["id"]
        for person, status in ((anna, 403), (otto, 404)):
            assert person.get(f"/api/projects/{project}/exports").status_code == status
            assert person.post(f"/api/projects/{project}/exports").status_code == status
            assert person.post(f"/api/projects/{project}/exports/{job}/stop").status_code == status
            assert person.get(f"/api/projects/{project}/exports/{job}/file").status_code == status
        for way in ("stop", "file"):  # by way of a project of his own
            path = f"/api/projects/{other}/exports/{job}/{way}"
            assert (otto.post(path) if way == "stop" else otto.get(path)).status_code == 404
        assert queue.job_by_id(workspace, job).status == "waiting"
        stopped = rita.post(f"/api/projects/{project}/exports/{job}/stop")
        assert stopped.status_code == 200 and stopped.json()["state"] == "stopped"
    again = rita.post(f"/api/projects/{project}/exports/{job}/stop")
    assert again.status_code == 404 and "It may have ended" in again.json()["detail"]
    assert rita.get(f"/api/projects/{project}/exports").json() == []


def test_the_file_of_an_export_is_deleted_for_good_and_its_snapshot_stays(
    shop: tuple[TestClient, Workspace, str],
) -> None:
    client, workspace, project = shop
    rita, anna = (
        somebody(client, workspace, make_user(workspace, name, **{project: role}))
        for name, role in (("rita", "reviewer"), ("anna", "annotator"))
    )
    address = f"/api/projects/{project}/exports"
    with busy(client.app) as give_back:
        job = rita.post(f"{address}?format=csv").json()["id"]
        unended = rita.request("DELETE", f"{address}/{job}")
        assert (unended.status_code, unended.json()["detail"]) == (409, "This export has not ended. Stop it instead.")
        give_back()
        wait_until(lambda: rita.get(address).json()[0]["state"] == "done")
    sign = export_files.path_of(workspace, job).read_bytes()[-100:]
    elsewhere = f"/api/projects/{make_project(workspace, 'another').id}/exports"
    owner = somebody(client, workspace, make_user(workspace, "olga", role="admin"))
    for person, place, status in ((anna, address, 403), (owner, elsewhere, 404)):
        assert person.request("DELETE", f"{place}/{job}").status_code == status
    assert files_with(workspace, [sign]) == [f"{job}.zip"]
    assert rita.request("DELETE", f"{address}/{job}").status_code == 204
    assert files_with(workspace, [sign]) == [] and rita.get(address).json() == []
    assert audit.entries(workspace, project)[0].what == "deleted the file of an export: 1 answer as csv"
    gone = rita.request("DELETE", f"{address}/{job}")
    assert gone.status_code == 404 and "deleted already" in gone.json()["detail"]
    assert rita.get(f"{address}/{job}/file").status_code == 404
    [snapshot] = rita.get(f"/api/projects/{project}/snapshots").json()
    assert snapshot["id"] == queue.job_by_id(workspace, job).result["snapshot_id"]


def test_an_export_that_is_stopped_while_it_runs_leaves_no_file(
    shop: tuple[TestClient, Workspace, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, workspace, project = shop
    rita = somebody(client, workspace, make_user(workspace, "rita", **{project: "reviewer"}))
    begun = threading.Event()

    def endless(*_: Any, on_progress: Callable[[int, int], None], **__: Any) -> None:
        while True:
            on_progress(1, 4)
            begun.set()
            time.sleep(0.02)

    monkeypatch.setattr(exports, "export", endless)
    job = rita.post(f"/api/projects/{project}/exports").json()["id"]
    assert begun.wait(60)
    assert rita.post(f"/api/projects/{project}/exports/{job}/stop").json()["stopping"]
    assert rita.get(f"/api/projects/{project}/exports").json()[0]["stopping"]
    wait_until(lambda: queue.job_by_id(workspace, job).status == "cancelled")
    wait_until(lambda: left(workspace) == [])


def test_what_fails_is_told_by_the_list_and_by_the_request_that_waits(
    shop: tuple[TestClient, Workspace, str],
) -> None:
    client, workspace, project = shop
    rita = somebody(client, workspace, make_user(workspace, "rita", **{project: "reviewer"}))
    nothing = f"/api/projects/{project}/exports?until=2000-01-01"
    assert rita.post(nothing).status_code == 202
    wait_until(lambda: rita.get(f"/api/projects/{project}/exports").json()[0]["state"] == "failed")
    [line] = rita.get(f"/api/projects/{project}/exports").json()
    assert "no accepted answer matches the filter" in line["message"] and line["chosen"] == "before 2000-01-01"
    said = rita.get(f"/api/projects/{project}/export?until=2000-01-01")
    assert said.status_code == 422 and said.json()["detail"] == line["message"]
    for wrong, status in (("since=yesterday", 422), ("format=tiff", 422), ("snapshot=abc", 404)):
        for answer in (
            rita.get(f"/api/projects/{project}/export?{wrong}"),
            rita.post(f"/api/projects/{project}/exports?{wrong}"),
        ):
            assert answer.status_code == status, (wrong, answer.text)
    with workspace.database.read() as session:
        [sha256] = session.scalars(select(Page.image_sha256))
    workspace.blobs.path(sha256).unlink()
    missing = rita.get(f"/api/projects/{project}/export")
    assert missing.status_code == 500 and "missing" in missing.json()["detail"], missing.text


def test_two_servers_share_the_exports(sqlite_workspace: Workspace) -> None:
    settings = Settings(data_dir=sqlite_workspace.settings.data_dir, poll_seconds=0.2, _env_file=None)
    first, second = create_app(settings, with_page=False), create_app(settings, with_page=False)
    project = make_project(sqlite_workspace).id
    accept(sqlite_workspace, make_document(sqlite_workspace, project, [bill(1)]), TOTAL, [4])
    path = f"/api/projects/{project}/exports"
    with served(first) as one, served(second) as two, busy(first):  # whatever is done is done by the second
        job = httpx.post(one + path, headers={"x-glossator": "1"}).json()["id"]
        wait_until(lambda: httpx.get(one + path).json()[0]["state"] == "done")
        contents = [httpx.get(f"{each}{path}/{job}/file").content for each in (one, two)]
        followed = httpx.get(f"{one}/api/projects/{project}/export", timeout=60)
        assert followed.status_code == 200 and {followed.content} == set(contents)


def test_who_disconnects_stops_the_export(sqlite_workspace: Workspace) -> None:
    app = create_app(Settings(data_dir=sqlite_workspace.settings.data_dir, _env_file=None), with_page=False)
    project = make_project(sqlite_workspace).id
    accept(sqlite_workspace, make_document(sqlite_workspace, project, [bill(1)]), TOTAL, [4])
    with served(app) as address, busy(app):
        connection = http.client.HTTPConnection(address.removeprefix("http://"))
        connection.request("GET", f"/api/projects/{project}/export")
        wait_until(lambda: job_list.open_jobs(sqlite_workspace, "export"))
        [job] = job_list.open_jobs(sqlite_workspace, "export")
        [line] = httpx.get(f"{address}/api/projects/{project}/exports").json()
        assert line["id"] == job.id  # it takes a place, and can be stopped
        connection.close()
        wait_until(lambda: queue.job_by_id(sqlite_workspace, job.id).status == "cancelled")
    assert left(sqlite_workspace) == []
