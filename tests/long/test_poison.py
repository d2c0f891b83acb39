"""An annotator who answers at random: the figures name them, their answers lose their weight, and nothing is learned from them."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import CliRunner

from annotator.ui.quality import draw
from engine.cli import app
from engine.datasets import snapshots
from engine.datasets.snapshot_views import newest_view, snapshot_view
from engine.datasets.weights import LEAST
from engine.statistics.project_agreement import project_agreement
from engine.statistics.throughput import figures
from engine.tasks.standard_questions import replace_standard_questions
from engine.workspace import Workspace
from tests.support.annotators import answer, tasks_of
from tests.support.factories import BILL_QUESTIONS, bill, make_document
from tests.support.poisoned_project import BILLS, Poisoned


@pytest.fixture
def poisoned(workspace: Workspace) -> Poisoned:
    return Poisoned(workspace)


def test_the_agreement_figures_name_who_marks_anything(poisoned: Poisoned) -> None:
    found = project_agreement(poisoned.workspace, poisoned.project.id).reliability
    assert found[0].person == "Mal"
    assert [row.person for row in found if row.sentence] == ["Mal"]
    assert found[0].sentence is not None and "Mal agrees with others on" in found[0].sentence
    assert found[0].reliability < 0.35 and all(row.reliability > 0.6 for row in found[1:])


def test_command_and_screen_say_so(poisoned: Poisoned, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = poisoned.workspace
    run = command(workspace, monkeypatch)
    said = run("figures", "--project", poisoned.project.name)
    assert "Check these answers before the next retraining" in said
    assert json.loads(run("figures", "--project", poisoned.project.name, "--json").splitlines()[-1])["reliability"][0][
        "person"
    ] == ("Mal")
    snapshots.freeze(workspace, poisoned.project.id, split="train")
    screen = draw(
        figures(workspace, poisoned.project.id),
        project_agreement(workspace, poisoned.project.id),
        newest_view(workspace, poisoned.project.id),
        poisoned.project.id,
    )
    assert "Answer weights" in screen and "Mal agrees with others on" in screen


def test_the_weight_of_their_labels_falls_and_others_keep_theirs(
    poisoned: Poisoned, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, project = poisoned.workspace, poisoned.project
    snapshot = snapshots.freeze(workspace, project.id, split="train")
    weights: dict[str, list[float]] = {}
    for item in snapshots.load(workspace, snapshot):
        weights.setdefault(item.author, []).append(item.weight)
    assert len(weights["Mal"]) >= 6, "the bills that nobody else answered are there"
    assert max(weights["Mal"]) < 0.35
    assert min(weights["Ann"] + weights["Ben"]) > 0.5
    view = snapshot_view(workspace, project.id, snapshot.sha256[:10])
    assert view.people[0].person == "Mal"
    assert view.people[0].mean_weight is not None and view.people[0].mean_weight < 0.35
    run = command(workspace, monkeypatch)
    assert "Mal" in run("snapshots", "show", snapshot.sha256[:12], "--project", project.name)
    listed = json.loads(run("snapshots", "list", "--project", project.name, "--json").splitlines()[-1])
    assert listed["snapshots"][0]["reduced"] == snapshot.counts["reduced"] > 0


def test_after_enough_random_answers_nothing_is_learned_from_somebody(workspace: Workspace) -> None:
    poisoned = Poisoned(workspace)
    for number in range(BILLS, 2 * BILLS):
        make_document(workspace, poisoned.project.id, [bill(number)], name=f"bill {number}.png")
    replace_standard_questions(workspace, poisoned.project.id, list(BILL_QUESTIONS), poisoned.ann.id)
    right = list(BILL_QUESTIONS.values())
    for at, task in enumerate(tasks_of(workspace, poisoned.project.id)):
        if at >= BILLS * 3:
            answer(workspace, task.id, poisoned.ann, right[at % 3])
            poisoned.mark_anything(task, poisoned.mal)
    assert project_agreement(workspace, poisoned.project.id).reliability[0].reliability < LEAST
    items = snapshots.load(workspace, snapshots.freeze(workspace, poisoned.project.id, split="train"))
    assert {item.weight for item in items if item.author == "Mal"} == {0.0}


def command(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """The command line on this workspace."""
    monkeypatch.setenv("GLOSSATOR_DATA_DIR", str(workspace.settings.data_dir))
    monkeypatch.setenv("GLOSSATOR_DATABASE_URL", workspace.database.url.render_as_string(hide_password=False))
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: Any) -> str:
        result = CliRunner().invoke(app, list(arguments))
        assert result.exit_code == 0, result.output
        return result.stdout

    return run
