"""`glossator serve`: serve the application, with one local worker."""

import contextlib
import errno
import logging
import os
import signal
import socket
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from types import FrameType
from typing import Annotated, Any

import typer

from db.session import Database
from engine.commands.common import announce, console, fail, here, private_here, set_up_logs, settings_here
from engine.commands.common import metrics_port as use_metrics_port
from engine.commands.servers.supervisor import Supervisor
from engine.commands.servers.web_processes import WebProcesses
from engine.confinement import not_confined_sentence
from engine.documents.reading.forked_readers import FORKS
from engine.documents.refusal import DocumentRefused
from engine.errors import Refused
from engine.lifecycle.gauges import InstallationGauges
from engine.metrics import HERE
from engine.paused_collection import paused_collection
from engine.settings import Settings
from engine.workspace import open_workspace

_log = logging.getLogger(__name__)
FACTORY = "annotator.app:create_served_app"  # strings: the engine never imports the application
PROTOCOL = "annotator.http_limits:LimitedHttp"
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
    workers: Annotated[
        int, typer.Option(min=1, max=64, help="Number of web processes that share the port, each with its own memory.")
    ] = 1,
    samples: Annotated[bool, typer.Option(help="Add three sample documents to an empty default project.")] = False,
    metrics_port: Annotated[
        int | None, typer.Option(help="Port for the metrics of all its processes, at /metrics; 0: none.")
    ] = None,
) -> None:
    """Serve the application, with a worker for retrainings."""
    settings = settings_here(host=host, port=port, metrics_port=metrics_port)
    HERE.process = "web-1" if workers == 1 else "serve"  # whose processes are web-1, web-2 ...
    set_up_logs(HERE.process, settings)
    # The factory and the worker read the environment, so the options are written there.
    os.environ["GLOSSATOR_HOST"], os.environ["GLOSSATOR_PORT"] = settings.host, str(settings.port)
    os.environ["GLOSSATOR_DATA_DIR"] = str(settings.data_dir.absolute())
    _check_free(settings)
    with private_here(settings):  # before the application is imported: parts of it read the temporary folder once
        _serve(settings, worker, workers, samples)


def _serve(settings: Settings, worker: bool, workers: int, samples: bool) -> None:
    _prepare(settings)
    if sentence := not_confined_sentence(settings.reader_confinement):
        console.print(sentence, style="yellow", soft_wrap=True)
    with_worker = Supervisor("worker", ["-m", "engine.cli", "worker"]) if worker else None
    shown = f"[{settings.host}]" if ":" in settings.host else settings.host
    announce(f"Glossator opens on http://{shown}:{settings.port}{settings.root_path}", settings)
    if workers > 1:
        if samples:
            _add_samples(settings)
        _serve_by_several(settings, workers, with_worker)
        return
    FORKS.enable()
    try:
        with use_metrics_port(settings), ThreadPoolExecutor(1) as apart:
            # Reading processes do most of it, while this process imports the application.
            added = apart.submit(_add_samples, settings) if samples else None
            started = _serve_until_signal(server_options(settings), with_worker, added)
    finally:
        if with_worker:
            with_worker.stop()
    if not started:
        fail(f"The server could not start on {shown}:{settings.port}. See the error above.", code=3)


def _serve_until_signal(
    options: dict[str, Any], with_worker: Supervisor | None, before: Future[None] | None = None
) -> bool:
    """Serve until a signal, once `before` is done.

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
        with paused_collection():
            server.config.load()
        if before is not None:
            before.result()
        server.run()
    for number in (signal.SIGTERM, signal.SIGINT):  # a second signal must not interrupt the shutdown
        signal.signal(number, signal.SIG_IGN)
    return server.started


def _serve_by_several(settings: Settings, workers: int, with_worker: Supervisor | None) -> None:
    """Serve by several processes until a signal. Signals are passed to all of them at once."""
    processes: list[WebProcesses | Supervisor] = [WebProcesses(settings, workers)]
    if with_worker:
        processes.append(with_worker)
    stopping = threading.Event()

    def stop(_sig: int, _frame: FrameType | None) -> None:
        for process in processes:
            process.ask_to_stop()
        stopping.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    database = Database(settings.url)
    try:
        HERE.add_of_installation(InstallationGauges(settings, database))
        with use_metrics_port(settings):
            for process in processes:
                process.start()
            stopping.wait()
            for process in processes:
                process.stop()
    finally:
        database.dispose()


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
        "log_config": None,  # as the logs of all else
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


def _prepare(settings: Settings) -> None:
    """Migrate the database and register the model here, where an error can be shown as one sentence."""
    from engine.models import registry

    with here(data_dir=settings.data_dir) as workspace:
        registry.ensure_shipped(workspace)


def _add_samples(settings: Settings) -> None:
    """Add the samples to an empty default project; where that fails, say why: the server works without them."""
    from engine.commands.servers.samples import add_samples

    workspace = open_workspace(settings)
    try:
        add_samples(workspace)
    except (Refused, DocumentRefused) as refused:  # on a full disk, for example
        console.print(f"The samples were not added. {refused}", style="yellow", soft_wrap=True)
    finally:
        workspace.close()
