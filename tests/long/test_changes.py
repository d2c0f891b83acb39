"""What a run changed, question by question, and the same weights again."""

from pathlib import Path
from typing import Any

import pytest
import torch
from sqlalchemy import select, update

from db.tables import Document, Page, Run
from engine.commands.servers.background import run_worker
from engine.errors import NotFound, Refused
from engine.jobs import queue
from engine.training.retraining import trigger
from engine.training.retraining.changes import changes_of
from engine.training.retraining.reproduce import reproduce
from engine.workspace import Workspace
from tests.support.factories import make_bills, make_project, save_tiny_model

SMALL: dict[str, Any] = {
    "steps": 4,
    "generated_pages": 3,
    "pages": 2,
    "questions": 3,
    "images": 0.25,
    "checkpoint_every": 2,
    "seed": 5,
}


@pytest.fixture
def shop(sqlite_workspace: Workspace, tmp_path: Path) -> Workspace:
    save_tiny_model(tmp_path / "tiny.safetensors")
    torch.set_num_threads(1)
    settings = sqlite_workspace.settings.model_copy(update={"model_path": tmp_path / "tiny.safetensors"})
    return Workspace(settings, sqlite_workspace.database, sqlite_workspace.blobs)


def judged(shop: Workspace, splits: dict[str, int], **settings: object) -> Run:
    project = make_project(shop)
    make_bills(shop, project.id, splits, questions=2)
    job = trigger.request(shop, project.id, **{**SMALL, **settings})
    run_worker(shop, once=True)
    done = queue.job_by_id(shop, job.id)
    assert done.status == "done", done.message
    with shop.database.read() as session:
        return session.get_one(Run, done.result["run_id"])


def test_every_question_that_judged_is_listed_with_its_document_and_what_moved_most_comes_first(
    shop: Workspace,
) -> None:
    run = judged(shop, {"train": 4, "recent": 2, "frozen": 1}, rate=5e-3, steps=12)
    found = changes_of(shop, run.id, kinds=("gained", "lost", "better", "worse", "same"), limit=1000)
    for name in ("own", "generated"):
        assert sum(found.counts[name].values()) == run.verdict["holdouts"][name]["questions"]
    of_own = [one for one in found.changes if one.holdout == "own"]
    with shop.database.read() as session:
        own = {
            document.id: document.name
            for document in session.scalars(select(Document))
            if document.id in {one.document_id for one in of_own}
        }
    assert len(of_own) == 14 and len(own) == 7
    assert all(one.document == own[str(one.document_id)] and one.page_number == 1 for one in of_own)
    assert all(one.document is None for one in found.changes if one.holdout == "generated")
    moved = [abs(one.after - one.before) for one in of_own]
    assert moved == sorted(moved, reverse=True)
    means = run.verdict["holdouts"]["own"]
    assert sum(one.after - one.before for one in of_own) / 14 == pytest.approx(means["difference"], abs=1e-3)


def test_what_stayed_the_same_is_left_out_unless_it_is_asked_for(shop: Workspace) -> None:
    run = judged(shop, {"train": 3, "recent": 2})
    listed = changes_of(shop, run.id)
    assert all(one.kind != "same" for one in listed.changes)
    assert {one.kind for one in changes_of(shop, run.id, kinds=["same"]).changes} <= {"same"}
    assert len(changes_of(shop, run.id, kinds=["same", "better", "worse", "gained", "lost"], limit=2).changes) == 2


def test_a_line_names_its_page_as_it_is_called_now(shop: Workspace) -> None:
    run = judged(shop, {"train": 5, "recent": 1})
    with shop.database.write() as session:
        page_id = next(
            one.page_id
            for one in changes_of(shop, run.id, kinds=["same", "better", "worse", "gained", "lost"]).changes
            if one.holdout == "own"
        )
        document_id = session.get_one(Page, page_id).document_id
        session.execute(update(Page).where(Page.id == page_id).values(number=99))
    lines = changes_of(shop, run.id, kinds=["same", "better", "worse", "gained", "lost"]).changes
    assert {one.page_number for one in lines if one.document_id == document_id} == {99}


def test_a_run_that_is_not_judged_has_no_changes_and_one_whose_list_is_lost_says_so(shop: Workspace) -> None:
    with pytest.raises(NotFound, match="no such run"):
        changes_of(shop, "nothing")
    run = judged(shop, {"train": 3})
    with shop.database.write() as session:
        session.get_one(Run, run.id).verdict = {"changes_sha256": "0" * 64}
    with pytest.raises(NotFound, match="list of changes is missing"):
        changes_of(shop, run.id)
    with shop.database.write() as session:
        session.get_one(Run, run.id).verdict = {}
    found = changes_of(shop, run.id)
    assert (found.counts, found.changes) == ({}, [])


@pytest.mark.parametrize("depth", ["quick", "full"])
def test_a_run_is_made_again_to_the_bit(shop: Workspace, depth: str) -> None:
    run = judged(shop, {"train": 17, "recent": 1}, depth=depth, watched=0.2, patience=1, rate=5e-3, steps=8)
    assert run.settings["made_with"]["threads"] == 1
    again = reproduce(shop, run.id)
    assert again.same and again.differences == ()
    assert again.steps == run.settings.get("refit_steps", sum(run.settings["fold_steps"])) <= 12


def test_a_run_that_the_clock_ended_is_made_again_up_to_that_step(shop: Workspace) -> None:
    run = judged(shop, {"train": 3}, steps=6)
    stopped = {**run.settings, "refit_steps": 3}
    with shop.database.write() as session:
        session.get_one(Run, run.id).settings = stopped
    again = reproduce(shop, run.id)
    assert again.steps == 3 and not again.same  # what was kept is of six steps


def test_what_is_not_as_then_is_said(shop: Workspace) -> None:
    run = judged(shop, {"train": 3})
    with shop.database.write() as session:
        there = session.get_one(Run, run.id)
        there.settings = {**there.settings, "made_with": {"torch": "1.0", "threads": 1}}
        there.code_version = "of yesterday"
    differences = reproduce(shop, run.id).differences
    assert any("torch: 1.0 then" in one for one in differences)
    assert any("of yesterday" in one for one in differences)


def test_a_run_without_weights_cannot_be_made_again(shop: Workspace) -> None:
    with pytest.raises(NotFound):
        reproduce(shop, "nothing")
    run = judged(shop, {"train": 3})
    with shop.database.write() as session:
        session.get_one(Run, run.id).challenger_id = None
    with pytest.raises(Refused, match="stored no weights"):
        reproduce(shop, run.id)
