"""Figures of hand-drawn marks by type of region: IoU without and after clicks, and what the model does wrong. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from engine.training.evaluation.bootstrap import clustered_bootstrap
from engine.training.evaluation.metric_intervals import LEVEL
from engine.training.evaluation.metrics import HIT

ELSEWHERE = 0.1  # IoU below which a mark shows something else than what was asked
SURE = 0.5  # probability of an answer below which the page says that there is probably none

Outcome = Literal["right", "near", "wrong", "declined"]
OUTCOMES: tuple[Outcome, ...] = ("right", "near", "wrong", "declined")


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkScore:
    """Score of the answers to one question about a marked region; IoUs are 0..1.

    Attributes:
        file: SHA-256 of the file; files are what confidence intervals resample.
        region_type: "signature", "checkbox", "table", ...
        shown: whether anything is marked without clicks.
        answered: probability that the page answers, by the model.
        iou: of the answer that is shown; 0 when nothing is.
        after: of the shown answer after each click.
        pixel_iou: of the pixel path alone, whether shown or not.
        pixel_after: of the pixel path alone after each click.
    """

    file: str
    region_type: str
    shown: bool
    answered: float
    iou: float
    after: tuple[float, ...]
    pixel_iou: float
    pixel_after: tuple[float, ...]

    @property
    def outcome(self) -> Outcome:
        """Return what a person sees without a click.

        "declined": nothing is marked, or the page doubts that there is an answer. Otherwise "right" is an IoU above
        one half, "wrong" one below a tenth: something else is marked, with confidence.
        """
        if not self.shown or self.answered < SURE:
            return "declined"
        if self.iou > HIT:
            return "right"
        return "near" if self.iou >= ELSEWHERE else "wrong"


def to_json(scores: Sequence[MarkScore], clicks: Sequence[int]) -> dict[str, Any]:
    """Return the figures of all marks, and "by_type"; each with its 95 % interval in "interval".

    Args:
        scores: one a question.
        clicks: numbers of clicks after which figures are given.
    """
    types = sorted({score.region_type for score in scores}, key=lambda name: (-_count(scores, name), name))
    return {
        **_figures(scores, clicks),
        "by_type": {name: _figures([score for score in scores if score.region_type == name], clicks) for name in types},
    }


def _count(scores: Sequence[MarkScore], region_type: str) -> int:
    return sum(score.region_type == region_type for score in scores)


def _figures(scores: Sequence[MarkScore], clicks: Sequence[int]) -> dict[str, Any]:
    measures = _measures(clicks)
    intervals = {
        name: clustered_bootstrap([score.file for score in scores], [of(score) for score in scores], level=LEVEL)
        for name, of in measures.items()
    }
    return {
        "questions": len(scores),
        "files": len({score.file for score in scores}),
        **{name: None if interval is None else round(interval.mean, 6) for name, interval in intervals.items()},
        "interval": {
            name: None if interval is None else [round(interval.low, 6), round(interval.high, 6)]
            for name, interval in intervals.items()
        },
    }


def _measures(clicks: Sequence[int]) -> Mapping[str, Callable[[MarkScore], float]]:
    """Return the value of a question that each figure averages."""
    measures: dict[str, Callable[[MarkScore], float]] = {
        "mean_iou": lambda score: score.iou,
        "acc_50": lambda score: float(score.iou > HIT),
        "pixel_mean_iou": lambda score: score.pixel_iou,
        "pixel_acc_50": lambda score: float(score.pixel_iou > HIT),
    }
    for number in clicks:
        measures[f"mean_iou_after_{number}"] = _after(number)
        measures[f"pixel_mean_iou_after_{number}"] = _pixels_after(number)
    return measures | {name: _is(name) for name in OUTCOMES}


def _after(number: int) -> Callable[[MarkScore], float]:
    return lambda score: score.after[number - 1]


def _pixels_after(number: int) -> Callable[[MarkScore], float]:
    return lambda score: score.pixel_after[number - 1]


def _is(outcome: Outcome) -> Callable[[MarkScore], float]:
    return lambda score: float(score.outcome == outcome)
