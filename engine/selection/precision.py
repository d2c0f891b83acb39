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


class Sums:
    """Sums over documents that the points follow from; a document is added and taken away alone.

    Attributes:
        answers: measured answers.
        documents: documents of these.
    """

    def __init__(self) -> None:
        self.answers = self.documents = 0
        # By threshold: documents with answers there, answers, right ones, and the sums over documents of (answers)^2,
        # (right)^2 and answers * right.
        self._sums = np.zeros((len(THRESHOLDS), 6), np.int64)

    def copy(self) -> "Sums":
        """Return sums of their own."""
        sums = Sums()
        sums.answers, sums.documents, sums._sums = self.answers, self.documents, self._sums.copy()
        return sums

    def add(self, answers: Sequence[tuple[float, bool]], sign: int = 1) -> None:
        """Add the answers of a document, as (confidence, right), or take them away with the sign -1."""
        if not answers:
            return
        self.answers += sign * len(answers)
        self.documents += sign
        for at, threshold in enumerate(THRESHOLDS):
            above = [right for sure, right in answers if sure >= threshold]
            n, good = len(above), sum(above)
            if n:
                self._sums[at] += sign * np.array([1, n, good, n * n, good * good, n * good])

    def points(self) -> list[Point]:
        """Return a point for each of THRESHOLDS."""
        points = []
        for threshold, row in zip(THRESHOLDS, self._sums.tolist(), strict=True):
            documents, count, good, squares, right_squares, products = row
            low = 0.0
            if count:
                share = good / count
                # The sum over documents of (right - share * answers)^2.
                excess = right_squares - 2 * share * products + share**2 * squares
                low = _compute_bound(count, good, documents, excess, _ERROR)
            points.append(Point(threshold, count, good, documents, good / count if count else None, low))
        return points


def curve(confidence: ArrayLike, right: ArrayLike, documents: Sequence[str]) -> list[Point]:
    """Return a point for each of THRESHOLDS.

    Args:
        confidence: [N], 0..1.
        right: [N], bool.
        documents: [N], the document of each answer.
    """
    of_document: dict[str, list[tuple[float, bool]]] = {}
    rows = zip(np.asarray(confidence, float).tolist(), np.asarray(right, bool).tolist(), documents, strict=True)
    for sure, correct, document in rows:
        of_document.setdefault(document, []).append((sure, correct))
    sums = Sums()
    for answers in of_document.values():
        sums.add(answers)
    return sums.points()


def lowest(points: Sequence[Point], target: float, least: int) -> Point | None:
    """Return the lowest threshold whose bound reaches `target` over `least` answers; None without one.

    Searched from the highest threshold down, up to the first failure: a lower threshold that passes again does so by
    chance.
    """
    passing = None
    for point in sorted(points, key=lambda each: -each.threshold):
        if point.answers < least:
            continue
        if point.low < target:
            break
        passing = point
    return passing


def lower_bound(right: NDArray[np.bool_], owner: NDArray[np.int_], error: float) -> float:
    """Return the lower bound of a share at error probability `error`; 0 with fewer than two documents.

    Args:
        right: [N], bool.
        owner: [N], index of each answer's document.
        error: Probability that the true share is lower.
    """
    count, good = len(right), int(right.sum())
    documents, place = np.unique(owner, return_inverse=True)
    excess = np.bincount(place, weights=right - good / count) if count else np.zeros(0)
    return _compute_bound(count, good, len(documents), float((excess**2).sum()), error)


def _compute_bound(count: int, good: int, documents: int, excess: float, error: float) -> float:
    """Return the lower bound of `good` of `count`; `excess`: sum over documents of (right - share * answers)^2."""
    if documents < 2 or good == 0:
        return 0.0
    from scipy.special import betaincinv, stdtrit  # here: a second of processor time, which a server starts without

    independent = float(count)
    share = good / count
    if good < count:
        clustered = excess / count**2 * documents / (documents - 1)
        if clustered > 1e-12:  # otherwise all documents have the same share, more evenly than by chance
            independent = min(independent, share * (1 - share) / clustered)
    few = float(stdtrit(count - 1, error) / stdtrit(documents - 1, error))
    independent *= min(1.0, few**2)
    return float(betaincinv(share * independent, (1 - share) * independent + 1, error))
