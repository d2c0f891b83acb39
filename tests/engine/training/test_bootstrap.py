"""The bootstrap over pages or documents, on values whose spread is known."""

import numpy as np
import pytest

from engine.training.evaluation.bootstrap import RESAMPLES, Interval, clustered_bootstrap


def interval(clusters: list[str], values: list[float], level: float = 0.95, seed: int = 0) -> Interval:
    found = clustered_bootstrap(clusters, values, level=level, seed=seed)
    assert found is not None
    return found


def width(found: Interval) -> float:
    return found.high - found.low


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_it_agrees_with_drawing_clusters_one_by_one(level: float) -> None:
    rng = np.random.default_rng(5)
    documents = [f"d{number}" for number in rng.integers(0, 9, 40)]
    values = rng.normal(0, 0.1, 40).tolist()
    found = interval(documents, values, level, seed=7)
    names = sorted(set(documents))
    by_document = {name: [v for v, n in zip(values, documents, strict=True) if n == name] for name in names}
    draws = np.random.default_rng(7).integers(0, len(names), (RESAMPLES, len(names)))
    means = [np.mean([v for at in draw for v in by_document[names[at]]]) for draw in draws]
    assert (found.clusters, found.questions) == (len(names), 40)
    assert found.mean == pytest.approx(np.mean(values))
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(means, [(1 - level) / 2, (1 + level) / 2])))


def test_pages_that_are_all_the_same_leave_no_doubt() -> None:
    found = interval([page for page in "abcdef" for _ in range(2)], [1.0, 0.0] * 6)
    assert (found.low, found.mean, found.high) == (0.5, 0.5, 0.5)


def test_the_interval_holds_the_mean_and_a_higher_level_is_wider() -> None:
    rng = np.random.default_rng(2)
    pages, values = [str(at // 5) for at in range(100)], rng.random(100).tolist()
    narrow, wide = interval(pages, values, 0.8), interval(pages, values, 0.95)
    assert wide.low < narrow.low < wide.mean < narrow.high < wide.high


def test_about_as_wide_as_theory_says_where_questions_are_independent() -> None:
    values = np.random.default_rng(3).normal(0, 1, 400)
    found = interval([str(at) for at in range(400)], values.tolist())
    assert width(found) == pytest.approx(2 * 1.96 * values.std() / np.sqrt(400), rel=0.1)


def test_questions_of_one_document_do_not_count_as_many() -> None:
    """Forty questions of two documents say less than forty of forty: the interval must be the wider."""
    values = [0.3] * 20 + [-0.3] * 20
    two, forty = interval(["a"] * 20 + ["b"] * 20, values), interval([str(at) for at in range(40)], values)
    assert width(two) > 3 * width(forty)


def test_the_same_seed_gives_the_same_interval_and_another_seed_another() -> None:
    pages, values = [str(at) for at in range(30)], np.random.default_rng(4).random(30).tolist()
    assert interval(pages, values, seed=3) == interval(pages, values, seed=3)
    assert interval(pages, values, seed=3) != interval(pages, values, seed=4)


def test_nothing_measured_has_no_interval() -> None:
    assert clustered_bootstrap([], [], level=0.95) is None
