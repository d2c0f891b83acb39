"""`glossator retrain`: retrain a project's model now, here or by the worker."""

import signal
from typing import Annotated, Any

import typer

from engine.accounts.users import ensure_local_user
from engine.commands.common import emit, fail, here, output
from engine.commands.foreground import follow_job
from engine.commands.lookups import project_to_change
from engine.commands.servers.worker import lower_priority, threads_of
from engine.plurals import count
from engine.projects.projects import DEFAULT_NAME


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("retrain")(retrain)


def retrain(
    project: Annotated[str, typer.Option(help="Name of the project.")] = DEFAULT_NAME,
    steps: Annotated[
        int | None, typer.Option(min=1, help="Number of training steps; default: as many as the accepted pages need.")
    ] = None,
    minutes: Annotated[float | None, typer.Option(min=0.05, help="Maximum training time in minutes.")] = None,
    depth: Annotated[
        str | None, typer.Option(help="quick: encoders are frozen. full: all weights are trained.")
    ] = None,
    unlabelled: Annotated[
        float | None,
        typer.Option(
            min=0, max=0.99, help="Share of the steps that learn masked words from pages without accepted answers."
        ),
    ] = None,
    optimizer: Annotated[str | None, typer.Option(help="Optimizer: natural_gradient or adamw.")] = None,
    mode: Annotated[
        str | None, typer.Option(help="Mode of natural_gradient: blocks (if left out), whole, source, history ...")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=2**31 - 1, help="Random seed; the same seed, answers and steps give the same weights."),
    ] = None,
    queue_only: Annotated[bool, typer.Option("--queue", help="Queue the job for the worker, and exit.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Train a challenger on accepted answers, judge it against the champion, and promote it if better.

    Runs in this process, or follows a worker that has taken the job. Several processes train together: torchrun
    --nproc-per-node N $(which glossator) retrain.
    """
    from engine.training.retraining import assisting, trigger
    from model.device_missing import DeviceMissing
    from model.devices import use_threads
    from model.distributed import RankLost, join_ranks

    chosen: dict[str, Any] = {
        "steps": steps,
        "minutes": minutes,
        "depth": depth,
        "unlabelled": unlabelled,
        "optimizer": optimizer,
        "mode": mode,
        "seed": seed,
    }
    try:
        with here() as workspace, join_ranks(workspace.settings.device) as ranks:
            if not ranks.first:
                for number in (signal.SIGINT, signal.SIGTERM):  # the first process stops all, and saves
                    signal.signal(number, signal.SIG_IGN)
                lower_priority()
                use_threads(threads_of(workspace.settings))
                assisting.assist(workspace, ranks)
                return
            if ranks.count > 1:
                if queue_only:
                    fail("--queue leaves the run to a worker. Leave out --queue, or torchrun.", code=2)
                chosen["accumulate"] = ranks.count
            chosen_project = project_to_change(workspace, project)
            wanted = {name: value for name, value in chosen.items() if value is not None}
            job = trigger.request(workspace, chosen_project.id, by=ensure_local_user(workspace).id, **wanted)
            parts = job.payload.get("settings", {}).get("accumulate", 1)
            if parts % ranks.count:
                fail(
                    f"A retraining of this project waits already, with {count(parts, 'part')} a step, which "
                    f"{ranks.count} processes cannot share. Finish it first: glossator retrain --project {project}"
                )
            settings_given = {name: value for name, value in wanted.items() if name != "accumulate"}
            if settings_given.items() - job.payload.get("settings", {}).items():
                fail(
                    "A retraining of this project waits or runs already, with other settings. It goes on; give these"
                    " options again when it has ended."
                )
            if not queue_only:
                job = follow_job(workspace, job)
            assisting.release()
    except (DeviceMissing, RankLost) as error:
        fail(str(error))
    answer = {"job_id": job.id, "status": job.status, "message": job.message, **job.result}
    if as_json:
        emit(answer)
    if queue_only:
        if not as_json:
            output.print(f"Queued as job {job.id}.")
    elif job.status != "done":
        fail(job.message or f"The job ended as {job.status}.")
    elif not as_json:
        output.print(job.message, soft_wrap=True)
