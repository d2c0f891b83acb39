"""glossator users, projects, db: the house itself."""

from typing import Annotated

import typer
from rich.table import Table

from db import migrate
from db.session import Database
from engine import people, projects
from engine.commands.common import console, emit, fail, here, output, settings_here


def register(app: typer.Typer) -> None:
    """Add the commands."""
    users = typer.Typer(no_args_is_help=True, help="People who log in.")
    users.command("add")(add_user)
    users.command("list")(list_users)
    app.add_typer(users, name="users")
    several = typer.Typer(no_args_is_help=True, help="Projects and their settings.")
    several.command("list")(list_projects)
    several.command("create")(create_project)
    several.command("set")(set_project)
    app.add_typer(several, name="projects")
    database = typer.Typer(no_args_is_help=True, help="The database's schema.")
    database.command("upgrade")(upgrade)
    database.command("downgrade")(downgrade)
    database.command("current")(current)
    app.add_typer(database, name="db")


def add_user(
    name: Annotated[str, typer.Argument(help="Name to log in with.")],
    role: Annotated[str, typer.Option(help="admin, reviewer or annotator.")] = "annotator",
    password: Annotated[
        str, typer.Option(prompt=True, hide_input=True, confirmation_prompt=True, help="Asked for when left out.")
    ] = "",
) -> None:
    """Add a user who can log in."""
    with here() as workspace:
        user = people.add_user(workspace, name, password, role)
    console.print(f"{user.name} can log in as {user.role}.")


def list_users(json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False) -> None:
    """List all users."""
    with here() as workspace:
        found = people.users(workspace)
    if json:
        emit({"users": [{"id": user.id, "name": user.name, "role": user.role} for user in found]})
        return
    for user in found:
        output.print(f"{user.name}  {user.role}{'  (disabled)' if user.disabled_at else ''}")


def list_projects(json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False) -> None:
    """List all projects."""
    with here() as workspace:
        found = projects.summaries(workspace)
    if json:
        rows = [
            {
                "id": each.project.id,
                "name": each.project.name,
                "documents": each.documents,
                "accepted": each.accepted,
                "settings": projects.settings_of(each.project).model_dump(),
            }
            for each in found
        ]
        emit({"projects": rows})
        return
    table = Table("Project", "Documents", "Accepted", box=None, header_style="bold", pad_edge=False)
    for each in found:
        table.add_row(each.project.name, str(each.documents), str(each.accepted))
    output.print(table)


def create_project(
    name: Annotated[str, typer.Argument(help="Name of the project.")],
    description: Annotated[str, typer.Option(help="What it is about.")] = "",
) -> None:
    """Create a project."""
    with here() as workspace:
        projects.create_project(workspace, name, description)
    console.print(f"The project {name!r} is there.")


def set_project(
    name: Annotated[str, typer.Argument(help="Name of the project.")],
    retrain_after: Annotated[int | None, typer.Option(help="Newly accepted answers that start a retraining.")] = None,
    retrain_automatically: Annotated[bool | None, typer.Option(help="Retrain without being asked.")] = None,
    promotion: Annotated[str | None, typer.Option(help="automatic or by_hand: what a passed gate does.")] = None,
) -> None:
    """Change settings of a project."""
    wanted = {
        "retrain_after": retrain_after,
        "retrain_automatically": retrain_automatically,
        "promotion": promotion,
    }
    with here() as workspace:
        project = projects.project_named(workspace, name)
        changes = {key: value for key, value in wanted.items() if value is not None}
        chosen = projects.change_settings(workspace, project.id, **changes)
    for key, value in chosen.model_dump().items():
        output.print(f"{key} = {value}")


def upgrade() -> None:
    """Migrate the database to this version's schema."""
    with here() as workspace:
        output.print(f"The database is at schema {migrate.current(workspace.database)}.")


def downgrade(
    revision: Annotated[str, typer.Argument(help="Schema to go back to.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; going back can drop data.")] = False,
) -> None:
    """Migrate the database back. Make a backup first."""
    if not yes and not typer.confirm("Going back drops what the older schema cannot hold. Is there a backup?"):
        fail("Nothing was changed.")
    database = Database(settings_here().url)
    try:
        migrate.downgrade(database, revision)
        output.print(f"The database is at schema {migrate.current(database) or 'base'}.")
    finally:
        database.dispose()


def current() -> None:
    """Print the database's schema and the newest one known."""
    database = Database(settings_here().url)
    output.print(f"at {migrate.current(database) or 'nothing'}, newest {migrate.head()}")
    database.dispose()
