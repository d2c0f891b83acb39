"""From the command to the first answer: `glossator serve --samples` in an empty folder, and again in the same one.

`python -m tests.benchmarks.start --rounds 5` prints medians: seconds until the server lives, seconds until it has
answered a question by REST, and seconds of processor that the server's process used until then. `--against FOLDER`
measures another checkout in turn with this one.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

import httpx

from tests.benchmarks.annotators.processes import processor_seconds
from tests.benchmarks.app.server import HEADERS, Client
from tests.benchmarks.markdown import table
from tests.support.repository import ROOT
from tests.support.server_process import free_port

LOOK = 0.02  # seconds between two tries
STARTS = ("in an empty folder", "again")


def start(checkout: Path, data: Path, question: str) -> tuple[float, float, float]:
    """Start the server, ask it once, and stop it.

    Args:
        checkout: folder with the code.
        data: data folder.
        question: another one at each start: what is answered is remembered.

    Returns:
        Seconds until the server lives, seconds until the answer, seconds of processor until then.
    """
    port = free_port()
    own = {name: value for name, value in os.environ.items() if not name.startswith("GLOSSATOR_")}
    environment = {**own, "PYTHONPATH": str(checkout), "GLOSSATOR_DATA_DIR": str(data)}
    command = [sys.executable, "-m", "engine.cli", "serve", "--samples", "--port", str(port)]
    address = f"http://127.0.0.1:{port}"
    began = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=data.parent, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        with httpx.Client(headers=HEADERS, timeout=60) as patient:
            while True:
                if process.poll() is not None:
                    raise SystemExit(f"The server of {checkout} ended with status {process.returncode}.")
                with suppress(httpx.TransportError):
                    if patient.get(f"{address}/api/health/live").status_code == httpx.codes.OK:
                        break
                time.sleep(LOOK)
        lives = time.perf_counter() - began
        client = Client(address)
        document = client.get(f"/documents/{client.get(f'/projects/{client.project()}/documents')[0]['id']}")
        client.ask(document["id"], document["pages"][0]["id"], question)
        return lives, time.perf_counter() - began, processor_seconds(process.pid)
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.start", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--against", type=Path, help="folder of another checkout")
    options = parser.parse_args()
    checkouts = {"this": ROOT, **({"the other": options.against.resolve()} if options.against else {})}
    measured = defaultdict(list)
    for number in range(options.rounds):
        for name, checkout in checkouts.items():
            with tempfile.TemporaryDirectory(prefix="glossator-bench-") as folder:
                for begin in STARTS:
                    question = f"What is the total, for the {number}th time, {begin}?"
                    measured[name, begin].append(start(checkout, Path(folder) / "data", question))
    rows = [
        [name, begin, *(f"{statistics.median(seconds):.1f}" for seconds in zip(*starts, strict=True))]
        for (name, begin), starts in measured.items()
    ]
    print(table(["checkout", "start", "s until it lives", "s until the answer", "s of processor"], rows))


if __name__ == "__main__":
    main()
