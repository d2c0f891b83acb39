"""`glossator evaluate --marks`: evaluate a model on hand-drawn marks on real pages."""

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from engine.commands.common import console, emit, fail, output, progress
from engine.commands.failures import sentence_of
from engine.documents.ingest import limits_of
from engine.documents.limits import OcrChoice
from engine.plurals import count
from engine.settings import Settings
from engine.training.evaluation.evaluate_marks import evaluate_marks
from engine.training.evaluation.marked_pages import marked_pages
from engine.training.evaluation.marks import find_files, read_marks
from engine.training.evaluation.marks_figures import OUTCOMES
from engine.training.evaluation.report.wording import format_share
from model.inference import Predictor


def evaluate_on_marks(
    folder: Path,
    marks_file: Path,
    checkpoint: Path,
    settings: Settings,
    *,
    clicks: int,
    limit: int | None,
    engine: OcrChoice | None,
    cache: Path | None,
    as_json: bool,
) -> None:
    """Ask the questions of a file of marks on the files of a folder, and print figures by type of region.

    Args:
        folder: folder with the marked files, searched with its subfolders.
        marks_file: marks, one a line; see engine.training.evaluation.marks.
        checkpoint: model to evaluate.
        settings: how uploads are read.
        clicks: simulated correction clicks per answer.
        limit: number of pages; None for all.
        engine: OCR engine; None for that of the settings.
        cache: folder that keeps the readings; None for none.
        as_json: print one JSON object instead of tables.
    """
    try:
        marks = read_marks(marks_file)
        files = find_files(folder, marks)
        for sentence in files.sentences:
            console.print(sentence, soft_wrap=True)
        if not files.paths:
            fail(f"None of the marked files is in {folder}. Name the folder with the files.")
        limits = limits_of(settings)
        predictor = Predictor.load(checkpoint, settings.device)
        with tempfile.TemporaryDirectory(prefix="glossator-") as own, progress() as bar:
            pages = marked_pages(
                marks,
                files.paths,
                limits=limits if engine is None else replace(limits, ocr=engine),
                kept_in=cache or Path(own),
                warn=partial(console.print, soft_wrap=True),
            )
            page_count = len({(mark.sha256, mark.page) for mark in marks if mark.sha256 in files.paths})
            task = bar.add_task("Pages", total=min(page_count, limit or page_count))
            result = evaluate_marks(
                predictor,
                islice(pages, limit),
                clicks=clicks,
                on_page=lambda done: bar.update(task, completed=done),
            )
    except (ValueError, OSError) as error:
        fail(sentence_of(error))
    answer = {**result.to_json(), "missing": list(files.missing), "changed": list(files.changed)}
    if as_json:
        emit(answer)
        return
    output.print(_outcomes(answer, marks_file.name))
    output.print(_ious(answer))


def _outcomes(answer: Mapping[str, Any], name: str) -> Table:
    """Return what a person sees without a click, by type of region."""
    table = Table(
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        show_edge=False,
        title=Text(f"{name}: {count(answer['questions'], 'mark')} on {count(answer['pages'], 'page')}"),
        caption=Text(
            "Without a click. right: IoU above .5; near: .1 to .5; wrong: something else is marked with confidence; "
            "declined: nothing is marked, or the page doubts that there is an answer."
        ),
    )
    for heading in ("", "n", "IoU > .5", *OUTCOMES):
        table.add_column(heading, justify="right" if heading else "left", no_wrap=True)
    for title, figures in _rows(answer):
        cells = [
            format_share(figures[outcome], 2) if outcome == "near" else _with_interval(figures, outcome)
            for outcome in OUTCOMES
        ]
        table.add_row(title, str(figures["questions"]), format_share(figures["acc_50"], 2), *cells)
    return table


def _ious(answer: Mapping[str, Any]) -> Table:
    """Return mean IoU without and after clicks, of the shown answer and of the pixel path, by type of region."""
    table = Table(
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        show_edge=False,
        caption=Text(
            f"Mean IoU without and after clicks. Model {answer['model'][:12]}. In brackets: 95 % bootstrap intervals "
            "over files."
        ),
    )
    clicked = [f"after {number}" for number in answer["clicks"]]
    for heading in ("", "shown", *clicked, "pixels", *clicked):
        table.add_column(heading, justify="right" if heading else "left", no_wrap=True)
    for title, figures in _rows(answer):
        cells = [_with_interval(figures, "mean_iou")]
        cells += [format_share(figures[f"mean_iou_after_{number}"], 2) for number in answer["clicks"]]
        cells.append(_with_interval(figures, "pixel_mean_iou"))
        cells += [format_share(figures[f"pixel_mean_iou_after_{number}"], 2) for number in answer["clicks"]]
        table.add_row(title, *cells)
    return table


def _rows(answer: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    return [*answer["by_type"].items(), ("all", answer)]


def _with_interval(figures: Mapping[str, Any], name: str) -> str:
    """Return a figure with its interval, as .63 (.58-.67)."""
    interval = figures["interval"][name]
    between = "" if interval is None else f" ({format_share(interval[0], 2)}-{format_share(interval[1], 2)})"
    return format_share(figures[name], 2) + between
