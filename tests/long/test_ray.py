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
from sqlalchemy import delete, select

from db.tables import Document, ModelVersion, Page, PageWord, SurveyAnswer
from engine.documents.file_sources import LocalFile, TakenFile, file_parts
from engine.executors.choice import executor_of
from engine.executors.executor import Part, Report, run_parts
from engine.jobs.cancellation import ShouldStop, Stopped
from engine.models import registry
from engine.projects.projects import change_settings
from engine.workspace import Workspace
from model import checkpoint
from tests.support import made_documents as made
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


def processes_of_parts(room: str) -> list[int]:
    """Processes that do a part now whose function lies in a room of the engine."""
    listed = subprocess.run(["pgrep", "-f", f"^ray::{room}"], capture_output=True, text=True, check=False)
    return [int(line) for line in listed.stdout.split()]


def test_folds_on_a_cluster_are_those_of_one_process_to_the_bit_also_when_a_worker_is_killed(shop: Workspace) -> None:
    project = make_project(shop)
    change_settings(shop, project.id, promotion="by_hand")  # both runs begin with the same weights
    make_bills(shop, project.id, {"train": 8, "recent": 5, "frozen": 1})
    _, here = retrained(shop, project.id)
    killed = threading.Event()

    def kill_a_worker() -> None:
        while not killed.wait(0.05):
            if running := processes_of_parts("engine.training"):
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


def test_files_read_on_a_cluster_are_those_read_here_also_when_a_worker_is_killed(
    sqlite_workspace: Workspace, tmp_path: Path
) -> None:
    files = [
        LocalFile(made.scanned_pdf(tmp_path / f"{number}.pdf", [(f"Delivery note {number}", *made.LETTER[1:])] * 2))
        for number in range(6)
    ] + [LocalFile(made.encrypted_pdf(tmp_path / "locked.pdf")), LocalFile(tmp_path / "missing.pdf")]

    def take(workspace: Workspace, name: str, on_begin: Callable[[Any], None] = lambda file: None) -> list[TakenFile]:
        executor = executor_of(workspace, lambda: None)
        project = make_project(sqlite_workspace, name)
        filled.append(project.id)
        parts = file_parts(
            workspace, executor, files, project_id=project.id, user_id=None, licence=None, on_begin=on_begin
        )
        return run_parts(executor, parts)

    filled: list[str] = []
    here = take(sqlite_workspace, "here")
    killed = threading.Event()

    def kill_a_reader() -> None:
        while not killed.wait(0.05):
            if running := processes_of_parts("engine.documents"):
                os.kill(running[0], signal.SIGKILL)
                killed.set()

    killer = threading.Thread(target=kill_a_reader, daemon=True)
    killer.start()
    on_cluster = take(on_ray(sqlite_workspace), "on the cluster")
    assert killed.is_set()
    killer.join()
    assert [outcome.reason for outcome in here] == ["" for _ in range(6)] + ["encrypted", "refused"]
    assert [(outcome.reason, outcome.sentence, outcome.pages, outcome.words) for outcome in on_cluster] == [
        (outcome.reason, outcome.sentence, outcome.pages, outcome.words) for outcome in here
    ]
    assert words_by_name(sqlite_workspace, filled[1]) == words_by_name(sqlite_workspace, filled[0])


def words_by_name(workspace: Workspace, project_id: str) -> list[tuple[str, int, str, tuple[float, ...]]]:
    """Words of a project's documents, with their places: a document that is there twice shows."""
    chosen = (
        select(Document.name, Page.number, PageWord)
        .join(Page, Page.document_id == Document.id)
        .join(PageWord, PageWord.page_id == Page.id)
        .where(Document.project_id == project_id)
        .order_by(Document.name, Page.number, PageWord.position)
    )
    with workspace.database.read() as session:
        rows = session.execute(chosen).all()
        return [(name, number, word.text, (word.x0, word.y0, word.x1, word.y1)) for name, number, word in rows]


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
