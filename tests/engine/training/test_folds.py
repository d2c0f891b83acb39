"""A challenger is judged by folds; when it passed, the weights in use learn from all accepted pages."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from db.tables import Document, ModelVersion, Run
from engine.accounts.users import ensure_local_user
from engine.annotation.predictors import Predictors
from engine.annotation.survey_answers import held_out_group
from engine.errors import Conflict
from engine.models import promotions, registry
from engine.models.folds import FOLDS, fold_of
from engine.projects.projects import change_settings
from engine.training.retraining import latency, learner
from engine.training.retraining.folds import known_to
from engine.training.retraining.lessons import beginnings_of
from engine.training.retraining.reproduce import reproduce
from engine.training.sources.corpus import Corpus
from engine.workspace import Workspace
from model import checkpoint
from tests.support.factories import bill, make_bills, make_document, make_project
from tests.support.fold_runs import retrained, shop_of


@pytest.fixture
def shop(sqlite_workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setattr(latency, "PAGES", 1)  # nothing here depends on how fast the weights are
    return shop_of(sqlite_workspace, tmp_path)


def test_every_document_is_judged_by_weights_that_have_not_learned_it_and_teaches_those_in_use(
    shop: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    taught: list[set[str]] = []  # documents of each training, in order
    train = learner.train

    def spied(network: Any, workspace: Any, corpus: Corpus, *rest: Any, **how: Any) -> Any:
        taught.append({corpus.documents[page.page_id] for page in corpus.pages})
        return train(network, workspace, corpus, *rest, **how)

    monkeypatch.setattr(learner, "train", spied)
    project = make_project(shop)
    change_settings(shop, project.id, promotion="by_hand")
    make_bills(shop, project.id, {"train": 8, "recent": 5, "frozen": 1})
    run, version = retrained(shop, project.id)
    assert run.verdict["passed"], run.verdict["sentence"]
    assert run.verdict["holdouts"]["own"]["documents"] == 14
    with shop.database.read() as session:
        folds = {one.id: fold_of(one.group_id) for one in session.scalars(select(Document))}
    assert taught[:FOLDS] == [{one for one, fold in folds.items() if fold != number} for number in range(FOLDS)]
    assert taught[FOLDS:] == [set(folds)], "the weights in use learn from all"

    found = run.verdict["refit"]
    assert found["passed"] and found["pages"] == 14 and "on all 14 pages" in run.verdict["sentence"]
    assert set(found["holdouts"]) == {"generated", "taught"}
    judging = [checkpoint.load(path).version for path in registry.fold_paths(shop, version)]
    used = checkpoint.load(registry.checkpoint_path(shop, version)).version
    replaced = checkpoint.load(shop.blobs.path(run.settings["mean_sha256"])).version  # pruned with its version
    assert len({*judging, used, replaced}) == FOLDS + 2

    # No promotion while the run goes on: its weights may still change.
    with shop.database.write() as session:
        session.get_one(Run, run.id).status = "running"
    with pytest.raises(Conflict, match="has not ended yet"):
        promotions.promote(shop, project.id, version.id, by=None)
    with shop.database.write() as session:
        session.get_one(Run, run.id).status = "judged"
    promotions.promote(shop, project.id, version.id, by=None)

    # The survey asks the weights of its fold on a held-out document.
    predictors = Predictors(shop)
    loaded = predictors.of(project.id)
    assert loaded.predictor.version == used
    assert [one.predictor.version for one in predictors.folds(loaded)] == judging

    # The next challenger's folds begin with those of this one.
    assert list(beginnings_of(shop, version)) == registry.fold_paths(shop, version)


def test_few_documents_make_no_folds_and_cannot_judge_what_learned_from_them(shop: Workspace) -> None:
    project = make_project(shop)
    change_settings(shop, project.id, promotion="by_hand")
    make_bills(shop, project.id, {"train": 3, "recent": 1}, questions=2)
    run, version = retrained(shop, project.id, steps=4)
    assert run.settings["folded"] is False and version.fold_sha256s == []
    assert "own" not in run.verdict["holdouts"] and "taught" in run.verdict["holdouts"]
    assert reproduce(shop, run.id).same
    promotions.promote(shop, project.id, version.id, by=ensure_local_user(shop), reason="a champion", force=True)
    make_bills(shop, project.id, {"train": 3}, questions=2)
    later, folded = retrained(shop, project.id, steps=4)
    whole = ModelVersion(parent_id=folded.id, snapshot_id=folded.snapshot_id, fold_sha256s=[])
    assert len(known_to(shop, whole)) == 7, "it began with weights that had learned from all, though these have folds"
    assert known_to(shop, folded) == set()
    assert later.settings["folded"] is True
    assert later.verdict["holdouts"]["own"]["documents"] == 3, "the champion knows the other four"
    assert list(beginnings_of(shop, version)) == [shop.blobs.path(folded_origin(shop))] * FOLDS
    assert len(folded.fold_sha256s) == FOLDS


def folded_origin(shop: Workspace) -> str:
    """Blob of the first version, with which folds begin where the champion has none."""
    with shop.database.read() as session:
        return session.scalars(select(ModelVersion.checkpoint_sha256).where(ModelVersion.project_id.is_(None))).one()


def test_groups_of_held_out_documents_are_told_from_those_of_training_documents(workspace: Workspace) -> None:
    project = make_project(workspace)
    documents = [make_document(workspace, project.id, [bill(1)], split=split) for split in ("train", "recent")]
    with workspace.database.read() as session:
        assert held_out_group(session, documents[0].id) is None
        assert held_out_group(session, documents[1].id) == documents[1].group_id
        assert held_out_group(session, "unknown") is None


def test_the_folds_of_many_groups_are_alike_in_size_and_never_change() -> None:
    folds = [fold_of(f"{number:032x}") for number in range(3000)]
    assert folds == [fold_of(f"{number:032x}") for number in range(3000)]
    assert all(900 < folds.count(fold) < 1100 for fold in range(FOLDS))
