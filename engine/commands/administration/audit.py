"""`glossator audit`: list the audit trail."""

from typing import Annotated

import typer

from engine import audit as trail
from engine.commands.common import emit, here, list_table, print_list
from engine.projects.projects import project_named


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("audit")(audit)


def audit(
    project: Annotated[str | None, typer.Option("--project", help="Limit the list to this project.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=trail.MOST, help="Number of entries, newest first.")] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """List the audit trail: changes of members, roles, settings and models, exports, and failed logins."""
    with here() as workspace:
        entries = trail.entries(workspace, project_named(workspace, project).id if project else None, limit=limit)
    if as_json:
        emit({"entries": [line.model_dump(mode="json") for line in entries]})
        return
    table = list_table("when (UTC)", "project", "who", "what")
    for line in entries:
        table.add_row(f"{line.created_at:%Y-%m-%d %H:%M:%S}", line.project or "", line.actor, line.what)
    print_list(table, "No entries.")
