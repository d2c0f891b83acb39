"""Two hundred random sequences of actions: the database holds what the browser shows.

The server is killed in some of them; in others its answers come late.
"""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.bench import Bench
from tests.browser.random_actions import Stage, check
from tests.support.server_process import Served

pytestmark = pytest.mark.browser

SEQUENCES = 200
KILLED_EVERY = 40
A_PAGE = 50  # sequences in one browser profile
LATE = {150}  # the profiles, by their first seed, for which the server's answers come late, and in another order

# Half of all reads wait up to .7 s before they leave, a third of all answers up to .3 s before they are heard.
_LATE = """
  let state = 1;
  const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
  const pause = (share, longest) => (random() < share ? new Promise((done) => setTimeout(done, longest * random())) : null);
  const { fetch } = window;
  window.fetch = async (address, options = {}) => {
    if ((options.method ?? 'GET') === 'GET') await pause(0.5, 700);
    const answer = await fetch(address, options);
    await pause(0.3, 300);
    return answer;
  };
"""


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
    if first in LATE:
        context.add_init_script(f"{{{_LATE}}}")
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
