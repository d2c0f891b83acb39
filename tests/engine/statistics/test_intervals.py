"""Intervals of medians and shares against what they promise."""

import math
import random
from statistics import median

from engine.statistics.intervals import median_ranks, middle_ranks, share_interval


def test_the_ranks_around_a_median_hold_at_least_95_percent_and_not_much_more() -> None:
    assert median_ranks(5) is None
    assert [median_ranks(count) for count in (6, 8, 9, 20, 100)] == [(1, 6), (1, 8), (2, 8), (6, 15), (40, 61)]
    for count in range(6, 60):
        low, high = median_ranks(count)  # type: ignore[misc]
        outside = sum(math.comb(count, below) for below in range(low)) / 2**count
        assert low + high == count + 1 and 2 * outside <= 0.05 < 2 * (outside + math.comb(count, low) / 2**count)


def test_the_ranks_of_many_values_join_those_of_few_without_a_step() -> None:
    below, above = median_ranks(1000), median_ranks(1001)
    assert below is not None and above is not None and abs(below[0] - above[0]) <= 1


def test_the_interval_covers_the_median_of_skewed_values() -> None:
    rng = random.Random(3)
    covered = 0
    for _ in range(400):
        values = sorted(rng.lognormvariate(0, 1) for _ in range(25))
        low, high = median_ranks(25)  # type: ignore[misc]
        covered += values[low - 1] <= 1 <= values[high - 1]
    assert covered >= 0.93 * 400


def test_the_middle_ranks_give_the_median() -> None:
    for values in ([4.0], [1.0, 9.0], [1.0, 2.0, 7.0]):
        assert sum(values[rank - 1] for rank in middle_ranks(len(values))) / 2 == median(values)


def test_the_interval_of_a_share_stays_between_nothing_and_all() -> None:
    assert share_interval(0, 0) == (0, 1)
    low, high = share_interval(0, 10)
    assert low == 0 and 0.25 < high < 0.31
    low, high = share_interval(50, 100)
    assert abs((low + high) / 2 - 0.5) < 1e-9 and 0.40 < low < 0.41
