"""How sure a mean over questions is when questions of one page, or one document, are alike. Pure.

What is drawn anew are the clusters, each with all of its questions: a clustered bootstrap (Efron and Tibshirani, An Introduction to the
Bootstrap, 1993, section 13.3, percentile intervals; clusters as in Field and Welsh, 2007). Differences question by question
make it a paired one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over questions with its bootstrap interval, low to high."""

    clusters: int
    questions: int
    mean: float
    low: float
    high: float


def clustered_bootstrap(
    clusters: Sequence[str], values: Sequence[float], *, level: float, seed: int = 0
) -> Interval | None:
    """Return the mean of `values` (one a question) and the middle `level` (0..1) of its resampled means; None without any.

    `clusters` names the page or document of each question. The same values and seed give the same interval.
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
