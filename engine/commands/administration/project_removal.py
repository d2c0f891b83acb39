"""`glossator projects remove`, `bin`, `restore` and `delete`: projects into the bin, back, and for good."""

from typing import Annotated

import typer

from engine.accounts.users import ensure_local_user
from engine.commands.common import confirm, emit, here, list_table, output, print_list
from engine.lifecycle import project_bin, traces
from engine.lifecycle.bins import line_values
from engine.lifecycle.project_erasing import erase_marked_projects
from engine.paging import every
from engine.projects.projects import project_named

Name = Annotated[str, typer.Argument(help="Name of the project.")]
Removed = Annotated[str, typer.Argument(help="Name or id of the project in the bin.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")]


def add_to(group: typer.Typer) -> None:
    """Add the commands to `glossator projects`."""
    group.command()(remove)
    group.command("bin")(list_removed)
    group.command()(restore)
    group.command()(delete)


def remove(name: Name, as_json: Json = False) -> None:
    """Remove a project into the bin, with everything in it. glossator projects restore brings it back."""
    with here() as workspace:
        project = project_named(workspace, name)
        project_bin.remove_project(workspace, project.id, ensure_local_user(workspace).id)
    if as_json:
        emit({"id": project.id})
    else:
        output.print(f"Removed {name} into the bin.")


def list_removed(as_json: Json = False) -> None:
    """List the projects in the bin, last removed first, with the time of their deletion."""
    with here() as workspace:
        lines = list(every(lambda cursor: project_bin.list_removed_projects(workspace, cursor=cursor)))
    if as_json:
        emit({"projects": [line_values(line) for line in lines]})
        return
    table = list_table("project", "id", "documents", "removed by", "deleted on")
    for line in lines:
        deleted = "now" if line.erasing else f"{line.deleted_at:%Y-%m-%d}"
        table.add_row(line.name, line.id, str(line.documents), line.removed_by or "", deleted)
    print_list(table, "The bin is empty.")


def restore(
    name: Removed,
    new_name: Annotated[str | None, typer.Option("--name", help="New name; default: the one that it had.")] = None,
    as_json: Json = False,
) -> None:
    """Restore a project from the bin, as it was."""
    with here() as workspace:
        project_id = project_bin.removed_project_named(workspace, name)
        restored = project_bin.restore_project(workspace, project_id, ensure_local_user(workspace).id, new_name)
    if as_json:
        emit({"id": project_id, "name": restored})
    else:
        output.print(f"Restored {restored}.")


def delete(
    name: Removed,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    as_json: Json = False,
) -> None:
    """Delete a project in the bin for good: documents, answers, models, snapshots, exports and files.

    Files that were stored within the last hour are deleted by a worker an hour later.
    """
    with here() as workspace:
        project_id = project_bin.removed_project_named(workspace, name)
        confirm(f"Delete {name} for good? This cannot be undone.", yes=yes)
        stays = project_bin.mark_project(workspace, project_id, ensure_local_user(workspace).id)
        erase_marked_projects(workspace)
        gone = all(
            line.id != project_id for line in every(lambda at: project_bin.list_removed_projects(workspace, cursor=at))
        )
        overwritten = traces.wipe(workspace.database)
    if as_json:
        emit({"id": project_id, "deleted": gone, "stays": stays, "overwritten": overwritten})
        return
    rest = "A worker deletes the rest: a job runs, or files were stored within the last hour."
    output.print(f"Deleted {name} for good." if gone else f"{name} cannot be restored any more. {rest}")
    for sentence in (*stays, *(() if overwritten else (traces.STILL_THERE,))):
        output.print(sentence, soft_wrap=True)
