"""From accepted answers to a judged challenger: by a worker, through crashes, with nobody touching it."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from sqlalchemy import select, update

from db.tables import Job, ModelVersion, PageWord, Promotion, Run, RunMetric, Snapshot
from engine.accounts.users import ensure_local_user
from engine.commands.servers.background import run_worker
from engine.datasets import snapshots
from engine.jobs import job_list, queue
from engine.jobs.cancellation import Stopped, StopReason
from engine.models import promotions, registry
from engine.projects.projects import change_settings
from engine.training.retraining import trigger
from engine.training.retraining.cleanup import clean_up, run_folder
from engine.training.retraining.reproduce import reproduce
from engine.training.retraining.run import retrain
from engine.training.retraining.views import run_view
from engine.workspace import Workspace
from model.boxes import Box
from model.inference import Predictor
from tests.support.factories import accept, bill, line, make_bills, make_document, make_project, save_tiny_model

SMALL: dict[str, Any] = {
    "steps": 4,
    "generated_pages": 3,
    "pages": 2,
    "questions": 3,
    "images": 0.25,
    "checkpoint_every": 2,
    "seed": 5,
}


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "tiny.safetensors"
    save_tiny_model(path)
    return path


def starting_from(workspace: Workspace, tiny: Path, **settings: object) -> Workspace:
    changed = workspace.settings.model_copy(update={"model_path": tiny, "poll_seconds": 0.05, **settings})
    return Workspace(changed, workspace.database, workspace.blobs)


@pytest.fixture
def shop(workspace: Workspace, tiny: Path) -> Workspace:
    return starting_from(workspace, tiny)


def only_run(workspace: Workspace) -> Run:
    with workspace.database.read() as session:
        return session.scalars(select(Run)).one()


def eventually(happens: Callable[[], bool], seconds: float = 60) -> None:
    ends = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < ends, "it did not happen in time"
        time.sleep(0.02)


def test_accepted_answers_become_a_judged_version_that_names_its_snapshot(shop: Workspace) -> None:
    project = make_project(shop)
    make_bills(shop, project.id, {"train": 7, "recent": 2, "frozen": 1}, questions=2)
    job = trigger.request(shop, project.id, **SMALL)
    assert run_worker(shop, once=True) == 1
    done = queue.job_by_id(shop, job.id)
    assert (done.status, done.progress) == ("done", 1.0), done.message
    run = only_run(shop)
    assert run.status == "judged"
    assert set(run.verdict["holdouts"]) == {"generated", "own"}
    assert run.verdict["sentence"] in done.message
    challenger = registry.versions(shop, project.id)[0]
    assert (challenger.label, challenger.id) == ("v1", run.challenger_id)
    assert challenger.snapshot_sha256 == snapshots.freeze(shop, project.id).sha256
    assert challenger.optimizer["name"] == "NaturalGradient"
    assert challenger.figures["own"]["questions"] == 20
    assert challenger.champion is run.verdict["passed"]
    view = run_view(shop, run.id)
    assert view.metrics[-1]["step"] == 2, "a fold takes half of the steps"
    assert view.metrics[-1]["loss"] > 0
    with shop.database.read() as session:
        version = session.get_one(ModelVersion, challenger.id)
    assert version.seed == 5
    assert (
        Predictor.load(shop.blobs.path(version.checkpoint_sha256)).version
        != Predictor.load(shop.settings.model_path).version
    )
    assert not run_folder(shop, run.id).exists()


@pytest.mark.parametrize(("begin", "anew"), [("origin", True), ("champion", False)])
def test_a_later_run_begins_with_the_first_version_s_weights_or_with_the_champion_s_and_is_made_again_to_the_bit(
    sqlite_workspace: Workspace, tiny: Path, begin: str, anew: bool
) -> None:
    shop = starting_from(sqlite_workspace, tiny)
    project = make_project(shop)
    make_bills(shop, project.id, {"train": 3}, questions=1)
    trigger.request(shop, project.id, **SMALL)
    run_worker(shop, once=True)
    first = registry.versions(shop, project.id)[0]
    promotions.promote(shop, project.id, first.id, by=ensure_local_user(shop), reason="a champion", force=True)
    make_bills(shop, project.id, {"train": 1}, questions=2)
    trigger.request(shop, project.id, **{**SMALL, "begin": begin})
    run_worker(shop, once=True)
    with shop.database.read() as session:
        run = session.scalars(select(Run).order_by(Run.created_at.desc()).limit(1)).one()
        origin = registry.origin(session, session.get_one(ModelVersion, first.id))
    assert run.parent_id == first.id, "it is judged against the champion all the same"
    assert run.settings["begins_at"] == (origin.id if anew else first.id) and origin.project_id is None
    assert reproduce(shop, run.id).same


def letter(number: int) -> list[tuple[str, Box]]:
    """A bill with words enough to learn from without labels."""
    return [*bill(number), *line("With many thanks", 20, 140)]


def _told(said: list[str], sign: str) -> StopReason | None:
    """Return the reason to stop, once it is said where a run is."""
    return "end" if any(sign in one for one in said) else None


def test_pages_without_labels_take_part_and_the_weights_are_made_again_to_the_bit(
    sqlite_workspace: Workspace, tiny: Path
) -> None:
    shop = starting_from(sqlite_workspace, tiny)
    registry.ensure_shipped(shop)
    project = make_project(shop)
    change_settings(shop, project.id, promotion="by_hand")
    make_bills(shop, project.id, {"train": 8, "recent": 5})
    unread = [make_document(shop, project.id, [letter(20 + number)], name=f"{number}.png") for number in range(5)]
    learning = {**SMALL, "steps": 40, "rate": 5e-3, "matrix_rate": 1.0, "replay": 0.0, "images": 0.0, "pages": 4}
    job = trigger.request(shop, project.id, **{**learning, "checkpoint_every": 40, "unlabelled": 0.3})
    said: list[str] = []
    for stop_at in ("fold 2 of 3: step 3", "on all 13 pages: step 5", "never"):
        told = partial(_told, said, stop_at)
        with suppress(Stopped):  # in each phase, and it goes on with the same pages
            retrain(shop, job, on_progress=lambda share, message: said.append(message), should_stop=told)
        said.clear()
        make_document(shop, project.id, [letter(40)], name="a later one.png")
    run = only_run(shop)
    assert run.status == "judged" and run.verdict["refit"]["passed"], run.verdict
    view = run_view(shop, run.id)
    assert view.unlabelled == "5 pages without labels, of 5 documents, took part: 30% of the steps."
    assert any("unlabelled_loss" in point for point in view.metrics)

    # The words as they were read then are learned from again, and an answer on such a document changes nothing.
    with shop.database.write() as session:
        session.execute(update(PageWord).where(PageWord.text == "thanks").values(text="greetings"))
    accept(shop, unread[0], "What is the total due?", [4])
    assert reproduce(shop, run.id).same

    run_worker(shop, once=True)
    assert view.unlabelled in queue.job_by_id(shop, job.id).message


def test_what_it_learns_well_is_promoted_by_the_gate_and_by_hand_only_where_a_project_says_so(
    sqlite_workspace: Workspace, tiny: Path
) -> None:
    shop = starting_from(sqlite_workspace, tiny)
    learning = {
        **SMALL,
        "steps": 60,
        "rate": 5e-3,
        "matrix_rate": 1.0,
        "replay": 0.0,
        "images": 0.0,
        "checkpoint_every": 60,
        "pages": 4,
    }
    for name, promotion in (("alone", "automatic"), ("by hand", "by_hand")):
        project = make_project(shop, name)
        change_settings(shop, project.id, promotion=promotion)
        make_bills(shop, project.id, {"train": 8, "recent": 6})
        job = trigger.request(shop, project.id, **learning)
        run_worker(shop, once=True)
        result = queue.job_by_id(shop, job.id).result
        assert result["passed"] is True, result
        champion = next(one for one in registry.versions(shop, project.id) if one.champion)
        assert result["promoted"] is (promotion == "automatic")
        assert champion.label == ("v1" if promotion == "automatic" else "nano")
        if promotion == "by_hand":
            promotions.promote(shop, project.id, result["version_id"], by=None)
            assert next(one for one in registry.versions(shop, project.id) if one.champion).label == "v1"


def test_a_worker_that_was_killed_right_before_the_promotion_promotes_once(
    sqlite_workspace: Workspace, tiny: Path
) -> None:
    shop = starting_from(sqlite_workspace, tiny)
    project = make_project(shop)
    make_bills(shop, project.id, {"train": 2}, questions=1)
    job = trigger.request(shop, project.id, **SMALL)
    run_worker(shop, once=True)
    run = only_run(shop)
    with shop.database.write() as session:  # as it stands when the worker dies between verdict and promotion
        session.get_one(Run, run.id).verdict = {**run.verdict, "passed": True, "sentence": "Passed."}
        for promotion in session.scalars(select(Promotion)):
            session.delete(promotion)
    for _ in range(2):
        result = retrain(shop, job, on_progress=lambda share, message: None, should_stop=lambda: None)
        assert (result["run_id"], result["promoted"]) == (run.id, True)
    with shop.database.read() as session:
        assert [row.version_id for row in session.scalars(select(Promotion))] == [run.challenger_id]


def test_nothing_to_learn_from_is_one_sentence_and_not_tried_again(shop: Workspace) -> None:
    project = make_project(shop)
    make_document(shop, project.id, [bill(1)])  # without an accepted answer
    job = trigger.request(shop, project.id, **SMALL)
    run_worker(shop, once=True)
    ended = queue.job_by_id(shop, job.id)
    assert ended.status == "failed"
    assert ended.attempts == 1
    assert "nothing to learn from" in ended.message


def test_a_setting_that_cannot_be_is_one_sentence(shop: Workspace) -> None:
    project = make_project(shop)
    make_bills(shop, project.id, {"train": 1})
    job = trigger.request(shop, project.id, **{**SMALL, "mode": "magic"})
    run_worker(shop, once=True)
    ended = queue.job_by_id(shop, job.id)
    assert ended.status == "failed"
    assert "magic" in ended.message


def test_the_classic_optimizer_can_be_chosen(sqlite_workspace: Workspace, tiny: Path) -> None:
    shop = starting_from(sqlite_workspace, tiny)
    project = make_project(shop)
    make_bills(shop, project.id, {"train": 1})
    trigger.request(shop, project.id, **{**SMALL, "optimizer": "adamw", "steps": 2})
    run_worker(shop, once=True)
    assert registry.versions(shop, project.id)[0].optimizer["name"] == "AdamW"


def test_cancelling_stops_a_run_at_its_next_step_and_registers_nothing(shop: Workspace) -> None:
    project = make_project(shop)
    make_bills(shop, project.id, {"train": 2})
    job = trigger.request(shop, project.id, **{**SMALL, "steps": 5000, "metrics_every": 1, "minutes": 600})
    stop = threading.Event()
    worker = threading.Thread(target=run_worker, args=(shop,), kwargs={"stop": stop, "lease_seconds": 1.0})
    worker.start()
    try:
        eventually(lambda: _steps(shop) >= 3)
        queue.cancel(shop, job.id)
        eventually(lambda: queue.job_by_id(shop, job.id).status == "cancelled")
    finally:
        stop.set()
        worker.join()
    assert only_run(shop).status == "cancelled"
    assert [one.label for one in registry.versions(shop, project.id)] == ["nano"]


def test_a_run_whose_job_was_given_up_is_closed(shop: Workspace) -> None:
    project = make_project(shop)
    make_bills(shop, project.id, {"train": 1})
    job = trigger.request(shop, project.id, **SMALL)
    run_worker(shop, once=True)
    run = only_run(shop)
    verdict = run.verdict
    for kept, status in (({}, "failed"), (verdict, "judged")):  # a verdict stands, and its challenger can be used
        with shop.database.write() as session:
            session.get_one(Run, run.id).status = "running"
            session.get_one(Run, run.id).verdict = kept
            session.get_one(Job, job.id).status = "dead"
        assert clean_up(shop) == 1
        assert clean_up(shop) == 0
        assert only_run(shop).status == status


def worker_process(shop: Workspace, tiny: Path, *arguments: str, **settings: object) -> subprocess.Popen[bytes]:
    """The real command in a process of its own."""
    environment = {
        **os.environ,
        "GLOSSATOR_DATA_DIR": str(shop.settings.data_dir),
        "GLOSSATOR_DATABASE_URL": str(shop.database.url.render_as_string(hide_password=False)),
        "GLOSSATOR_MODEL_PATH": str(tiny),
        "GLOSSATOR_POLL_SECONDS": "0.1",
        "GLOSSATOR_THREADS": "1",
        **{f"GLOSSATOR_{name.upper()}": str(value) for name, value in settings.items()},
    }
    return subprocess.Popen(
        [sys.executable, "-m", "engine.cli", "worker", *arguments], env=environment, stderr=subprocess.PIPE
    )


def test_twenty_accepted_answers_reach_a_verdict_with_nobody_touching_it(
    sqlite_workspace: Workspace, tiny: Path
) -> None:
    project = make_project(sqlite_workspace)
    assert project.settings["retrain_after"] == 20
    process = worker_process(sqlite_workspace, tiny, retrain_steps=6, retrain_quiet_seconds=0.5)
    try:
        make_bills(sqlite_workspace, project.id, {"train": 10, "recent": 5}, questions=2)
        eventually(lambda: any(job.status == "done" for job in job_list.list_jobs(sqlite_workspace)), 300)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 0, process.stderr
    finally:
        process.kill()
        process.wait()
    run = only_run(sqlite_workspace)
    assert run.status == "judged"
    assert run.verdict["holdouts"]["own"]["documents"] == 15
    version = registry.versions(sqlite_workspace, project.id)[0]
    assert version.label == "v1"
    assert version.snapshot_sha256 == snapshots.freeze(sqlite_workspace, project.id).sha256
    with sqlite_workspace.database.read() as session:
        assert session.get_one(Snapshot, run.snapshot_id).counts["annotations"] == 30


def test_a_worker_killed_in_mid_run_is_replaced_and_ends_where_an_undisturbed_one_ends(
    sqlite_workspace: Workspace, tiny: Path
) -> None:
    shop = starting_from(sqlite_workspace, tiny)
    project = make_project(shop)
    change_settings(shop, project.id, promotion="by_hand")
    make_bills(shop, project.id, {"train": 6})
    long = {**SMALL, "steps": 60, "metrics_every": 1, "checkpoint_every": 3}
    trigger.request(shop, project.id, **long)
    run_worker(shop, once=True)
    undisturbed = registry.versions(shop, project.id)[0]

    job = trigger.request(shop, project.id, **long)
    first = worker_process(shop, tiny, "--lease-seconds", "2")
    try:
        eventually(lambda: _steps(shop, job.id) >= 5, 120)
    finally:
        first.kill()  # SIGKILL: nothing is tidied up
        first.wait()
    assert queue.job_by_id(shop, job.id).status == "running"
    with shop.database.read() as session:
        run = session.scalars(select(Run).where(Run.job_id == job.id)).one()
        early = session.get_one(RunMetric, (run.id, 1)).values
    assert (run_folder(shop, run.id) / "fold-0" / "state.pt").is_file()
    assert run.challenger_id is None, "the run was over before it could be killed"

    eventually(lambda: run_worker(shop, once=True) == 1, 120)  # nobody can take it before the lease has ended
    resumed = queue.job_by_id(shop, job.id)
    assert (resumed.status, resumed.attempts) == ("done", 2), resumed.message
    assert resumed.result["run_id"] == run.id
    with shop.database.read() as session:
        assert session.get_one(RunMetric, (run.id, 1)).values == early  # the first steps were not done again
        files = [
            session.get_one(ModelVersion, one).checkpoint_sha256
            for one in (undisturbed.id, resumed.result["version_id"])
        ]
    # The content, bit for bit. The files may differ: safetensors writes its metadata in a random order.
    assert len({Predictor.load(shop.blobs.path(sha256)).version for sha256 in files}) == 1
    assert undisturbed.id != resumed.result["version_id"]


def test_sigterm_ends_a_worker_between_two_steps_and_the_job_waits_for_the_next(
    sqlite_workspace: Workspace, tiny: Path
) -> None:
    shop = starting_from(sqlite_workspace, tiny)
    project = make_project(shop)
    make_bills(shop, project.id, {"train": 2})
    job = trigger.request(shop, project.id, **{**SMALL, "steps": 5000, "metrics_every": 1, "minutes": 600})
    process = worker_process(shop, tiny)
    try:
        eventually(lambda: _steps(shop, job.id) >= 1, 120)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()
        process.wait()
    waiting = queue.job_by_id(shop, job.id)
    assert (waiting.status, waiting.attempts, waiting.holder) == ("waiting", 0, None)
    assert only_run(shop).status == "running"


def _steps(workspace: Workspace, job_id: str | None = None) -> int:
    chosen = select(RunMetric.step).join(Run, Run.id == RunMetric.run_id)
    if job_id is not None:
        chosen = chosen.where(Run.job_id == job_id)
    with workspace.database.read() as session:
        return max(session.scalars(chosen), default=0)
