"""A few random sequences of actions; tests/browser/long has two hundred."""

import pytest

from tests.browser.bench import Bench
from tests.browser.random_actions import Stage, check
from tests.support.server_process import Served

pytestmark = pytest.mark.browser

SEQUENCES = 4


def test_after_random_actions_the_database_holds_what_the_browser_shows(bench: Bench, served: Served) -> None:
    stage = Stage(bench, served)
    for seed in range(1000, 1000 + SEQUENCES):
        check(stage, seed)
