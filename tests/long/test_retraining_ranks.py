"""`glossator retrain` in two processes of torchrun, on gloo."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sqlalchemy import select

from db.tables import Run
from engine.models import registry
from engine.settings import Settings
from engine.training.retraining.reproduce import reproduce
from engine.workspace import Workspace, open_workspace
from tests.support.factories import make_bills, make_project, save_tiny_model
from tests.support.repository import ROOT

GLOSSATOR = Path(sys.executable).with_name("glossator")
TORCHRUN = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--monitor-interval", "1")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    save_tiny_model(tmp_path / "tiny.safetensors")
    return Settings(data_dir=tmp_path / "data", model_path=tmp_path / "tiny.safetensors", _env_file=None)


def retraining(settings: Settings, *arguments: str, processes: int = 2) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*TORCHRUN, "--nproc-per-node", str(processes), str(GLOSSATOR), "retrain", "--project", "bills", *arguments],
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "OMP_NUM_THREADS": "1",
            "GLOSSATOR_DATA_DIR": str(settings.data_dir),
            "GLOSSATOR_MODEL_PATH": str(settings.model_path),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def newest(workspace: Workspace) -> Run:
    with workspace.database.read() as session:
        return session.scalars(select(Run).order_by(Run.created_at.desc()).limit(1)).one()


def test_two_processes_retrain_to_the_weights_of_one(settings: Settings) -> None:
    workspace = open_workspace(settings)
    make_bills(workspace, make_project(workspace).id, {"train": 8}, questions=2)
    running = retraining(settings, "--steps", "4", "--seed", "5", "--json")
    said, errors = running.communicate()
    assert running.returncode == 0, errors
    answer = json.loads(said.splitlines()[-1])
    assert answer["status"] == "done", answer
    assert said.count("job_id") == 1, "the second process says nothing"
    run = newest(workspace)
    assert run.settings["accumulate"] == 2
    assert [one.id for one in registry.versions(workspace, run.project_id)][:-1] == [run.challenger_id]
    assert reproduce(workspace, run.id).same, "one process takes as many pages a step"
    workspace.close()


def test_a_killed_process_ends_all_and_one_process_goes_on(settings: Settings) -> None:
    workspace = open_workspace(settings)
    make_bills(workspace, make_project(workspace).id, {"train": 8}, questions=2)
    running = retraining(settings, "--steps", "60", "--minutes", "30", "--seed", "5")
    while not list(settings.data_dir.rglob("state.pt")):  # it trains
        assert running.poll() is None, running.communicate()[1]
        time.sleep(0.2)
    children = subprocess.run(["pgrep", "-P", str(running.pid)], capture_output=True, text=True).stdout.split()
    os.kill(int(children[1]), signal.SIGKILL)
    running.communicate()
    assert running.returncode != 0
    assert newest(workspace).challenger_id is None, "nothing half-trained is a version"
    refused = retraining(settings, processes=3)
    assert "cannot share" in refused.communicate()[1]
    last = retraining(settings, "--json", processes=1)
    said, errors = last.communicate()
    assert last.returncode == 0, errors
    run = newest(workspace)
    assert (run.id, run.settings["accumulate"]) == (json.loads(said.splitlines()[-1])["run_id"], 2)
    assert run.challenger_id is not None
    workspace.close()
