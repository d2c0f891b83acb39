"""Tuning of rate, momentum and weight decay: the same number of trials for every optimizer.

Coordinate by coordinate, each from the best setting so far: learning rates a factor of two apart, momenta, decay, and
rates between, or beyond where the best rate is the lowest or the highest that was tried: a row whose middle rate was
guessed badly is not held below what it can do. Trials are asked for in rounds, so that several optimizers can be tuned
at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from tests.benchmarks.optim.rows import Row
from tests.benchmarks.optim.trial import Settings

MOMENTA = (0.6, 0.8, 0.9, 0.95)
DECAYED = 2e-4  # share of a weight that a step at the full rate takes away, alike for all: .1 of AdamW at 2e-3
NO_MOMENTUM = 0.0
ROUNDS = 4
RATES = (0, 3)  # rounds of learning rates
_POWERS = (-2, -1, 0, 1, 2)  # of two, times the middle rate


def round_of(number: int, row: Row, task: str, best: Settings | None) -> list[Settings]:
    """Return the settings that a round tries; `best` of the rounds before, None in the first.

    Args:
        number: round, from 0 to ROUNDS - 1.
        row: optimizer.
        task: name of the task.
        best: best settings so far.
    """
    momentum = NO_MOMENTUM if row.momentum is None else row.momentum
    if best is None:
        return [Settings(row.centre(task) * 2.0**power, momentum, 0.0) for power in _POWERS]
    rate = best.rate
    if number == 1:
        if row.momentum is None:
            return [Settings(rate * factor, momentum, 0.0) for factor in (0.84, 1.19, 0.125)]
        return [Settings(rate, one, 0.0) for one in MOMENTA if one != best.momentum]
    if number == 2:
        return [Settings(rate, best.momentum, DECAYED / rate)]
    factors = (0.7, 1.4)
    if math.isclose(rate, row.centre(task) * 2.0 ** _POWERS[0]):
        factors = (0.5, 0.25)
    elif math.isclose(rate, row.centre(task) * 2.0 ** _POWERS[-1]):
        factors = (2.0, 4.0)
    return [Settings(rate * factor, best.momentum, best.decay / factor) for factor in factors]


def best_of(tried: Sequence[Settings], loss: Callable[[Settings], float]) -> Settings:
    """Return the settings with the least loss; the earlier of two alike."""
    return min(tried, key=loss)
