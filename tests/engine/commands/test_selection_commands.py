"""The commands survey, label-review, stage and tasks first, as people and programs call them; and their routes."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from starlette.testclient import TestClient
from typer.testing import CliRunner, Result

from annotator.app import create_app
from db.tables import Document
from engine.accounts.users import ensure_local_user
from engine.cli import app
from engine.client import Glossator, ServerSaid
from engine.models import registry
from engine.projects.projects import project_named
from engine.selection import label_review
from engine.settings import Settings
from engine.tasks.queue import next_task as queue
from engine.tasks.standard_questions import replace_standard_questions
from engine.workspace import Workspace
from tests.support.annotators import make_person
from tests.support.factories import accept, bill, make_document, make_project, save_tiny_model
from tests.support.server_thread import served
from tests.support.survey_rows import say

QUESTIONS = ("What is the bill number?", "What is the total due?")


@pytest.fixture
def shop(sqlite_workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A workspace that the commands find through the environment: a small model, four bills, two questions."""
    save_tiny_model(tmp_path / "tiny.safetensors")
    monkeypatch.setenv("GLOSSATOR_DATA_DIR", str(sqlite_workspace.settings.data_dir))
    monkeypatch.setenv("GLOSSATOR_MODEL_PATH", str(tmp_path / "tiny.safetensors"))
    monkeypatch.setattr("os.nice", lambda _: 0)  # the process of the tests keeps its priority
    torch.set_num_threads(1)
    project = make_project(sqlite_workspace)
    for at in range(4):
        make_document(sqlite_workspace, project.id, [bill(at)], name=f"bill {at}.png")
    make_person(sqlite_workspace, "Rita", project.id, "reviewer")
    replace_standard_questions(sqlite_workspace, project.id, QUESTIONS, ensure_local_user(sqlite_workspace).id)
    return sqlite_workspace


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, [*arguments, "--project", "bills"])


def answer(*arguments: str) -> dict[str, Any]:
    result = call(*arguments, "--json")
    assert result.exit_code == 0, result.output
    said: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return said


def test_a_survey_from_the_shell_puts_the_queue_in_order(shop: Workspace) -> None:
    assert CliRunner().invoke(app, ["projects", "set", "bills", "--selection", "model"]).exit_code == 0
    found = answer("survey")
    assert (found["status"], found["questions"], found["documents"]) == ("done", 8, 4)
    assert sum(found["ordered"].values()) == 4
    again = call("survey")
    assert again.exit_code == 0
    assert "0 questions" in again.output
    assert answer("survey", "--queue")["status"] == "waiting"


def test_a_document_is_put_first_from_the_shell(shop: Workspace) -> None:
    done = call("tasks", "first", "bill 2.png")
    assert "2 tasks of bill 2.png moved to the front." in done.output
    user = ensure_local_user(shop)
    task = queue.next_task(shop, answer_project(shop), user.id).task
    assert task is not None
    with shop.database.read() as session:
        assert session.get_one(Document, task.document_id).name == "bill 2.png"


def answer_project(shop: Workspace) -> str:
    return project_named(shop, "bills").id


def test_label_reviews_are_listed_with_their_reason_and_what_became_of_them(shop: Workspace) -> None:
    assert "No accepted label is contradicted" in call("label-review").output
    project_id = answer_project(shop)
    version = registry.ensure_shipped(shop)
    document = make_document(shop, project_id, [bill(7)], name="doubted.png")
    label = accept(shop, document, QUESTIONS[1], [4], author="Ann")
    say(shop, version, document, QUESTIONS[1], [1])
    assert label_review.find(shop, project_id) == 1
    shown = call("label-review").output
    assert label.id in shown and "another place (99% sure): “B1007”" in shown and "Open." in shown
    judged = CliRunner().invoke(app, ["review", "judge", label.id, "accepted", "--by", "Rita"])
    assert judged.exit_code == 0, judged.output
    [line] = answer("label-review")["label_reviews"]
    assert answer("second-look")["second_looks"] == [line]  # the names before
    assert (line["verdict"], line["decided_by"], line["kind"]) == ("kept", "Rita", "elsewhere")


def test_the_stage_from_the_shell(shop: Workspace) -> None:
    view = answer("stage")
    assert (view["stage"], view["tasks"], view["measured_answers"]) == ("assisted", 8, 0)
    refused = call("stage", "--set", "automatic")
    assert refused.exit_code == 1
    assert "is not measured yet" in refused.output
    shown = call("stage", "--set", "semi-automatic", "--reason", "To see it.")
    assert shown.exit_code == 0 and "semi-automatic since" in shown.output and "To see it." in shown.output
    assert call("stage", "--set", "assisted", "--undo").exit_code == 2
    assert answer("stage", "--undo")["undone"] == 0
    assert answer("stage", "--list")["automatic"] == []
    stranger = call("stage", "--set", "assisted", "--by", "Rita")
    assert stranger.exit_code == 1 and "admin" in stranger.output


def test_the_figures_tell_of_choices_in_json(shop: Workspace) -> None:
    assert answer("figures")["choices"] == {"by": [], "more": None, "more_low": None, "more_high": None}


def test_a_program_asks_for_surveys_and_sees_the_stage(application_settings: Settings) -> None:
    with served(create_app(application_settings, with_page=False)) as address, Glossator(address) as glossator:
        project = glossator.create_project("from afar")
        assert glossator.stage(project.id).stage == "assisted"
        assert glossator.set_stage(project.id, "semi_automatic", "Try.").reason == "Try."
        with pytest.raises(ServerSaid, match="is not measured yet"):
            glossator.set_stage(project.id, "automatic")
        assert glossator.survey(project.id).kind == "survey"
        assert not glossator.label_reviews(project.id) and not glossator.automatic_answers(project.id)
        assert glossator.undo_automatic(project.id) == 0
        said = [line.what for line in glossator.audit(project.id)]
        assert "set the stage to semi-automatic: Try." in said and "withdrew 0 automatic answers" in said


def test_the_stage_over_rest(client: TestClient) -> None:
    project = client.get("/api/projects").json()[0]["id"]
    place = f"/api/projects/{project}"
    headers = {"X-Glossator": "1"}
    view = client.get(f"{place}/stage").json()
    assert view["stage"] == "assisted" and "is not measured yet" in view["blocked"]
    refused = client.put(f"{place}/stage", json={"stage": "automatic"}, headers=headers)
    assert refused.status_code == 422 and "is not measured yet" in refused.json()["detail"]
    changed = client.put(f"{place}/stage", json={"stage": "semi_automatic", "reason": "Try."}, headers=headers)
    assert (changed.status_code, changed.json()["reason"]) == (200, "Try.")
    assert client.put(f"{place}/stage", json={"stage": "semi_automatic"}, headers=headers).status_code == 409
    assert client.get(f"{place}/label-reviews").json() == client.get(f"{place}/second-looks").json() == []
    assert client.get(f"{place}/automatic-answers").json() == []
    assert client.post(f"{place}/automatic-answers/undo", headers=headers).json() == {"answers": 0}
    job = client.post(f"{place}/survey", headers=headers)
    assert (job.status_code, job.json()["kind"]) == (202, "survey")
    settings = client.patch(f"{place}/settings", json={"selection": "model", "audit_share": 0.2}, headers=headers)
    assert settings.json()["selection"] == "model" and settings.json()["audit_share"] == 0.2
    assert client.patch(f"{place}/settings", json={"selection": "best"}, headers=headers).status_code == 422
