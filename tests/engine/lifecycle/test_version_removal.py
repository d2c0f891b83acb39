"""The weights of a chosen model version are deleted for good, unless something needs them."""

import threading
from contextlib import suppress
from pathlib import Path

import pytest

from db.tables import ModelVersion, Run
from engine import audit, blob_turns
from engine.errors import Conflict, Forbidden, NotFound, Refused
from engine.jobs import queue
from engine.lifecycle.stored_check import check_stored
from engine.lifecycle.version_removal import removable_version, remove_version
from engine.models import promotions, registry
from engine.models.pruning import MEAN_OF_FOLDS
from engine.training.retraining.trigger import RETRAIN
from engine.workspace import Workspace
from tests.support.accounts import make_user
from tests.support.judged_runs import add_run
from tests.support.left_behind import files_with
from tests.support.version_lines import House, make_house


@pytest.fixture
def house(workspace: Workspace, tmp_path: Path) -> House:
    return make_house(workspace, tmp_path)


def remove(house: House, name: str) -> str:
    return remove_version(house.workspace, house.project, name, by=house.admin).label


def test_weights_of_a_version_leave_no_byte_and_its_row_and_run_stay(house: House) -> None:
    run = add_run(house.workspace, house.project, before=0.5, after=0.5)
    unneeded, mean = house.add(), house.workspace.blobs.put(b"the mean of the folds")
    house.add()
    with house.workspace.database.write() as session:
        ended = session.get_one(Run, run.id)
        ended.challenger_id, ended.settings = unneeded.id, {**ended.settings, MEAN_OF_FOLDS: mean}
    signs = [*house.drawn(unneeded.number), b"the mean of the folds"]
    would = removable_version(house.workspace, house.project, registry.label(unneeded), by=house.admin)
    assert would.files == len(files_with(house.workspace, signs)) == 4
    assert remove_version(house.workspace, house.project, unneeded.id, by=house.admin) == would
    assert files_with(house.workspace, signs) == [] and house.on_disk() == ["v3"]
    entry = audit.entries(house.workspace, house.project)[0]
    assert (entry.what, entry.subject) == ("deleted the weights of the model v2 (0 MB)", unneeded.id)
    shown = {each.label: each.missing for each in registry.versions(house.workspace, house.project)}
    assert shown["v2"] and not shown["v3"]
    with house.workspace.database.read() as session:
        assert session.get_one(Run, run.id).challenger_id == unneeded.id
    checked = check_stored(house.workspace, read=False, on_blob=lambda *_: None)
    lost = {*checked.files.missing} & {unneeded.checkpoint_sha256, *unneeded.fold_sha256s}
    assert lost == set(), "a check takes them for deleted, not for lost"
    with pytest.raises(NotFound, match="The weights of v2 are deleted already"):
        remove(house, "v2")
    with pytest.raises(Refused, match="v2 is missing from disk"):
        house.promote(unneeded)


def test_a_version_that_something_needs_stays_and_the_sentence_says_what(house: House) -> None:
    other = House(house.workspace, "letters")
    for number in range(1, 6):
        house.add(f"weights {number}".encode(), b"a fold of two" if number > 3 else f"fold {number}".encode())
    other.add(b"weights of letters", b"fold 3")
    house.promote(house.versions[0])
    house.promote(house.versions[1])
    for name, sentence in (
        ("nano", "nano is the model that all projects begin with"),
        ("v2", "v2 is the model in use. Promote another model first"),
        ("v1", "v1 stays, because a rollback would return to it"),
        ("v4", "v4 has weights in common with v5, so they stay"),
        ("v3", "v3 has weights in common with a model of another project"),
    ):
        with pytest.raises(Conflict, match=sentence):
            remove(house, name)
    for name in ("v9", other.versions[0].id):
        with pytest.raises(NotFound, match="no model version"):
            remove(house, name)
    assert house.on_disk() == ["v1", "v2", "v3", "v4", "v5"] and other.on_disk() == ["v1"]


def test_nothing_is_deleted_during_a_retraining_or_a_backup_or_by_others(house: House) -> None:
    house.add()
    for role in ("reviewer", "annotator"):
        with pytest.raises(Forbidden, match="Only an admin of the project"):
            by = make_user(house.workspace, **{house.project: role})
            remove_version(house.workspace, house.project, "v1", by=by)
    job = queue.enqueue(house.workspace, RETRAIN, house.project)  # it waits; its run is not there yet
    with pytest.raises(Conflict, match="A retraining of the project has not ended"):
        remove(house, "v1")
    queue.cancel(house.workspace, job.id)
    with blob_turns.turn(house.workspace.database, "backup"), pytest.raises(Conflict, match="another work: backup"):
        remove(house, "v1")
    assert house.on_disk() == ["v1"]
    admin = make_user(house.workspace, **{house.project: "admin"})
    assert remove_version(house.workspace, house.project, "v1", by=admin).label == "v1" and house.on_disk() == []


def test_a_model_that_is_promoted_at_the_same_moment_keeps_its_weights(house: House) -> None:
    for _ in range(6):
        version = house.add()
        together = threading.Barrier(2)
        refusals: list[str] = []

        def attempt(act, together: threading.Barrier = together, refusals: list[str] = refusals) -> None:
            together.wait()
            try:
                act()
            except Refused as refused:
                refusals.append(str(refused))

        acts = (lambda v=version: house.promote(v), lambda v=version: remove(house, v.id))
        threads = [threading.Thread(target=attempt, args=(act,)) for act in acts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with house.workspace.database.read() as session:
            in_use = registry.champion(session, house.project)
        assert in_use.checkpoint_sha256 in house.workspace.blobs
        label = registry.label(version)
        assert len(refusals) == 1 and (label in house.on_disk()) == (in_use.id == version.id), refusals


def test_a_job_that_begins_meanwhile_finds_the_weights_that_it_trains_from(house: House) -> None:
    for _ in range(3):
        house.promote(house.add())
    begun: list[ModelVersion] = []

    def begin() -> None:
        """As a retraining does: it is leased, and then asks for the model in use."""
        queue.enqueue(house.workspace, RETRAIN, house.project)
        assert queue.lease(house.workspace, "worker", [RETRAIN]) is not None
        with house.workspace.database.read() as session:
            begun.append(registry.champion(session, house.project))

    thread = threading.Thread(target=begin)
    thread.start()
    for name in ("v1", "v2", "v3"):
        with suppress(Conflict):
            remove(house, name)
    thread.join()
    registry.checkpoint_path(house.workspace, begun[0])
    house.promote(house.add())
    house.promote(house.add())  # the version that the job began with is neither in use nor the one before
    with house.workspace.database.read() as session:
        assert promotions.previous_champion(session, house.project) != begun[0].id
    with pytest.raises(Conflict, match="A retraining of the project has not ended"):
        remove(house, begun[0].id)
    registry.checkpoint_path(house.workspace, begun[0])
