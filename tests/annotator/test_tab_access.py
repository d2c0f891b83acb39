"""Events of the Gradio tabs take whatever id a browser sends: each of them asks whether the person may."""

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from annotator.app import create_app
from annotator.ui import documents
from db.tables import ModelVersion
from engine.jobs import job_list
from engine.projects import projects
from engine.settings import Settings
from engine.tasks.standard_questions import replace_standard_questions
from tests.support.accounts import ADDRESS, make_user, somebody
from tests.support.populated_project import World
from tests.support.tab_events import event

NOT_THERE, FOR_ADMINS, FOR_REVIEWERS = "no such project", "Only an admin of the project", "Only a reviewer or an admin"
IN_NO_PROJECT = "You are not a member of any project"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    settings = Settings(data_dir=tmp_path_factory.mktemp("tabs"), auth="login", _env_file=None)
    application = create_app(settings)
    with TestClient(application, base_url=ADDRESS) as client:
        yield World(application.state.answer_service.workspace, client)


# What each tab sends beside the project when it is opened.
OPENED: dict[str, tuple[Any, ...]] = {
    "documents": ("", "-created", "", {}),
    "questions": (None, "", False, 0, 2, 0.5, 0, "arrival", 20, "", "-documents", {}),
    "training": (False, {}, {}),
    "quality": (91,),
    "export": ("coco", ["accepted", "fixed"], [], [], "", "", 0, False),
}
EXPORT, LISTED = OPENED["export"], OPENED["documents"]


def test_reading_a_tab_with_a_foreign_id_shows_nothing(world: World) -> None:
    project = world.project.id
    assert "bill.png" in event(world.people["annotator"], "documents", "show", project, *LISTED)
    in_none = somebody(world.client, world.workspace, make_user(world.workspace, "nora"))
    for tab, given in OPENED.items():
        told = event(world.people["outsider"], tab, "show", project, *given)
        assert "process_completed" in told and '"success":true' in told, tab
        assert "another" in told and "guarded" not in told and "bill.png" not in told, tab  # their own project
        assert IN_NO_PROJECT in event(in_none, tab, "show", project, *given), tab
    assert "somebody else" not in event(world.people["annotator"], "quality", "show", project, 91)
    assert "Only reviewers can export" in event(world.people["annotator"], "export", "show", project, *EXPORT)
    assert "Export as COCO" in event(world.people["reviewer"], "export", "show", project, *EXPORT)
    listed = f'<glossator-exports class=\\"g-people\\" data-project=\\"{project}\\"'
    told = event(world.people["reviewer"], "export", "show", project, *EXPORT)
    assert listed in told and "What is" in told
    for kind in ("annotator", "outsider"):
        told = event(world.people[kind], "export", "show", project, *EXPORT)
        assert listed not in told and "What is" not in told
    assert event(world.people["anonymous"], "documents", "show", project, *LISTED) == "401"


@pytest.mark.parametrize(
    ("name", "given", "needed"),
    [
        ("ask_for_run", (), FOR_REVIEWERS),
        ("stop_run", (), FOR_ADMINS),
        ("promote_version", (None, "why", False), FOR_ADMINS),
        ("promote_version", (None, "why", True), FOR_ADMINS),
        ("roll_back", ("why",), FOR_ADMINS),
    ],
)
def test_acting_in_the_tab_training_needs_the_role(
    world: World, name: str, given: tuple[Any, ...], needed: str
) -> None:
    before = len(job_list.list_jobs(world.workspace, world.project.id))
    lesser = ["annotator"] if needed == FOR_REVIEWERS else ["annotator", "reviewer"]
    for kind in lesser:
        assert needed in event(world.people[kind], "training", name, world.project.id, *given), kind
    assert NOT_THERE in event(world.people["outsider"], "training", name, world.project.id, *given)
    assert len(job_list.list_jobs(world.workspace, world.project.id)) == before
    allowed = event(world.people["admin"], "training", name, world.project.id, *given)
    assert needed not in allowed and NOT_THERE not in allowed


def test_only_admins_are_offered_to_delete_weights_and_snapshots(world: World) -> None:
    project, stored = world.project.id, world.workspace.blobs.put(b"weights")
    with world.workspace.database.write() as session:
        session.add(ModelVersion(project_id=project, number=99, checkpoint_sha256=stored, code_version="test"))
    for kind, may in (("annotator", False), ("reviewer", False), ("admin", True), ("owner", True)):
        models = event(world.people[kind], "training", "show", project, *OPENED["training"])
        assert "v99" in models and ("data-remove-model" in models) == may, kind
        exports = event(world.people[kind], "export", "show", project, *EXPORT)
        assert ("<glossator-snapshots" in exports) == (kind != "annotator"), kind
        assert ('data-admin=\\"yes\\"' in exports) == may, kind


def test_only_admins_create_projects_in_the_tab_documents(world: World) -> None:
    for kind in ("outsider", "annotator", "reviewer", "admin"):
        assert "Only an admin" in event(world.people[kind], "documents", "make", f"of {kind}"), kind
    event(world.people["owner"], "documents", "make", "of the owner")
    names = {summary.project.name for summary in projects.summaries(world.workspace)}
    assert "of the owner" in names and not names & {"of outsider", "of annotator", "of reviewer", "of admin"}


def test_the_page_that_everybody_loads_names_no_project(world: World) -> None:
    for path in ("/app/", "/app/config"):
        assert "guarded" not in world.people["outsider"].get(path).text
    offered = event(world.people["outsider"], "documents", "show", None, *LISTED)
    assert "another" in offered and "guarded" not in offered
    assert "guarded" in event(world.people["annotator"], "documents", "show", None, *LISTED)


def test_a_name_in_a_refusal_of_any_tab_is_text(world: World) -> None:
    name = '<img src=x onerror="window.hacked=1">'
    owner, project = world.people["owner"], world.project.id
    event(owner, "documents", "make", name)
    again = event(owner, "documents", "make", name)
    assert "The project name" in again and "&lt;img src=x" in again and "<img" not in again
    given = {"project": project, "questions": [], "settings": []}
    replace_standard_questions(world.workspace, project, [name], world.owner.id)
    other = event(owner, "questions", "keep_questions", project, given, "What is due?")
    assert "Somebody else added" in other and "&lt;img src=x" in other
    assert "<img" not in other.split("process_completed")[0]


def test_an_event_that_fails_unforeseen_tells_nothing_of_the_server(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise ValueError("/secret/path <b>")

    monkeypatch.setattr(documents, "document_page", broken)
    told = event(world.people["annotator"], "documents", "show", world.project.id, *LISTED)
    assert "/secret/path" not in told and "The server failed to do this" in told
