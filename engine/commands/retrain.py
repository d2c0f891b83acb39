"""`glossator retrain`: a retraining now, here or by the worker."""

import signal
import threading
import time
from typing import Annotated, Any

import typer

from db.tables import Job
from engine.commands.common import console, emit, fail, here, output, progress
from engine.people import ensure_local_user
from engine.projects import DEFAULT_NAME, project_named
from engine.workspace import Workspace


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("retrain")(retrain)


def retrain(
    project: Annotated[str, typer.Option(help="Name of the project.")] = DEFAULT_NAME,
    steps: Annotated[int | None, typer.Option(min=1, help="Training steps, instead of the deployment's.")] = None,
    minutes: Annotated[float | None, typer.Option(min=0.05, help="Longest training time.")] = None,
    depth: Annotated[str | None, typer.Option(help="quick: the encoders stay. full: everything learns.")] = None,
    optimizer: Annotated[str | None, typer.Option(help="natural_gradient or adamw.")] = None,
    mode: Annotated[str | None, typer.Option(help="Mode of the natural gradient: default, source, history ...")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Same seed, answers and steps: same weights.")] = None,
    queue_only: Annotated[bool, typer.Option("--queue", help="Only ask for it; the worker does it.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on the last line.")] = False,
) -> None:
    """Train a challenger on the accepted answers, judge it against the champion, and promote it if it passed.

    Done here, with progress, unless a worker is faster; then this shows how far the worker is.
    """
    from engine.jobs import trigger

    chosen: dict[str, Any] = {
        "steps": steps,
        "minutes": minutes,
        "depth": depth,
        "optimizer": optimizer,
        "mode": mode,
        "seed": seed,
    }
    with here() as workspace:
        there = project_named(workspace, project)
        wanted = {name: value for name, value in chosen.items() if value is not None}
        job = trigger.request(workspace, there.id, by=ensure_local_user(workspace).id, **wanted)
        if not queue_only:
            job = _followed(workspace, job)
    answer = {"job_id": job.id, "status": job.status, "message": job.message, **job.result}
    if as_json:
        emit(answer)
    if queue_only:
        if not as_json:
            output.print(f"Asked for: job {job.id}.", markup=False)
    elif job.status != "done":
        fail(job.message or f"The job ended as {job.status}.")
    elif not as_json:
        output.print(job.message, markup=False, soft_wrap=True)


def _followed(workspace: Workspace, job: Job) -> Job:
    """The job when it has ended, done here or by a worker that was faster."""
    from engine.commands.worker import yield_to_the_page
    from engine.jobs import queue, trigger
    from engine.jobs.worker import do, holder_name
    from engine.training import registry

    yield_to_the_page(workspace.settings)
    registry.ensure_shipped(workspace)
    stop = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: stop.set())
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    holder = holder_name()
    with progress() as bar:
        task = bar.add_task("Waiting.", total=100)

        def show(share: float, message: str) -> None:
            bar.update(task, completed=round(100 * share), description=message)

        while not stop.is_set():
            mine = queue.lease(workspace, holder, [trigger.RETRAIN], job_id=job.id)
            if mine is not None:
                do(workspace, mine, holder, stop=stop, watch=show)
            job = queue.job_by_id(workspace, job.id)
            if job.status in queue.ENDED:
                return job
            show(job.progress, job.message)
            time.sleep(0.5)
    console.print("Stopped; a worker, or this command again, goes on where it was.")
    return job
