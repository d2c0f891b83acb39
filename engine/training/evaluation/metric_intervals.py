"""Confidence intervals of evaluation metrics: pages are resampled. Pure."""

from collections.abc import Callable, Sequence

from engine.training.evaluation.bootstrap import clustered_bootstrap
from engine.training.evaluation.judged import Found
from engine.training.evaluation.metrics import HIT, JUDGED, Scored

LEVEL = 0.95
_SEED = 0
_BASELINE, DIFFERENCE = "floor_", "difference_"

Measured = Callable[[Scored], float | None]  # value of a question; None when not measured


def _exact(f1: float | None) -> float | None:
    return None if f1 is None else float(f1 == 1)


def _judged(of: Callable[[Found], float]) -> tuple[Measured, Measured]:
    return (
        lambda one: None if one.judged is None else of(one.judged.model),
        lambda one: None if one.judged is None else of(one.judged.baseline),
    )


# Value per question that each metric averages, for the model and for the lexical baseline.
_MEASURES: dict[str, tuple[Measured, Measured]] = {
    "mean_iou": (lambda one: one.iou, lambda one: one.baseline_iou),
    "acc_50": (lambda one: float(one.iou > HIT), lambda one: float(one.baseline_iou > HIT)),
    "word_f1": (lambda one: one.word_f1, lambda one: one.baseline_word_f1),
    "exact": (lambda one: _exact(one.word_f1), lambda one: _exact(one.baseline_word_f1)),
}

_OF_OCR = {name: _judged(of) for name, of in JUDGED.items()}


def metric_intervals(scored: Sequence[Scored]) -> dict[str, list[float] | None]:
    """Return the 95 % interval [low, high] of each metric over answerable questions, None if not measured.

    Metrics of words of OCR are there only when such words were asked.

    Keys "floor_..." belong to the lexical baseline, "difference_..." to model minus baseline. Pages are resampled with
    replacement.
    """
    there = [one for one in scored if one.answerable]
    measures = _MEASURES | (_OF_OCR if any(one.judged is not None for one in there) else {})
    found = {name: _interval(there, by_model) for name, (by_model, _) in measures.items()}
    found |= {_BASELINE + name: _interval(there, by_baseline) for name, (_, by_baseline) in measures.items()}
    return found | {
        DIFFERENCE + name: _interval(there, _difference(by_model, by_baseline))
        for name, (by_model, by_baseline) in measures.items()
    }


def _difference(by_model: Measured, by_baseline: Measured) -> Measured:
    def difference(one: Scored) -> float | None:
        """Return the difference for one question; None when either is not measured."""
        ours, its = by_model(one), by_baseline(one)
        return None if ours is None or its is None else ours - its

    return difference


def _interval(scored: Sequence[Scored], measured: Measured) -> list[float] | None:
    values = [(one.page_id, value) for one in scored if (value := measured(one)) is not None]
    found = clustered_bootstrap([page for page, _ in values], [value for _, value in values], level=LEVEL, seed=_SEED)
    return None if found is None else [round(found.low, 6), round(found.high, 6)]
