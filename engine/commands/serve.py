"""glossator serve: the application, and one local worker beside it."""

import contextlib
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
FACTORY = "annotator.app:create_app"  # strings: the engine never imports the application
PROTOCOL = "annotator.http_limits:LimitedHttp"
RESTART_SECONDS = (1, 2, 5, 15, 60)
STOP_SECONDS = 20  # so long the worker may take to end at its next step
_OTHER_FILES = 500  # descriptors beside those of connections: database, pages, what is being read, streams of uploads


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(serve)


def serve(
    host: Annotated[str | None, typer.Option(help="Address to serve on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to serve on.")] = None,
    worker: Annotated[bool, typer.Option(help="Run one worker beside the page, which retrains.")] = True,
    samples: Annotated[bool, typer.Option(help="Put three sample documents into an empty default project.")] = False,
) -> None:
    """Serve the page, and retrain from what is accepted on it."""
    settings = settings_here(host=host, port=port)
    # The factory, and the worker, read the environment: what the command line chose must stand there.
    os.environ["GLOSSATOR_HOST"], os.environ["GLOSSATOR_PORT"] = settings.host, str(settings.port)
    os.environ["GLOSSATOR_DATA_DIR"] = str(settings.data_dir.absolute())
    _check_free(settings)
    with private_here(settings):  # before the application is imported: parts of it ask once where temporary files go
        _serve(settings, worker, samples)


def _serve(settings: Settings, worker: bool, samples: bool) -> None:
    _prepare(settings, samples)
    with_worker = Supervisor(settings) if worker else None
    shown = f"[{settings.host}]" if ":" in settings.host else settings.host
    console.print(f"Glossator opens on http://{shown}:{settings.port}", style="bold")
    try:
        if with_worker:
            with_worker.start()
        started = _run(server_options(settings), with_worker)
    finally:
        if with_worker:
            with_worker.stop()
    if not started:
        fail(f"The server could not start on {shown}:{settings.port}; see the line above.", code=3)


def _run(options: dict[str, Any], with_worker: "Supervisor | None") -> bool:
    """Serve until a signal ends it; return whether it ever served. The worker is told of the signal at once, so that both stop together."""
    import uvicorn

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            # uvicorn would raise the signal again once it has stopped, and the process would end before the worker does.
            if with_worker:
                with_worker.ask_to_stop()
            self.force_exit = self.should_exit and sig == signal.SIGINT
            self.should_exit = True

    server = Server(uvicorn.Config(FACTORY, factory=True, **options))
    with contextlib.suppress(KeyboardInterrupt, SystemExit):  # SystemExit: it could not start, and has said why
        server.run()
    for number in (signal.SIGTERM, signal.SIGINT):  # who asks twice does not cut short what is being put away
        signal.signal(number, signal.SIG_IGN)
    return server.started


def _check_free(settings: Settings) -> None:
    """Refuse an address that cannot be served on, before anything is said or begun."""
    try:
        (family, kind, protocol, _, address), *_ = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        with socket.socket(family, kind, protocol) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as uvicorn does
            tried.bind(address)
    except OSError as error:
        fail(f"The page cannot be served on {settings.host}:{settings.port}: {error.strerror}.", code=3)


def server_options(settings: Settings) -> dict[str, Any]:
    """Return what uvicorn is told."""
    return {
        "host": settings.host,
        "port": settings.port,
        "log_level": "warning",
        "timeout_graceful_shutdown": 5,
        # Longer than a thought between two edits: a connection that the server closes just when the next edit is sent
        # is an edit sent twice.
        "timeout_keep_alive": 75,
        "forwarded_allow_ips": settings.trusted_proxies,
        "http": PROTOCOL,
        "ws": "none",
        "limit_concurrency": _connections(settings.max_connections),
    }


def _connections(wanted: int) -> int:
    """Return how many connections the process can hold: each takes a file descriptor, and the rest of it needs some too."""
    try:
        import resource
    except ImportError:  # Windows knows no such limit
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        if soft < needed:
            _log.warning("the system allows %d open files, so there is room for %d connections", soft, soft // 2)
            return min(wanted, soft // 2)
    return wanted


def _prepare(settings: Settings, samples: bool) -> None:
    """Migrate and register the shipped model here, where what is wrong can still be said in one sentence."""
    from engine.models import registry

    with here(data_dir=settings.data_dir) as workspace:
        registry.ensure_shipped(workspace)
        if samples:
            from engine.commands.samples import add_samples

            try:
                add_samples(workspace)
            except (Refused, DocumentRefused) as refused:  # on a small disk, for example: the page works without them
                console.print(f"The samples were left out. {refused}", style="yellow", markup=False, soft_wrap=True)


class Supervisor:
    """Keeps one worker process alive beside the page, in a session of its own, so that Ctrl-C reaches it once."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._ended = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._watch, name="worker-supervisor", daemon=True)

    def start(self) -> None:
        """Start the worker and watch over it."""
        self._thread.start()

    def ask_to_stop(self) -> None:
        """Tell the worker to end at its next step; called from a signal's handler too."""
        self._ended.set()
        process = self._process
        if process is not None and process.poll() is None:
            process.send_signal(signal.SIGTERM)

    def stop(self) -> None:
        """Ask the worker to end at its next step, and wait a little for it."""
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
                self._process.terminate()  # asked to stop while the process was being made
            code = self._process.wait()
            if self._ended.is_set():
                return
            failures = 0 if time.monotonic() - began > 60 else failures + 1
            pause = RESTART_SECONDS[min(failures, len(RESTART_SECONDS) - 1)]
            _log.warning("the worker ended with status %d; starting it again in %d s", code, pause)
            self._ended.wait(pause)
