"""`glossator runs`: retrainings and what the gate said."""

from typing import Annotated, Any

import typer
from rich.table import Table

from engine.commands.common import emit, here, output
from engine.projects import DEFAULT_NAME, project_named
from engine.training.views import run_lines, run_view

runs = typer.Typer(help="Retrainings: their curves and verdicts.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on the last line.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(runs, name="runs")


@runs.command("list")
def list_(
    project: Annotated[str, typer.Option("--project", help="Name of the project.")] = DEFAULT_NAME,
    as_json: Json = False,
) -> None:
    """List a project's runs, newest first."""
    with here() as workspace:
        lines = run_lines(workspace, project_named(workspace, project).id)
    if as_json:
        emit({"runs": [line.model_dump(mode="json") for line in lines]})
        return
    table = Table("run", "status", "from", "to", "answers", "verdict")
    for line in lines:
        table.add_row(
            line.id,
            line.status,
            line.parent,
            line.challenger or "",
            str(line.annotations),
            line.verdict.get("sentence", ""),
        )
    output.print(table)


@runs.command()
def show(run: Annotated[str, typer.Argument(help="Id of the run.")], as_json: Json = False) -> None:
    """Show a run with its holdouts."""
    with here() as workspace:
        view = run_view(workspace, run)
    if as_json:
        emit(view.model_dump(mode="json"))
        return
    output.print(f"{view.parent} -> {view.challenger or '?'}, {view.status}, {view.annotations} answers", markup=False)
    table = Table()
    for title in ("holdout", "documents", "asked", "IoU", "IoU now", "change", "90 % interval"):
        table.add_column(title, no_wrap=True)
    for name, one in view.verdict.get("holdouts", {}).items():
        table.add_row(
            name,
            str(one["documents"]),
            str(one["questions"]),
            _figure(one["parent"]["mean_iou"]),
            _figure(one["challenger"]["mean_iou"]),
            _figure(one["difference"], "+.3f"),
            f"{_figure(one['low'], '+.3f')} .. {_figure(one['high'], '+.3f')}",
        )
    output.print(table)
    if view.verdict:
        output.print(view.verdict["sentence"], markup=False, soft_wrap=True)


def _figure(value: Any, form: str = ".3f") -> str:
    return "-" if value is None else format(float(value), form)
