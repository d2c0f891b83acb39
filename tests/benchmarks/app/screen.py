"""How long until Annotate is painted in a project of 200 documents, until another tab is, and until a mark is."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable

from playwright.sync_api import Page, Request, sync_playwright

from engine.settings import Settings
from engine.workspace import open_workspace
from tests.benchmarks.app.measured import Row, row
from tests.benchmarks.app.pages import document
from tests.benchmarks.app.server import Client, serving
from tests.browser.conftest import ARGUMENTS
from tests.support.factories import bill, make_document

PAINT_BAR, TAB_BAR, MARK_BAR = 1000.0, 200.0, 100.0
TABS = ("Documents", "Questions", "Training", "Jobs", "Quality", "Table", "Export", "People")

# Milliseconds from the start of the navigation to the frame in which the workspace shows a page and its documents.
_STANDS = """() => new Promise((done) => {
  const look = () => {
    const root = document.querySelector('.glossator');
    if (!root?.dataset.ready || !root.querySelector('.g-document')) return requestAnimationFrame(look);
    requestAnimationFrame(() => setTimeout(() => done(performance.now())));
  };
  look();
})"""
_FIRST_PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
# Milliseconds from the press on a tab to the frame in which its panel is laid out with something in it.
_SWITCH = """(name) => new Promise((done) => {
  const tab = [...document.querySelectorAll('[role=tab]')].find((each) => each.textContent.trim() === name);
  const began = performance.now();
  tab.click();
  const look = () => {
    const panel = [...document.querySelectorAll('[role=tabpanel]')].find((each) => each.checkVisibility());
    const filled = panel?.querySelector('.glossator') ?? panel; // the workspace stands out of its panel's flow
    const shown = tab.ariaSelected === 'true' && filled?.getClientRects()[0]?.height > 100;
    if (!shown) return requestAnimationFrame(look);
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
  };
  look();
})"""
# Milliseconds from the answer to a question, on a page that the model has read, to the frame with its mark.
_MARK = """(question) => new Promise((done) => {
  const root = document.querySelector('.glossator'), field = root.querySelector('textarea');
  field.value = question;
  field.dispatchEvent(new Event('input'));
  const began = performance.now();
  field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }));
  const look = () => {
    const asked = root.querySelector('.g-asked');
    if (asked?.textContent !== question || root.dataset.ready === '') return requestAnimationFrame(look);
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
  };
  look();
})"""


def measure(rounds: int, documents: int = 200, tries: int = 5) -> list[Row]:
    """Milliseconds; prints what opening the page asks of the server."""
    executable = shutil.which("chromium")
    if executable is None:
        raise SystemExit("The benchmark needs Chromium (Debian package: chromium).")
    cold: list[list[float]] = []
    warm: list[list[float]] = []
    first: list[list[float]] = []
    tabs: list[list[float]] = []
    marks: list[list[float]] = []
    with serving({"GLOSSATOR_MAX_READ_SECONDS": "300"}) as served, sync_playwright() as playwright:
        client = Client(served.address)
        workspace = open_workspace(Settings(data_dir=served.data, _env_file=None))
        for at in range(documents - 1):  # rows alone: reading 200 files is not what is measured
            make_document(workspace, client.project(), [bill(at)], name=f"bill {at:03}.png")
        workspace.close()
        client.upload(document(1, 60, seed=0), "invoice.pdf")  # the newest is opened
        browser = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        for at in range(rounds):
            page: Page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
            page.set_default_timeout(120_000)
            asked: list[str] = []
            page.on("request", _noting(asked))
            page.goto(f"{served.address}/app/")
            cold.append([page.evaluate(_STANDS)])
            page.wait_for_timeout(3000)  # whatever opening the page sets off
            if at == 0:
                kinds = Counter(_kind(url) for url in asked)
                print("asked of the server within 3 s of opening:", dict(kinds.most_common()), flush=True)
            stood, painted = [], []
            for _ in range(tries):
                page.reload()
                stood.append(page.evaluate(_STANDS))
                painted.append(page.evaluate(_FIRST_PAINT))
            warm.append(stood)
            first.append(painted)
            for name in TABS:  # the first visit loads the tab
                page.evaluate(_SWITCH, name)
                page.wait_for_timeout(700)
            tabs.append([page.evaluate(_SWITCH, name) for _ in range(tries) for name in (*TABS, "Annotate")])
            page.wait_for_selector(".glossator[data-ready]:not([data-ready=''])")
            page.evaluate(_MARK, f"What is the amount, round {at}?")  # the model reads the page
            marks.append(
                [page.evaluate(_MARK, f"Which {noun}, round {at}?") for noun in ("freight", "gross", "carrier")]
            )
            page.context.close()
        browser.close()
    return [
        row(f"Annotate stands, {documents} documents, first visit", cold, PAINT_BAR),
        row(f"Annotate stands, {documents} documents, later visits", warm, PAINT_BAR),
        row("first paint, later visits", first, PAINT_BAR),
        row("another tab is shown", tabs, TAB_BAR),
        row("question to mark, page read", marks, MARK_BAR),
    ]


def _noting(asked: list[str]) -> Callable[[Request], None]:
    def note(request: Request) -> None:
        asked.append(request.url)

    return note


def _kind(url: str) -> str:
    """What a request is for."""
    for part, kind in (("/gradio_api/queue/join", "Gradio events"), ("/api/", "REST"), ("/static/", "front end")):
        if part in url and not (part == "/api/" and "/gradio_api/" in url):
            return kind
    return "Gradio"
