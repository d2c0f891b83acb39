"""Names that are HTML, of documents, questions, projects, people, files and reasons, are text everywhere."""

import pytest
from playwright.sync_api import FilePayload, Page, expect

from engine.accounts.users import ensure_local_user
from engine.workspace import Workspace
from tests.browser.hostile_names import HOSTILE, QUESTION, harmless, make_hostile_project
from tests.browser.tabs import tab
from tests.browser.window import Window

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def project(stored: Workspace) -> str:
    """A project in which everything has a hostile name."""
    return make_hostile_project(stored, ensure_local_user(stored))


def shown(page: Page, text: str = HOSTILE) -> None:
    """Wait until a text can be read as it is."""
    expect(page.get_by_text(text).locator("visible=true").first).to_be_visible()
    harmless(page)


def test_names_are_text_in_the_workspace_and_in_its_messages(window: Window, project: str) -> None:
    page = window.open(project).page
    shown(page, f"{HOSTILE}.png")
    page.locator(".g-document").first.click()
    shown(page, QUESTION)
    broken: FilePayload = {"name": f"{HOSTILE}.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.4 nothing"}
    page.set_input_files("input[type=file][accept*=pdf]", [broken])
    shown(page, f"{HOSTILE}.pdf")


def test_names_are_text_on_every_tab(window: Window, project: str) -> None:
    page = window.open(project).page
    texts = {"Documents": f"{HOSTILE}.png", "People": f"{HOSTILE} 2"}
    for name in ("Documents", "Training", "Jobs", "Quality", "Table", "Export", "People"):
        panel = tab(page, name)
        expect(panel.get_by_text(texts.get(name, HOSTILE)).locator("visible=true").first).to_be_visible()
        harmless(page)
