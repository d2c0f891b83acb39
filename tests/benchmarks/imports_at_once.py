"""How long other people wait while many zip files of tiny files are imported at once: python -m tests.benchmarks.imports_at_once

A real server on SQLite; one person lists the projects, another one saves, over and over, first alone, then beside the imports.
"""

import argparse
import collections
import json
import multiprocessing
import statistics
import tempfile
import threading
import time
import zipfile
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from typing import Any

import httpx

from engine.client import Glossator
from tests.benchmarks.markdown import table
from tests.engine.documents.test_ingest import pdf
from tests.support.server_process import Served

PAUSE = 0.05  # seconds between two requests of a person


def packed(path: Path, entries: int, ending: str) -> Path:
    """A zip file of so many files of one byte."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for number in range(entries):
            archive.writestr(f"{number:x}{ending}", b"x")
    return path


class Waits:
    """How long each request of a person took, in milliseconds, by phase."""

    def __init__(self) -> None:
        self.by_phase: dict[tuple[str, str], list[float]] = collections.defaultdict(list)
        self.phase = "alone"
        self.ended = threading.Event()

    def repeat(self, what: str, once) -> threading.Thread:
        """Do `once` over and over, and note how long each takes."""

        def run() -> None:
            while not self.ended.is_set():
                phase, began = self.phase, time.perf_counter()
                once()
                self.by_phase[phase, what].append((time.perf_counter() - began) * 1000)
                self.ended.wait(PAUSE)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        return thread


def send(address: str, project: str, file: Path, imports: int, told: "multiprocessing.SimpleQueue[str]") -> None:
    """Send the file so many times at once, and tell each answer."""
    content = file.read_bytes()

    def once() -> None:
        try:
            said = httpx.post(
                f"{address}/api/projects/{project}/import", files={"file": (file.name, content)}, timeout=600
            )
            told.put(f"{said.status_code} {json.loads(said.text).get('detail', '')[:90]}")
        except httpx.TransportError as error:
            told.put(f"no answer: {error}")

    senders = [threading.Thread(target=once) for _ in range(imports)]
    for one in senders:
        one.start()
    for one in senders:
        one.join()


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--imports", type=int, default=45, help="imports sent at once")
    parser.add_argument("--entries", type=int, default=300_000, help="files in each zip file")
    parser.add_argument(
        "--ending", default=".txt", help="of the files' names; .xml: each is opened to recognise the set"
    )
    parser.add_argument("--seconds", type=float, default=90, help="longest time to measure beside the imports")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), chosen)


def measure(folder: Path, chosen: argparse.Namespace) -> None:
    """Serve, import, and ask meanwhile."""
    size = packed(folder / "set.zip", chosen.entries, chosen.ending).stat().st_size
    served = Served(folder)
    served.start()
    waits, outcomes = Waits(), collections.Counter[str]()
    with Glossator(served.address, timeout=600) as person, httpx.Client(base_url=served.address, timeout=600) as other:
        project = person.projects()[0].id
        document = person.upload(project, pdf(folder / "a.pdf", "Total 12.50")).documents[0]
        answer = person.ask(document.document_id, "What is the total?")
        head = answer.head

        def save() -> None:
            nonlocal head
            head = person.no_answer(answer.id, head).revision

        save()
        people = [
            waits.repeat("GET /api/projects", lambda: other.get("/api/projects").raise_for_status()),
            waits.repeat("save", save),
        ]
        time.sleep(5)

        waits.phase = "beside the imports"
        began = time.monotonic()
        told: SimpleQueue[Any] = (
            multiprocessing.SimpleQueue()
        )  # a process of its own: what it sends must not slow down what is measured
        senders = multiprocessing.Process(
            target=send, args=(served.address, project, folder / "set.zip", chosen.imports, told), daemon=True
        )
        senders.start()
        senders.join(chosen.seconds)
        took = time.monotonic() - began
        waits.phase = "after"
        senders.kill()
        while not told.empty():
            outcomes[told.get()] += 1
        waits.ended.set()
        for one in people:
            one.join(timeout=120)
        served.kill()
    rows = [
        [what, phase, str(len(all_)), f"{statistics.median(all_):.0f}", f"{max(all_):.0f}"]
        for (phase, what), all_ in sorted(waits.by_phase.items())
        if phase != "after"
    ]
    print(table(["Request", "When", "Requests", "Median ms", "Worst ms"], rows, left=2))
    print(
        f"{chosen.imports} imports of {chosen.entries:,} files, {size / 1e6:.0f} MB each; {took:.0f} s; answers: {dict(outcomes)}"
    )


if __name__ == "__main__":
    main()
