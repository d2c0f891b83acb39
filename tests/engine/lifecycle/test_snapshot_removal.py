"""A snapshot is removed with its files by an admin, unless a run, a model or a job needs it."""

import threading
from typing import Any

import pytest
from sqlalchemy import text
from starlette.testclient import TestClient

from db.tables import Job, ModelVersion, Run, Snapshot
from engine.datasets import snapshots
from engine.datasets.filters import Filters
from engine.datasets.freezes import freezing
from engine.datasets.manifest import canonical, files_naming_people, items_of, parts_of
from engine.datasets.snapshot_views import snapshot_lines
from engine.errors import Conflict, Refused
from engine.interchange import export_jobs
from engine.interchange.export_files import EXPORT
from engine.jobs import queue
from engine.lifecycle import traces
from engine.lifecycle.snapshot_removal import remove_snapshot
from engine.projects import archiving
from engine.training.retraining.trigger import RETRAIN
from engine.workspace import Workspace
from tests.support.accounts import here, make_user, somebody
from tests.support.factories import accept, make_project
from tests.support.left_behind import columns_with, files_with
from tests.support.office import Office
from tests.support.survey_rows import make_version
from tests.support.waiting import wait_until

pytestmark = pytest.mark.usefixtures("figures_at_once")


@pytest.fixture
def office(workspace: Workspace) -> Office:
    return answered(workspace)


def answered(workspace: Workspace) -> Office:
    """An office with an accepted answer."""
    office = Office(workspace, bills=1, questions=())
    accept(workspace, office.documents[0], "Which words?", [1], author="Ann")
    return office


def test_a_snapshot_that_a_run_or_a_model_needs_stays_and_a_sentence_says_so(office: Office) -> None:
    workspace, project = office.workspace, office.project.id
    frozen = snapshots.freeze(workspace, project)
    name = frozen.sha256[:12]
    [line] = snapshot_lines(workspace, project)
    assert line.needed == ""
    version = make_version(workspace, project, 3)
    with workspace.database.write() as session:
        session.get_one(ModelVersion, version.id).snapshot_id = frozen.id
    sentence = f"The model v3 learned from the snapshot {name}; it cannot be removed."
    assert snapshot_lines(workspace, project)[0].needed == sentence
    with pytest.raises(Conflict, match=sentence):
        remove_snapshot(workspace, project, frozen.sha256, None)
    job = queue.enqueue(workspace, RETRAIN, project)
    with workspace.database.write() as session:
        of_job = {"project_id": project, "job_id": job.id, "snapshot_id": frozen.id, "parent_id": version.id}
        run = Run(**of_job, seed=1, code_version="test")
        session.add(run)
    sentence = f"The run of {run.created_at:%Y-%m-%d} learned from the snapshot {name}; it cannot be removed."
    assert snapshot_lines(workspace, project)[0].needed == sentence
    with pytest.raises(Conflict, match=sentence):
        remove_snapshot(workspace, project, frozen.sha256, None)
    assert [item.document.id for item in snapshots.load(workspace, frozen)] == [office.documents[0].id]


def test_a_job_that_has_begun_keeps_the_snapshot_that_it_has_not_named_yet(office: Office) -> None:
    workspace, project = office.workspace, office.project.id
    frozen = snapshots.freeze(workspace, project)
    for kind, sentence in ((RETRAIN, "A retraining of the project"), (EXPORT, "An export of the project")):
        job = queue.enqueue(workspace, kind, project)
        with pytest.raises(Conflict, match=f"{sentence} has not ended"):
            remove_snapshot(workspace, project, frozen.sha256, None)
        queue.cancel(workspace, job.id)
    with freezing(workspace.database, project), pytest.raises(Conflict, match="is being frozen"):
        remove_snapshot(workspace, project, frozen.sha256, None)
    assert [item.document.id for item in snapshots.load(workspace, frozen)] == [office.documents[0].id]
    remove_snapshot(workspace, project, frozen.sha256, None)
    assert snapshots.freeze(workspace, project).sha256 == frozen.sha256, "the same answers make the same snapshot"


def test_a_freeze_during_a_removal_waits_and_makes_the_snapshot_anew(office: Office) -> None:
    """On PostgreSQL it finds the row that goes; on SQLite it waits for its turn to write."""
    workspace, project = office.workspace, office.project.id
    removed = snapshots.freeze(workspace, project)
    anew: list[Snapshot] = []
    freezing_again = threading.Thread(target=lambda: anew.append(snapshots.freeze(workspace, project)))

    def waits() -> bool:
        if workspace.database.dialect == "sqlite":
            return freezing_again.is_alive()
        with workspace.database.read() as watching:
            return bool(watching.scalar(text("SELECT count(*) FROM pg_locks WHERE NOT granted")))

    with workspace.database.write() as session:
        session.delete(session.get_one(Snapshot, removed.id))
        session.flush()
        freezing_again.start()
        wait_until(waits)
    freezing_again.join()
    assert anew[0].id != removed.id and anew[0].sha256 == removed.sha256
    assert [line.id for line in snapshot_lines(workspace, project)] == [anew[0].id]


