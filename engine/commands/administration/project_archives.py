"""`glossator projects pack` and `glossator projects unpack`: a project as one file, for another installation."""

from pathlib import Path
from typing import Annotated

import typer

from engine.commands.common import emit, here, output, step_bar
from engine.lifecycle.project_archive import ArchiveManifest, pack_project, unpack_project
from engine.plurals import count
from engine.projects.projects import project_named

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")]


def add_to(app: typer.Typer) -> None:
    """Add the commands to a group."""
    app.command()(pack)
    app.command()(unpack)


def pack(
    name: Annotated[str, typer.Argument(help="Name of the project.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="New file.")],
    as_json: Json = False,
) -> None:
    """Write a project to a file with all of its history, to move it to another installation.

    It holds documents, words, answers with all revisions, tasks, reviews, models, runs and their files. People may work
    meanwhile; jobs of the project must have ended. Webhooks, the address and key of another model, invitations
    and documents in the bin stay.
    """
    with here() as workspace, step_bar() as on_step:
        manifest = pack_project(workspace, project_named(workspace, name).id, file, on_step)
    _report(f"Wrote the project {manifest.name} to {file}", manifest, as_json)


def unpack(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Archive of a project.")],
    name: Annotated[str | None, typer.Option(help="New name of the project; default: that of the archive.")] = None,
    as_json: Json = False,
) -> None:
    """Add the project of an archive with all of its history.

    Both installations need the same version of Glossator; their databases may differ. People are those of the same
    name; others are added without a password. With SQLite, saves wait while rows are written.
    """
    with here() as workspace, step_bar() as on_step:
        manifest = unpack_project(workspace, file, on_step, name)
    _report(f"Added the project {name or manifest.name}", manifest, as_json)


def _report(sentence: str, manifest: ArchiveManifest, as_json: bool) -> None:
    if as_json:
        emit(manifest.model_dump(mode="json"))
        return
    rows = manifest.rows
    parts = (
        count(rows["documents"], "document"),
        count(rows["revisions"], "revision"),
        count(len(manifest.blobs), "file"),
    )
    output.print(f"{sentence}: {', '.join(parts)}.", soft_wrap=True)
