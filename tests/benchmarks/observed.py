"""What metrics and logs cost: saves as fast as they go, in turn with all of it on and off.

`python -m tests.benchmarks.observed --rounds 5` starts two servers on SQLite, one with a metrics port that is scraped
every 15 seconds, JSON logs and the access log, and prints the medians of saves a second and of the server's processor time.
`--off` measures a server without them alone, as for the checkout of an earlier version.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field

import httpx

from annotator.auth import COOKIE
from engine.settings import Settings
from engine.workspace import open_workspace
from tests.benchmarks.annotators.processes import processor_seconds
from tests.benchmarks.app import saving
from tests.benchmarks.app.edits import draw_strokes, some_edit
from tests.benchmarks.app.server import HEADERS, serving
from tests.benchmarks.markdown import table
from tests.support.server_process import Served, free_port

SCRAPED_EVERY = 15.0  # seconds, as in the example of Prometheus


@dataclass
class Measured:
    """A server, its annotator, and what each round took."""

    name: str
    served: Served
    page: str
    numbers: list[int]
    size: tuple[int, int]
    person: saving.Annotator
    per_second: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)  # milliseconds a save

    def save(self, seconds: float) -> None:
        """Save one edit after the other for some seconds."""
        assert self.served.process is not None
        rng, marked = random.Random(len(self.per_second)), set(self.numbers[:2])
        strokes = draw_strokes(random.Random(0), self.size)
        headers = {**HEADERS, "content-type": "application/json", "cookie": f"{COOKIE}={self.person.token}"}
        with httpx.Client(base_url=f"{self.served.address}/api", headers=headers, timeout=60) as client:
            began, used, saves = time.perf_counter(), processor_seconds(self.served.process.pid), 0
            while time.perf_counter() - began < seconds:
                edit = some_edit(rng, self.page, self.numbers, marked, strokes)
                body = {"idempotency_key": uuid.uuid4().hex, "base": self.person.head, "edits": [edit]}
                answer = client.put(f"/annotations/{self.person.annotation}/revisions", content=json.dumps(body))
                answer.raise_for_status()
                self.person.head = answer.json()["revision"]
                saves += 1
            self.per_second.append(saves / (time.perf_counter() - began))
            self.processor.append(1000 * (processor_seconds(self.served.process.pid) - used) / saves)


@contextmanager
def scraped() -> Iterator[dict[str, str]]:
    """Yield the variables of a server with metrics, JSON logs and the access log; its metrics are read meanwhile."""
    port, ended = free_port(), threading.Event()
    lengths: list[int] = []  # of what was read

    def scrape() -> None:
        while not ended.wait(SCRAPED_EVERY):
            with suppress(httpx.ConnectError):  # the server starts or stops
                lengths.append(len(httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=30).raise_for_status().text))

    thread = threading.Thread(target=scrape, name="scrape")
    thread.start()
    try:
        yield {"GLOSSATOR_METRICS_PORT": str(port), "GLOSSATOR_LOG_FORMAT": "json", "GLOSSATOR_ACCESS_LOG": "true"}
    finally:
        ended.set()
        thread.join()
    print(f"metrics were read {len(lengths)} times, {max(lengths, default=0)} characters at the most")


@contextmanager
def measured(name: str, environment: dict[str, str]) -> Iterator[Measured]:
    """Yield a server with one annotator."""
    with serving({**environment, "GLOSSATOR_AUTH": "login"}) as served:
        workspace = open_workspace(Settings(data_dir=served.data, auth="login", _env_file=None))  # type: ignore[call-arg]
        page, numbers, size, [person] = saving.prepare(workspace, served.address, 1, 600)
        workspace.close()
        yield Measured(name, served, page, numbers, size, person)


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.observed", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5, help="of a round of each server")
    parser.add_argument("--off", action="store_true", help="only a server without metrics and logs")
    options = parser.parse_args()
    with ExitStack() as stack:
        servers = [stack.enter_context(measured("off", {}))]
        if not options.off:
            servers.append(stack.enter_context(measured("on", stack.enter_context(scraped()))))
        for number in range(options.rounds + 1):
            for each in servers:
                each.save(options.seconds)
                if number == 0:  # the first round warms it up
                    each.per_second.clear()
                    each.processor.clear()
    rows = [
        [each.name, f"{statistics.median(each.per_second):.1f}", f"{statistics.median(each.processor):.2f}"]
        for each in servers
    ]
    print(table(["metrics and logs", "saves a second", "processor ms a save"], rows))


if __name__ == "__main__":
    main()
