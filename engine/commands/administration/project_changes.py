"""`glossator projects rename`, `archive` and `unarchive`."""

from typing import Annotated

import typer

from engine.accounts.users import ensure_local_user
from engine.commands.common import here, output
from engine.projects import archiving
from engine.projects.projects import project_named, rename_project

Name = Annotated[str, typer.Argument(help="Name of the project.")]


def add_to(group: typer.Typer) -> None:
    """Add the commands."""
    group.command()(rename)
    group.command()(archive)
    group.command()(unarchive)


def rename(name: Name, new: Annotated[str, typer.Argument(help="New name.")]) -> None:
    """Rename a project."""
    with here() as workspace:
        rename_project(workspace, project_named(workspace, name).id, new, ensure_local_user(workspace).id, before=name)
    output.print(f"Project {name!r} is now named {new!r}.", soft_wrap=True)


def archive(name: Name) -> None:
    """Archive a project: it can be read, but not changed, until it is unarchived. Its jobs are stopped."""
    with here() as workspace:
        archiving.archive(workspace, project_named(workspace, name).id, ensure_local_user(workspace).id)
    output.print(f"Project {name!r} is archived.", soft_wrap=True)


def unarchive(name: Name) -> None:
    """Let people change an archived project again."""
    with here() as workspace:
        archiving.unarchive(workspace, project_named(workspace, name).id, ensure_local_user(workspace).id)
    output.print(f"Project {name!r} can be changed again.", soft_wrap=True)
