"""What server and worker use while nobody works, in a project of any size: start, and share of a core.

`python -m tests.benchmarks.growth.idle [DOCUMENTS ...]` prints a table for each size, on SQLite and PostgreSQL.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import sync_playwright

from db.base import now
from db.tables import Job
from engine.training.retraining import trigger
from engine.workspace import Workspace
from tests.benchmarks.annotators.processes import processor_seconds
from tests.benchmarks.app.measured import Row
from tests.benchmarks.growth.databases import command
from tests.benchmarks.growth.project import Grown
from tests.browser.conftest import ARGUMENTS
from tests.support.server_process import Served

SETTLES = 15.0  # seconds until what starting sets off is over
WINDOW, WINDOWS = 10.0, 4  # seconds of one look, and how many
STARTED, ALONE, SEEN, WORKER = (
    "start of the server",
    "idle server, % of a core (a number)",
    "idle server with an open page, % of a core (a number)",
    "idle worker, % of a core (a number)",
)


def measure(workspace: Workspace, grown: Grown) -> list[Row]:
    """Return the time of a start in ms, and the processor time of idle processes in percent of one core.

    Args:
        workspace: open workspace; server and worker run on its data, in processes of their own.
        grown: project in it; its start page is what a browser shows.
    """
    executable = shutil.which("chromium")
    if executable is None:
        raise SystemExit("The benchmark needs Chromium (Debian package: chromium).")
    _retrained(workspace, grown)
    settings = workspace.settings
    places = {"GLOSSATOR_DATA_DIR": str(settings.data_dir), "GLOSSATOR_DATABASE_URL": settings.database_url}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        served = Served(Path(folder), places)
        begin = time.perf_counter()
        served.start()
        started = 1000 * (time.perf_counter() - begin)
        try:
            assert served.process is not None
            with _worker(served) as worker:
                alone, working = _shares(served.process.pid, worker)
            browser = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
            page = browser.new_page()
            page.goto(f"{served.address}/app/#project={grown.project}")
            page.locator(".g-document").first.wait_for(timeout=180_000)
            [seen] = _shares(served.process.pid)
            browser.close()
        finally:
            served.stop()
    return [
        Row(STARTED, started, started, 1),
        *(_share(what, found) for what, found in ((ALONE, alone), (SEEN, seen), (WORKER, working))),
    ]


def _retrained(workspace: Workspace, grown: Grown) -> None:
    """Note a retraining that has ended, after all answers: otherwise the worker would begin one."""
    with workspace.database.write() as session:
        moment = now()
        ended = {"kind": trigger.RETRAIN, "status": "done", "started_at": moment, "finished_at": moment}
        session.add(Job(project_id=grown.project, created_at=moment, **ended))


@contextmanager
def _worker(served: Served) -> Iterator[int]:
    """Run a worker on the server's data; yield its process id."""
    process = subprocess.Popen(
        [sys.executable, "-m", "engine.cli", "worker"], cwd=served.folder, env=served.environment
    )
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait()


def _shares(*processes: int) -> list[list[float]]:
    """Return for each process its percent of a core in each window, after it has settled."""
    time.sleep(SETTLES)
    found: list[list[float]] = [[] for _ in processes]
    for _ in range(WINDOWS):
        before, begin = [processor_seconds(each) for each in processes], time.perf_counter()
        time.sleep(WINDOW)
        seconds = time.perf_counter() - begin
        for shares, process, used in zip(found, processes, before, strict=True):
            shares.append(100 * (processor_seconds(process) - used) / seconds)
    return found


def _share(what: str, shares: list[float]) -> Row:
    return Row(what, statistics.median(shares), max(shares), len(shares), 1.0)


if __name__ == "__main__":
    command(measure)
