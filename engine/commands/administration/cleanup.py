"""`glossator cleanup`: delete what is older than the settings allow."""

from dataclasses import asdict
from typing import Annotated

import typer

from engine.accounts.users import ensure_local_user
from engine.commands.common import emit, here, list_table, output
from engine.lifecycle import retention


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(cleanup)


def cleanup(
    yes: Annotated[bool, typer.Option("--yes", help="Delete; without it, only count what would be deleted.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Delete what is older than the settings allow and that nothing names. Without --yes, list it.

    Servers and workers may run; a worker does the same once an hour. Files that nothing names are deleted by glossator
    blobs cleanup, removed documents by glossator bin empty, weights by glossator models prune.
    """
    with here() as workspace:
        by = ensure_local_user(workspace).id if yes else None
        outcomes = retention.clean_up(workspace, delete_rows=yes, by=by)
    if as_json:
        emit({"deleted": yes, "rows": [asdict(outcome) for outcome in outcomes]})
        return
    table = list_table("what", "for days")
    table.add_column("setting", no_wrap=True)
    table.add_column("deleted" if yes else "would be deleted")
    for outcome in outcomes:
        days = "for good" if outcome.days is None else f"{outcome.days:g}"
        table.add_row(outcome.name, days, f"GLOSSATOR_{outcome.setting.upper()}", f"{outcome.rows:,}")
    output.print(table)
    if not yes and any(outcome.rows for outcome in outcomes):
        output.print("Delete with --yes.")
