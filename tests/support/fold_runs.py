"""Retraining by folds with a tiny network, from the request to the verdict."""

from pathlib import Path
from typing import Any

from db.tables import ModelVersion, Run
from engine.commands.servers.background import run_worker
from engine.jobs import queue
from engine.training.retraining import trigger
from engine.workspace import Workspace
from tests.support.factories import save_tiny_model

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


def shop_of(workspace: Workspace, tmp_path: Path) -> Workspace:
    """A workspace whose projects begin with a tiny network."""
    path = tmp_path / "tiny.safetensors"
    save_tiny_model(path)
    changed = workspace.settings.model_copy(update={"model_path": path})
    return Workspace(changed, workspace.database, workspace.blobs)


def retrained(shop: Workspace, project_id: str, **chosen: Any) -> tuple[Run, ModelVersion]:
    job = trigger.request(shop, project_id, **{**LEARNING, **chosen})
    run_worker(shop, once=True)
    result = queue.job_by_id(shop, job.id).result
    with shop.database.read() as session:
        run = session.get_one(Run, result["run_id"])
        return run, session.get_one(ModelVersion, str(run.challenger_id))
