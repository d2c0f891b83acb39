"""Clustered bootstrap: confidence interval of a mean over questions of pages or documents. Pure.

Clusters are resampled with all of their questions (Efron and Tibshirani, An Introduction to the Bootstrap, 1993,
section 13.3, percentile intervals; clusters as in Field and Welsh, 2007). With differences per question it is a paired
bootstrap.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Interval:
    """Mean over questions with its bootstrap interval."""

    clusters: int
    questions: int
    mean: float
    low: float
    high: float


def clustered_bootstrap(
    clusters: Sequence[str], values: Sequence[float], *, level: float, seed: int = 0
) -> Interval | None:
    """Return the mean of `values` with its bootstrap interval; None without values.

    Equal values and seed give equal intervals.

    Args:
        clusters: Page or document of each question.
        values: One value a question.
        level: Confidence level, 0..1.
        seed: Seed of the resampling.
    """
    if not values:
        return None
    _, place = np.unique(np.asarray(clusters), return_inverse=True)
    count = int(place.max()) + 1
    sums = np.bincount(place, weights=np.asarray(values, float), minlength=count)
    sizes = np.bincount(place, minlength=count).astype(float)
    drawn = np.random.default_rng(seed).integers(0, count, (RESAMPLES, count))
    means: NDArray[np.float64] = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(count, len(values), float(np.mean(values)), float(low), float(high))
