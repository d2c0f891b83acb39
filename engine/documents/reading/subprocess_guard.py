"""Guard for a subprocess that may hang, crash or flood its output."""

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, Protocol

_CHUNK = 1 << 16
_STDERR_KEPT = 1 << 14  # bytes of the end of standard error, where a traceback ends
_LONGEST_LINE = 1 << 26
_LOOK = 0.5  # seconds between two calls of `on_look`


class Child(Protocol):
    """What is used of a `Popen`; its process group has its process id."""

    pid: int
    args: Any
    stdout: IO[bytes] | None
    stderr: IO[bytes] | None
    returncode: int | None

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the process has ended; return its exit status, negative for a signal. Raises TimeoutExpired."""
        ...


@dataclass(frozen=True, slots=True)
class Ended:
    """End of a command: `code` is the exit status, negative for a signal; `late` when time ran out first."""

    code: int
    late: bool
    stderr: str


def run_guarded(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    seconds: float,
    on_line: Callable[[bytes], None],
    on_look: Callable[[], None] = lambda: None,
    more_seconds: Callable[[], float] = lambda: 0.0,
    started: Child | None = None,
) -> Ended:
    """Run `command` without a shell in its own process group; pass each line of its output to `on_line`.

    `on_look` is called twice a second. The whole group is killed when `seconds` of wall-clock time are over, when a
    callback raises (the error propagates), and in any case before this returns, so that no process stays behind. Time
    in `on_line` does not count: it is the caller's. `more_seconds` tells what was granted meanwhile. `started`: a
    process in a group of its own that does what the command would do.
    """
    clock = _Clock(seconds, more_seconds)
    child = started or _start(command, environment)
    stderr = bytearray()
    try:
        late = not _listen(child, clock, on_line, on_look, stderr)
        if not late:
            try:
                child.wait(max(0.0, clock.left))
            except subprocess.TimeoutExpired:
                late = True
    finally:
        # The group exists until its leader has been waited for and all members have ended.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        code = child.wait()
        for pipe in (child.stdout, child.stderr):
            if pipe:
                pipe.close()
    return Ended(code, late, stderr.decode("utf-8", "replace"))


def _start(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a command in a session of its own, whose process group has its process id."""
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(environment),
        start_new_session=True,
        close_fds=True,
    )


class _Clock:
    """Remaining time of the command."""

    def __init__(self, seconds: float, more: Callable[[], float]) -> None:
        self._deadline = time.monotonic() + seconds
        self._more = more

    @property
    def left(self) -> float:
        """Return the remaining seconds; negative when time is over."""
        return self._deadline + self._more() - time.monotonic()

    @contextlib.contextmanager
    def pause(self) -> Iterator[None]:
        """Stop the clock inside this context."""
        began = time.monotonic()
        try:
            yield
        finally:
            self._deadline += time.monotonic() - began


def _listen(
    child: Child,
    clock: _Clock,
    on_line: Callable[[bytes], None],
    on_look: Callable[[], None],
    stderr: bytearray,
) -> bool:
    """Read both pipes until standard output closes; return False at the deadline."""
    assert child.stdout is not None and child.stderr is not None
    unfinished_line = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ, "out")
        selector.register(child.stderr, selectors.EVENT_READ, "err")
        while True:
            left = clock.left
            if left <= 0:
                return False
            on_look()
            for key, _ in selector.select(min(left, _LOOK)):
                chunk = os.read(key.fd, _CHUNK)
                if key.data == "err":
                    stderr += chunk
                    del stderr[:-_STDERR_KEPT]
                    if not chunk:
                        selector.unregister(key.fileobj)
                    continue
                if not chunk:
                    _drain(child.stderr.fileno(), stderr)
                    return True
                unfinished_line += chunk
                if len(unfinished_line) > _LONGEST_LINE:
                    raise ValueError(f"a line of more than {_LONGEST_LINE} bytes came from {child.args!r}")
                *lines, last = unfinished_line.split(b"\n") if b"\n" in chunk else (unfinished_line,)
                with clock.pause():
                    for line in lines:
                        on_line(bytes(line))
                unfinished_line = bytearray(last)


def _drain(descriptor: int, stderr: bytearray) -> None:
    """Read the rest of a pipe without waiting: a grandchild may keep it open."""
    os.set_blocking(descriptor, False)
    with contextlib.suppress(BlockingIOError, OSError):
        while chunk := os.read(descriptor, _CHUNK):
            stderr += chunk
            del stderr[:-_STDERR_KEPT]
