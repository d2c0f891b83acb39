"""In which order pages are worth an annotator's time: uncertainty mixed with diversity, and a random share. Pure.

What the model is unsure of comes first (uncertainty sampling, Lewis and Gale 1994, section 3), but not the same thing again and again:
each pick is the page whose distance to what was picked before, weighted by its uncertainty, is largest. Without the weight that
is k-Center-Greedy (Sener and Savarese 2018, "Active learning for convolutional neural networks: a core-set approach",
algorithm 1), which is fond of outliers; the weight leaves those that the model is sure of where they are.

The random share is the control. It is drawn from all pages before the model picks among the rest, so it is a fair sample of
what there is to do, and stands between the model's picks, so that both are answered by the same people in the same days.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Reason = Literal["model", "random", "age"]

AGE_EVERY = 4  # one place in so many goes to what has waited too long, if anything has
GREEDY = 2000  # picks for diversity; what comes after them nobody will see before the next survey
_FLOOR = 0.05  # what a page that looks like a picked one still counts: where all look alike, uncertainty alone decides


@dataclass(frozen=True, slots=True)
class Chosen:
    """A page's place in the order: its index in the arrays, and what gave it the place."""

    index: int
    reason: Reason


def order(
    uncertainty: ArrayLike,
    features: ArrayLike,
    n: int,
    random_share: float = 0.2,
    seed: int = 0,
    *,
    waiting: Sequence[int] = (),
    known: ArrayLike | None = None,
) -> list[Chosen]:
    """Return the `n` pages to look at next (fewer where there are fewer), the first one first, each once.

    uncertainty: [N], 0..1. features: [N, D], any scale; pages that look alike have like rows. random_share: 0..1, the
    share of places that are drawn; the same seed draws the same. waiting: indices of pages that have waited too long, the
    oldest first: every fourth place is theirs. known: [M, D] features of pages that are answered already.
    ValueError where the shapes do not fit, or a share is none.
    """
    unsure, places = np.asarray(uncertainty, float), np.asarray(features, float)
    if unsure.ndim != 1 or places.ndim != 2 or len(places) != len(unsure):
        raise ValueError(f"Uncertainty [N] and features [N, D] do not fit: {unsure.shape} and {places.shape}.")
    if not 0 <= random_share <= 1:
        raise ValueError(f"A share lies between 0 and 1, not at {random_share}.")
    count = min(max(n, 0), len(unsure))
    if count == 0:
        return []
    taken = np.zeros(len(unsure), bool)
    old = _Line(each for each in waiting if 0 <= each < len(unsure))
    drawn = _Line(_drawn(len(unsure), count, random_share, seed))
    reserved = np.zeros(len(unsure), bool)  # for the random share
    reserved[drawn.left] = True
    far = _Distances(places, known)
    chosen: list[Chosen] = []
    randomly = 0
    while len(chosen) < count:
        place = len(chosen)
        reason: Reason = "model"
        index = old.next(taken) if place % AGE_EVERY == AGE_EVERY - 1 else None
        if index is not None:
            reason = "age"
        free = ~(taken | reserved)
        if index is None and (randomly < int((place + 1) * random_share + 0.5) or not free.any()):
            index, reason = drawn.next(taken), "random"
        if index is None:
            if not free.any():
                break
            weight = _FLOOR + far.nearest if place < GREEDY else 1.0
            index, reason = int(np.argmax(np.where(free, unsure * weight, -1.0))), "model"
        taken[index] = True
        randomly += reason == "random"
        if place < GREEDY:
            far.pick(index)
        chosen.append(Chosen(index, reason))
    return chosen


def _drawn(pages: int, count: int, share: float, seed: int) -> list[int]:
    """The pages of the random share, in the order in which they come."""
    return [int(each) for each in np.random.default_rng(seed).permutation(pages)[: int(count * share + 0.5)]]


class _Line:
    """Pages that wait in a line; some of them are taken out of it meanwhile."""

    def __init__(self, pages: Iterable[int]) -> None:
        self.left = list(dict.fromkeys(pages))
        self._at = 0

    def next(self, taken: NDArray[np.bool_]) -> int | None:
        """Return the first one that is not taken; None at the end of the line."""
        while self._at < len(self.left):
            index = self.left[self._at]
            self._at += 1
            if not taken[index]:
                return index
        return None


class _Distances:
    """How far each page is from the nearest picked one, 0 (looks alike) to 1 (opposite, or nothing is picked yet)."""

    def __init__(self, features: NDArray[np.float64], known: ArrayLike | None) -> None:
        seen = np.asarray(known, float).reshape(-1, features.shape[1]) if known is not None else features[:0]
        # What all pages have in common says nothing about any: features of one network lie in a narrow cone.
        middle = np.concatenate([features, seen]).mean(axis=0)
        self._unit = _unit(features - middle)
        self.nearest: NDArray[np.float64] = np.ones(len(features))
        for row in _unit(seen - middle):
            self._near(row)

    def pick(self, index: int) -> None:
        """Count a page as picked."""
        self._near(self._unit[index])

    def _near(self, row: NDArray[np.float64]) -> None:
        apart = np.sqrt(np.clip((1 - self._unit @ row) / 2, 0, 1))
        np.minimum(self.nearest, apart, out=self.nearest)


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: NDArray[np.float64] = rows / np.where(length > 1e-12, length, 1.0)
    return unit
