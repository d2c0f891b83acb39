"""Jobs whose parts run on a Ray cluster: the same results as here, also when workers and the head are killed."""

import os
import secrets
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete

from db.tables import ModelVersion, SurveyAnswer
from engine.executors.choice import executor_of
from engine.executors.executor import Part, Report, run_parts
from engine.jobs.cancellation import ShouldStop, Stopped
from engine.models import registry
from engine.projects.projects import change_settings
from engine.workspace import Workspace
from model import checkpoint
from tests.support.factories import make_bills, make_project
from tests.support.fold_runs import retrained, shop_of
from tests.support.server_process import free_port
from tests.support.survey_shop import SurveyShop
from tests.support.waiting import wait_until

# Ray reads them when it is imported; clusters of other processes must know the same token.
os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32))
ray = pytest.importorskip("ray", reason="needs the extra ray: pip install -e '.[ray]'")


@pytest.fixture(scope="module", autouse=True)
def _cluster_ends() -> Iterator[None]:
    yield
    ray.shutdown()


@pytest.fixture
def shop(sqlite_workspace: Workspace, tmp_path: Path) -> Workspace:
    return shop_of(sqlite_workspace, tmp_path)


def on_ray(workspace: Workspace, address: str = "") -> Workspace:
    chosen = {"engine": "ray", "ray_address": address}
    return Workspace(workspace.settings.model_copy(update=chosen), workspace.database, workspace.blobs)


@contextmanager
def head(folder: Path) -> Iterator[tuple[str, Callable[[], None]]]:
    """A Ray cluster of its own processes: its address, and what kills its head."""
    port, client_port = free_port(), free_port()
    ports = [f"--port={port}", f"--ray-client-server-port={client_port}"]
    command = ["ray", "start", "--head", "--block", *ports, "--include-dashboard=false", "--num-cpus=2"]
    folder.mkdir()
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True)

    def kill() -> None:
        subprocess.run(["pkill", "-KILL", "-g", str(process.pid)], check=False)

    try:
        wait_until(lambda: b"Ray runtime started" in (folder / "output").read_bytes(), 60)
        yield f"ray://127.0.0.1:{client_port}", kill
    finally:
        kill()
        process.wait()


def square(workspace: Workspace, number: int, *, report: Report, should_stop: ShouldStop) -> tuple[int, int]:
    report(number)
    return number * number, os.getpid()


def wait_to_be_stopped(workspace: Workspace, folder: Path, *, report: Report, should_stop: ShouldStop) -> None:
    report("begun")
    while should_stop() is None:
        time.sleep(0.02)
    (folder / "stopped").touch()


def test_parts_run_side_by_side_and_their_results_come_in_order(shop: Workspace) -> None:
    workspace = on_ray(shop)
    heard: list[tuple[int, Any]] = []
    parts = [Part(square, (number,)) for number in range(20)]
    results = run_parts(executor_of(workspace, lambda: None), parts, on_report=lambda *said: heard.append(said))
    assert [result for result, _ in results] == [number * number for number in range(20)]
    assert os.getpid() not in {process for _, process in results}
    assert sorted(heard) == [(number, number) for number in range(20)]


def test_a_job_that_stops_ends_its_parts(shop: Workspace, tmp_path: Path) -> None:
    workspace = on_ray(shop)
    begun: list[int] = []
    with pytest.raises(Stopped):
        run_parts(
            executor_of(workspace, lambda: None),
            [Part(wait_to_be_stopped, (tmp_path,))],
            on_report=lambda number, _: begun.append(number),
            should_stop=lambda: "cancel" if begun else None,
        )
    assert (tmp_path / "stopped").exists()


def weights_of(workspace: Workspace, version: ModelVersion) -> list[str]:
    """Hashes of the weights of a version and of its folds, to the bit."""
    paths = [registry.checkpoint_path(workspace, version), *registry.fold_paths(workspace, version)]
    return [checkpoint.load(path).version for path in paths]


def processes_of_parts() -> list[int]:
    """Processes that do a part of a training now."""
    listed = subprocess.run(["pgrep", "-f", "^ray::engine.training"], capture_output=True, text=True, check=False)
    return [int(line) for line in listed.stdout.split()]


def test_folds_on_a_cluster_are_those_of_one_process_to_the_bit_also_when_a_worker_is_killed(shop: Workspace) -> None:
    project = make_project(shop)
    change_settings(shop, project.id, promotion="by_hand")  # both runs begin with the same weights
    make_bills(shop, project.id, {"train": 8, "recent": 5, "frozen": 1})
    _, here = retrained(shop, project.id)
    killed = threading.Event()

    def kill_a_worker() -> None:
        while not killed.wait(0.05):
            if running := processes_of_parts():
                os.kill(running[0], signal.SIGKILL)
                killed.set()

    killer = threading.Thread(target=kill_a_worker, daemon=True)
    killer.start()
    run, there = retrained(on_ray(shop), project.id)
    assert killed.is_set()
    killer.join()
    assert len(there.fold_sha256s) == 3 and run.status == "judged"
    assert weights_of(shop, there)[1:] == weights_of(shop, here)[1:]
    for holdout, figures in here.figures.items():
        assert there.figures[holdout]["mean_iou"] == figures["mean_iou"], holdout


def test_a_survey_on_a_cluster_says_what_one_here_says(sqlite_workspace: Workspace) -> None:
    shop = SurveyShop(sqlite_workspace, bills=6)
    shop.survey()
    here = answers_of(shop)
    with sqlite_workspace.database.write() as session:
        session.execute(delete(SurveyAnswer))
    shop.workspace = on_ray(sqlite_workspace)
    outcome = shop.survey()
    assert (outcome["questions"], outcome["documents"], outcome["unread"]) == (12, 6, [])
    assert answers_of(shop) == here


def answers_of(shop: SurveyShop) -> dict[tuple[str, str], tuple[float, float, dict[str, Any]]]:
    return {key: (row.score, row.answered, row.answer) for key, row in shop.said().items()}


def test_a_job_fails_when_the_head_is_killed_and_its_next_attempt_finds_the_new_one(
    shop: Workspace, tmp_path: Path
) -> None:
    ray.shutdown()
    with head(tmp_path / "first") as (address, kill):
        workspace = on_ray(shop, address)
        with pytest.raises(ConnectionError, match="Ray cluster was lost"):
            run_parts(
                executor_of(workspace, lambda: None),
                [Part(wait_to_be_stopped, (tmp_path,))],
                on_report=lambda *_: kill(),
            )
    ray.shutdown()
    with head(tmp_path / "second") as (address, _):
        [(result, _)] = run_parts(executor_of(on_ray(shop, address), lambda: None), [Part(square, (7,))])
        assert result == 49
        ray.shutdown()
