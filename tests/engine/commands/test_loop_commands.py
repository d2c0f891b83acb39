"""The commands of the loop: retrain, models, runs, jobs, export, as people and programs call them."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner, Result

from db.tables import ModelVersion
from engine.accounts.users import add_user
from engine.cli import app
from engine.jobs import queue
from engine.models import registry
from engine.projects.projects import change_settings
from engine.training.retraining import judging, trigger
from engine.workspace import Workspace
from tests.support.exported_project import hashes
from tests.support.factories import make_bills, make_project, save_tiny_model


@pytest.fixture
def shop(sqlite_workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A workspace that the commands find through the environment, with a model to begin with."""
    save_tiny_model(tmp_path / "tiny.safetensors")
    monkeypatch.setenv("GLOSSATOR_DATA_DIR", str(sqlite_workspace.settings.data_dir))
    monkeypatch.setenv("GLOSSATOR_MODEL_PATH", str(tmp_path / "tiny.safetensors"))
    monkeypatch.setenv("GLOSSATOR_THREADS", "1")
    monkeypatch.setattr("os.nice", lambda _: 0)  # the process of the tests keeps its priority
    torch.set_num_threads(1)
    return sqlite_workspace


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, [*arguments])


def answer(*arguments: str) -> dict[str, Any]:
    result = call(*arguments, "--json")
    assert result.exit_code == 0, result.output
    said: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return said


