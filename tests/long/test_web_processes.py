"""Several web processes on one port: any may answer, Gradio's calls reach the one that keeps their session."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from engine.client import Glossator
from engine.web_process import WebProcess
from tests.support.server_process import Served, free_port
from tests.support.waiting import wait_until

PROCESSES = 2


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    served = Served(tmp_path_factory.mktemp("pair"), options=("--workers", str(PROCESSES)))
    served.start()
    yield served
    served.stop()


def _processes(served: Served) -> set[int]:
    """Return the web processes of a server."""
    assert served.process is not None
    listed = Path(f"/proc/{served.process.pid}/task").glob("*/children")
    return {int(process) for children in listed for process in children.read_text().split()}


def _event(served: Served, config: dict[str, Any], session: str) -> str:
    """Fire an event of the page over connections of its own, and return what the server says to it."""
    fired = next(each for each in config["dependencies"] if each["backend_fn"])
    body = {"data": [None] * len(fired["inputs"]), "fn_index": fired["id"], "session_hash": session}
    address = f"{served.address}/app/gradio_api/queue"
    joined = httpx.post(f"{address}/join", json=body, timeout=60)
    assert joined.status_code == 200, joined.text
    return httpx.get(f"{address}/data", params={"session_hash": session}, timeout=60).text


def test_results_come_from_the_process_that_keeps_the_session(pair: Served) -> None:
    configs = {httpx.get(f"{pair.address}/app/config", timeout=60).text for _ in range(20)}
    (config,) = configs  # the page is the same, whichever process sends it
    sessions = [f"session{number}" for number in range(12)]
    process = WebProcess(tuple(range(PROCESSES)), 0, "")
    assert {process.owner_of(session) for session in sessions} == set(range(PROCESSES))
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda session: _event(pair, json.loads(config), session), sessions))
    assert all('"process_completed"' in answer for answer in answers), answers


def test_a_session_that_no_process_keeps_is_refused(pair: Served) -> None:
    for number in range(4):
        refused = httpx.get(f"{pair.address}/app/gradio_api/queue/data", params={"session_hash": f"none{number}"})
        assert refused.status_code == 404
    address = f"{pair.address}/app/gradio_api/queue/join"
    assert httpx.post(address, content=b"no JSON").status_code == 400
    assert httpx.post(address, content=b" " * 300_000).status_code == 413


def test_what_one_process_stores_the_others_serve(pair: Served) -> None:
    def work(number: int) -> str:
        with Glossator(pair.address) as client:  # a connection of its own: any process
            return client.create_project(f"of many {number}").id

    with ThreadPoolExecutor(8) as threads:
        made = set(threads.map(work, range(16)))
    for _ in range(6):
        with Glossator(pair.address) as client:
            assert made <= {project.id for project in client.projects()}


def test_a_process_that_dies_is_started_again_and_no_request_is_refused(pair: Served) -> None:
    before = _processes(pair)
    assert len(before) == PROCESSES
    ended, failures = threading.Event(), []

    def ask() -> None:
        while not ended.is_set():
            answer = httpx.get(f"{pair.address}/api/health", timeout=60)
            if answer.status_code != 200:
                failures.append(answer.text)

    asking = threading.Thread(target=ask)
    victim = min(before)
    os.kill(victim, signal.SIGKILL)
    asking.start()
    wait_until(lambda: len(_processes(pair) - {victim}) == PROCESSES, seconds=60)
    ended.set()
    asking.join()
    assert not failures


def test_a_scrape_shows_all_processes_and_none_that_was_killed(tmp_path: Path) -> None:
    port = free_port()
    served = Served(tmp_path, options=("--workers", str(PROCESSES), "--metrics-port", str(port)))
    served.start()

    def started_at(address: str) -> dict[str, float]:
        """Return when each process was started, by its name."""
        families = text_string_to_metric_families(httpx.get(address, timeout=60).text)
        [of_starts] = [family for family in families if family.name == "process_start_time_seconds"]
        return {sample.labels["process"]: sample.value for sample in of_starts.samples}

    def everywhere() -> list[dict[str, float]]:
        """Return the same as seen from the metrics port and from the web port, which any process answers."""
        return [started_at(f"http://127.0.0.1:{port}/metrics"), started_at(f"{served.address}/api/metrics")]

    try:
        wait_until(lambda: all(set(seen) == {"serve", "web-1", "web-2"} for seen in everywhere()))
        before = started_at(f"http://127.0.0.1:{port}/metrics")
        os.kill(min(_processes(served)), signal.SIGKILL)
        wait_until(lambda: all(len(seen) == PROCESSES + 1 and seen != before for seen in everywhere()))
        assert sum(seen != before[name] for name, seen in everywhere()[0].items()) == 1
    finally:
        served.stop()


def test_all_processes_end_with_the_command(tmp_path: Path) -> None:
    served = Served(tmp_path, options=("--workers", str(PROCESSES)))
    served.start()
    processes = _processes(served)
    assert served.process is not None and len(processes) == PROCESSES
    served.process.terminate()
    assert served.process.wait(timeout=60) == 0
    assert not [process for process in processes if Path(f"/proc/{process}").exists()]
    assert not list((tmp_path / "data" / ".glossator-tmp").glob("process-*"))
    served.start()
    processes = _processes(served)
    served.kill()
    wait_until(lambda: not [process for process in processes if Path(f"/proc/{process}").exists()], seconds=60)


def test_processes_that_are_stopped_while_they_start_leave_no_files(tmp_path: Path) -> None:
    served = Served(tmp_path)
    command = [sys.executable, "-m", "engine.cli", "serve", "--port", str(served.port), "--no-worker", "--workers", "2"]
    started = subprocess.Popen(command, cwd=tmp_path, env=served.environment)
    folders = served.data / ".glossator-tmp"
    wait_until(lambda: len(list(folders.glob("process-*"))) == 1 + PROCESSES, seconds=60)
    started.terminate()
    assert started.wait(timeout=60) == 0
    assert not list(folders.glob("process-*"))
