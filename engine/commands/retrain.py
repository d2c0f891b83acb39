"""`glossator retrain`: a retraining now, here or by the worker."""

from typing import Annotated, Any

import typer

from engine.accounts.users import ensure_local_user
from engine.commands.common import emit, fail, here, output
from engine.commands.followed import followed
from engine.projects.projects import DEFAULT_NAME, project_named


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
    from engine.training.retraining import trigger

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
            job = followed(workspace, job)
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
