"""`glossator worker`: run jobs, as retrainings and surveys."""

import os
import signal
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engine.commands.common import console, here, set_up_logs, settings_here
from engine.commands.common import metrics_port as use_metrics_port
from engine.lifecycle.gauges import watch
from engine.metrics import HERE
from engine.plurals import count
from engine.settings import Settings

if TYPE_CHECKING:
    from engine.jobs.worker import Handler

PARENT = "GLOSSATOR_PARENT"  # process id of the `serve` that supervises this process


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("worker")(worker)


def worker(
    once: Annotated[bool, typer.Option("--once", help="Run the waiting jobs, then exit.")] = False,
    lease_seconds: Annotated[
        float, typer.Option(min=0.5, help="Seconds without a heartbeat after which another worker takes the job.")
    ] = 60.0,
    metrics_port: Annotated[
        int | None, typer.Option(help="Port for its metrics, at /metrics, where no serve runs it; 0: none.")
    ] = None,
) -> None:
    """Run the jobs of all projects: retrainings, surveys and others.

    SIGTERM or Ctrl-C stops the worker at its next step. The next worker resumes the job.
    """
    lower_priority()  # also for its imports: the server beside it is importing what answers questions
    from engine.commands.servers.background import HANDLERS, run_worker

    HERE.process = "worker"
    HERE.join()
    settings = settings_here(metrics_port=0 if HERE.is_child or once else metrics_port)
    set_up_logs(HERE.process, settings)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    end_with_parent(stop)
    with here() as workspace:
        handlers = sparing_cores(HANDLERS, workspace.settings)
        if HERE.is_child or settings.metrics_port:
            watch(workspace, HERE)
        with use_metrics_port(settings):
            done = run_worker(workspace, once=once, stop=stop, lease_seconds=lease_seconds, handlers=handlers)
    if once:
        console.print(f"{count(done, 'job')} done.")


def lower_priority() -> None:
    """Lower the priority of this process, so that annotators are served first."""
    if hasattr(os, "nice"):
        os.nice(10)


def threads_of(settings: Settings) -> int:
    """Return the number of threads of a job's arithmetic: the deployment's, or else half of the cores."""
    return settings.job_threads


def sparing_cores(handlers: "Mapping[str, Handler]", settings: Settings) -> "dict[str, Handler]":
    """Return handlers whose arithmetic uses the deployment's number of threads, or else half of the cores.

    The number is set when a job begins: setting it imports torch, which a worker without jobs does not need.
    """
    threads = threads_of(settings)

    def sparing(handler: "Handler") -> "Handler":
        def run_sparing(*given: Any, **named: Any) -> dict[str, Any]:
            from model.devices import use_threads

            use_threads(threads)
            return handler(*given, **named)

        return run_sparing

    return {kind: sparing(handler) for kind, handler in handlers.items()}


def end_with_parent(stop: threading.Event) -> None:
    """Set `stop` when the `serve` process that started this one is gone, even if it was killed."""
    parent = os.environ.get(PARENT)
    if not parent or not parent.isdigit():
        return

    def watch() -> None:
        while not stop.wait(2):
            if os.getppid() != int(parent):
                stop.set()

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()
