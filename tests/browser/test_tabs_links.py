"""Links on the tabs lead into the workspace, by mouse and by keyboard, and nothing needs a mouse."""

import pytest
from playwright.sync_api import Page, expect

from engine.settings import Settings
from engine.workspace import open_workspace
from tests.browser.bench import Bench, invoice
from tests.browser.tabs import TABS, tab
from tests.support.judged_runs import add_run
from tests.support.server_process import Served

pytestmark = pytest.mark.browser

# What reacts to a click, and yet is no stop of the Tab key. A label leads to its control.
_MOUSE_ONLY = """() => [...document.querySelectorAll('#' + CSS.escape(PANEL) + ' *')].filter((each) => {
  if (!each.checkVisibility() || getComputedStyle(each).cursor !== 'pointer') return false;
  const stops = 'a[href], button, input, select, textarea, summary, label, [tabindex]:not([tabindex="-1"])';
  return !each.closest(stops) && getComputedStyle(each.parentElement).cursor !== 'pointer';
}).map((each) => each.outerHTML.slice(0, 120))"""


def open_document(page: Page, document: str) -> None:
    """Wait until the workspace shows a document, with the focus on its page."""
    expect(page.get_by_role("tab", name="Annotate", exact=True)).to_have_attribute("aria-selected", "true")
    expect(page.locator(f".g-document[data-document='{document}']")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".g-canvas")).to_be_focused()


def test_the_name_of_a_document_opens_it_in_the_workspace(bench: Bench) -> None:
    page = bench.page
    bench.upload(invoice(), "first to be opened.pdf")
    first = bench.place()["document"]
    bench.upload(invoice(), "second to be opened.pdf")
    second = bench.place()["document"]
    documents = tab(page, "Documents")
    documents.get_by_role("link", name="first to be opened.pdf").click()
    open_document(page, first)
    bench.ready()
    page.keyboard.press("b")  # the keys of the workspace are heard at once
    expect(page.locator(".g-tool[data-command=brush]")).to_have_attribute("aria-pressed", "true")
    tab(page, "Documents")
    documents.get_by_role("link", name="second to be opened.pdf").focus()
    page.keyboard.press("Enter")
    open_document(page, second)
    steps = [(page.go_back, "Documents"), (page.go_back, "Annotate"), (page.go_forward, "Documents")]
    for step, shown in (*steps, (page.go_forward, "Annotate")):  # tabs are steps of the browser's history, too
        step()
        expect(page.get_by_role("tab", name=shown, exact=True)).to_have_attribute("aria-selected", "true")
    expect(page.locator(f".g-document[data-document='{second}']")).to_have_attribute("aria-selected", "true")
    tab(page, "Documents")
    with page.context.expect_page() as opened:  # the browser's own way stays
        documents.get_by_role("link", name="first to be opened.pdf").click(modifiers=["Control"])
    expect(opened.value.locator(".g-document[aria-selected=true]")).to_contain_text(
        "first to be opened", timeout=60_000
    )
    expect(page.get_by_role("tab", name="Documents", exact=True)).to_have_attribute("aria-selected", "true")


@pytest.fixture
def judged(served: Served, bench: Bench) -> str:
    """A project with a document and a judged retraining; its id."""
    bench.upload(invoice(), "judged.pdf")
    workspace = open_workspace(Settings(data_dir=served.data, _env_file=None))
    project = str(bench.get("/projects")[0]["id"])
    add_run(workspace, project, before=0.6, after=0.7)
    workspace.close()
    return project


def test_nothing_on_a_tab_needs_a_mouse(bench: Bench, judged: str) -> None:
    for name in TABS:
        panel = tab(bench.page, name)
        # At once: a tab that is filled again meanwhile has other folds.
        panel.locator("summary, button.label-wrap").evaluate_all(
            "folds => folds.filter((fold) => fold.checkVisibility()).forEach((fold) => fold.click())"
        )
        found = bench.page.evaluate(_MOUSE_ONLY.replace("PANEL", f"'tab-{name.lower()}'"))
        assert not found, f"{name}: {found}"
