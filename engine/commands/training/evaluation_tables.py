"""Tables of an evaluation: model beside lexical baseline, then the slices."""

from collections.abc import Mapping
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from engine.training.evaluation.report.wording import (
    FIGURES_OF_VALUES,
    OF_THE_MODEL,
    REACHABLE,
    TIMES,
    describe_ocr,
    describe_questions,
    figures_with_values,
    format_share,
    of_ocr,
    of_repeated,
    of_types,
    side_by_side,
    slices_of,
)

_SLICED = {"mean_iou": "mean IoU", "acc_50": "IoU > .5", "word_f1": "word F1", "exact": "exact"}
_SLICED_ON_OCR = {
    "place_mean_iou": "place IoU",
    "place_acc_50": "place > .5",
    "text_anls": "ANLS",
    "text_exact": "exact",
}


def main_table(answer: Mapping[str, Any], name: str) -> Table:
    """Return the figures of all questions as a table.

    Args:
        answer: evaluation as JSON.
        name: name of the dataset.

    Returns:
        Model, lexical baseline and difference, each with its 95 % interval over pages.
    """
    table = _table(
        title=Text(f"{name}: {describe_questions(answer)}"),
        caption=f"Model {answer['model'][:12]}. In brackets: 95 % bootstrap intervals over pages.",
    )
    for heading in ("", "model", "baseline", "difference"):
        table.add_column(heading, justify="right" if heading else "left", no_wrap=True)
    for key, title in figures_with_values(answer).items():
        table.add_row(title, *side_by_side(answer, key))
    for key, title in OF_THE_MODEL.items():
        table.add_row(title, format_share(answer[key]))
    for key, title in REACHABLE.items():
        if key in answer:
            table.add_row(title, format_share(answer[key]))
    for title, value in of_repeated(answer):
        table.add_row(title, value)
    for at, value in enumerate(answer.get("mean_iou_after") or [], 1):
        table.add_row(f"mean IoU after {at} click{'s' if at > 1 else ''}", format_share(value))
    for key, title in TIMES.items():
        table.add_row(title, "-" if answer[key] is None else f"{answer[key]:.0f}")
    return table


def ocr_table(answer: Mapping[str, Any]) -> Table:
    """Return the figures of the words that OCR read, over all pages.

    Args:
        answer: evaluation as JSON, with words of OCR.
    """
    table = _table(caption=Text(describe_ocr(answer)))
    for heading in ("", "OCR"):
        table.add_column(heading, justify="right" if heading else "left", no_wrap=True)
    for title, value in of_ocr(answer):
        table.add_row(title, value)
    return table


def types_table(answer: Mapping[str, Any]) -> Table:
    """Return the figures of values by type of value: model, then baseline.

    Args:
        answer: evaluation as JSON, with values.
    """
    table = _table(caption="Questions by type of value: model, then baseline.")
    table.add_column("", no_wrap=True)
    table.add_column("n", justify="right")
    for heading in FIGURES_OF_VALUES.values():
        table.add_column(heading, justify="right", no_wrap=True)
    for title, figures in of_types(answer):
        table.add_row(
            title,
            str(figures["questions"]),
            *(f"{format_share(figures[key])} {format_share(figures[f'floor_{key}'])}" for key in FIGURES_OF_VALUES),
        )
    return table


def slices_table(answer: Mapping[str, Any]) -> Table:
    """Return the answerable questions by slice: model, then baseline.

    Args:
        answer: evaluation as JSON.
    """
    table = _table(caption="Answerable questions by slice: model, then baseline.")
    table.add_column("", no_wrap=True)
    table.add_column("n", justify="right")
    columns = _SLICED_ON_OCR if answer.get("ocr") else _SLICED
    for heading in columns.values():
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("pixels", justify="right")
    for part in slices_of(answer):
        for title, figures in part:
            table.add_row(
                title,
                str(figures["questions"]),
                *(f"{format_share(figures[key])} {format_share(figures[f'floor_{key}'])}" for key in columns),
                format_share(figures["pixel_mean_iou"]),
            )
        table.add_section()
    return table


def _table(**options: Any) -> Table:
    """Return a table without frame, for 80 columns."""
    return Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False, **options)
