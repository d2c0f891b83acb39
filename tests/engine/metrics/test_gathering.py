"""Metrics of several processes, gathered by one of them and read by Prometheus' own parser."""

import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import Pipe

import pytest
from prometheus_client import CollectorRegistry, Counter
from prometheus_client.parser import text_string_to_metric_families

from engine.metrics import Gatherer, MetricsPort
from engine.metrics.gathering import NAME, PIPES, NoAnswer
from tests.support.repository import ROOT
from tests.support.waiting import wait_until

# A process as `serve` starts it: it joins, counts, and says what a scrape of its own shows.
_CHILD = """
import sys
from engine.metrics import HERE
from engine.metrics.counted import SAVES
HERE.join()
SAVES.labels("saved").inc(int(sys.argv[1]))
print("joined", flush=True)
for _ in sys.stdin:
    print(HERE.text().decode().count('glossator_saves_total{outcome="saved"'), flush=True)
"""


def series(text: bytes, name: str) -> dict[str, float]:
    """Values of a metric by process."""
    families = text_string_to_metric_families(text.decode())
    return {
        sample.labels.get("process", ""): sample.value
        for family in families
        for sample in family.samples
        if sample.name == name
    }


@contextmanager
def started(gatherer: Gatherer, name: str, saves: int) -> Iterator[subprocess.Popen[str]]:
    """A process with `saves` saves; the context ends as a supervisor's does, when the process has ended."""
    with gatherer.child(name) as (variables, pipes):
        process = subprocess.Popen(
            [sys.executable, "-c", _CHILD, str(saves)],
            env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
            pass_fds=pipes,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None and process.stdout.readline() == "joined\n"
        yield process
        process.kill()
        process.wait()
        process.stdout.close()


def test_one_scrape_shows_every_process_and_none_that_has_ended() -> None:
    gatherer = Gatherer("serve")
    with started(gatherer, "web-1", 3) as first:
        with started(gatherer, "worker", 4) as worker:
            saves = series(gatherer.text(), "glossator_saves_total")
            assert (saves["web-1"], saves["worker"]) == (3.0, 4.0)
            assert {"serve", "web-1", "worker"} <= set(series(gatherer.text(), "process_cpu_seconds_total"))
            worker.send_signal(signal.SIGKILL)
            worker.wait()
            assert "worker" not in series(gatherer.text(), "glossator_saves_total")
        assert first.stdin is not None and first.stdout is not None
        first.stdin.write("ask\n")
        first.stdin.flush()
        assert int(first.stdout.readline()) >= 1  # the process that was started shows what the other one gathers
    assert "web-1" not in series(gatherer.text(), "process_cpu_seconds_total")


def test_a_process_that_hangs_holds_up_a_scrape_for_two_seconds_at_most() -> None:
    gatherer = Gatherer("serve")
    with started(gatherer, "web-1", 1) as process:
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
        assert "web-1" not in series(gatherer.text(), "glossator_saves_total")
        process.send_signal(signal.SIGCONT)
        # The late answer to the first question is not taken for the answer to a later one.
        wait_until(lambda: series(gatherer.text(), "glossator_saves_total").get("web-1") == 1.0)


def test_a_process_whose_gatherer_has_ended_says_that_none_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    (theirs, answering), (others, asks) = Pipe(), Pipe()
    monkeypatch.setenv(PIPES, f"{os.dup(answering.fileno())},{os.dup(asks.fileno())}")
    monkeypatch.setenv(NAME, "web-1")
    for end in (theirs, answering, others, asks):
        end.close()
    child = Gatherer()
    child.join()
    assert child.is_child and child.process == "web-1" and PIPES not in os.environ
    with pytest.raises(NoAnswer):
        child.text()


def test_the_port_of_the_metrics_serves_them_and_nothing_else() -> None:
    registry = CollectorRegistry()
    Counter("odd", "With \\ and\nlines.", ("label",), registry=registry).labels('quo"ted\n').inc()
    gatherer = Gatherer("web-1")
    gatherer.add(registry)
    with MetricsPort(gatherer, "127.0.0.1", 0) as served:
        with urllib.request.urlopen(f"http://127.0.0.1:{served.port}/metrics") as answer:
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
            text = answer.read()
        families = {family.name: family for family in text_string_to_metric_families(text.decode())}
        assert families["odd"].samples[0].labels == {"label": 'quo"ted\n', "process": "web-1"}
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"http://127.0.0.1:{served.port}/")
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(f"http://127.0.0.1:{served.port}/metrics")
