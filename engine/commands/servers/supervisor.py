"""Keep a process alive beside the server: start it again when it ends, and stop it with the server."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence

from engine.commands.servers.worker import PARENT
from engine.metrics import HERE

RESTART_SECONDS = (1, 2, 5, 15, 60)
STOP_SECONDS = 20  # time for a process to stop at its next step
_log = logging.getLogger(__name__)


class Supervisor:
    """Keeps one process alive, in a session of its own so that Ctrl-C reaches it once.

    Args:
        what: name of the process in the log.
        command: arguments of the Python interpreter.
        environment: variables besides those of this process.
        files: descriptors that it inherits.
        series: name of the process in the metrics; None: `what`.
    """

    def __init__(
        self,
        what: str,
        command: Sequence[str],
        environment: Mapping[str, str] | None = None,
        files: Sequence[int] = (),
        series: str | None = None,
    ) -> None:
        self._what, self._command, self._files = what, command, files
        self._series = series or what
        self._environment = environment or {}
        self._ended = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._watch, name=f"supervisor of {what}", daemon=True)

    def start(self) -> None:
        """Start the process, and restart it when it ends."""
        self._thread.start()

    def ask_to_stop(self) -> None:
        """Tell the process to stop at its next step; safe in a signal handler."""
        self._ended.set()
        process = self._process
        if process is not None and process.poll() is None:
            process.send_signal(signal.SIGTERM)

    def stop(self) -> None:
        """Stop the process at its next step, or kill it after STOP_SECONDS."""
        self.ask_to_stop()
        if self._thread.ident is None:
            return  # never started
        self._thread.join(timeout=STOP_SECONDS)
        if self._thread.is_alive() and self._process is not None:
            self._process.kill()  # its leases run out; another process goes on from what is stored
            self._thread.join(timeout=5)

    def _watch(self) -> None:
        failures = 0
        while not self._ended.is_set():
            began = time.monotonic()
            with HERE.child(self._series) as (variables, pipes):
                environment = {**os.environ, **self._environment, **variables, PARENT: str(os.getpid())}
                files = (*self._files, *pipes)
                self._process = subprocess.Popen(
                    [sys.executable, *self._command], env=environment, start_new_session=True, pass_fds=files
                )
                if self._ended.is_set():
                    self._process.terminate()  # stopped while the process was being started
                code = self._process.wait()
            if self._ended.is_set():
                return
            failures = 0 if time.monotonic() - began > 60 else failures + 1
            pause = RESTART_SECONDS[min(failures, len(RESTART_SECONDS) - 1)]
            _log.warning("the %s ended with status %d; starting it again in %d s", self._what, code, pause)
            self._ended.wait(pause)
