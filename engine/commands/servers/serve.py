"""`glossator serve`: serve the application, with one local worker."""

import contextlib
import errno
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from types import FrameType
from typing import Annotated, Any

import typer

from engine.commands.common import console, fail, here, private_here, settings_here
from engine.documents.refusal import DocumentRefused
from engine.errors import Refused
from engine.settings import Settings

_log = logging.getLogger(__name__)
FACTORY = "annotator.app:create_served_app"  # strings: the engine never imports the application
PROTOCOL = "annotator.http_limits:LimitedHttp"
RESTART_SECONDS = (1, 2, 5, 15, 60)
STOP_SECONDS = 20  # time for the worker to stop at its next step
_PORT_SECONDS = 5.0  # for which a port in use is waited for
_PORT_LOOK = 0.1  # seconds between two looks at it
_OTHER_FILES = 500  # descriptors besides connections: database, pages, uploads


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(serve)


def serve(
    host: Annotated[str | None, typer.Option(help="Address to serve on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to serve on.")] = None,
    worker: Annotated[bool, typer.Option(help="Run a worker for retrainings beside the server.")] = True,
    samples: Annotated[bool, typer.Option(help="Add three sample documents to an empty default project.")] = False,
) -> None:
    """Serve the application, with a worker for retrainings."""
    settings = settings_here(host=host, port=port)
    # The factory and the worker read the environment, so the options are written there.
    os.environ["GLOSSATOR_HOST"], os.environ["GLOSSATOR_PORT"] = settings.host, str(settings.port)
    os.environ["GLOSSATOR_DATA_DIR"] = str(settings.data_dir.absolute())
    _check_free(settings)
    with private_here(settings):  # before the application is imported: parts of it read the temporary folder once
        _serve(settings, worker, samples)


def _serve(settings: Settings, worker: bool, samples: bool) -> None:
    _prepare(settings, samples)
    with_worker = Supervisor(settings) if worker else None
    shown = f"[{settings.host}]" if ":" in settings.host else settings.host
    console.print(f"Glossator opens on http://{shown}:{settings.port}{settings.root_path}", style="bold")
    try:
        started = _serve_until_signal(server_options(settings), with_worker)
    finally:
        if with_worker:
            with_worker.stop()
    if not started:
        fail(f"The server could not start on {shown}:{settings.port}. See the error above.", code=3)


def _serve_until_signal(options: dict[str, Any], with_worker: "Supervisor | None") -> bool:
    """Serve until a signal.

    Return whether the server had started. Signals are passed to the worker at once.
    """
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if with_worker and self.started:
                with_worker.start()  # only now: its imports would slow down those of the server

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            # uvicorn would raise the signal again after stopping, and the process would end before the worker.
            if with_worker:
                with_worker.ask_to_stop()
            self.force_exit = self.should_exit and sig == signal.SIGINT
            self.should_exit = True

    server = Server(uvicorn.Config(FACTORY, factory=True, **options))
    with contextlib.suppress(KeyboardInterrupt, SystemExit):  # SystemExit: it could not start and has logged why
        server.run()
    for number in (signal.SIGTERM, signal.SIGINT):  # a second signal must not interrupt the shutdown
        signal.signal(number, signal.SIG_IGN)
    return server.started


def _check_free(settings: Settings) -> None:
    """End the command if the address cannot be used, before anything is started.

    A port in use is waited for a moment: a server that was killed holds its port until the system has cleared it away.
    """
    last = time.monotonic() + _PORT_SECONDS
    while (error := _bind_error(settings)) is not None:
        if error.errno != errno.EADDRINUSE or time.monotonic() > last:
            fail(
                f"Cannot serve on {settings.host}:{settings.port}: {error.strerror}. Choose another --host or --port.",
                code=3,
            )
        time.sleep(_PORT_LOOK)


def _bind_error(settings: Settings) -> OSError | None:
    """Return why the address cannot be bound; None where it can."""
    try:
        (family, kind, protocol, _, address), *_ = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        with socket.socket(family, kind, protocol) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as uvicorn does
            tried.bind(address)
    except OSError as error:
        return error
    return None


def server_options(settings: Settings) -> dict[str, Any]:
    """Return the options of uvicorn.

    Args:
        settings: host, port, proxies and connection limit.
    """
    return {
        "host": settings.host,
        "port": settings.port,
        "log_level": "warning",
        "timeout_graceful_shutdown": 5,
        # Longer than a pause between two edits: if the server closed the connection just as an edit is sent, the edit
        # would be sent twice.
        "timeout_keep_alive": 75,
        "forwarded_allow_ips": settings.trusted_proxies,
        "http": PROTOCOL,
        "ws": "none",
        "limit_concurrency": _connections(settings.max_connections),
    }


def _connections(wanted: int) -> int:
    """Return the number of connections the process can hold: each needs a file descriptor."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        if soft < needed:
            _log.warning("the system allows %d open files, so connections are limited to %d", soft, soft // 2)
            return min(wanted, soft // 2)
    return wanted


def _prepare(settings: Settings, samples: bool) -> None:
    """Migrate the database and register the model here, where an error can be shown as one sentence."""
    from engine.models import registry

    with here(data_dir=settings.data_dir) as workspace:
        registry.ensure_shipped(workspace)
        if samples:
            from engine.commands.servers.samples import add_samples

            try:
                add_samples(workspace)
            except (Refused, DocumentRefused) as refused:  # on a full disk, for example; the server works without them
                console.print(f"The samples were not added. {refused}", style="yellow", markup=False, soft_wrap=True)


class Supervisor:
    """Keeps one worker process alive, in a session of its own so that Ctrl-C reaches it once.

    Args:
        settings: settings of the deployment.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._ended = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._watch, name="worker-supervisor", daemon=True)

    def start(self) -> None:
        """Start the worker, and restart it when it ends."""
        self._thread.start()

    def ask_to_stop(self) -> None:
        """Tell the worker to stop at its next step; safe in a signal handler."""
        self._ended.set()
        process = self._process
        if process is not None and process.poll() is None:
            process.send_signal(signal.SIGTERM)

    def stop(self) -> None:
        """Stop the worker at its next step, or kill it after STOP_SECONDS."""
        self.ask_to_stop()
        if self._thread.ident is None:
            return  # never started
        self._thread.join(timeout=STOP_SECONDS)
        if self._thread.is_alive() and self._process is not None:
            self._process.kill()  # its lease runs out; the next worker resumes from its checkpoint
            self._thread.join(timeout=5)

    def _watch(self) -> None:
        failures = 0
        while not self._ended.is_set():
            began = time.monotonic()
            environment = {**os.environ, "GLOSSATOR_PARENT": str(os.getpid())}
            self._process = subprocess.Popen(
                [sys.executable, "-m", "engine.cli", "worker"], env=environment, start_new_session=True
            )
            if self._ended.is_set():
                self._process.terminate()  # stopped while the process was being started
            code = self._process.wait()
            if self._ended.is_set():
                return
            failures = 0 if time.monotonic() - began > 60 else failures + 1
            pause = RESTART_SECONDS[min(failures, len(RESTART_SECONDS) - 1)]
            _log.warning("the worker ended with status %d; starting it again in %d s", code, pause)
            self._ended.wait(pause)
