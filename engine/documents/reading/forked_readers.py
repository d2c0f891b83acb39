"""Reading processes that start in milliseconds: a process that imported what reads files forks one for each file.

A new interpreter imports for half a second, most of what the reading of a small document takes. What is forked is a
reading process like one that was started (engine.documents.reading.child): it has its own limits, session and group,
reads one file, and is ended in the same way. The process that forks never sees a file. Where the system cannot tell
that a process has ended (`pidfd_open` of Linux), nothing is forked.
"""

import contextlib
import json
import logging
import os
import selectors
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import IO, Any

from engine.documents.reading.work_clock import CLOCK
from engine.paused_collection import paused_collection

_log = logging.getLogger(__name__)
_MODULE = "engine.documents.reading.forked_readers"
_LONGEST_REQUEST = 1 << 20
_READY = b"ready\n"
_STARTING, _PATIENCE = 120.0, 30.0  # seconds: to import everything on a busy machine, and to fork


class ForkedReader:
    """What is used of a `Popen`, of a process that another one forked."""

    def __init__(self, process: int, connection: socket.socket, stdout: int, stderr: int) -> None:
        self.pid = process
        self.args: Any = (_MODULE,)
        self.stdout: IO[bytes] | None = os.fdopen(stdout, "rb")
        self.stderr: IO[bytes] | None = os.fdopen(stderr, "rb")
        self.returncode: int | None = None
        self._connection = connection

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the process has ended; return its exit status, negative for a signal.

        Raises:
            TimeoutExpired: It has not ended after `timeout` seconds.
        """
        if self.returncode is None:
            self._connection.settimeout(timeout)
            try:
                told = self._connection.recv(64)
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0) from None
            self.returncode = int(told) if told else 1  # the process that forks has ended
            self._connection.close()
        return self.returncode


class ReaderForks:
    """The process that forks readers, started with the first file once `enable` was called. Thread-safe."""

    def __init__(self) -> None:
        self._starting = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None  # requests go there; its end is that of this process
        self.enabled = False

    def enable(self) -> None:
        """Fork the readers of this process from now on, where the system can."""
        try:
            os.close(os.pidfd_open(os.getpid()))
        except (AttributeError, OSError):
            self.enabled = False
        else:
            self.enabled = True

    def start(self, request: Mapping[str, Any], environment: Mapping[str, str]) -> ForkedReader | None:
        """Fork a reader; None where that is not wanted or fails, so that a process has to be started.

        Args:
            request: What the reader is to do.
            environment: All its variables.
        """
        if not self.enabled:
            return None
        try:
            control = self._start_process(environment)
            reader = _send(control, {"request": request, "environment": dict(environment)})
        except OSError:
            _log.warning("no reading process could be forked; one is started", exc_info=True)
            reader = None
        if reader is None:
            self.close()
        return reader

    def close(self) -> None:
        """End the process that forks, and wait for it; the next file starts another one."""
        with self._starting:
            process, control = self._process, self._control
            self._process = self._control = None
        if control is not None:
            control.close()
        if process is not None:
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _start_process(self, environment: Mapping[str, str]) -> socket.socket:
        """Return the connection to the process that forks; starts it where it does not run. Raises OSError."""
        with self._starting:
            if self._process is not None and self._process.poll() is None and self._control is not None:
                return self._control
            if self._control is not None:
                self._control.close()
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _LONGEST_REQUEST)
            self._control = ours
            with theirs:
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-m", _MODULE, str(theirs.fileno())],
                    stdin=subprocess.DEVNULL,
                    env=dict(environment),
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,  # an interruption by the keyboard is for this process, which then ends it
                )
            ours.settimeout(_STARTING)  # one that hangs would hold up every file
            if ours.recv(64) != _READY:
                raise ConnectionError("the process that forks readers has ended")
            ours.settimeout(_PATIENCE)
            return ours


def _send(control: socket.socket, asked: Mapping[str, Any]) -> ForkedReader | None:
    """Ask for a reader; None where the process that forks has ended meanwhile. Raises OSError."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    (stdout, reader_stdout), (stderr, reader_stderr) = os.pipe(), os.pipe()
    process = b""
    try:
        try:
            socket.send_fds(control, [json.dumps(asked).encode()], [reader_stdout, reader_stderr, theirs.fileno()])
        finally:
            theirs.close()
            os.close(reader_stdout)
            os.close(reader_stderr)
        ours.settimeout(_PATIENCE)
        process = ours.recv(64)
    finally:
        if not process:
            ours.close()
            os.close(stdout)
            os.close(stderr)
    return ForkedReader(int(process), ours, stdout, stderr) if process else None


FORKS = ReaderForks()


def _serve(control: socket.socket) -> None:
    """Fork a reader for each request, and say its process id, then its exit status, to who asked."""
    with paused_collection():  # and what is imported stays shared with the readers
        from rapidocr import RapidOCR  # noqa: F401 (what a reader imports, at once or for a page without words)

        import engine.documents.reading.reading  # noqa: F401

    control.send(_READY)
    with selectors.DefaultSelector() as waiting:
        waiting.register(control, selectors.EVENT_READ)
        while True:
            for key, _ in waiting.select():
                if key.fileobj is control:
                    sent, files, _, _ = socket.recv_fds(control, _LONGEST_REQUEST, 3)
                    if not sent:
                        return
                    process = _fork(sent, files[:2])
                    asking = socket.socket(fileno=files[2])
                    ended = os.pidfd_open(process)
                    waiting.register(ended, selectors.EVENT_READ, (process, asking))
                    with contextlib.suppress(OSError):
                        asking.send(str(process).encode())
                else:
                    process, asking = key.data
                    waiting.unregister(key.fileobj)
                    os.close(key.fd)
                    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
                    with contextlib.suppress(OSError):  # nobody waits for it any more
                        asking.send(str(code).encode())
                    asking.close()


def _fork(sent: bytes, files: Sequence[int]) -> int:
    """Fork a reader with standard output and error; return its process id, which is that of its group by then."""
    grouped, group = os.pipe()
    process = os.fork()
    if process:
        for file in (*files, group):
            os.close(file)
        os.read(grouped, 1)
        os.close(grouped)
        return process
    status = 1
    try:
        os.setsid()
        os.write(group, b".")
        for file, number in zip((os.open(os.devnull, os.O_RDONLY), *files), (0, 1, 2), strict=True):
            os.dup2(file, number)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        status = _read(json.loads(sent))
        sys.stderr.flush()
    finally:
        os._exit(status)


def _read(asked: Mapping[str, Any]) -> int:
    """Be the reading process, with the environment and the request that it would have been started with."""
    from engine.documents.reading import child

    os.environ.clear()
    os.environ.update(asked["environment"])
    CLOCK.restart()
    try:
        return child.read(asked["request"])
    except BaseException:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        raise


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
