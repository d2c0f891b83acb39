"""Reading processes that start in milliseconds: a process that imported what reads files forks one for each file.

A new interpreter imports for half a second, most of what the reading of a small document takes. What is forked is the
reading process of the product: it has its own limits, session and group, and is ended as one that was started. Tests of
how it is started use the mark `own_readers`.
"""

import contextlib
import gc
import json
import os
import selectors
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from engine.documents.reading import open as reading_processes
from engine.documents.reading import subprocess_guard

_READS = "engine.documents.reading.child"
_LONGEST_REQUEST = 1 << 20


class _ForkedReader:
    """What is used of a `Popen`, of a process that another one forked."""

    def __init__(self, process: int, connection: socket.socket, stdout: int, stderr: int) -> None:
        self.pid, self.args = process, _READS
        self.stdout, self.stderr = os.fdopen(stdout, "rb"), os.fdopen(stderr, "rb")
        self.returncode: int | None = None
        self._connection = connection

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the process has ended; return its exit status, negative for a signal."""
        if self.returncode is None:
            self._connection.settimeout(timeout)
            try:
                self.returncode = int(self._connection.recv(64))
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired(_READS, timeout or 0.0) from None
            self._connection.close()
        return self.returncode


class _Forks:
    """The process that forks; started when a file is read first."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="glossator-readers-")
        self._address = str(Path(self._folder.name) / "socket")
        self._process: subprocess.Popen[bytes] | None = None
        self._one_starts_it = threading.Lock()
        self.used = True

    def start(self, command: Sequence[str], environment: Mapping[str, str]) -> _ForkedReader:
        """Fork a reader, with the request of its command."""
        with self._one_starts_it:
            if self._process is None:
                self._process = self._start_process()
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        connection.connect(self._address)
        (stdout, told_out), (stderr, told_err) = os.pipe(), os.pipe()
        request = json.dumps({"request": command[-1], "environment": dict(environment)}).encode()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _LONGEST_REQUEST)
        socket.send_fds(connection, [request], [told_out, told_err])
        os.close(told_out)
        os.close(told_err)
        return _ForkedReader(int(connection.recv(64)), connection, stdout, stderr)

    def _start_process(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tests.support.forked_readers", self._address],
            stdin=subprocess.PIPE,  # which closes when the tests end, however they end
            stdout=subprocess.PIPE,
            env=reading_processes.environment(),
        )
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        return process

    def close(self) -> None:
        """End the process, and wait for it: its time and that of all readers count as those of the tests."""
        if self._process is not None:
            assert self._process.stdin is not None and self._process.stdout is not None
            self._process.stdin.close()
            self._process.wait()
            self._process.stdout.close()
        self._folder.cleanup()


@pytest.fixture(scope="session", autouse=True)
def _forks() -> Iterator[_Forks]:
    """Fork the processes that read files, where the system can say that one has ended (Linux)."""
    forks, started = _Forks(), subprocess_guard._start

    def start(command: Sequence[str], environment: Mapping[str, str]) -> Any:
        reads = list(command[:-1]) == [sys.executable, "-P", "-m", _READS]
        return forks.start(command, environment) if reads and forks.used else started(command, environment)

    if hasattr(os, "pidfd_open"):
        subprocess_guard._start = start
    yield forks
    subprocess_guard._start = started
    forks.close()


@pytest.fixture(autouse=True)
def _own_readers(request: pytest.FixtureRequest, _forks: _Forks) -> None:
    """Start readers as the product does, where a test says so."""
    _forks.used = request.node.get_closest_marker("own_readers") is None


def _serve(address: str) -> None:
    """Fork a reader for each connection to a socket, and tell its process id, then its exit status."""
    from rapidocr import RapidOCR  # noqa: F401 (what a reader imports, at once or for a page without words)

    import engine.documents.reading.reading  # noqa: F401

    gc.freeze()
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening,
        selectors.DefaultSelector() as waiting,
    ):
        listening.bind(address)
        listening.listen(64)
        waiting.register(listening, selectors.EVENT_READ)
        waiting.register(0, selectors.EVENT_READ)
        os.write(1, b"ready\n")
        while True:
            for key, _ in waiting.select():
                if key.fileobj == 0:
                    return
                if key.fileobj is listening:
                    connection, _ = listening.accept()
                    process = _fork(connection)
                    ended = os.pidfd_open(process)
                    waiting.register(ended, selectors.EVENT_READ, (process, connection))
                    connection.send(str(process).encode())
                else:
                    process, connection = key.data
                    waiting.unregister(key.fileobj)
                    os.close(key.fd)
                    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
                    with contextlib.suppress(OSError):  # nobody waits for it any more
                        connection.send(str(code).encode())
                    connection.close()


def _fork(connection: socket.socket) -> int:
    """Fork the reader of a connection; return its process id."""
    sent, files, _, _ = socket.recv_fds(connection, _LONGEST_REQUEST, 2)
    process = os.fork()
    if process:
        for file in files:
            os.close(file)
        return process
    status = 1
    try:
        os.setsid()
        for file, number in zip((os.open(os.devnull, os.O_RDONLY), *files), (0, 1, 2), strict=True):
            os.dup2(file, number)
        os.closerange(3, 256)
        _read(json.loads(sent))
        status = 0
        sys.stderr.flush()
    finally:
        os._exit(status)


def _read(asked: Mapping[str, Any]) -> None:
    """Be the reading process, with the environment and the request that it would have been started with."""
    from engine.documents.reading import child, work_clock

    os.environ.clear()
    os.environ.update(asked["environment"])
    work_clock.CLOCK.__init__()  # type: ignore[misc]
    sys.argv = [_READS, asked["request"]]
    try:
        child.main()
    except BaseException:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        raise


if __name__ == "__main__":
    _serve(sys.argv[1])
