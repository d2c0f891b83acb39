"""`glossator snapshots`: what was frozen to learn from and to judge on, what was left out, and what weighs how much."""

from typing import Annotated

import typer
from rich.table import Table

from engine.commands.common import emit, here, output
from engine.datasets.snapshot_views import snapshot_lines, snapshot_view
from engine.projects.projects import DEFAULT_NAME, project_named

snapshots = typer.Typer(help="Snapshots: answers frozen to learn from and to judge on.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on the last line.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(snapshots, name="snapshots")


@snapshots.command("list")
def list_(
    project: Annotated[str, typer.Option("--project", help="Name of the project.")] = DEFAULT_NAME,
    as_json: Json = False,
) -> None:
    """List a project's snapshots, newest first."""
    with here() as workspace:
        lines = snapshot_lines(workspace, project_named(workspace, project).id)
    if as_json:
        emit({"snapshots": [line.model_dump(mode="json") for line in lines]})
        return
    table = Table("snapshot", "splits", box=None, header_style="bold", pad_edge=False)
    for title in ("answers", "documents", "left out", "weigh less", "weigh nothing"):
        table.add_column(title, justify="right")
    for line in lines:
        counts = (line.annotations, line.documents, sum(line.left_out.values()), line.reduced, line.weightless)
        table.add_row(line.sha256[:12], ", ".join(line.splits) or "all", *(str(count) for count in counts))
    output.print(table)


@snapshots.command()
def show(
    snapshot: Annotated[str, typer.Argument(help="SHA-256 of the snapshot, or its beginning.")],
    project: Annotated[str, typer.Option("--project", help="Name of the project.")] = DEFAULT_NAME,
    as_json: Json = False,
) -> None:
    """Show what a snapshot holds, what was left out of it and why, and what each person's answers weigh."""
    with here() as workspace:
        view = snapshot_view(workspace, project_named(workspace, project).id, snapshot)
    if as_json:
        emit(view.model_dump(mode="json"))
        return
    output.print(
        f"{view.sha256}: {view.annotations} answers on {view.documents} documents; {len(view.left_out_labels)} left out, "
        f"{view.reduced} weigh less than 1, {view.weightless} nothing.",
        markup=False,
        soft_wrap=True,
    )
    people = Table("person", box=None, header_style="bold", pad_edge=False)
    for title in ("answers", "mean weight", "reliability", "compared", "known answers"):
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
        table = Table("left out", "question", "by", "why", box=None, header_style="bold", pad_edge=False)
        for left in view.left_out_labels:
            table.add_row(left.document, left.question, left.author, " ".join(left.sentences))
        output.print(table)
