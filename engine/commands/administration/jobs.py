"""`glossator jobs`: list, cancel and retry jobs, and list the retraining triggers."""

from typing import Annotated

import typer

from engine.accounts.users import ensure_local_user
from engine.commands.common import emit, here, list_table, output, print_list
from engine.commands.lookups import acting
from engine.jobs import job_list, poll_lease, queue
from engine.jobs.job_view import job_view
from engine.projects.projects import project_named
from engine.training.retraining import trigger_status

jobs = typer.Typer(help="List, cancel and retry jobs.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(jobs, name="jobs")


@jobs.command("list")
def list_(
    project: Annotated[str | None, typer.Option("--project", help="Limit the list to this project.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=job_list.MOST_LISTED, help="Number of jobs, newest first.")] = 100,
    as_json: Json = False,
) -> None:
    """List jobs, newest first. Finished jobs that read documents are left out."""
    with here() as workspace:
        newest = job_list.list_jobs(
            workspace, project_named(workspace, project).id if project else None, limit=limit, without_read=True
        )
    views = [job_view(job) for job in newest]
    if as_json:
        emit({"jobs": [view.model_dump(mode="json") for view in views]})
        return
    table = list_table("job", "kind", "status", "done", "attempt", "message")
    for view in views:
        attempt = f"{view.attempts} of {view.max_attempts}"
        message = view.message
        if view.failure and view.failure not in message:
            message = f"{message} (Previous failure: {view.failure})".strip()
        table.add_row(view.id, view.kind, view.status, f"{view.progress:.0%}", attempt, message)
    print_list(table, "No jobs.")


@jobs.command()
def cancel(job: Annotated[str, typer.Argument(help="Id of the job.")], as_json: Json = False) -> None:
    """Cancel a job: a waiting one at once, a running one at its next step."""
    with here() as workspace:
        stopped = queue.cancel(workspace, job, by=ensure_local_user(workspace).id)
    if as_json:
        emit({"job_id": stopped.id, "status": stopped.status})
    elif stopped.status == "cancelled":
        output.print("The job is cancelled.")
    else:
        output.print("The job stops at its next step.")


@jobs.command()
def retry(
    job: Annotated[str, typer.Argument(help="Id of the job.")],
    person: Annotated[
        str | None, typer.Option("--as", help="Name of the acting user; default: the local user.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Retry a job that failed or was given up, from its last checkpoint."""
    with here() as workspace:
        if queue.job_by_id(workspace, job).project_id is None:
            by = ensure_local_user(workspace)
        else:
            by = acting(workspace, person, "job_id", job, "admin")
        put_back = queue.retry(workspace, job, by=by.id)
    if as_json:
        emit({"job_id": put_back.id, "status": put_back.status})
    else:
        output.print("The job is waiting for a worker.")


@jobs.command()
def triggers(
    project: Annotated[str | None, typer.Option("--project", help="Limit the list to this project.")] = None,
    as_json: Json = False,
) -> None:
    """List the retraining triggers of each project with their progress and next time."""
    with here() as workspace:
        if project is not None:
            listed = [trigger_status.triggers_of(workspace, project_named(workspace, project).id)]
        else:
            listed = trigger_status.all_triggers(workspace)
        watching = poll_lease.current(workspace)
    if as_json:
        named = {"holder": watching.holder, "since": watching.since.isoformat()} if watching is not None else None
        emit({"scheduler": named, "projects": [triggers_view.model_dump(mode="json") for triggers_view in listed]})
        return
    table = list_table("project", "triggers", "progress", "next time (UTC)", "last trigger (UTC)")
    for triggers_view in listed:
        last = next(iter(triggers_view.firings), None)
        fired = f"{last.due_at:%Y-%m-%d %H:%M} by {last.trigger}: {last.message}" if last is not None else "-"
        soon = f"{triggers_view.next_at:%Y-%m-%d %H:%M}" if triggers_view.next_at is not None else "-"
        table.add_row(triggers_view.project, _starts(triggers_view), triggers_view.near, soon, fired)
    print_list(table, "No projects.")
    if watching is None:
        output.print("No worker is running, so triggers do not fire. Start one: glossator worker")
    else:
        output.print(f"Scheduler: {watching.holder} since {watching.since:%Y-%m-%d %H:%M} UTC.")


def _starts(one: trigger_status.TriggersView) -> str:
    if not one.automatic:
        return "off"
    causes = [f"{one.wanted} accepted"]
    if one.wanted_days:
        causes.append(f"{one.wanted_days:g} days")
    if one.cron:
        causes.append(f"{one.cron} {one.time_zone}")
    return ", or ".join(causes)
