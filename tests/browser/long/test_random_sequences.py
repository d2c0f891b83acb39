"""Two hundred random sequences of actions, the server killed in some of them: the database holds what the browser shows."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.bench import Bench
from tests.browser.sequences import Stage, check
from tests.served import Served

pytestmark = pytest.mark.browser

SEQUENCES = 200
KILLED_EVERY = 40
A_PAGE = 50  # sequences in one browser profile


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that a sequence may kill."""
    started = Served(tmp_path_factory.mktemp("sequences"))
    started.start()
    yield started
    started.stop()


@pytest.mark.parametrize("first", range(0, SEQUENCES, A_PAGE))
def test_after_random_actions_the_database_holds_what_the_browser_shows(
    own: Served, browser: Browser, first: int
) -> None:
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    page = context.new_page()
    thrown: list[str] = []
    page.on("pageerror", lambda error: thrown.append(f"{error}\n{error.stack}"))
    page.goto(f"{own.address}/app/")
    page.wait_for_selector(".glossator[data-started]")
    stage = Stage(Bench(page, own.address), own)
    for seed in range(first, first + A_PAGE):
        check(stage, seed, kills=seed % KILLED_EVERY == KILLED_EVERY - 1)
        assert not thrown, f"Seed {seed}: {thrown[0]}"
    context.close()
