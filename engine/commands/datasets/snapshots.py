"""`glossator snapshots`: list and show frozen datasets, with left-out labels and weights."""

from typing import Annotated

import typer

from engine.accounts.users import ensure_local_user
from engine.commands.common import emit, here, list_table, output, print_list
from engine.datasets.snapshot_views import MOST_LISTED, snapshot_lines, snapshot_view
from engine.lifecycle.snapshot_removal import remove_snapshot
from engine.plurals import count
from engine.projects.projects import DEFAULT_NAME, project_named

snapshots = typer.Typer(
    help="List, show and remove snapshots: answers frozen for training and judging.", no_args_is_help=True
)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(snapshots, name="snapshots")


@snapshots.command("list")
def list_(
    project: Annotated[str, typer.Option("--project", help="Name of the project.")] = DEFAULT_NAME,
    limit: Annotated[
        int, typer.Option(min=1, max=MOST_LISTED, help="Number of snapshots, newest first.")
    ] = MOST_LISTED,
    as_json: Json = False,
) -> None:
    """List snapshots, newest first."""
    with here() as workspace:
        lines = snapshot_lines(workspace, project_named(workspace, project).id, limit=limit)
    if as_json:
        emit({"snapshots": [line.model_dump(mode="json") for line in lines]})
        return
    table = list_table("snapshot", "splits")
    for title in ("answers", "documents", "left out", "weight below 1", "weight 0"):
        table.add_column(title, justify="right")
    for line in lines:
        counts = (line.annotations, line.documents, sum(line.left_out.values()), line.reduced, line.weightless)
        table.add_row(line.sha256[:12], ", ".join(line.splits) or "all", *(str(count) for count in counts))
    print_list(table, "No snapshots.")


@snapshots.command()
def show(
    snapshot: Annotated[str, typer.Argument(help="Beginning of the snapshot's SHA-256.")],
    project: Annotated[str, typer.Option("--project", help="Name of the project.")] = DEFAULT_NAME,
    as_json: Json = False,
) -> None:
    """Show a snapshot: content, left-out labels with reasons, and weights by person."""
    with here() as workspace:
        view = snapshot_view(workspace, project_named(workspace, project).id, snapshot)
    if as_json:
        emit(view.model_dump(mode="json"))
        return
    output.print(
        f"{view.sha256}: {count(view.annotations, 'answer')} on {count(view.documents, 'document')}; "
        f"{view.left_out_answers} left out, "
        f"{view.reduced} with a weight below 1, {view.weightless} with weight 0.",
        soft_wrap=True,
    )
    people = list_table("person")
    for title in ("answers", "mean weight", "reliability", "comparisons", "gold questions"):
        people.add_column(title, justify="right")
    for row in view.people:
        people.add_row(
            row.person,
            str(row.labels),
            "-" if row.mean_weight is None else f"{row.mean_weight:.2f}",
            "-" if row.reliability is None else f"{row.reliability:.2f}",
            str(row.comparisons),
            str(row.gold_questions),
        )
    output.print(people)
    if view.left_out_labels:
        table = list_table("left out", "question", "author", "reason")
        for left in view.left_out_labels:
            table.add_row(left.document, left.question, left.author, " ".join(left.sentences))
        output.print(table)


@snapshots.command()
def remove(
    snapshot: Annotated[str, typer.Argument(help="Beginning of the snapshot's SHA-256.")],
    project: Annotated[str, typer.Option("--project", help="Name of the project.")] = DEFAULT_NAME,
    as_json: Json = False,
) -> None:
    """Remove a snapshot with its files. One that a run or a model version learned from cannot be removed."""
    with here() as workspace:
        by = ensure_local_user(workspace).id
        removed = remove_snapshot(workspace, project_named(workspace, project).id, snapshot, by)
    if as_json:
        emit({"sha256": removed.sha256})
        return
    output.print(f"Removed the snapshot {removed.sha256[:12]}.")
