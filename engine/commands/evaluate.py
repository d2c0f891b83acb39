"""`glossator evaluate`: a model on a grounded set, with the lexical floor beside it."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from engine.commands.common import emit, fail, output, progress, settings_here


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("evaluate")(evaluate)


def evaluate(
    source: Annotated[
        Path, typer.Argument(metavar="SET", help="A folder with pages.jsonl and images, or such a file.")
    ],
    model: Annotated[
        Path | None, typer.Option("--model", help="A checkpoint; without it, the one that projects begin with.")
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, metavar="PAGES", help="Only the first pages.")] = None,
    clicks: Annotated[int, typer.Option("--clicks", min=0, max=20, help="Correct every answer by so many clicks.")] = 0,
    words_only: Annotated[bool, typer.Option("--words-only", help="Do not read the images.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on the last line.")] = False,
) -> None:
    """Measure a model on pages whose answers are known (the grounded format) and print it beside the lexical floor."""
    import torch

    from engine.interchange.grounded import GroundedFormatError, pages_file, read_pages
    from engine.training.evaluate import evaluate as measure
    from engine.training.registry import shipped_path
    from model.inference import Predictor

    settings = settings_here()
    if settings.threads:
        torch.set_num_threads(settings.threads)
    try:
        predictor = Predictor.load(model or shipped_path(settings))
        path = pages_file(source)
        with path.open("rb") as lines:
            pages = sum(1 for line in lines if line.strip())
        with progress() as bar:
            task = bar.add_task("Pages", total=min(pages, limit or pages))
            found = measure(
                predictor,
                read_pages(path),
                images_from=None if words_only else path.parent,
                clicks=clicks,
                limit=limit,
                on_page=lambda done: bar.update(task, completed=done),
            )
    except (ValueError, GroundedFormatError, OSError) as error:
        fail(str(error))
    answer = found.to_json()
    if as_json:
        emit(answer)
    else:
        output.print(_table(answer, path))


def _table(answer: dict[str, Any], path: Path) -> Table:
    keyed = answer["by"]["printed_key"]
    columns = {"all": answer, "key printed": keyed["true"], "no key": keyed["false"]}
    table = Table(title=f"{path.parent.name}: {answer['pages']} pages, model {answer['model'][:12]}")
    table.add_column("")
    for name in columns:
        table.add_column(name, justify="right")
    rows = {
        "questions": "questions",
        "not answered on the page": "unanswerable",
        "mean IoU": "mean_iou",
        "mean IoU, lexical floor": "floor_mean_iou",
        "share above IoU .5": "acc_50",
        "share above IoU .5, lexical floor": "floor_acc_50",
        "mean IoU, words alone": "word_mean_iou",
        "mean IoU, pixels alone": "pixel_mean_iou",
        "AUROC of answered": "unanswerable_auroc",
        "error of the predicted IoU": "calibration_error",
        "ms to ask, median": "ask_ms_p50",
        "ms to ask, 95 %": "ask_ms_p95",
    }
    for title, key in rows.items():
        table.add_row(title, *(_shown(figures[key]) for figures in columns.values()))
    for click, _ in enumerate(answer.get("mean_iou_after") or []):
        table.add_row(
            f"mean IoU after {click + 1} click{'s' if click else ''}",
            *(_shown((figures.get("mean_iou_after") or {click: None})[click]) for figures in columns.values()),
        )
    table.add_row("ms to read a page, median", _shown(answer["encode_ms_p50"]), "", "")
    return table


def _shown(value: float | int | None) -> str:
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else f"{value:.3f}" if value < 10 else f"{value:.0f}"
