"""A challenger that passed is refitted on all accepted pages; the weights that were judged stay honest."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from sqlalchemy import select

from db.tables import ModelVersion, Promotion, Run
from engine.annotation.predictors import Predictors
from engine.annotation.survey_answers import is_held_out
from engine.commands.background import run_worker
from engine.datasets.manifest import items_of
from engine.errors import Conflict, Refused
from engine.jobs import queue
from engine.models import promotions, registry
from engine.projects.projects import change_settings
from engine.training.retraining import trigger
from engine.training.retraining.reproduce import reproduce
from engine.workspace import Workspace
from model import checkpoint
from tests.support.factories import bill, make_bills, make_document, make_project, save_tiny_model

LEARNING: dict[str, Any] = {
    "steps": 40,
    "rate": 5e-3,
    "matrix_rate": 1.0,
    "replay": 0.0,
    "images": 0.0,
    "checkpoint_every": 40,
    "pages": 4,
    "questions": 3,
    "generated_pages": 2,
    "seed": 5,
}


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def shop(sqlite_workspace: Workspace, tmp_path: Path) -> Workspace:
    path = tmp_path / "tiny.safetensors"
    save_tiny_model(path)
    changed = sqlite_workspace.settings.model_copy(update={"model_path": path})
    return Workspace(changed, sqlite_workspace.database, sqlite_workspace.blobs)


def retrained(shop: Workspace, project_id: str, **chosen: Any) -> tuple[Run, ModelVersion]:
    job = trigger.request(shop, project_id, **{**LEARNING, **chosen})
    run_worker(shop, once=True)
    result = queue.job_by_id(shop, job.id).result
    with shop.database.read() as session:
        run = session.get_one(Run, result["run_id"])
        return run, session.get_one(ModelVersion, str(run.challenger_id))


def test_the_weights_in_use_learn_from_every_accepted_page_and_the_judged_ones_from_no_held_out_one(
    shop: Workspace,
) -> None:
    project = make_project(shop)
    change_settings(shop, project.id, promotion="by_hand")
    make_bills(shop, project.id, {"train": 8, "recent": 5, "frozen": 1})
    run, version = retrained(shop, project.id)
    assert run.verdict["passed"], run.verdict["sentence"]
    found = run.verdict["refit"]
    assert found["passed"] and found["pages"] == 14 and "on all 14 pages" in run.verdict["sentence"]
    assert set(found["holdouts"]) == {"generated", "taught"}
    taught = {item.document.split for item in items_of(shop, str(version.refit_snapshot_sha256))}
    assert taught == {"train", "recent", "frozen"}
    assert reproduce(shop, run.id, refitted=True).same
    judged = checkpoint.load(registry.judged_path(shop, version)).version
    used = checkpoint.load(registry.checkpoint_path(shop, version)).version
    assert judged != used
    assert version.figures["own"] == run.verdict["holdouts"]["own"]["challenger"], "those of the judged weights"

    # No promotion while the run goes on: its weights may still change.
    with shop.database.write() as session:
        session.get_one(Run, run.id).status = "running"
    with pytest.raises(Conflict, match="has not ended yet"):
        promotions.promote(shop, project.id, version.id, by=None)
    with shop.database.write() as session:
        session.get_one(Run, run.id).status = "judged"
    promotions.promote(shop, project.id, version.id, by=None)

    # The survey asks the judged weights on held-out documents, and those in use elsewhere.
    predictors = Predictors(shop)
    loaded = predictors.of(project.id)
    assert (loaded.predictor.version, predictors.judged(loaded).predictor.version) == (used, judged)

    # The next challenger begins with the judged weights and is compared with them.
    make_bills(shop, project.id, {"train": 1}, questions=2)
    later, _ = retrained(shop, project.id, steps=3)
    assert later.parent_id == version.id
    assert later.verdict["holdouts"]["own"]["parent"]["mean_iou"] == pytest.approx(version.figures["own"]["mean_iou"])
    assert reproduce(shop, later.id).same


def test_with_refit_off_the_judged_weights_are_used(shop: Workspace) -> None:
    project = make_project(shop)
    make_bills(shop, project.id, {"train": 8, "recent": 5})
    run, version = retrained(shop, project.id, refit=False)
    assert run.verdict["passed"] and "refit" not in run.verdict
    assert version.judged_sha256 is None and version.refit_snapshot_sha256 is None
    assert registry.judged_path(shop, version) == registry.checkpoint_path(shop, version)
    with pytest.raises(Refused, match="has no refit"):
        reproduce(shop, run.id, refitted=True)
    with shop.database.read() as session:
        assert session.scalar(select(Promotion.version_id)) == version.id


def test_holdouts_are_told_from_training_documents(workspace: Workspace) -> None:
    project = make_project(workspace)
    splits = ("train", "recent", "frozen")
    documents = [make_document(workspace, project.id, [bill(1)], split=split).id for split in splits]
    with workspace.database.read() as session:
        assert [is_held_out(session, one) for one in documents] == [False, True, True]
        assert not is_held_out(session, "unknown")
