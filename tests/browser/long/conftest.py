"""A page and a profile of the browser for each of the long tests, which take long by themselves."""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.browser.bench import Bench
from tests.browser.window import OWN, VIEWPORT
from tests.support.server_process import Served


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server (`glossator serve`) with an empty database of its own, which all tests share."""
    started = Served(tmp_path_factory.mktemp("served"))
    try:
        started.start()
        yield started
    finally:
        started.stop()


@pytest.fixture(scope="session")
def server(served: Served) -> str:
    """Address of the shared server."""
    return served.address


@pytest.fixture(scope="session")
def shared_profile(browser: Browser) -> Iterator[BrowserContext]:
    """A browser profile for one test after the other: its cache saves a third of the time in which a page opens."""
    context = browser.new_context(viewport=VIEWPORT)
    yield context
    context.close()


@pytest.fixture
def profile(request: pytest.FixtureRequest, browser: Browser) -> Iterator[BrowserContext]:
    """A browser profile in which nothing is stored; one of its own for a test marked own_profile."""
    if request.node.get_closest_marker("own_profile"):
        context = browser.new_context(viewport=VIEWPORT)
        yield context
        context.close()
        return
    context = request.getfixturevalue("shared_profile")
    yield context
    empty(context)


def empty(context: BrowserContext) -> None:
    """Close all pages of a profile, and forget what they stored."""
    context.set_offline(False)
    context.unroute_all(behavior="ignoreErrors")
    origins = {f"{at.scheme}://{at.netloc}" for page in context.pages if (at := urlsplit(page.url)).netloc}
    for page in context.pages:
        page.close()
    last = context.new_page()
    session = context.new_cdp_session(last)
    for origin in origins:
        session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "local_storage,indexeddb"})
    last.close()
    context.clear_cookies()


@pytest.fixture
def bench(server: str, profile: BrowserContext) -> Iterator[Bench]:
    """The workspace in a browser profile in which nothing is stored."""
    with bench_in(profile, server) as opened:
        yield opened


@contextmanager
def bench_in(profile: BrowserContext, server: str, fragment: str = "") -> Iterator[Bench]:
    """The workspace as it opens at a fragment. What the page's scripts throw fails the test."""
    assert profile.request.put(f"{server}/api/me/preferences", data={}, headers=OWN).ok  # what a test before has chosen
    page: Page = profile.new_page()
    thrown: list[str] = []
    page.on("pageerror", lambda error: thrown.append(f"{error}\n{error.stack}"))
    page.goto(f"{server}/app/{fragment}")
    page.wait_for_selector(".glossator[data-started]")
    yield Bench(page, server)
    assert not thrown, thrown[0]
