"""A real `glossator serve` that a test starts, kills and starts again on the same port and data."""

import contextlib
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.repository import ROOT

START_SECONDS = 180  # a cold start on two busy cores: torch, Gradio, migration, the model


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class Served:
    """A server with its data in `folder`, which is empty before the first start."""

    def __init__(
        self, folder: Path, environment: Mapping[str, str] | None = None, options: tuple[str, ...] = ()
    ) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.model_port = free_port()  # projects may send pages to a server there (tests.support.model_server)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GLOSSATOR_")}
        if model := os.environ.get("GLOSSATOR_MODEL_PATH"):
            kept["GLOSSATOR_MODEL_PATH"] = model
        # The code of this checkout, wherever another one may be installed.
        self.environment = {
            **kept,
            "PYTHONPATH": str(ROOT),
            "GLOSSATOR_DATA_DIR": str(self.data),
            "GLOSSATOR_PROPOSER_ADDRESSES": f'["http://127.0.0.1:{self.model_port}"]',
            **(environment or {}),
        }
        self.options = options
        self.start_seconds = START_SECONDS
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def running(self) -> bool:
        """Whether the server runs."""
        return self.process is not None and self.process.poll() is None

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        command = [sys.executable, "-m", "engine.cli", "serve", "--port", str(self.port), "--no-worker", *self.options]
        with (self.folder / "server.log").open("a") as log:
            self.process = subprocess.Popen(
                command, cwd=self.folder, env=self.environment, stdout=log, stderr=subprocess.STDOUT
            )
        end = time.monotonic() + self.start_seconds
        while time.monotonic() < end and self.process.poll() is None:
            with (
                contextlib.suppress(urllib.error.URLError, OSError),
                urllib.request.urlopen(f"{self.address}/api/health", timeout=2),
            ):
                return
            time.sleep(0.1)
        pytest.fail(f"The server did not start:\n{(self.folder / 'server.log').read_text()[-4000:]}")

    def kill(self) -> None:
        """End the server with SIGKILL, which it cannot hear."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """End the server as a person would."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.kill()

    def rows(self, statement: str, *given: Any) -> list[tuple[Any, ...]]:
        """What the SQLite file holds, read beside the server."""
        with contextlib.closing(sqlite3.connect(f"file:{self.data / 'glossator.db'}?mode=ro", uri=True)) as connection:
            return connection.execute(statement, given).fetchall()

    def write(self, statement: str, *given: Any) -> None:
        """Change the SQLite file behind the server's back."""
        with contextlib.closing(sqlite3.connect(self.data / "glossator.db", timeout=30)) as connection:
            connection.execute(statement, given)
            connection.commit()