@pytest.fixture
def few_generated_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge by two generated pages instead of forty, which the command has no option for."""
    pages = judging._generated_pages
    monkeypatch.setattr(judging, "_generated_pages", lambda count, both: pages(min(count, 2), both))


@pytest.mark.usefixtures("few_generated_pages")
def test_from_retrain_to_rollback(shop: Workspace, tmp_path: Path) -> None:
    project = make_project(shop)
    change_settings(shop, project.id, promotion="by_hand")
    make_bills(shop, project.id, {"train": 7, "recent": 3}, questions=2)
    retrained = answer("retrain", "--project", "bills", "--steps", "2", "--seed", "3")
    assert retrained["status"] == "done"
    assert retrained["label"] == "v1"

    models = answer("models", "list", "--project", "bills")["models"]
    assert [(one["label"], one["champion"]) for one in models] == [("v1", False), ("nano", True)]
    assert len(models[0]["snapshot_sha256"]) == 64
    shown = answer("runs", "show", answer("runs", "list", "--project", "bills")["runs"][0]["id"])
    assert shown["challenger_id"] == models[0]["id"] == retrained["version_id"]
    assert shown["verdict"]["passed"] is retrained["passed"]
    for command in (("models", "list"), ("runs", "list"), ("jobs", "list")):
        assert call(*command, "--project", "bills").exit_code == 0
    assert "generated" in call("runs", "show", shown["id"]).output

    promoted = answer("models", "promote", "v1", "--project", "bills", "--force", "--reason", "to see it work")
    assert promoted["kind"] == ("by_hand" if retrained["passed"] else "forced")
    assert answer("models", "rollback", "--project", "bills")["label"] == "nano"

    assert "No weights of bills can be deleted." in call("models", "prune", "--project", "bills").output
    would = call("models", "prune", "--project", "bills", "--keep", "0").output
    assert "Would delete the weights of 1 model" in would and "Delete with --yes." in would
    assert not answer("models", "list", "--project", "bills")["models"][0]["missing"]
    deleted = answer("models", "prune", "--project", "bills", "--keep", "0", "--yes")
    assert deleted["deleted"] and [one["label"] for one in deleted["models"]] == ["v1"]
    assert answer("models", "list", "--project", "bills")["models"][0]["missing"]


def test_versions_that_were_deleted_before_an_error_are_named(shop: Workspace, tmp_path: Path) -> None:
    project = make_project(shop)
    settings = shop.settings.model_copy(update={"model_path": tmp_path / "tiny.safetensors"})
    registry.ensure_shipped(Workspace(settings, shop.database, shop.blobs))
    files = [shop.blobs.put(content) for content in (b"first", b"second")]
    with shop.database.write() as session:
        for number, file in enumerate(files, 1):
            session.add(
                ModelVersion(
                    project_id=project.id, number=number, checkpoint_sha256=file, fold_sha256s=[], code_version="test"
                )
            )
    second = shop.blobs.path(files[1])
    second.unlink()
    second.mkdir()  # which is no file to delete
    result = call("models", "prune", "--project", "bills", "--keep", "0", "--yes", "--json")
    assert result.exit_code == 1
    assert [one["label"] for one in json.loads(result.stdout)["models"]] == ["v1"]
    assert files[0] not in shop.blobs


def test_refusals_are_one_sentence_and_exit_code_one(shop: Workspace, tmp_path: Path) -> None:
    make_project(shop)
    add_user(shop, "anna", "a long password", "annotator")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    for arguments, sentence in (
        (("models", "promote", "v9", "--project", "bills"), "no model 'v9'"),
        (("models", "rollback", "--project", "bills"), "no previous model"),
        (("models", "rollback", "--project", "bills", "--as", "anna"), "anna is not a member of the project"),
        (("models", "prune", "--project", "bills", "--yes", "--as", "anna"), "anna is not a member of the project"),
        (("models", "list", "--project", "none"), "no project 'none'"),
        (("runs", "show", "0" * 32), "no such run"),
        (("jobs", "cancel", "0" * 32), "no such job"),
        (("export", str(tmp_path / "full"), "--project", "bills"), "is not empty"),
        (("export", str(tmp_path / "new"), "--project", "bills"), "no accepted answer"),
        (("retrain", "--project", "bills"), "nothing to learn from"),
    ):
        result = call(*arguments)
        assert result.exit_code == 1, (arguments, result.output)
        assert sentence in " ".join(result.stderr.split())
        assert "Traceback" not in result.output


def test_a_requested_retraining_waits_for_the_worker_and_can_be_cancelled(shop: Workspace) -> None:
    project = make_project(shop)
    make_bills(shop, project.id, {"train": 1})
    asked = answer("retrain", "--project", "bills", "--queue", "--optimizer", "adamw")
    again = answer("retrain", "--project", "bills", "--queue")
    assert again["job_id"] == asked["job_id"]
    job = queue.job_by_id(shop, asked["job_id"])
    assert (job.status, job.kind, job.payload) == ("waiting", trigger.RETRAIN, {"settings": {"optimizer": "adamw"}})
    assert answer("jobs", "cancel", job.id)["status"] == "cancelled"
    assert answer("jobs", "list", "--project", "bills")["jobs"][0]["status"] == "cancelled"


def test_options_that_a_waiting_retraining_does_not_have_are_not_dropped_in_silence(shop: Workspace) -> None:
    project = make_project(shop)
    make_bills(shop, project.id, {"train": 1})
    answer("retrain", "--project", "bills", "--queue", "--steps", "2")
    answer("retrain", "--project", "bills", "--queue")  # no option is asked for
    refused = call("retrain", "--project", "bills", "--queue", "--depth", "quick", "--seed", "3")
    assert refused.exit_code == 1 and "with other settings" in refused.output


def test_the_worker_says_how_many_jobs_it_did(shop: Workspace) -> None:
    assert "0 jobs done" in call("worker", "--once").output


def test_export_prints_what_it_wrote(shop: Workspace, tmp_path: Path) -> None:
    project = make_project(shop)
    make_bills(shop, project.id, {"train": 1, "frozen": 1})
    written = answer("export", "--format", "coco", "--project", "bills", str(tmp_path / "out"))
    assert written["counts"] == {"documents": 2, "images": 2, "questions": 3, "annotations": 6, "no_answer": 0}
    assert written["manifest_sha256"] == hashes(tmp_path / "out")["manifest.json"]


def test_a_job_that_failed_says_why_and_is_tried_again(shop: Workspace) -> None:
    make_project(shop)
    asked = answer("retrain", "--project", "bills", "--queue")
    call("worker", "--once")
    [failed] = answer("jobs", "list", "--project", "bills")["jobs"]
    assert (failed["id"], failed["status"], failed["attempts"]) == (asked["job_id"], "failed", 1)
    assert "nothing to learn from" in failed["message"] and failed["failure"] == failed["message"]
    assert "nothing to learn from" in " ".join(call("jobs", "list").output.replace("│", " ").split())
    assert answer("jobs", "retry", failed["id"]) == {"job_id": failed["id"], "status": "waiting"}
    twice = call("jobs", "retry", failed["id"])
    assert twice.exit_code == 1 and "this one is waiting" in " ".join(twice.output.split())
    add_user(shop, "anna", "a long password", "annotator")
    stranger = call("jobs", "retry", failed["id"], "--as", "anna")
    assert stranger.exit_code == 1 and "not a member" in " ".join(stranger.output.split())


def test_triggers_of_each_project_are_listed_with_how_near_they_are(shop: Workspace) -> None:
    project = make_project(shop)
    make_project(shop, "an empty one")
    make_bills(shop, project.id, {"train": 2})
    night = call("projects", "set", "bills", "--retrain-cron", "30 2 * * 1-5", "--retrain-time-zone", "Europe/Berlin")
    assert night.exit_code == 0 and "retrain_cron = 30 2 * * 1-5" in night.output
    wrong = call("projects", "set", "bills", "--retrain-cron", "30 2 * *")
    assert wrong.exit_code == 1 and "five fields" in " ".join(wrong.output.split())
    found = answer("jobs", "triggers")
    assert found["scheduler"] is None
    assert [one["project"] for one in found["projects"]] == ["an empty one", "bills"]
    bills = found["projects"][1]
    assert (bills["accepted"], bills["wanted"], bills["cron"]) == (6, 20, "30 2 * * 1-5")
    assert bills["near"] == "6 of 20 answers accepted, the oldest less than an hour ago."
    assert bills["next_at"] == bills["clock_due_at"] is not None
    said = " ".join(call("jobs", "triggers", "--project", "bills").output.replace("│", " ").split())
    assert "No worker is running" in said
