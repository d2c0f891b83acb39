"""A server that is told to end, as a deploy does: the worker ends with it, and what it was at goes on afterwards."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import select

from db.tables import Run, RunMetric
from engine.jobs import queue
from engine.projects.projects import change_settings
from engine.settings import Settings
from engine.training.retraining import trigger
from engine.workspace import Workspace, open_workspace
from tests.support.factories import make_bills, make_project, save_tiny_model
from tests.support.repository import ROOT
from tests.support.server_process import free_port

PATIENCE = 180


def eventually(happens: Callable[[], bool]) -> None:
    latest = time.monotonic() + PATIENCE
    while not happens():
        assert time.monotonic() < latest, "it did not happen in time"
        time.sleep(0.05)


def children(process: int) -> list[int]:
    listed = Path(f"/proc/{process}/task/{process}/children")
    found = [int(each) for each in listed.read_text().split()] if listed.exists() else []
    threads = Path(f"/proc/{process}/task")
    for thread in threads.iterdir() if threads.exists() else ():
        found += [int(each) for each in (thread / "children").read_text().split()]
    return sorted(set(found))


@pytest.mark.parametrize("ends", [signal.SIGTERM, signal.SIGINT])
def test_three_deploys_in_mid_training_leave_the_job_alive(tmp_path: Path, ends: signal.Signals) -> None:
    model = tmp_path / "tiny.safetensors"
    save_tiny_model(model)
    settings = Settings(data_dir=tmp_path / "data", model_path=model, _env_file=None)
    shop: Workspace = open_workspace(settings)
    project = make_project(shop)
    change_settings(shop, project.id, promotion="by_hand", retrain_automatically=False)
    make_bills(shop, project.id, {"train": 3, "recent": 2}, questions=2)
    run = {"steps": 100_000, "generated_pages": 6, "pages": 2, "questions": 3, "checkpoint_every": 2, "seed": 5}
    job = queue.enqueue(shop, trigger.RETRAIN, project.id, {"settings": run}, trigger.retrain_key(project.id))

    def steps() -> int:
        chosen = select(RunMetric.step).join(Run, Run.id == RunMetric.run_id).where(Run.job_id == job.id)
        with shop.database.read() as session:
            return max(session.scalars(chosen), default=0)

    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "GLOSSATOR_DATA_DIR": str(settings.data_dir),
        "GLOSSATOR_MODEL_PATH": str(model),
        "GLOSSATOR_RETRAIN_MINUTES": "600",
        "GLOSSATOR_POLL_SECONDS": "0.1",
    }
    command = [sys.executable, "-m", "engine.cli", "serve", "--port", str(free_port())]
    for deploy in range(3):
        before = steps()
        with (tmp_path / "server.log").open("a") as log:
            server = subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=log, stderr=subprocess.STDOUT)
        try:
            eventually(lambda before=before: steps() > before)  # type: ignore[misc]
            [worker] = children(server.pid)
            assert queue.job_by_id(shop, job.id).attempts == 1, deploy
            server.send_signal(ends)
            assert server.wait(timeout=PATIENCE) == 0, (tmp_path / "server.log").read_text()[-2000:]
        finally:
            server.kill()
        assert not Path(f"/proc/{worker}").exists(), "the worker outlived the server"
        left = queue.job_by_id(shop, job.id)
        assert (left.status, left.attempts, left.holder) == ("waiting", 0, None)
    shop.close()
