"""`glossator exports`: list the exports that the server has written, and delete their files."""

from typing import Annotated

import typer

from engine.commands.common import emit, here, list_table, output, print_list
from engine.commands.lookups import acting
from engine.interchange import export_files
from engine.plurals import count
from engine.projects.projects import DEFAULT_NAME, project_named

exports = typer.Typer(help="List exports whose files are kept, and delete the files.", no_args_is_help=True)

Project = Annotated[str, typer.Option("--project", help="Name of the project.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")]
Person = Annotated[str | None, typer.Option("--as", help="Name of the acting user; default: the local user.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(exports, name="exports")


@exports.command("list")
def list_(project: Project = DEFAULT_NAME, as_json: Json = False) -> None:
    """List exports that run, that failed within a day, or whose file is kept; newest 50 first."""
    with here() as workspace:
        jobs = export_files.list_exports(workspace, project_named(workspace, project).id)
    if as_json:
        lines = [
            {
                "id": job.id,
                "format": job.payload["format"],
                "status": job.status,
                "answers": job.result.get("answers"),
                "bytes": job.result.get("bytes"),
                "asked_at": job.created_at.isoformat(),
            }
            for job in jobs
        ]
        emit({"exports": lines})
        return
    table = list_table("export", "format", "status", "asked for")
    for title in ("answers", "MB"):
        table.add_column(title, justify="right")
    for job in jobs:
        answers, size = job.result.get("answers"), job.result.get("bytes")
        table.add_row(
            job.id,
            job.payload["format"],
            job.status,
            f"{job.created_at:%Y-%m-%d %H:%M}",
            "-" if answers is None else f"{answers:,}",
            "-" if size is None else f"{size / 1e6:.1f}",
        )
    print_list(table, "No exports.")


@exports.command()
def remove(
    ids: Annotated[list[str], typer.Argument(metavar="EXPORT...", help="Ids of exports, as `list` shows them.")],
    project: Project = DEFAULT_NAME,
    person: Annotated[
        str | None, typer.Option("--as", help="Name of the acting user; default: the local user.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Delete the files of exports for good. Their snapshots stay; see `glossator snapshots remove`."""
    with here() as workspace:
        project_id = project_named(workspace, project).id
        by = acting(workspace, person, "project_id", project_id, "reviewer", changes=False)
        for job_id in ids:
            export_files.remove_export(workspace, project_id, job_id, by=by.id)
    if as_json:
        emit({"exports": ids})
        return
    output.print(f"Deleted the {'file' if len(ids) == 1 else 'files'} of {count(len(ids), 'export')}.")
