"""Web process, worker and database, each killed while people save: all that was acknowledged is stored, once."""

import pytest

from tests.benchmarks.kills.campaign import campaign

ROUNDS = 3  # `python -m tests.benchmarks.kills` makes 30


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def test_kills_of_every_part_lose_and_double_nothing(kind: str) -> None:
    with campaign(kind, ROUNDS) as under_way:
        outcome = under_way.run()
    assert outcome.is_clean, outcome
    assert outcome.kills["web"] == outcome.kills["worker"] == ROUNDS
    assert outcome.kills["database"] == (ROUNDS if kind == "postgresql" else 0)
    assert outcome.acknowledged > 2 * ROUNDS * 5
    assert outcome.conflicts and {"retrain", "read", "transfer"} <= outcome.jobs.keys()
