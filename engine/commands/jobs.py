"""`glossator jobs`: long work, how far it is, and stopping it."""

from typing import Annotated

import typer
from rich.table import Table

from engine.commands.common import emit, here, output
from engine.jobs import queue
from engine.people import ensure_local_user
from engine.projects import project_named
from engine.training.views import job_view

jobs = typer.Typer(help="Long work in the queue.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on the last line.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(jobs, name="jobs")


@jobs.command("list")
def list_(
    project: Annotated[str | None, typer.Option("--project", help="Only of this project.")] = None,
    as_json: Json = False,
) -> None:
    """List jobs, newest first."""
    with here() as workspace:
        found = queue.list_jobs(workspace, project_named(workspace, project).id if project else None)
    views = [job_view(job) for job in found]
    if as_json:
        emit({"jobs": [view.model_dump(mode="json") for view in views]})
        return
    table = Table("job", "kind", "status", "done", "attempt", "message")
    for view in views:
        table.add_row(view.id, view.kind, view.status, f"{view.progress:.0%}", str(view.attempts), view.message)
    output.print(table)


@jobs.command()
def cancel(job: Annotated[str, typer.Argument(help="Id of the job.")], as_json: Json = False) -> None:
    """Stop a job: a waiting one at once, a running one at its next step."""
    with here() as workspace:
        stopped = queue.cancel(workspace, job, by=ensure_local_user(workspace).id)
    if as_json:
        emit({"job_id": stopped.id, "status": stopped.status})
    elif stopped.status == "cancelled":
        output.print("Cancelled.")
    else:
        output.print("It stops at its next step.")
