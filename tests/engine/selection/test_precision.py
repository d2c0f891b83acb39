"""The precision of automatic answers: bounds that hold, thresholds that are only taken when they do."""

import math

import numpy as np
import pytest

from engine.selection.precision import LEVEL, THRESHOLDS, curve, lower_bound, lowest
from engine.selection.uncertainty import confidence, uncertainty


def alone(count: int) -> np.ndarray:
    return np.arange(count)


def exact(right: int, count: int, error: float) -> float:
    """Clopper and Pearson's lower bound by bisection: the share at which P(`right` or more) is `error`."""
    low, high = 0.0, 1.0
    for _ in range(80):
        middle = (low + high) / 2
        tail = sum(math.comb(count, k) * middle**k * (1 - middle) ** (count - k) for k in range(right, count + 1))
        low, high = (middle, high) if tail < error else (low, middle)
    return low


@pytest.mark.parametrize(("right", "count"), [(60, 60), (59, 60), (95, 100), (7, 10), (1, 30)])
def test_the_bound_of_independent_answers_is_clopper_and_pearson_s(right: int, count: int) -> None:
    answers = np.arange(count) < right
    assert lower_bound(answers, alone(count), 0.05) == pytest.approx(exact(right, count, 0.05), abs=0.02)
    assert lower_bound(answers, alone(count), 0.05) <= exact(right, count, 0.05) + 1e-9


def test_59_right_answers_are_just_enough_for_95_percent() -> None:
    assert lower_bound(np.ones(58, bool), alone(58), 0.05) < 0.95 < lower_bound(np.ones(59, bool), alone(59), 0.05)


def test_answers_of_one_document_count_for_less_when_they_fail_together() -> None:
    """Ten documents of ten answers, one of them wholly wrong: no more is known than from ten answers."""
    right, owner = np.repeat(np.arange(10) > 0, 10), np.repeat(np.arange(10), 10)
    together, apart = lower_bound(right, owner, 0.05), lower_bound(right, alone(100), 0.05)
    assert together < lower_bound(np.arange(10) > 0, alone(10), 0.05) + 0.02
    assert apart > together + 0.2


def test_documents_of_equal_share_give_no_less_than_independent_answers() -> None:
    right, owner = np.tile([True, False], 50), np.repeat(np.arange(50), 2)
    assert lower_bound(right, owner, 0.05) == pytest.approx(lower_bound(right, alone(100), 0.05), abs=0.02)


def test_one_document_tells_nothing() -> None:
    assert lower_bound(np.ones(500, bool), np.zeros(500, int), 0.05) == 0


def test_all_bounds_hold_at_once_as_often_as_they_say() -> None:
    """The precision at each confidence is known: over many draws, at most 5 % of bounds lie above it."""
    rng = np.random.default_rng(11)
    wrong = 0
    draws = 400
    for _ in range(draws):
        sure = rng.uniform(0.45, 1, 200)
        right = rng.uniform(0, 1, 200) < sure
        points = curve(sure, right, [str(at // 2) for at in range(200)])
        wrong += any(point.low > (1 + point.threshold) / 2 for point in points)
    assert wrong / draws <= (1 - LEVEL) + 3 * math.sqrt(0.05 * 0.95 / draws)


def test_the_lowest_threshold_that_reaches_the_target_is_taken() -> None:
    sure = np.concatenate([np.full(300, 0.97), np.full(300, 0.82), np.full(300, 0.6)])
    right = np.concatenate([np.ones(300, bool), np.arange(300) >= 3, np.arange(300) >= 150])
    points = curve(sure, right, [str(at) for at in range(900)])
    found = lowest(points, 0.95, 100)
    assert found is not None
    assert found.threshold == 0.65  # nothing lies between .6 and .82
    assert found.answers == 600
    at_60 = next(point for point in points if point.threshold == 0.6)
    assert at_60.low < 0.95


def test_too_few_answers_reach_nothing_however_right_they_are() -> None:
    points = curve(np.full(90, 0.99), np.ones(90, bool), [str(at) for at in range(90)])
    assert lowest(points, 0.95, 100) is None
    assert lowest(points, 0.9, 50) is not None


def test_what_comes_back_below_a_threshold_that_fails_is_not_taken() -> None:
    sure = np.concatenate([np.full(200, 0.96), np.full(2000, 0.7)])
    right = np.concatenate([np.arange(200) >= 20, np.ones(2000, bool)])
    points = curve(sure, right, [str(at) for at in range(2200)])
    assert next(point for point in points if point.threshold == 0.7).low > 0.95
    assert lowest(points, 0.95, 100) is None


def test_nothing_measured_is_a_curve_without_answers() -> None:
    points = curve([], [], [])
    assert [point.threshold for point in points] == list(THRESHOLDS)
    assert all(point.precision is None and point.low == 0 for point in points)


def test_every_sign_of_doubt_lowers_the_confidence_and_raises_the_uncertainty() -> None:
    sure = (0.95, 0.9, 0.1, 0.1)
    for doubt in ((0.6, 0.9, 0.1, 0.1), (0.95, 0.6, 0.1, 0.1), (0.95, 0.9, 0.8, 0.1), (0.95, 0.9, 0.1, 0.9)):
        assert confidence(*doubt) < confidence(*sure)
        assert uncertainty(*doubt) > uncertainty(*sure)
    assert uncertainty(0.02, 0.9, 0.9, 0.9) < uncertainty(0.5, 0.9, 0.9, 0.9)  # sure that there is none
    assert uncertainty(1, 1, 0, 0) == 0
