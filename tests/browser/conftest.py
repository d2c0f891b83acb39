"""A real server (`glossator serve`) and Debian's Chromium, driven by Playwright."""

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.bench import Bench
from tests.browser.team import server_with_login, team  # noqa: F401 (fixtures)
from tests.conftest import needed
from tests.support.server_process import Served

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-features=PreloadTopChromeWebUI",  # a process for the browser's own menus, beside every page
]
PATIENCE = 30_000  # milliseconds: two busy cores answer a cold first question late


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with an empty database of its own, which all tests share."""
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
def browser() -> Iterator[Browser]:
    """Debian's Chromium, without a window: its headless shell, where there is one, takes less time."""
    executable = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if executable is None:
        needed("Browser tests need Chromium (Debian package: chromium-headless-shell or chromium).")
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture
def bench(server: str, browser: Browser) -> Iterator[Bench]:
    """The workspace in a fresh browser profile. What the page's scripts throw fails the test."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    own = {"X-Glossator": "1", "Sec-Fetch-Site": "same-origin"}
    assert context.request.put(f"{server}/api/me/preferences", data={}, headers=own).ok  # what a test before has chosen
    page: Page = context.new_page()
    thrown: list[str] = []
    page.on("pageerror", lambda error: thrown.append(f"{error}\n{error.stack}"))
    page.goto(f"{server}/app/")
    page.wait_for_selector(".glossator[data-started]")
    yield Bench(page, server)
    context.close()
    assert not thrown, thrown[0]
