"""`glossator runs`: list, show and reproduce training runs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from engine.commands.common import console, emit, fail, here, list_table, output, print_list, progress
from engine.plurals import count
from engine.projects.projects import DEFAULT_NAME, project_named
from engine.training.retraining.views import MOST_LISTED, run_lines, run_view

runs = typer.Typer(help="List, show and reproduce training runs.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(runs, name="runs")


@runs.command("list")
def list_(
    project: Annotated[str, typer.Option("--project", help="Name of the project.")] = DEFAULT_NAME,
    limit: Annotated[int, typer.Option(min=1, max=MOST_LISTED, help="Number of runs, newest first.")] = MOST_LISTED,
    as_json: Json = False,
) -> None:
    """List training runs, newest first."""
    with here() as workspace:
        lines = run_lines(workspace, project_named(workspace, project).id, limit=limit)
    if as_json:
        emit({"runs": [line.model_dump(mode="json") for line in lines]})
        return
    table = list_table("run", "status", "from", "to", "answers", "verdict")
    for line in lines:
        table.add_row(
            line.id,
            line.status,
            line.parent,
            line.challenger or "",
            str(line.annotations),
            line.verdict.get("sentence", ""),
        )
    print_list(table, "No training runs.")


@runs.command()
def show(run: Annotated[str, typer.Argument(help="Id of the run.")], as_json: Json = False) -> None:
    """Show a training run with its figures by holdout."""
    with here() as workspace:
        view = run_view(workspace, run)
    if as_json:
        emit(view.model_dump(mode="json"))
        return
    output.print(f"{view.parent} -> {view.challenger or '?'}, {view.status}, {count(view.annotations, 'answer')}")
    table = list_table()
    for title in ("holdout", "documents", "questions", "IoU before", "IoU after", "change", "90 % interval"):
        table.add_column(title, no_wrap=True)
    for name, judged in view.verdict.get("holdouts", {}).items():
        table.add_row(
            name,
            str(judged["documents"]),
            str(judged["questions"]),
            _figure(judged["parent"]["mean_iou"]),
            _figure(judged["challenger"]["mean_iou"]),
            _figure(judged["difference"], "+.3f"),
            f"{_figure(judged['low'], '+.3f')} .. {_figure(judged['high'], '+.3f')}",
        )
    output.print(table)
    values = _values_table(view.verdict.get("holdouts", {}).get("own", {}))
    if values is not None:
        output.print(values)
    if view.verdict:
        output.print(view.verdict["sentence"], soft_wrap=True)
    if view.unlabelled:
        output.print(view.unlabelled, soft_wrap=True)
    if view.length:
        output.print(view.length, soft_wrap=True)


def _values_table(own: Mapping[str, Any]) -> Table | None:
    """Return the change in values of typed fields on own documents as a table; None without such fields."""
    values = own.get("values")
    if values is None:
        return None
    table = list_table()
    for title in ("values, own", "questions", "before", "after", "change", "90 % interval"):
        table.add_column(title, no_wrap=True)
    named = {"value_equal": "equal", "value_exact": "same text", "value_anls": "ANLS"}
    rows = [
        (title, values["questions"], own["parent"][name], own["challenger"][name], values[name])
        for name, title in named.items()
    ]
    typed = values["typed"]
    if typed["questions"]:
        rows.append(("equal, no texts", typed["questions"], typed["parent"], typed["challenger"], typed))
    for title, questions, before, after, change in rows:
        table.add_row(
            title,
            str(questions),
            _figure(before),
            _figure(after),
            _figure(change["difference"], "+.3f"),
            f"{_figure(change['low'], '+.3f')} .. {_figure(change['high'], '+.3f')}",
        )
    return table


@runs.command()
def changes(
    run: Annotated[str, typer.Argument(help="Id of the run.")],
    kind: Annotated[
        list[str] | None,
        typer.Option(help="Kind of change: gained, lost, better, worse or same; repeatable. Default: all except same."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of questions.")] = 40,
    as_json: Json = False,
) -> None:
    """List the questions that challenger and champion answer differently."""
    from typing import get_args

    from engine.training.retraining.changes import Kind, changes_of

    wanted: list[Any] | None = kind or None
    for kind_name in wanted or ():
        if kind_name not in get_args(Kind):
            fail(f"Unknown kind {kind_name!r}. Choose from {', '.join(get_args(Kind))}.", code=2)
    with here() as workspace:
        compared = changes_of(workspace, run, kinds=wanted, limit=limit)
    if as_json:
        emit(compared.model_dump(mode="json"))
        return
    for holdout, counts in compared.counts.items():
        output.print(f"{holdout}: " + ", ".join(f"{number} {name}" for name, number in sorted(counts.items())))
    table = list_table("holdout", "", "before", "after", "question", "document")
    for change in compared.changes:
        where = f"{change.document}, page {change.page_number}" if change.document else "generated"
        table.add_row(
            change.holdout, change.kind, f"{change.before:.2f}", f"{change.after:.2f}", change.question, where
        )
    output.print(table)


@runs.command()
def reproduce(
    run: Annotated[str, typer.Argument(help="Id of the run.")],
    keep: Annotated[Path | None, typer.Option(metavar="FILE", help="File to keep the checkpoint in.")] = None,
    as_json: Json = False,
) -> None:
    """Reproduce a training run, and compare the weights bit by bit."""
    from engine.training.retraining.reproduce import reproduce as make_again

    with here() as workspace, progress() as bar:
        task = bar.add_task("Training", total=100)
        made = make_again(
            workspace,
            run,
            keep=keep,
            on_progress=lambda share, said: bar.update(task, completed=round(100 * share)),
        )
    if as_json:
        emit({"run_id": made.run_id, "same": made.same, "kept": made.kept, "made": made.made, "steps": made.steps,
              "differences": list(made.differences)})  # fmt: skip
    for sentence in made.differences:
        console.print(sentence)
    if not made.same:
        fail(f"The weights differ after {made.steps} steps: {made.made[:12]}, expected {made.kept[:12]}.")
    if not as_json:
        output.print(f"The weights are identical after {made.steps} steps: {made.made[:12]}.")


def _figure(value: Any, form: str = ".3f") -> str:
    return "-" if value is None else format(float(value), form)
