"""glossator projects, db: the house itself."""

from typing import Annotated, Any

import typer
from rich.table import Table

from db import migrate
from db.session import Database
from engine.accounts import users
from engine.commands import members
from engine.commands.common import console, emit, fail, here, output, settings_here
from engine.projects import project_settings, projects


def register(app: typer.Typer) -> None:
    """Add the commands."""
    several = typer.Typer(no_args_is_help=True, help="Projects and their settings.")
    several.command("list")(list_projects)
    several.command("create")(create_project)
    several.command("set")(set_project)
    members.add_to(several)
    app.add_typer(several, name="projects")
    database = typer.Typer(no_args_is_help=True, help="The database's schema.")
    database.command("upgrade")(upgrade)
    database.command("downgrade")(downgrade)
    database.command("current")(current)
    app.add_typer(database, name="db")


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
                "settings": project_settings.settings_of(each.project).model_dump(),
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
        projects.create_project(workspace, name, description, users.ensure_local_user(workspace).id)
    console.print(f"The project {name!r} is there.")


def set_project(
    name: Annotated[str, typer.Argument(help="Name of the project.")],
    retrain_after: Annotated[int | None, typer.Option(help="Newly accepted answers that start a retraining.")] = None,
    retrain_automatically: Annotated[bool | None, typer.Option(help="Retrain without being asked.")] = None,
    retrain_after_days: Annotated[
        float | None, typer.Option(help="Days after which a new answer waits for no others; 0: no limit.")
    ] = None,
    retrain_cron: Annotated[
        str | None, typer.Option(help='When to retrain by the clock, as "30 2 * * 1-5"; "": not.')
    ] = None,
    retrain_time_zone: Annotated[str | None, typer.Option(help="Time zone of that clock, as Europe/Berlin.")] = None,
    promotion: Annotated[str | None, typer.Option(help="automatic or by_hand: what a passed gate does.")] = None,
    review_required: Annotated[bool | None, typer.Option(help="What annotators accept waits for a reviewer.")] = None,
    overlap_share: Annotated[float | None, typer.Option(help="Share of tasks for several people, 0 to 1.")] = None,
    overlap_people: Annotated[int | None, typer.Option(help="How many people: 2 or 3.")] = None,
    gold_share: Annotated[float | None, typer.Option(help="Share of known answers asked unannounced, 0 to 1.")] = None,
    selection: Annotated[str | None, typer.Option(help="arrival, random or model: what people get next.")] = None,
    selection_random_share: Annotated[float | None, typer.Option(help="Share drawn beside the model's choice.")] = None,
    selection_patience_days: Annotated[
        float | None, typer.Option(help="Days after which a document gets a place.")
    ] = None,
    precision_target: Annotated[
        float | None, typer.Option(help="Share of automatic answers that must be right.")
    ] = None,
    precision_answers: Annotated[
        int | None, typer.Option(help="On how many reviewed answers that is measured.")
    ] = None,
    audit_share: Annotated[float | None, typer.Option(help="Share of automatic answers that people check.")] = None,
) -> None:
    """Change settings of a project."""
    wanted = {
        "retrain_after": retrain_after,
        "retrain_automatically": retrain_automatically,
        "retrain_after_days": retrain_after_days,
        "retrain_cron": retrain_cron,
        "retrain_time_zone": retrain_time_zone,
        "promotion": promotion,
        "review_required": review_required,
        "overlap_share": overlap_share,
        "overlap_people": overlap_people,
        "gold_share": gold_share,
        "selection": selection,
        "selection_random_share": selection_random_share,
        "selection_patience_days": selection_patience_days,
        "precision_target": precision_target,
        "precision_answers": precision_answers,
        "audit_share": audit_share,
    }
    with here() as workspace:
        project = projects.project_named(workspace, name)
        changes: dict[str, Any] = {key: value for key, value in wanted.items() if value is not None}
        by = users.ensure_local_user(workspace).id
        chosen = projects.change_settings(workspace, project.id, by=by, **changes)
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
