"""How sure the figures of an evaluation are: intervals when its pages are drawn anew. Pure."""

from collections.abc import Callable, Sequence

from engine.training.evaluation.bootstrap import clustered_bootstrap
from engine.training.evaluation.metrics import HIT, Scored

LEVEL = 0.95
_SEED = 0
_FLOOR, DIFFERENCE = "floor_", "difference_"

Measured = Callable[[Scored], float | None]  # of a question; None where it was not


def _exact(f1: float | None) -> float | None:
    return None if f1 is None else float(f1 == 1)


# What each figure is the mean of, for the model and for the lexical floor.
_MEASURES: dict[str, tuple[Measured, Measured]] = {
    "mean_iou": (lambda one: one.iou, lambda one: one.floor_iou),
    "acc_50": (lambda one: float(one.iou > HIT), lambda one: float(one.floor_iou > HIT)),
    "word_f1": (lambda one: one.word_f1, lambda one: one.floor_word_f1),
    "exact": (lambda one: _exact(one.word_f1), lambda one: _exact(one.floor_word_f1)),
}


def intervals(scored: Sequence[Scored]) -> dict[str, list[float] | None]:
    """The 95 % interval [low, high] of each figure, of the floor's ("floor_...") and of model minus floor ("difference_...").

    Over answerable questions, pages drawn with replacement; None where nothing was measured.
    """
    there = [one for one in scored if one.answerable]
    found = {name: _interval(there, by_model) for name, (by_model, _) in _MEASURES.items()}
    found |= {_FLOOR + name: _interval(there, by_floor) for name, (_, by_floor) in _MEASURES.items()}
    return found | {
        DIFFERENCE + name: _interval(there, _difference(by_model, by_floor))
        for name, (by_model, by_floor) in _MEASURES.items()
    }


def _difference(by_model: Measured, by_floor: Measured) -> Measured:
    def difference(one: Scored) -> float | None:
        ours, its = by_model(one), by_floor(one)
        return None if ours is None or its is None else ours - its

    return difference


def _interval(scored: Sequence[Scored], measured: Measured) -> list[float] | None:
    values = [(one.page_id, value) for one in scored if (value := measured(one)) is not None]
    found = clustered_bootstrap([page for page, _ in values], [value for _, value in values], level=LEVEL, seed=_SEED)
    return None if found is None else [round(found.low, 6), round(found.high, 6)]