def test_what_a_removed_snapshot_was_narrowed_to_is_found_nowhere(office: Office) -> None:
    workspace, project, day = office.workspace, office.project.id, "2001-02-03"
    frozen = snapshots.freeze_with(workspace, project, Filters(since=day))
    assert columns_with(workspace, [day]) == ["snapshots.filters"]
    remove_snapshot(workspace, project, frozen.sha256, None)
    assert traces.wipe(workspace.database)
    assert columns_with(workspace, [day]) == [] and files_with(workspace, [day.encode()]) == []


def test_an_export_that_is_tried_again_says_that_its_snapshot_was_removed(office: Office) -> None:
    workspace, project = office.workspace, office.project.id
    frozen = snapshots.freeze(workspace, project)
    job = export_jobs.request(
        workspace, project, form="csv", filters=Filters(), snapshot=frozen, user_id=office.rita.id
    )  # fmt: skip
    with workspace.database.write() as session:
        session.get_one(Job, job.id).status = "failed"
    remove_snapshot(workspace, project, frozen.sha256, None)
    queue.retry(workspace, job.id)
    leased = queue.lease(workspace, "worker", [EXPORT])
    assert leased is not None
    with pytest.raises(Refused, match="The snapshot of this export was removed"):
        export_jobs.run_export(workspace, leased, on_progress=lambda *_: None, should_stop=lambda: None)


def test_removing_a_snapshot_of_an_old_format_takes_its_own_files_alone(office: Office) -> None:
    """Formats 1 and 2 name documents, page images and weights in the head; formats 1 to 3 have a file of each page."""
    workspace, project = office.workspace, office.project.id
    [newest] = list(items_of(workspace, (frozen := snapshots.freeze(workspace, project)).sha256))
    [part] = parts_of(workspace, frozen.sha256)
    weights = workspace.blobs.put(b"weights")
    words, shared = (workspace.blobs.put(canonical([{"text": each}])) for each in ("own", "shared"))
    row = part["documents"][0]
    page = {name: value for name, value in row["pages"][0].items() if name != "words"}
    row["pages"] = [{**page, "words_sha256": each} for each in (words, shared)]
    answers = [{**item, "model_version": weights} for item in part["items"]]
    whole = {"project_id": project, "people": {}, **part, "items": answers}
    left_out = [{"annotation_id": "1", "reasons": []}]
    third = workspace.blobs.put(canonical({**part, "left_out": []}))
    of_format = {
        1: whole,
        2: {**whole, "left_out": left_out},
        3: {"project_id": project, "people": {}, "parts": [third]},
    }
    others = make_project(workspace, "other").id
    beside = {**part, "documents": [{**row, "pages": row["pages"][1:]}]}
    _store(workspace, others, {**beside, "format": "glossator-snapshot/1", "project_id": others})
    stay = [row["sha256"], newest.document.pages[0].image_sha256, weights, shared]
    for number, head in of_format.items():
        old = _store(workspace, project, {**head, "format": f"glossator-snapshot/{number}"})
        workspace.blobs.put(canonical([{"text": "own"}]))
        assert all(name in workspace.blobs for name in (*stay, words, old))
        assert old in files_naming_people(workspace, old)
        remove_snapshot(workspace, project, old, None)
        assert [name for name in stay if name not in workspace.blobs] == [], f"format {number}"
        assert [name for name in (old, words) if name in workspace.blobs] == [], f"format {number}"
    assert third not in workspace.blobs


def _store(workspace: Workspace, project_id: str, head: dict[str, Any]) -> str:
    """Store a snapshot as an earlier release froze it; return its SHA-256."""
    sha256 = workspace.blobs.put(canonical(head))
    with workspace.database.write() as session:
        session.add(Snapshot(project_id=project_id, sha256=sha256, filters={}, counts={}))
    return sha256


def test_over_rest_admins_remove_a_snapshot_and_its_files_are_gone(app_client: TestClient) -> None:
    workspace = here(app_client)
    office = answered(workspace)
    project = office.project.id
    adam = somebody(app_client, workspace, make_user(workspace, "adam", **{project: "admin"}))
    rita = somebody(app_client, workspace, make_user(workspace, "rina", **{project: "reviewer"}))
    frozen = snapshots.freeze(workspace, project)
    address = f"/api/projects/{project}/snapshots"
    assert [line["sha256"] for line in rita.get(address).json()] == [frozen.sha256]
    manifest = workspace.blobs.read(frozen.sha256)
    for person, name, status in ((rita, frozen.sha256, 403), (adam, "0" * 12, 404), (adam, frozen.sha256[:11], 422)):
        assert person.request("DELETE", f"{address}/{name}").status_code == status
    job = queue.enqueue(workspace, RETRAIN, project)
    assert adam.request("DELETE", f"{address}/{frozen.id}").status_code == 409
    queue.cancel(workspace, job.id)
    assert files_with(workspace, [manifest]) == [frozen.sha256]
    archiving.archive(workspace, project, None)  # its bin can still be emptied, so what holds its documents can go
    assert adam.request("DELETE", f"{address}/{frozen.sha256[:12]}").status_code == 204
    assert files_with(workspace, [manifest]) == [] and rita.get(address).json() == []
    with workspace.database.read() as session:
        assert session.get(Snapshot, frozen.id) is None
