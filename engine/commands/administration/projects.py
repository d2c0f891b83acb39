"""`glossator projects` and `glossator db`: manage projects, their settings, and the database schema."""

from typing import Annotated, Any

import typer

from db import migrate
from db.downgrade_losses import downgrade_losses
from db.refusals import DowngradeRefused
from db.session import Database
from engine.accounts import users
from engine.commands.administration import members, project_archives, project_changes, project_removal
from engine.commands.common import confirm, console, emit, fail, here, list_table, output, print_list, settings_here
from engine.commands.foreground import tasks_follow
from engine.commands.lookups import project_to_change
from engine.paging import every
from engine.projects import project_settings, projects
from engine.projects.project_settings import settings_of


def register(app: typer.Typer) -> None:
    """Add the commands."""
    several = typer.Typer(no_args_is_help=True, help="Manage projects, settings and members.")
    several.command("list")(list_projects)
    several.command("create")(create_project)
    several.command("set")(set_project)
    members.add_to(several)
    project_changes.add_to(several)
    project_archives.add_to(several)
    project_removal.add_to(several)
    app.add_typer(several, name="projects")
    database = typer.Typer(no_args_is_help=True, help="Manage the database schema.")
    database.command("upgrade")(upgrade)
    database.command("downgrade")(downgrade)
    database.command("current")(current)
    app.add_typer(database, name="db")


def list_projects(
    archived: Annotated[bool, typer.Option("--archived", help="List archived projects instead.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """List the projects that are not archived."""
    with here() as workspace:
        summaries = list(every(lambda cursor: projects.summaries(workspace, archived=archived, cursor=cursor)))
    if json:
        rows = [
            {
                "id": summary.project.id,
                "name": summary.project.name,
                "documents": summary.documents,
                "accepted": summary.accepted,
                "settings": project_settings.settings_of(summary.project).model_dump(),
            }
            for summary in summaries
        ]
        emit({"projects": rows})
        return
    table = list_table("Project", "Documents", "Accepted")
    for summary in summaries:
        table.add_row(summary.project.name, str(summary.documents), str(summary.accepted))
    print_list(table, "No projects.")


def create_project(
    name: Annotated[str, typer.Argument(help="Name of the project.")],
    description: Annotated[str, typer.Option(help="Description of the project.")] = "",
) -> None:
    """Create a project."""
    with here() as workspace:
        projects.create_project(workspace, name, description, users.ensure_local_user(workspace).id)
    console.print(f"Project {name!r} created.")


def set_project(
    name: Annotated[str, typer.Argument(help="Name of the project.")],
    retrain_after: Annotated[
        int | None, typer.Option(help="Number of newly accepted answers that start a retraining.")
    ] = None,
    retrain_automatically: Annotated[
        bool | None, typer.Option(help="Automatic retraining by count, age and schedule.")
    ] = None,
    retrain_after_days: Annotated[
        float | None, typer.Option(help="Maximum days that a new answer waits; 0: no limit.")
    ] = None,
    retrain_cron: Annotated[str | None, typer.Option(help='Schedule as crontab, as "30 2 * * 1-5"; "": none.')] = None,
    retrain_time_zone: Annotated[str | None, typer.Option(help="Time zone of the schedule, as Europe/Berlin.")] = None,
    promotion: Annotated[
        str | None, typer.Option(help="Promotion of a version that passed the gate: automatic or by_hand.")
    ] = None,
    review_required: Annotated[bool | None, typer.Option(help="Whether answers of annotators need a review.")] = None,
    overlap_share: Annotated[
        float | None, typer.Option(help="Share of tasks answered by several people, 0 to 1.")
    ] = None,
    overlap_people: Annotated[int | None, typer.Option(help="People per overlapping task: 2 or 3.")] = None,
    unaided_share: Annotated[
        float | None,
        typer.Option(help="Share of overlapping tasks answered without the model's proposal, 0 to 1."),
    ] = None,
    gold_share: Annotated[
        float | None, typer.Option(help="Share of gold questions, inserted unannounced, 0 to 1.")
    ] = None,
    selection: Annotated[
        str | None, typer.Option(help="Document order: arrival, random or model (most uncertain first).")
    ] = None,
    selection_random_share: Annotated[
        float | None, typer.Option(help="Share of random documents mixed in, 0 to 1.")
    ] = None,
    selection_patience_days: Annotated[
        float | None, typer.Option(help="Days after which a waiting document is moved up.")
    ] = None,
    precision_target: Annotated[
        float | None, typer.Option(help="Minimum share of automatic answers that are right.")
    ] = None,
    precision_answers: Annotated[
        int | None, typer.Option(help="Minimum number of reviewed answers to measure their precision.")
    ] = None,
    audit_share: Annotated[float | None, typer.Option(help="Share of automatic answers sampled for audit.")] = None,
    locale: Annotated[
        str | None, typer.Option(help='Locale in which papers print values, as de-DE; "": not known.')
    ] = None,
    conventions: Annotated[
        list[str] | None,
        typer.Option(
            "--convention",
            metavar="NAME=VALUE",
            help="Convention that decides ambiguous values, as date_order=DMY; NAME= removes it. Repeatable.",
        ),
    ] = None,
) -> None:
    """Change the settings of a project."""
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
        "unaided_share": unaided_share,
        "gold_share": gold_share,
        "selection": selection,
        "selection_random_share": selection_random_share,
        "selection_patience_days": selection_patience_days,
        "precision_target": precision_target,
        "precision_answers": precision_answers,
        "audit_share": audit_share,
        "locale": locale,
    }
    with here() as workspace:
        project = project_to_change(workspace, name)
        changes: dict[str, Any] = {key: value for key, value in wanted.items() if value is not None}
        if conventions:
            named = dict(convention.partition("=")[::2] for convention in conventions)
            joined = {**settings_of(project).conventions, **named}
            changes["conventions"] = {name: value for name, value in joined.items() if value}
        by = users.ensure_local_user(workspace).id
        chosen = projects.change_settings(workspace, project.id, by=by, **changes)
        tasks_follow(workspace, project.id)
    for key, value in chosen.model_dump().items():
        output.print(f"{key} = {value}")


def upgrade() -> None:
    """Upgrade the database to the newest schema."""
    with here() as workspace:
        output.print(f"The database is at schema {migrate.current(workspace.database)}.")


def downgrade(
    revision: Annotated[str, typer.Argument(help="Schema revision.")],
    yes: Annotated[bool, typer.Option("--yes", help="Skip the confirmation.")] = False,
) -> None:
    """Downgrade the database to an older schema. Make a backup first.

    Stop servers and workers before. What the older schema cannot hold is listed first. Figures among it that follow
    from answers come back with the next upgrade.
    """
    database = Database(settings_here().url)
    try:
        losses = downgrade_losses(database, revision)
        for loss in losses:
            what = f"values of {loss.table}.{loss.column}" if loss.column else f"rows of {loss.table}"
            output.print(f"Schema {revision} cannot hold {loss.rows:,} {what}.")
        lost = "The downgrade deletes them." if losses else "Nothing is lost that an upgrade does not bring back."
        confirm(f"{lost} Do you have a backup, and downgrade now?", yes=yes)
        migrate.downgrade(database, revision)
        output.print(f"The database is at schema {migrate.current(database) or 'base'}.")
    except DowngradeRefused as refusal:
        fail(str(refusal))
    finally:
        database.dispose()


def current() -> None:
    """Print the schema of the database and the newest known one."""
    database = Database(settings_here().url)
    output.print(f"at {migrate.current(database) or 'nothing'}, newest {migrate.head()}")
    database.dispose()
