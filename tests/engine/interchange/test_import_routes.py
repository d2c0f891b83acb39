"""Imports over REST: uploaded, followed step by step, listed and stopped."""

import json
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fastapi.testclient import TestClient

from engine.interchange.exports import export
from tests.support.accounts import here, make_user, somebody
from tests.support.factories import make_project
from tests.support.imported_sets import EXPECTED, Answered, documents_of, is_there, marked


def test_a_reviewer_uploads_a_zip_over_rest_and_hears_what_is_wrong_with_one(
    app_client: TestClient, answered_on_file: Answered, tmp_path: Path
) -> None:
    out = export(*answered_on_file, "grounded", tmp_path / "out").folder
    packed = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", out))
    workspace = here(app_client)
    project = make_project(workspace, "over REST")
    rita = somebody(app_client, workspace, make_user(workspace, "rita", **{project.id: "reviewer"}))
    address = f"/api/projects/{project.id}/import"
    taken = rita.post(address, files={"file": ("set.zip", packed.read_bytes(), "application/zip")})
    assert taken.status_code == 200, taken.text
    counts = {
        "documents": 2,
        "known": 0,
        "pages": 3,
        "read": 0,
        "answers": 3,
        "no_answer": 1,
        "proposals": 0,
        "lost": {},
        "bad": 0,
    }
    assert taken.json() == {"format": "grounded", **counts, "bad_entries": []}
    found = marked(workspace, project.id)
    assert len(found) == 4 and all(is_there(found, *one) for one in EXPECTED)
    bad = rita.post(address, files={"file": ("set.zip", b"PK no zip", "application/zip")})
    assert bad.status_code == 422 and "set.zip: it is damaged or not a zip file" in bad.json()["detail"]


def test_over_rest_each_step_is_told_where_one_asks_for_it(
    app_client: TestClient, answered_on_file: Answered, tmp_path: Path
) -> None:
    out = export(*answered_on_file, "grounded", tmp_path / "out").folder
    packed = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", out))
    workspace = here(app_client)
    project = make_project(workspace, "step by step")
    rita = somebody(app_client, workspace, make_user(workspace, "rita", **{project.id: "reviewer"}))
    address = f"/api/projects/{project.id}/import?progress=true"

    def lines(content: bytes) -> list[dict]:
        answer = rita.post(address, files={"file": ("set.zip", content, "application/zip")})
        assert answer.status_code == 200, answer.text
        return [json.loads(line) for line in answer.text.splitlines()]

    *taken, last = lines(packed.read_bytes())
    looked, stored = (
        [step["done"] for step in taken if step["doing"] == kind] for kind in ("Checking the pages", "Storing")
    )
    assert (looked[0], looked[-1], stored[0], stored[-1]) == (1, 3, 0, 3)
    assert [step["doing"] for step in taken[:2]] == ["Starting", "Unpacking"]
    assert {step["of"] for step in taken if step["doing"] in ("Checking the pages", "Storing")} == {3}
    assert last["result"]["answers"] == 3 and len(marked(workspace, project.id)) == 4
    room = app_client.app.state.in_process_workers.imports.room  # type: ignore[attr-defined]
    busy = [room.acquire(timeout=30) for _ in range(2)]
    freed = threading.Timer(1.0, room.release, [len(busy)])
    freed.start()
    _, waited, begun, *_, done = lines(packed.read_bytes())
    freed.join()
    assert (
        all(busy)
        and waited["doing"] == "Waiting for other imports"
        and begun["doing"] == "Starting"
        and done["result"]["known"] == 2
    )
    _, bad = lines(b"PK no zip")
    assert bad["status"] == 422 and "set.zip: it is damaged or not a zip file" in bad["detail"]
    assert len(marked(workspace, project.id)) == 4


def test_over_rest_imports_under_way_are_listed_and_can_be_stopped(
    app_client: TestClient, answered_on_file: Answered, tmp_path: Path
) -> None:
    out = export(*answered_on_file, "grounded", tmp_path / "out").folder
    packed = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", out)).read_bytes()
    workspace = here(app_client)
    project, other = (make_project(workspace, name).id for name in ("stopped", "another"))
    rita = somebody(app_client, workspace, make_user(workspace, "rita", **{project: "reviewer", other: "reviewer"}))
    uploads = workspace.settings.data_dir / "uploads"
    room = app_client.app.state.in_process_workers.imports.room  # type: ignore[attr-defined]
    busy = [room.acquire(timeout=30) for _ in range(2)]
    with ThreadPoolExecutor(1) as aside:
        sent = aside.submit(
            rita.post,
            f"/api/projects/{project}/import?progress=true",
            files={"file": ("set.zip", packed, "application/zip")},
        )
        try:
            while not (found := rita.get(f"/api/projects/{project}/imports").json()):
                assert not sent.done(), sent.result().text
            [one] = found
            assert (one["name"], one["by"], one["stopping"]) == ("set.zip", "rita", False)
            assert rita.get(f"/api/projects/{other}/imports").json() == []
            assert rita.post(f"/api/projects/{other}/imports/{one['id']}/stop").status_code == 404
            assert [one["stopping"] for one in rita.get(f"/api/projects/{project}/imports").json()] == [False]
            assert len(list(uploads.iterdir())) == 1
            assert rita.post(f"/api/projects/{project}/imports/{one['id']}/stop").json()["stopping"]
            last = json.loads(sent.result(timeout=30).text.splitlines()[-1])
        finally:
            for _ in filter(None, busy):
                room.release()
    assert all(busy) and last["status"] == 422 and last["detail"].startswith("Stopped before anything was stored.")
    assert rita.get(f"/api/projects/{project}/imports").json() == []
    assert documents_of(workspace, project) == 0 and not list(uploads.iterdir())
    again = rita.post(f"/api/projects/{project}/import", files={"file": ("set.zip", packed, "application/zip")})
    assert again.json()["answers"] == 3 and rita.get(f"/api/projects/{project}/imports").json() == []
