"""What a person at the screen waits for in a project of any size: the page, the list, its search, the tab Documents.

`python -m tests.benchmarks.growth.screen [DOCUMENTS ...]` prints a table for each size, on SQLite and PostgreSQL.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from engine.workspace import Workspace
from tests.benchmarks.app.measured import Row, row
from tests.benchmarks.growth.databases import command
from tests.benchmarks.growth.project import NOUNS, Grown
from tests.browser.conftest import ARGUMENTS
from tests.support.server_process import Served

TRIES = 7
PAGE, NODES, KEY, CLEARED, OPENED, TAB = (
    "start page usable, later visits",
    "elements on the page (a number)",
    "key in the search to the new list",
    "search cleared to the whole list",
    "click on a document to its page",
    "tab Documents with its rows",
)

# Milliseconds from the start of the navigation to the frame in which a page stands beside the list.
_STANDS = """() => new Promise((done) => {
  const look = () => {
    const root = document.querySelector('.glossator');
    if (!root?.dataset.ready || !root.querySelector('.g-document')) return requestAnimationFrame(look);
    requestAnimationFrame(() => setTimeout(() => done(performance.now())));
  };
  look();
})"""
# Milliseconds from the last key of a search to the frame with another list.
_SEARCH = """(words) => new Promise((done) => {
  const rows = () => document.querySelector('.g-document'), size = rows()?.ariaSetSize;
  const field = document.querySelector('.g-documents-room input[type=search]'), began = performance.now();
  field.value = words;
  field.dispatchEvent(new Event('input', { bubbles: true }));
  const look = () => {
    if (rows()?.ariaSetSize === size) return requestAnimationFrame(look);
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
  };
  requestAnimationFrame(look);
})"""
# Milliseconds from the click on a document of the list to the frame with its page.
_OPEN = """(at) => new Promise((done) => {
  const root = document.querySelector('.glossator'), before = root.dataset.ready, began = performance.now();
  root.querySelectorAll('.g-document')[at].click();
  const look = () => {
    if (!root.dataset.ready || root.dataset.ready === before) return requestAnimationFrame(look);
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
  };
  requestAnimationFrame(look);
})"""


def measure(workspace: Workspace, grown: Grown) -> list[Row]:
    """Milliseconds in Chromium, with a server of its own on the workspace's data.

    Args:
        workspace: open workspace.
        grown: project in it.
    """
    executable = shutil.which("chromium")
    if executable is None:
        raise SystemExit("The benchmark needs Chromium (Debian package: chromium).")
    settings = workspace.settings
    places = {"GLOSSATOR_DATA_DIR": str(settings.data_dir), "GLOSSATOR_DATABASE_URL": settings.database_url}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        served = Served(Path(folder), places)
        served.start()
        try:
            browser = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
            page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
            page.set_default_timeout(180_000)
            taken, nodes = _times(page, f"{served.address}/app/#project={grown.project}")
            browser.close()
        finally:
            served.stop()
    bars = {PAGE: 2000.0, KEY: 200.0, CLEARED: 200.0, OPENED: None, TAB: None}
    return [
        *(row(what, [taken[what]], bar) for what, bar in bars.items()),
        Row(NODES, nodes, nodes, 1, 3000.0),
    ]


def _times(page: Page, address: str) -> tuple[dict[str, list[float]], int]:
    """Milliseconds of each act, and how many elements the page has at the end."""
    taken: dict[str, list[float]] = {what: [] for what in (PAGE, KEY, CLEARED, OPENED, TAB)}
    page.goto(address)
    page.evaluate(_STANDS)
    for at in range(TRIES):
        page.reload()
        taken[PAGE].append(page.evaluate(_STANDS))
        page.wait_for_timeout(500)  # what opening the page sets off
        taken[OPENED].append(page.evaluate(_OPEN, at + 2))
        taken[KEY].append(page.evaluate(_SEARCH, NOUNS[at][: 3 + at % 3]))
        taken[CLEARED].append(page.evaluate(_SEARCH, ""))
        taken[TAB].append(_tab(page))
        page.get_by_role("tab", name="Annotate").click()
    return taken, int(page.evaluate("() => document.querySelectorAll('*').length"))


def _tab(page: Page) -> float:
    """Milliseconds from the press on Documents until its rows are there; the workspace stands anew, so they are fetched."""
    before = float(page.evaluate("() => performance.now()"))
    page.get_by_role("tab", name="Documents").click()
    page.get_by_role("row").filter(has_text=".pdf").first.wait_for()
    return float(page.evaluate("() => performance.now()")) - before


if __name__ == "__main__":
    command(measure)
