"""Retraining by folds that is disturbed: workers that stop, a refit that is off or fails."""

from pathlib import Path
from typing import Any

import pytest
import torch
from sqlalchemy import select

from db.tables import Promotion, Run
from engine.accounts.users import ensure_local_user
from engine.errors import Refused
from engine.fields.definition import FieldDefinition
from engine.fields.project_fields import replace_fields
from engine.jobs import queue
from engine.jobs.cancellation import Stopped
from engine.models import promotions, registry
from engine.models.folds import FOLDS
from engine.projects.projects import change_settings
from engine.training.retraining import learner, trigger
from engine.training.retraining.lessons import beginnings_of
from engine.training.retraining.reproduce import reproduce
from engine.training.retraining.run import retrain
from engine.workspace import Workspace
from model import checkpoint
from model.weight_interpolation import mean
from tests.support.factories import make_bills, make_project
from tests.support.fold_runs import LEARNING, retrained, shop_of


@pytest.fixture
def shop(sqlite_workspace: Workspace, tmp_path: Path) -> Workspace:
    return shop_of(sqlite_workspace, tmp_path)


def test_the_next_challenger_is_judged_on_every_document_by_folds_that_began_with_those_in_use(shop: Workspace) -> None:
    project = make_project(shop)
    change_settings(shop, project.id, promotion="by_hand")
    make_bills(shop, project.id, {"train": 8, "recent": 5, "frozen": 1})
    run, version = retrained(shop, project.id)
    assert run.verdict["passed"], run.verdict["sentence"]
    promotions.promote(shop, project.id, version.id, by=None)
    make_bills(shop, project.id, {"train": 1}, questions=2)
    later, _ = retrained(shop, project.id, steps=3)
    assert later.parent_id == version.id
    assert list(beginnings_of(shop, version)) == registry.fold_paths(shop, version)
    assert later.verdict["holdouts"]["own"]["documents"] == 15
    assert reproduce(shop, run.id).same and reproduce(shop, later.id).same


def test_with_refit_off_the_mean_of_the_folds_is_used(shop: Workspace) -> None:
    project = make_project(shop)
    make_bills(shop, project.id, {"train": 8, "recent": 5})
    total = FieldDefinition(name="total", question="What is the total due?", type="number")
    replace_fields(shop, project.id, [total], ensure_local_user(shop).id)
    run, version = retrained(shop, project.id, refit=False)
    assert run.verdict["passed"] and "refit" not in run.verdict
    own = run.verdict["holdouts"]["own"]
    assert (own["values"]["typed"]["questions"], own["challenger"]["typed"]) == (13, 13)
    assert own["values"]["typed"]["challenger"] == own["challenger"]["value_equal"] > own["parent"]["value_equal"]
    told = queue.job_by_id(shop, run.job_id).result["sentence"]
    assert "The mean of the folds is used, without a refit. It was promoted." in told
    used = checkpoint.load(registry.checkpoint_path(shop, version)).state
    of_folds = [checkpoint.load(path).state for path in registry.fold_paths(shop, version)]
    for name, tensor in used.items():
        if tensor.is_floating_point():
            expected = torch.stack([one[name].float() for one in of_folds]).sum(0) / FOLDS
            assert torch.allclose(tensor.float(), expected, atol=1e-3)
    assert reproduce(shop, run.id).same
    with shop.database.read() as session:
        assert session.scalar(select(Promotion.version_id)) == version.id


def test_a_worker_that_stops_in_any_phase_leaves_a_run_that_ends_as_if_undisturbed(shop: Workspace) -> None:
    registry.ensure_shipped(shop)
    project = make_project(shop)
    make_bills(shop, project.id, {"train": 8, "recent": 5, "frozen": 1})
    job = trigger.request(shop, project.id, **LEARNING)
    for stop_at in ("fold 2 of 3: step 3", "on all 14 pages: step 5"):
        with pytest.raises(Stopped):
            retrain(shop, job, **listening(stop_at))
    result = retrain(shop, job, **listening("never"))
    with shop.database.read() as session:
        run = session.get_one(Run, result["run_id"])
    assert run.verdict["refit"]["passed"] and run.settings["refit_steps"] == LEARNING["steps"]
    assert reproduce(shop, run.id).same
    assert run.verdict["sentence"].count("then trained on all") == 1


def listening(stop_at: str) -> dict[str, Any]:
    """What a worker hands to a run, that stops once it is told so."""
    said: list[str] = []
    return {
        "on_progress": lambda share, message: said.append(message),
        "should_stop": lambda: "end" if any(stop_at in one for one in said) else None,
    }


def test_a_refit_that_fails_leaves_the_verdict_and_the_mean_of_the_folds(
    shop: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    train = learner.train

    def failing(network: Any, workspace: Any, corpus: Any, settings: Any, folder: Path, **how: Any) -> Any:
        if folder.name == "refit":
            raise Refused("Training diverged.")
        return train(network, workspace, corpus, settings, folder, **how)

    monkeypatch.setattr(learner, "train", failing)
    project = make_project(shop)
    make_bills(shop, project.id, {"train": 8, "recent": 5})
    run, version = retrained(shop, project.id)
    assert run.status == "judged" and run.verdict["passed"]
    assert "failed, so the mean of the folds is used: Training diverged." in run.verdict["sentence"]
    used = checkpoint.load(registry.checkpoint_path(shop, version)).state
    of_folds = [checkpoint.load(path).state for path in registry.fold_paths(shop, version)]
    assert all(torch.equal(tensor, mean(of_folds)[name]) for name, tensor in used.items())
    with shop.database.read() as session:
        assert session.scalar(select(Promotion.version_id)) == version.id
