"""A champion whose checkpoint is missing: whatever needs it says so, and another version takes over."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

from db.tables import ModelVersion
from engine.accounts.users import add_user, ensure_local_user
from engine.annotation.answer_service import AnswerService
from engine.cli import app
from engine.commands.servers.background import run_worker
from engine.errors import Refused
from engine.jobs import queue
from engine.models import promotions, registry
from engine.training.retraining import trigger
from engine.workspace import Workspace
from tests.support.factories import make_bills, make_project, save_tiny_model

QUICK: dict[str, Any] = {"steps": 2, "generated_pages": 2, "pages": 1, "questions": 2, "images": 0.0}


@pytest.fixture
def shop(sqlite_workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A workspace that the commands find through the environment, with a model to begin with."""
    save_tiny_model(tmp_path / "tiny.safetensors")
    monkeypatch.setenv("GLOSSATOR_DATA_DIR", str(sqlite_workspace.settings.data_dir))
    monkeypatch.setenv("GLOSSATOR_MODEL_PATH", str(tmp_path / "tiny.safetensors"))
    torch.set_num_threads(1)
    settings = sqlite_workspace.settings.model_copy(update={"model_path": tmp_path / "tiny.safetensors"})
    return Workspace(settings, sqlite_workspace.database, sqlite_workspace.blobs)


def promoted(shop: Workspace, project_id: str, path: Path, seed: int) -> ModelVersion:
    """A champion that came from somewhere."""
    save_tiny_model(path, seed)
    with shop.database.write() as session:
        before = registry.champion(session, project_id)
        version = ModelVersion(
            project_id=project_id,
            number=seed,
            checkpoint_sha256=shop.blobs.put_file(path),
            parent_id=before.id,
            code_version="test",
        )
        session.add(version)
    admin = add_user(shop, f"admin {seed}", "a long password", "admin")
    promotions.promote(shop, project_id, version.id, by=admin, force=True, reason="a test")
    return version


def asked(service: AnswerService, document_id: str, question: str) -> str:
    annotation, _ = service.ask(document_id, question, None, ensure_local_user(service.workspace).id)
    return annotation


def test_a_missing_champion_is_reported_everywhere_and_a_rollback_helps(shop: Workspace, tmp_path: Path) -> None:
    project_id = make_project(shop).id
    registry.ensure_shipped(shop)
    document_id = make_bills(shop, project_id, {"train": 2})[0].document_id
    version = promoted(shop, project_id, tmp_path / "one.safetensors", 1)
    running = AnswerService(shop)
    asked(running, document_id, "Who?")
    place = shop.blobs.path(version.checkpoint_sha256)
    kept = place.read_bytes()
    place.unlink()

    asked(running, document_id, "Who else?")  # a process that has loaded it goes on answering
    with pytest.raises(Refused, match=r"The model v1 is missing from disk: .* use another model") as refused:
        asked(AnswerService(shop), document_id, "How much?")
    assert "\n" not in str(refused.value)

    job = trigger.request(shop, project_id, **QUICK)
    run_worker(shop, once=True)
    ended = queue.job_by_id(shop, job.id)
    assert (ended.status, ended.attempts) == ("failed", 1)
    assert ended.message.startswith("The model v1 is missing from disk")

    command = CliRunner()
    listed = command.invoke(app, ["models", "list", "--project", "bills", "--json"])
    rows = json.loads(listed.stdout.splitlines()[-1])["models"]
    assert [(one["label"], one["champion"], one["missing"]) for one in rows] == [
        ("v1", True, True),
        ("nano", False, False),
    ]
    assert "v1 is missing from disk" in command.invoke(app, ["models", "list", "--project", "bills"]).output

    back = command.invoke(app, ["models", "rollback", "--project", "bills"])
    assert back.exit_code == 0, back.output
    asked(AnswerService(shop), document_id, "How much?")
    again = command.invoke(app, ["jobs", "retry", job.id])
    assert again.exit_code == 0, again.output
    run_worker(shop, once=True)
    assert queue.job_by_id(shop, job.id).status == "done", "it begins with the champion of now"

    refusal = command.invoke(app, ["models", "promote", "v1", "--project", "bills", "--force", "--reason", "none"])
    assert refusal.exit_code == 1 and "v1 is missing from disk" in " ".join(refusal.output.split())
    place.write_bytes(kept)
    restored = command.invoke(
        app, ["models", "promote", "v1", "--project", "bills", "--force", "--reason", "it is back"]
    )
    assert restored.exit_code == 0, restored.output


def test_the_shipped_model_is_put_back_when_a_process_starts(shop: Workspace) -> None:
    project_id = make_project(shop).id
    shipped = registry.ensure_shipped(shop)
    document_id = make_bills(shop, project_id, {"train": 1})[0].document_id
    shop.blobs.path(shipped.checkpoint_sha256).unlink()
    with pytest.raises(Refused, match=r"nano is missing from disk: .* start Glossator again, which puts it back"):
        asked(AnswerService(shop), document_id, "Who?")
    assert registry.ensure_shipped(shop).id == shipped.id
    asked(AnswerService(shop), document_id, "Who?")


def test_going_back_to_a_model_that_is_gone_is_refused(shop: Workspace, tmp_path: Path) -> None:
    project_id = make_project(shop).id
    registry.ensure_shipped(shop)
    first = promoted(shop, project_id, tmp_path / "one.safetensors", 1)
    promoted(shop, project_id, tmp_path / "two.safetensors", 2)
    shop.blobs.path(first.checkpoint_sha256).unlink()
    with pytest.raises(Refused, match="The model v1 is missing from disk"):
        promotions.rollback(shop, project_id, by=None)
    with shop.database.read() as session:
        assert registry.label(registry.champion(session, project_id)) == "v2"
