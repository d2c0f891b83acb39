"""`glossator status`: show data folder, projects, models and queues."""

from typing import Annotated, Any

import typer

from db import migrate
from engine.commands.common import emit, here, list_table, output
from engine.version import release
from engine.workspace import Workspace


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(status)


def status(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Show data folder and database, and counts, model and queue of each project."""
    from engine.accounts import users
    from engine.jobs import presence
    from engine.paging import every
    from engine.projects import projects

    with here() as workspace:
        with workspace.database.read() as session:
            worker = presence.presence_sentence(presence.load_presence(session))
        summaries = every(lambda cursor: projects.summaries(workspace, cursor=cursor))
        figures: dict[str, Any] = {
            "version": release(),
            "data": str(workspace.settings.data_dir.absolute()),
            "database": workspace.database.url.render_as_string(hide_password=True),
            "schema": migrate.current(workspace.database),
            "login": workspace.settings.auth,
            "users": users.count_users(workspace),
            "worker": worker,
            "projects": [_project(workspace, summary) for summary in summaries],
        }
    if as_json:
        emit(figures)
        return
    for name in ("version", "data", "database", "schema", "login", "users", "worker"):
        output.print(f"{name:9} {figures[name]}", soft_wrap=True)
    table = list_table(
        "project", "documents", "accepted", "model in use", "to answer", "to review", "to train on", "job"
    )
    for row in figures["projects"]:
        table.add_row(*(str(row[name]) for name in ("name", "documents", "accepted", "model", "open", "submitted")),
                      str(row["to_learn"]), row["job"] or "-")  # fmt: skip
    output.print(table)


def _project(workspace: Workspace, summary: Any) -> dict[str, Any]:
    from engine.errors import NotFound
    from engine.jobs import job_list
    from engine.models import registry
    from engine.statistics.throughput import figures
    from engine.training.retraining import views

    project = summary.project
    with workspace.database.read() as session:
        try:
            model = registry.label(registry.champion(session, project.id))
        except NotFound:  # no model was ever registered
            model = "-"
    depth = figures(workspace, project.id, days=1).queue
    working = job_list.open_jobs(workspace, None, project.id)
    return {
        "id": project.id,
        "name": project.name,
        "documents": summary.documents,
        "accepted": summary.accepted,
        "model": model,
        "open": depth[-1].open if depth else 0,
        "submitted": depth[-1].submitted if depth else 0,
        "to_learn": views.waiting_to_train(workspace, project.id),
        "job": f"{working[0].kind}, {working[0].status}" if working else None,
    }
