"""The real application behind a real port, and Debian's Chromium, driven by Playwright."""

import os
import shutil
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from engine.settings import Settings
from engine.workspace import Workspace, open_workspace
from tests.browser.bench import Bench
from tests.browser.standard_list import listed  # noqa: F401 (a fixture)
from tests.browser.stored_invoice import Invoiced, draft, store_invoice
from tests.browser.team import server_with_login, team  # noqa: F401 (fixtures)
from tests.browser.window import Window
from tests.conftest import needed
from tests.support.server_process import Served
from tests.support.server_thread import ServedHere

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
FAILED = pytest.StashKey[bool]()


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory, migrated_file: Path) -> Iterator[Served]:
    """A server with an empty database of its own, which all tests share.

    With GLOSSATOR_TEST_WEB_PROCESSES=2 in the environment, it is one of two web processes.
    """
    folder, processes = tmp_path_factory.mktemp("served"), os.environ.get("GLOSSATOR_TEST_WEB_PROCESSES")
    started = Served(folder, options=("--workers", processes)) if processes else ServedHere(folder)
    started.data.mkdir()
    shutil.copyfile(migrated_file, started.data / "glossator.db")
    started.start()
    yield started
    started.stop()


@pytest.fixture(scope="session")
def server(served: Served) -> str:
    """Address of the shared server."""
    return served.address


@pytest.fixture(scope="session")
def stored(served: Served) -> Iterator[Workspace]:
    """The data of the shared server, read and written beside it."""
    workspace = open_workspace(Settings(data_dir=served.data, _env_file=None))
    yield workspace
    workspace.close()


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


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Remember that a test failed: what its page shows then is no ground for the next one."""
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest.fixture(scope="session")
def shared_window(browser: Browser, server: str) -> Iterator[Window]:
    """A page of the browser for one test after the other."""
    window = Window(browser, server)
    yield window
    window.close()


@pytest.fixture
def window(request: pytest.FixtureRequest, shared_window: Window) -> Iterator[Window]:
    """The page of the browser, with nothing of the test before it. What its scripts throw fails the test.

    A test that leaves something behind for good has a page (own_page) or a profile (own_profile) of its own.
    """
    own_page, own_profile = (bool(request.node.get_closest_marker(mark)) for mark in ("own_page", "own_profile"))
    if own_profile:
        shared_window.close()
    elif own_page:
        shared_window.close_page()
    yield shared_window
    usable = False
    try:
        if not request.node.stash.get(FAILED, False) and not own_profile:
            (shared_window.close_page if own_page else shared_window.end)()
            usable = True
    finally:
        thrown = shared_window.thrown.copy()
        shared_window.thrown.clear()
        if not usable:
            shared_window.close()
    assert not thrown, thrown[0]


@pytest.fixture
def bench(request: pytest.FixtureRequest, window: Window) -> Bench:
    """The workspace in an empty project of its own, in a browser in which nothing is stored."""
    return window.open(window.make_project(request.node.name))


@pytest.fixture
def invoiced(request: pytest.FixtureRequest, window: Window, stored: Workspace) -> Invoiced:
    """Open an invoice in a project of its own, with questions on which nothing is marked; the model is not asked."""

    def open_one(*questions: str, pages: int = 1) -> Bench:
        project = window.make_project(request.node.name)
        document = store_invoice(stored, project, pages=pages)
        drafts = draft(stored, document, *questions)
        place = f"&document={document.id}" + (f"&annotation={drafts[0].id}" if drafts else "")
        bench = window.open(project, place)
        bench.ready()
        bench.settled()
        bench.page.locator(".g-canvas").focus()
        return bench

    return open_one
