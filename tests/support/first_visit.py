"""A first visit to an installation: serve the samples from an empty folder, ask, upload, export, begin a retraining.

`python first_visit.py FOLDER [--alone]`, run by the Python of the installation, prints one JSON object: what came back,
and the seconds from the start to each of them. With --alone it brings up the loopback of a network namespace first.
This file uses nothing of the checkout: a wheel is visited with it, and an image.
"""

import fcntl
import http.client
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.client import Glossator

PATIENCE = 240  # seconds for each step, on a busy machine
TOTAL = "What is the total due?"
_SET_FLAGS, _UP_AND_RUNNING = 0x8914, 0x41  # SIOCSIFFLAGS, IFF_UP | IFF_RUNNING of <linux/if.h>


def bring_up_loopback() -> None:
    """Bring up the only interface of a new network namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh14x", b"lo", _UP_AND_RUNNING))


def free_port() -> int:
    """Return a port that nobody listens on now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def wait_for(look: Callable[[], Any], server: subprocess.Popen[bytes], log: Path) -> Any:
    """Look until something is there, while the server runs, and return it."""
    latest = time.monotonic() + PATIENCE
    while time.monotonic() < latest and server.poll() is None:
        try:
            if seen := look():
                return seen
        except (OSError, http.client.HTTPException):
            pass  # it does not listen yet
        time.sleep(0.02)
    sys.exit(f"It did not happen.\n{log.read_text()[-4000:]}")


def visit(folder: Path) -> dict[str, Any]:
    """Serve from an empty folder, and return what a visitor gets, and after how many seconds."""
    here, log = folder / "here", folder / "server.log"
    here.mkdir()
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = [str(Path(sys.executable).with_name("glossator")), "serve", "--samples", "--port", str(port)]
    began, seconds = time.monotonic(), {}
    with log.open("w") as written:
        server = subprocess.Popen(command, cwd=here, stdout=written, stderr=subprocess.STDOUT)
    try:

        def is_live() -> bool:
            with urllib.request.urlopen(f"{address}/api/health/live", timeout=60) as reply:
                return bool(reply.status == 200)

        wait_for(is_live, server, log)
        seconds["live"] = time.monotonic() - began
        with Glossator(address, timeout=PATIENCE) as glossator:
            [project] = glossator.projects()
            documents = {document.name: document.id for document in glossator.documents(project.id)}
            answer = glossator.ask(documents["Invoice HV-20418.pdf"], TOTAL)
            seconds["answer"] = time.monotonic() - began
            marked = [place.mask for place in answer.state.pages.values()]
            with urllib.request.urlopen(f"{address}/api/health", timeout=60) as reply:
                health = json.load(reply)
            with urllib.request.urlopen(f"{address}/app/", timeout=60) as reply:
                page = reply.read().decode()
            seconds["page"] = time.monotonic() - began
            glossator.accept(answer.id, answer.head)
            paper = folder / "Second letter.pdf"
            [letter] = [identity for name, identity in documents.items() if name.startswith("Letter")]
            glossator.original(letter, paper)
            other = glossator.create_project("Other")
            uploaded = glossator.upload(other.id, paper)
            exported = glossator.export(project.id, folder / "answers.zip")
            job = glossator.retrain(project.id)

            def has_begun() -> str:
                [seen] = [line for line in glossator.jobs(project.id) if line.id == job.id]
                return seen.status if seen.status != "waiting" else ""

            retraining = wait_for(has_begun, server, log)
            runs = wait_for(lambda: [run.status for run in glossator.runs(project.id)], server, log)
            glossator.cancel(job.id)
    finally:
        server.terminate()
        ended = server.wait(timeout=PATIENCE)
    return {
        "health": health,
        "text": answer.text,
        "mask": [mask.model_dump() if mask else None for mask in marked],
        "page": page,
        "uploaded": [document.name for document in uploaded.documents],
        "exported": exported.stat().st_size,
        "retraining": retraining,
        "runs": runs,
        "exit": ended,
        "left": sorted(path.name for path in here.iterdir()),
        "seconds": {name: round(value, 2) for name, value in seconds.items()},
    }


if __name__ == "__main__":
    scratch = Path(sys.argv[1])
    if "--alone" in sys.argv:
        bring_up_loopback()
    shutil.rmtree(scratch / "here", ignore_errors=True)
    os.environ.pop("GLOSSATOR_DATA_DIR", None)
    print(json.dumps(visit(scratch)))  # noqa: T201
