"""Weights of old versions are deleted at a wish, and none that anything still needs."""

import hashlib
from pathlib import Path

import pytest

from db.tables import Run
from engine import audit
from engine.accounts.users import add_user
from engine.errors import Conflict, Forbidden, Refused
from engine.jobs import queue
from engine.models import promotions, registry
from engine.models.pruning import MEAN_OF_FOLDS, prunable, prune
from engine.training.retraining.trigger import RETRAIN
from engine.workspace import Workspace
from tests.support.judged_runs import add_run
from tests.support.version_lines import House, make_house


@pytest.fixture
def house(workspace: Workspace, tmp_path: Path) -> House:
    return make_house(workspace, tmp_path)


def test_the_model_in_use_the_one_before_it_and_the_newest_stay(house: House) -> None:
    for _ in range(7):
        house.add()
    for number in (2, 3, 4):
        house.promote(house.versions[number - 1])
    promotions.rollback(house.workspace, house.project, by=house.admin)  # to v3; before it was v2
    assert [one.label for one in prunable(house.workspace, house.project, by=house.admin)] == ["v1", "v4"]
    assert len(house.on_disk()) == 7
    assert house.prune() == ["v1", "v4"]
    assert house.on_disk() == ["v2", "v3", "v5", "v6", "v7"]
    assert house.prune() == []
    assert promotions.rollback(house.workspace, house.project, by=house.admin).version_id == house.versions[1].id
    assert house.prune(keep=0) == ["v3", "v5", "v6", "v7"]
    shipped = registry.shipped_path(house.workspace.settings).read_bytes()
    assert house.on_disk() == ["v2"] and hashlib.sha256(shipped).hexdigest() in house.workspace.blobs


def test_what_was_deleted_is_told_and_cannot_be_promoted(house: House) -> None:
    first = house.add(b"x" * 3_000_000, b"y" * 1_000_000)
    house.add()
    [pruned] = prune(house.workspace, house.project, by=house.admin, keep=1)
    assert (pruned.label, pruned.files, pruned.bytes) == ("v1", 2, 4_000_000)
    [entry] = [one for one in audit.entries(house.workspace) if one.action == "models.prune"]
    assert entry.what == "deleted the weights of the model v1 (4 MB)" and entry.subject == first.id
    shown = {one.label: one.missing for one in registry.versions(house.workspace, house.project)}
    assert shown == {"v1": True, "v2": False, "nano": False}
    with pytest.raises(Refused, match=r"v1 is missing from disk: .*, lost or pruned; restore it"):
        house.promote(first)


def test_a_file_that_another_version_names_stays(house: House) -> None:
    other = House(house.workspace, "letters")
    for name in (b"shared with others", b"shared by two", b"shared by two", b"own"):
        house.add(name, name + b", a fold")
    other.add(b"else", b"shared with others, a fold")
    would = prunable(house.workspace, house.project, by=house.admin, keep=0)
    assert [(one.label, one.files) for one in would] == [("v2", 2), ("v4", 2)]
    assert house.prune(keep=0) == ["v2", "v4"]
    assert house.on_disk() == other.on_disk() == ["v1"], "all files of a version stay, or none"


def test_a_version_that_waits_for_an_admin_stays(house: House) -> None:
    run = add_run(house.workspace, house.project, before=0.5, after=0.5)
    waiting = house.add()
    for passed in (True, False):
        with house.workspace.database.write() as session:
            kept = session.get_one(Run, run.id)
            kept.challenger_id, kept.verdict = waiting.id, {"passed": passed}
        assert [one.label for one in prunable(house.workspace, house.project, by=house.admin, keep=0)] == (
            [] if passed else ["v2"]
        )


def test_weights_that_a_refit_replaced_go_with_their_version(house: House) -> None:
    run = add_run(house.workspace, house.project, before=0.5, after=0.5)
    refitted, other = house.add(), house.add()
    mean = house.workspace.blobs.put(b"the mean of the folds")
    for replaced, files in ((other.checkpoint_sha256, 3), (mean, 4)):  # a file in use stays
        with house.workspace.database.write() as session:
            kept = session.get_one(Run, run.id)
            kept.challenger_id, kept.settings = refitted.id, {**kept.settings, MEAN_OF_FOLDS: replaced}
        [found] = prunable(house.workspace, house.project, by=house.admin, keep=1)
        assert (found.label, found.files) == (registry.label(refitted), files)
    house.prune(keep=1)
    assert mean not in house.workspace.blobs and other.checkpoint_sha256 in house.workspace.blobs


def test_what_was_deleted_is_audited_where_a_file_cannot_be(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = house.add(), house.add()
    remove = house.workspace.blobs.remove

    def failing(sha256: str) -> None:
        if sha256 == second.checkpoint_sha256:
            raise PermissionError("not yours")
        remove(sha256)

    monkeypatch.setattr(house.workspace.blobs, "remove", failing)
    with pytest.raises(PermissionError):
        house.prune(keep=0)
    assert house.on_disk() == ["v2"]
    assert [one.subject for one in audit.entries(house.workspace) if one.action == "models.prune"] == [first.id]


def test_nothing_is_deleted_while_a_retraining_goes_on_or_by_others(house: House) -> None:
    first = house.add()
    house.add()
    run = add_run(house.workspace, house.project, before=0.5, after=0.5)
    with house.workspace.database.write() as session:
        session.get_one(Run, run.id).status = "running"
    with pytest.raises(Conflict, match="has not ended"):
        house.prune(keep=0)
    with house.workspace.database.write() as session:
        session.get_one(Run, run.id).status = "judged"
    job = queue.enqueue(house.workspace, RETRAIN, house.project)  # it has not begun its run yet
    with pytest.raises(Conflict, match="has not ended"):
        house.prune(keep=0)
    queue.cancel(house.workspace, job.id)
    reviewer = add_user(house.workspace, "rita", "a long password", "reviewer")
    with pytest.raises(Forbidden, match="Only an admin"):
        list(prune(house.workspace, house.project, by=reviewer))
    assert first.checkpoint_sha256 in house.workspace.blobs
