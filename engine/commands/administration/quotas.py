"""`glossator quotas`: how many documents a project may hold and a person upload."""

from typing import Annotated

import typer

from engine import quotas
from engine.accounts.users import ensure_local_user, user_named
from engine.commands.common import emit, fail, here, output
from engine.plurals import count
from engine.projects.projects import project_named
from engine.quotas import Kind, Space
from engine.settings import MEGABYTE
from engine.workspace import Workspace

Project = Annotated[str | None, typer.Option(help="Name of a project.")]
Person = Annotated[str | None, typer.Option(help="Name of a user.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(
        no_args_is_help=True, help="Show and set how many documents a project may hold and a person upload."
    )
    group.command()(show)
    group.command(name="set")(set_)
    app.add_typer(group, name="quotas")


def show(project: Project = None, person: Person = None, as_json: Json = False) -> None:
    """Show what a project holds or a person has uploaded, and the quota."""
    with here() as workspace:
        kind, subject_id = _subject(workspace, project, person)
        ids = (subject_id, None) if kind == "project" else (None, subject_id)
        with workspace.database.read() as session:
            (space,) = quotas.load_spaces(session, workspace.settings, *ids)
    _print(space, as_json)


def set_(
    project: Project = None,
    person: Person = None,
    documents: Annotated[
        int | None, typer.Option(min=0, help="Number of documents; 0: no limit; omitted: as the settings say.")
    ] = None,
    mb: Annotated[
        int | None, typer.Option(min=0, help="Size of the files in MB; 0: no limit; omitted: as the settings say.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Set the quota of a project or a person, in place of the one before."""
    with here() as workspace:
        kind, subject_id = _subject(workspace, project, person)
        by = ensure_local_user(workspace).id
        space = quotas.set_quota(workspace, kind, subject_id, documents, mb, by)
    _print(space, as_json)


def _subject(workspace: Workspace, project: str | None, person: str | None) -> tuple[Kind, str]:
    if (project is None) == (person is None):
        fail("Name a project or a person: --project NAME or --person NAME.", code=2)
    if project is not None:
        return "project", project_named(workspace, project).id
    return "person", user_named(workspace, person or "").id


def _print(space: Space, as_json: bool) -> None:
    most_mb = space.most_bytes / MEGABYTE if space.most_bytes is not None else None
    if as_json:
        emit(
            {
                "kind": space.kind, "name": space.name, "documents": space.documents,
                "megabytes": round(space.bytes / MEGABYTE, 3), "most_documents": space.most_documents,
                "most_megabytes": most_mb, "own": space.own,
            }
        )  # fmt: skip
        return
    of_documents = f" of {space.most_documents:,}" if space.most_documents is not None else ", no limit"
    of_mb = f" of {most_mb:,.0f} MB" if most_mb is not None else " MB, no limit"
    whose = "quota of its own" if space.own else "quota of the settings"
    sentence = f"{space.name}: {count(space.documents, 'document')}{of_documents}; {space.bytes / MEGABYTE:,.1f}{of_mb}"
    output.print(f"{sentence} ({whose}).", soft_wrap=True)
