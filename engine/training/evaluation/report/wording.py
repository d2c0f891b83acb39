"""Labels and number formats of evaluation figures, for the console and the HTML page."""

from collections.abc import Iterator, Mapping
from typing import Any

FIGURES = {
    "mean_iou": "mean IoU",
    "acc_50": "IoU above .5",
    "word_f1": "word F1",
    "exact": "exact (F1 = 1)",
}
FIGURES_ON_OCR = {  # word F1 compares numbers of words, which OCR does not keep
    "mean_iou": "mean IoU",
    "acc_50": "IoU above .5",
    "place_mean_iou": "place, mean IoU",
    "place_acc_50": "place, IoU above .5",
    "text_anls": "text, ANLS",
    "text_exact": "text, exact",
}
FIGURES_OF_VALUES = {  # of questions whose type of value is known
    "value_equal": "equal value",
    "value_exact": "value, same text",
    "value_anls": "value, ANLS",
}
OF_THE_MODEL = {
    "word_mean_iou": "mean IoU, words alone",
    "pixel_mean_iou": "mean IoU, pixels alone",
    "floor_alone": "baseline alone right",
    "plain_alone": "plain cell alone right",
    "unanswerable_auroc": "AUROC of answered",
    "calibration_error": "calibration error",
    "confidence_auroc": "AUROC of predicted IoU",
}
REACHABLE = {
    "reachable_mean_iou": "mean IoU, reachable",
    "reachable_acc_50": "IoU above .5, reachable",
    "reachable_text_exact": "text exact, reachable",
}
_OF_OCR = {
    "recall": "recall of words",
    "precision": "precision of words",
    "recall_without_punctuation": "recall, no punctuation",
    "precision_without_punctuation": "precision, no punct.",
}
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


def format_share(value: float | None, digits: int = 3) -> str:
    """Format a share as .638; a dash when not measured."""
    if value is None:
        return "-"
    written = f"{value:.{digits}f}"
    if float(written) == 0:
        return written.removeprefix("-").removeprefix("0")
    return written.replace("0.", ".", 1) if abs(float(written)) < 1 else written


def format_difference(value: float | None, digits: int = 3) -> str:
    """Format a difference as +.057 or -.010."""
    written = format_share(value, digits)
    return written if value is None or written.startswith("-") else f"+{written}"


def side_by_side(answer: Figures, name: str) -> tuple[str, str, str]:
    """Return a figure of the model, of the baseline, and their difference, as .638 (.61 - .66)."""
    ours, baseline = answer[name], answer[f"floor_{name}"]
    difference = None if ours is None or baseline is None else ours - baseline
    intervals = answer.get("interval", {})
    return (
        format_share(ours) + _between(intervals.get(name), format_share),
        format_share(baseline) + _between(intervals.get(f"floor_{name}"), format_share),
        format_difference(difference) + _between(intervals.get(f"difference_{name}"), format_difference),
    )


def figures_of(answer: Figures) -> dict[str, str]:
    """Return the main figures of an evaluation by key, with their labels."""
    return FIGURES_ON_OCR if answer.get("ocr") else FIGURES


def figures_with_values(answer: Figures) -> dict[str, str]:
    """Return the main figures, and those of values where some are known."""
    return figures_of(answer) | (FIGURES_OF_VALUES if "value_equal" in answer else {})


def of_types(answer: Figures) -> list[tuple[str, Figures]]:
    """Return the figures of values by type of value; none where no value is known."""
    return list(answer.get("values_by_type", {}).items())


def of_ocr(answer: Figures) -> list[tuple[str, str]]:
    """Return the figures of the words read by OCR: label and value; none when the given words were asked."""
    words = answer.get("ocr_words")
    if not words:
        return []
    rows = [
        (label, format_share(words[key]) + _between(words["interval"][key], format_share))
        for key, label in _OF_OCR.items()
    ]
    rows.append(("AUROC of confidence", format_share(words["confidence_auroc"])))
    rows += [
        (f"OCR, s a page, p{quantile}", "-" if (seconds := words[f"seconds_p{quantile}"]) is None else f"{seconds:.1f}")
        for quantile in (50, 95)
    ]
    return rows


def of_repeated(answer: Figures) -> list[tuple[str, str]]:
    """Return the figures of questions asked several times on a page: label and value; none without such questions."""
    repeated = answer.get("repeated")
    if not repeated or not repeated["questions"]:
        return []
    return [
        ("repeated questions", f"{repeated['questions']:,}"),
        ("repeated: first right", format_share(repeated["first"])),
        ("repeated: any right", format_share(repeated["shown"])),
    ]


def describe_ocr(answer: Figures) -> str:
    """Return lines on the OCR: numbers of words, and of pages read at the same time."""
    words = answer["ocr_words"]
    sentences = [f"{words['read']:,} words read, {words['given']:,} given."]
    if words["pages_without_words"]:
        sentences.append(f"No words on {words['pages_without_words']:,} of {words['pages']:,} pages.")
    if words["at_once"] > 1:
        sentences.append(f"Up to {words['at_once']} pages were read at once.")
    return "\n".join(sentences)


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


def describe_questions(answer: Figures) -> str:
    """Return a line on the questions: pages, questions, and corruption."""
    pages, questions, absent = answer["pages"], answer["questions"], answer["unanswerable"]
    parts = [f"{pages:,} page{'' if pages == 1 else 's'}", f"{questions:,} question{'' if questions == 1 else 's'}"]
    if absent:
        parts[-1] += f" ({absent:,} not answered on the page)"
    if answer.get("ocr"):
        words = answer.get("ocr_words")
        by = f" by {words['engine']} {words['version']} ({words['language']})" if words else ""
        parts.append(f"words from OCR{by}")
    if answer.get("noise"):
        parts.append(f"{answer['noise']:.0%} of characters misread")
    if answer.get("drop"):
        parts.append(f"{answer['drop']:.0%} of question words left out")
    return ", ".join(parts)
