"""How precise the model's answers are above a confidence, with a bound that holds. Pure.

A threshold is chosen by looking at several, so each bound holds at its share of the error (Bonferroni), and all of them hold at
once: whichever is taken, the precision above it is at least its bound with 95 %, as far as the documents measured on are like
those that come. The bound is Clopper and Pearson's (1934, Biometrika 26, p. 404), which is exact for independent answers. Answers of one
document are not independent, so it is taken for the number of independent answers that would be as uncertain (Korn and Graubard 1998,
Survey Methodology 24, p. 193, "effective sample size").
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, stdtrit

THRESHOLDS = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
LEVEL = 0.95  # of all bounds together
_ERROR = (1 - LEVEL) / len(THRESHOLDS)


@dataclass(frozen=True, slots=True)
class Point:
    """A threshold: how many answers lie at or above it, how many of them are right, and what their share is at least."""

    threshold: float
    answers: int
    right: int
    documents: int
    precision: float | None  # None where there is no answer
    low: float


def curve(confidence: ArrayLike, right: ArrayLike, documents: Sequence[str]) -> list[Point]:
    """Return a point for each of THRESHOLDS. confidence: [N], 0..1; right: [N] bool; documents: [N], whose answers they are."""
    sure, correct = np.asarray(confidence, float), np.asarray(right, bool)
    _, owner = np.unique(np.asarray(list(documents), dtype=str), return_inverse=True)
    points = []
    for threshold in THRESHOLDS:
        above = sure >= threshold
        count, good = int(above.sum()), int(correct[above].sum())
        points.append(
            Point(
                threshold,
                count,
                good,
                len(np.unique(owner[above])),
                good / count if count else None,
                lower_bound(correct[above], owner[above], _ERROR),
            )
        )
    return points


def lowest(points: Sequence[Point], target: float, least: int) -> Point | None:
    """Return the point of the lowest threshold from which on `target` is reached by the bound, over `least` answers at least.

    None where none is. Thresholds below one that fails are not looked at: precision that comes back lower down is chance.
    """
    found = None
    for point in sorted(points, key=lambda each: -each.threshold):
        if point.answers < least:
            continue
        if point.low < target:
            break
        found = point
    return found


def lower_bound(right: NDArray[np.bool_], owner: NDArray[np.int_], error: float) -> float:
    """Return what a share is at least but for a probability `error`; 0 for answers of fewer than two documents.

    right: [N] bool; owner: [N], whose answer each is.
    """
    count, good = len(right), int(right.sum())
    documents, place = np.unique(owner, return_inverse=True)
    if len(documents) < 2 or good == 0:
        return 0.0
    independent = float(count)
    share = good / count
    if good < count:
        excess = np.bincount(place, weights=right - share)
        clustered = float((excess**2).sum()) / count**2 * len(documents) / (len(documents) - 1)
        if clustered > 1e-12:  # else all documents have the same share, more evenly than chance has it
            independent = min(independent, share * (1 - share) / clustered)
    few = float(stdtrit(count - 1, error) / stdtrit(len(documents) - 1, error))
    independent *= min(1.0, few**2)
    return float(betaincinv(share * independent, (1 - share) * independent + 1, error))
