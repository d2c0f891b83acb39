"""Order of documents for annotators: uncertainty combined with diversity, and a random share. Pure.

Uncertain documents come first (uncertainty sampling, Lewis and Gale 1994, section 3), but not similar ones in a row:
each pick maximises the distance to earlier picks, weighted by uncertainty. Without the weight this is k-Center-Greedy
(Sener and Savarese 2018, "Active learning for convolutional neural networks: a core-set approach", algorithm 1), which
favours outliers; the weight keeps confident outliers back.

The random share is the control group. It is drawn from all documents before the model picks from the rest, so it is a
fair sample. Its documents are interleaved with the picks, so the same people answer both at the same time.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Reason = Literal["model", "random", "age"]

AGE_EVERY = 4  # one place in so many goes to documents that have waited too long, if there are any
GREEDY = 2000  # picks by diversity; later ones are not reached before the next survey
_FLOOR = 0.05  # least weight of a document similar to a picked one: when all are alike, uncertainty alone decides


@dataclass(frozen=True, slots=True)
class Chosen:
    """Document in the order: index in the arrays, and the reason for its place."""

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
    """Return up to `n` documents in the order to annotate, each once.

    Args:
        uncertainty: [N], 0..1.
        features: [N, D], any scale; similar documents have similar rows.
        n: Number of documents to return.
        random_share: Share of places drawn at random, 0..1.
        seed: Seed of the draw.
        waiting: Indices of documents that have waited too long, oldest first; they get every fourth place.
        known: [M, D] features of documents that are answered already.

    Raises:
        ValueError: Shapes do not fit, or the share is out of range.
    """
    unsure, places = np.asarray(uncertainty, float), np.asarray(features, float)
    if unsure.ndim != 1 or places.ndim != 2 or len(places) != len(unsure):
        raise ValueError(f"Uncertainty [N] and features [N, D] do not fit: {unsure.shape} and {places.shape}.")
    if not 0 <= random_share <= 1:
        raise ValueError(f"random_share is {random_share}; it must lie between 0 and 1.")
    count = min(max(n, 0), len(unsure))
    if count == 0:
        return []
    taken = np.zeros(len(unsure), bool)
    old = _Line(number for number in waiting if 0 <= number < len(unsure))
    drawn = _Line(_draw(len(unsure), count, random_share, seed))
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


def _draw(pages: int, count: int, share: float, seed: int) -> list[int]:
    """Return the documents of the random share, in order."""
    return [int(number) for number in np.random.default_rng(seed).permutation(pages)[: int(count * share + 0.5)]]


class _Line:
    """Queue of documents, of which some are taken elsewhere."""

    def __init__(self, pages: Iterable[int]) -> None:
        self.left = list(dict.fromkeys(pages))
        self._at = 0

    def next(self, taken: NDArray[np.bool_]) -> int | None:
        """Return the first document that is not taken; None at the end."""
        while self._at < len(self.left):
            index = self.left[self._at]
            self._at += 1
            if not taken[index]:
                return index
        return None


class _Distances:
    """Distance of each document to the nearest picked one, 0 (alike) to 1 (opposite, or none picked)."""

    def __init__(self, features: NDArray[np.float64], known: ArrayLike | None) -> None:
        seen = np.asarray(known, float).reshape(-1, features.shape[1]) if known is not None else features[:0]
        # Centred: features of one network lie in a narrow cone, and the common part carries no information.
        middle = np.concatenate([features, seen]).mean(axis=0)
        self._unit = _unit(features - middle)
        self.nearest: NDArray[np.float64] = np.ones(len(features))
        for row in _unit(seen - middle):
            self._near(row)

    def pick(self, index: int) -> None:
        """Add a document to the picked ones."""
        self._near(self._unit[index])

    def _near(self, row: NDArray[np.float64]) -> None:
        apart = np.sqrt(np.clip((1 - self._unit @ row) / 2, 0, 1))
        np.minimum(self.nearest, apart, out=self.nearest)


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: NDArray[np.float64] = rows / np.where(length > 1e-12, length, 1.0)
    return unit
