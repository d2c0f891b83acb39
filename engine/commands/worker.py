"""`glossator worker`: the process that retrains."""

import logging
import os
import signal
import threading
from typing import Annotated

import typer

from engine.commands.common import console, here
from engine.settings import Settings

PARENT = "GLOSSATOR_PARENT"  # process id of the `serve` that supervises this worker


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("worker")(worker)


def worker(
    once: Annotated[bool, typer.Option("--once", help="Do what there is to do now, then end.")] = False,
    lease_seconds: Annotated[
        float, typer.Option(min=0.5, help="After so long without a sign of life, another worker takes the job.")
    ] = 60.0,
) -> None:
    """Do the jobs of all projects: retrain when enough was accepted, or when somebody asked for it.

    Ends at the next step on SIGTERM or Ctrl-C; the job goes on where it was when a worker runs again.
    """
    from engine.jobs.worker import work

    logging.basicConfig(format="%(asctime)s worker: %(message)s")
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    _end_with_parent(stop)
    with here() as workspace:
        yield_to_the_page(workspace.settings)
        done = work(workspace, once=once, stop=stop, lease_seconds=lease_seconds)
    if once:
        console.print(f"{done} job{'' if done == 1 else 's'} done.")


def yield_to_the_page(settings: Settings) -> None:
    """Let annotators go first: a lower priority, and not all the cores."""
    import torch

    torch.set_num_threads(settings.threads or max(1, (os.cpu_count() or 2) // 2))
    if hasattr(os, "nice"):
        os.nice(10)


def _end_with_parent(stop: threading.Event) -> None:
    """Stop when the `serve` that started this worker is gone, even if it was killed and could not say so."""
    parent = os.environ.get(PARENT)
    if not parent or not parent.isdigit():
        return

    def watch() -> None:
        while not stop.wait(2):
            if os.getppid() != int(parent):
                stop.set()

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()
