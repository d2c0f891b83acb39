"""Confidence intervals of evaluation metrics: pages are resampled. Pure."""

from collections.abc import Callable, Sequence

from engine.fields.compare_values import ValueAgreement
from engine.training.evaluation.bootstrap import clustered_bootstrap
from engine.training.evaluation.judged import Judgement
from engine.training.evaluation.metrics import HIT, JUDGED, VALUES, Scored

LEVEL = 0.95
_SEED = 0
_BASELINE, DIFFERENCE = "floor_", "difference_"

Measured = Callable[[Scored], float | None]  # value of a question; None when not measured


def _exact(f1: float | None) -> float | None:
    return None if f1 is None else float(f1 == 1)


def _measure_pair(of: Callable[[Judgement], float]) -> tuple[Measured, Measured]:
    return (
        lambda score: None if score.judged is None else of(score.judged.model),
        lambda score: None if score.judged is None else of(score.judged.baseline),
    )


# Value per question that each metric averages, for the model and for the lexical baseline.
_MEASURES: dict[str, tuple[Measured, Measured]] = {
    "mean_iou": (lambda score: score.iou, lambda score: score.baseline_iou),
    "acc_50": (lambda score: float(score.iou > HIT), lambda score: float(score.baseline_iou > HIT)),
    "word_f1": (lambda score: score.word_f1, lambda score: score.baseline_word_f1),
    "exact": (lambda score: _exact(score.word_f1), lambda score: _exact(score.baseline_word_f1)),
}


def _measure_values(of: Callable[[ValueAgreement], float]) -> tuple[Measured, Measured]:
    return (
        lambda score: None if score.values is None else of(score.values.model),
        lambda score: None if score.values is None else of(score.values.baseline),
    )


_OF_OCR = {name: _measure_pair(of) for name, of in JUDGED.items()}
_OF_VALUES = {name: _measure_values(of) for name, of in VALUES.items()}


def metric_intervals(scored: Sequence[Scored]) -> dict[str, list[float] | None]:
    """Return the 95 % interval [low, high] of each metric over answerable questions, None if not measured.

    Metrics of words of OCR are there only when such words were asked, those of values when some are known.

    Keys "floor_..." belong to the lexical baseline, "difference_..." to model minus baseline. Pages are resampled with
    replacement.
    """
    answerable = [score for score in scored if score.answerable]
    measures = _MEASURES | (_OF_OCR if any(score.judged is not None for score in answerable) else {})
    measures |= _OF_VALUES if any(score.values is not None for score in answerable) else {}
    intervals = {name: _interval(answerable, by_model) for name, (by_model, _) in measures.items()}
    intervals |= {_BASELINE + name: _interval(answerable, by_baseline) for name, (_, by_baseline) in measures.items()}
    return intervals | {
        DIFFERENCE + name: _interval(answerable, _difference(by_model, by_baseline))
        for name, (by_model, by_baseline) in measures.items()
    }


def _difference(by_model: Measured, by_baseline: Measured) -> Measured:
    def difference(score: Scored) -> float | None:
        """Return the difference for one question; None when either is not measured."""
        ours, its = by_model(score), by_baseline(score)
        return None if ours is None or its is None else ours - its

    return difference


def _interval(scored: Sequence[Scored], measured: Measured) -> list[float] | None:
    values = [(score.page_id, value) for score in scored if (value := measured(score)) is not None]
    interval = clustered_bootstrap(
        [page for page, _ in values], [value for _, value in values], level=LEVEL, seed=_SEED
    )
    return None if interval is None else [round(interval.low, 6), round(interval.high, 6)]
