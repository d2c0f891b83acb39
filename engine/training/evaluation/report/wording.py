"""Labels and number formats of evaluation figures, for the console and the HTML page."""

from collections.abc import Iterator, Mapping
from typing import Any

FIGURES = {
    "mean_iou": "mean IoU",
    "acc_50": "IoU above .5",
    "word_f1": "word F1",
    "exact": "exact (F1 = 1)",
}
OF_THE_MODEL = {
    "word_mean_iou": "mean IoU, words alone",
    "pixel_mean_iou": "mean IoU, pixels alone",
    "unanswerable_auroc": "AUROC of answered",
    "calibration_error": "calibration error",
    "confidence_auroc": "AUROC of predicted IoU",
}
REACHABLE = {"reachable_mean_iou": "mean IoU, reachable", "reachable_acc_50": "IoU above .5, reachable"}
TIMES = {"ask_ms_p50": "ms to ask, p50", "ask_ms_p95": "ms to ask, p95", "encode_ms_p50": "ms to read a page, p50"}
_SLICES = {
    ("printed_key", "true"): "key printed",
    ("printed_key", "false"): "no key",
    ("regions", "one"): "in one place",
    ("regions", "several"): "in several places",
    ("answer_words", "1"): "1 word",
    ("answer_words", "2"): "2 words",
    ("answer_words", "3-4"): "3-4 words",
    ("answer_words", "5-8"): "5-8 words",
    ("answer_words", "9+"): "9 words and more",
}

Figures = Mapping[str, Any]


def share(value: float | None, digits: int = 3) -> str:
    """Format a share as .638; a dash when not measured."""
    if value is None:
        return "-"
    written = f"{value:.{digits}f}"
    if float(written) == 0:
        return written.removeprefix("-").removeprefix("0")
    return written.replace("0.", ".", 1) if abs(float(written)) < 1 else written


def signed(value: float | None, digits: int = 3) -> str:
    """Format a difference as +.057 or -.010."""
    written = share(value, digits)
    return written if value is None or written.startswith("-") else f"+{written}"


def side_by_side(answer: Figures, name: str) -> tuple[str, str, str]:
    """Return a figure of the model, of the baseline, and their difference, as .638 (.61 - .66)."""
    ours, baseline = answer[name], answer[f"floor_{name}"]
    difference = None if ours is None or baseline is None else ours - baseline
    intervals = answer.get("interval", {})
    return (
        share(ours) + _between(intervals.get(name), share),
        share(baseline) + _between(intervals.get(f"floor_{name}"), share),
        signed(difference) + _between(intervals.get(f"difference_{name}"), signed),
    )


def _between(interval: Any, written: Any) -> str:
    return "" if interval is None else f" ({written(interval[0], 2)} - {written(interval[1], 2)})"


def slices_of(answer: Figures) -> Iterator[list[tuple[str, Figures]]]:
    """Yield the non-empty slices by kind of slice: label and figures."""
    for kind, parts in answer["by"].items():
        named = [
            (_SLICES.get((kind, value), value.replace("-", " ")), figures)
            for value, figures in parts.items()
            if figures["questions"]
        ]
        if named:
            yield named


def described(answer: Figures) -> str:
    """Return a line on the questions: pages, questions, and corruption."""
    pages, questions, absent = answer["pages"], answer["questions"], answer["unanswerable"]
    parts = [f"{pages:,} page{'' if pages == 1 else 's'}", f"{questions:,} question{'' if questions == 1 else 's'}"]
    if absent:
        parts[-1] += f" ({absent:,} not answered on the page)"
    if answer.get("ocr"):
        parts.append("words from OCR")
    if answer.get("noise"):
        parts.append(f"{answer['noise']:.0%} of characters misread")
    if answer.get("drop"):
        parts.append(f"{answer['drop']:.0%} of question words left out")
    return ", ".join(parts)
