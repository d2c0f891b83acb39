"""Precision of the model's answers above a confidence, with a simultaneous lower bound. Pure.

The threshold is chosen among several, so each bound uses its share of the error (Bonferroni) and all hold together: the
precision above any threshold is at least its bound with 95 % confidence, if new documents resemble the measured ones.
The bound is Clopper and Pearson's (1934, Biometrika 26, p. 404), exact for independent answers. Answers of one document
are dependent, so it uses the effective sample size (Korn and Graubard 1998, Survey Methodology 24, p. 193).
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
    """Threshold: answers at or above it, right ones, and the lower bound of their precision."""

    threshold: float
    answers: int
    right: int
    documents: int
    precision: float | None  # None without answers
    low: float


def curve(confidence: ArrayLike, right: ArrayLike, documents: Sequence[str]) -> list[Point]:
    """Return a point for each of THRESHOLDS.

    Args:
        confidence: [N], 0..1.
        right: [N], bool.
        documents: [N], the document of each answer.
    """
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
    """Return the lowest threshold whose bound reaches `target` over `least` answers; None without one.

    Searched from the highest threshold down, up to the first failure: a lower threshold that passes again does so by
    chance.
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
    """Return the lower bound of a share at error probability `error`; 0 with fewer than two documents.

    Args:
        right: [N], bool.
        owner: [N], index of each answer's document.
        error: Probability that the true share is lower.
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
        if clustered > 1e-12:  # otherwise all documents have the same share, more evenly than by chance
            independent = min(independent, share * (1 - share) / clustered)
    few = float(stdtrit(count - 1, error) / stdtrit(len(documents) - 1, error))
    independent *= min(1.0, few**2)
    return float(betaincinv(share * independent, (1 - share) * independent + 1, error))
