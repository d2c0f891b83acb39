"""Nothing of Gradio's own shows by accident: every part in sight has a name of ours, whatever was clicked."""

import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, Request

from engine.settings import Settings
from engine.workspace import Workspace, open_workspace
from tests.browser.bench import Bench
from tests.browser.conftest import PATIENCE
from tests.browser.tabs import DRAWN, OF_GRADIO, TABS, made, tab
from tests.support.factories import accept, bill, make_document
from tests.support.judged_runs import add_run
from tests.support.server_process import Served

BUTTONS = "button.md, button.lg, button.sm"  # of Gradio; those of the front end have names of their own

# Parts of a panel that are in sight and neither our HTML nor begin with a name that we gave.
_NAMELESS = """(panel) => {
  const names = new Set(window.gradio_config.components.flatMap(({ props }) => [props.label, props.value])
    .filter((name) => typeof name === 'string' && name));
  const parts = [...panel.querySelectorAll('.block, button.md, button.lg, button.sm')];
  return parts.filter((part) => part.checkVisibility({ visibilityProperty: true }) && part.innerText.trim())
    .filter((part) => !part.querySelector(':scope > .html-container'))
    .map((part) => part.innerText.trim().split('\\n')[0].trim())
    .filter((name) => !/^(processing|queue)|^[\\d.]+(\\/[\\d.]+)?s$/.test(name)) // Gradio's clock while an event runs
    .filter((name) => !names.has(name));
}"""


@pytest.fixture
def workspace(served: Served) -> Iterator[Workspace]:
    opened = open_workspace(Settings(data_dir=served.data, _env_file=None))
    yield opened
    opened.close()


class Answers:
    """Counts streams of Gradio's answers that have ended; Gradio breaks some of them off once all is there."""

    def __init__(self, page: Page) -> None:
        self.ended = 0
        page.on("requestfinished", self._count)
        page.on("requestfailed", self._count)

    def _count(self, request: Request) -> None:
        self.ended += "/queue/data" in request.url


def refresh(page: Page, answers: Answers, name: str) -> None:
    """Fetch the content of a tab twice: a part that was shown for the first time has all of its own by then."""
    for _ in range(2):
        before, end = answers.ended, time.monotonic() + PATIENCE / 1000
        page.evaluate("(name) => window.Glossator.refreshTab(name)", name.lower())
        while answers.ended == before:
            assert time.monotonic() < end, f"{name} was not fetched"
            page.wait_for_timeout(10)
        page.evaluate(DRAWN)


def buttons_of(panel: Locator) -> list[str]:
    """Names of the buttons that can be clicked now."""
    shown = panel.locator(BUTTONS).filter(visible=True)
    return [str(button.inner_text()) for button in shown.all() if button.is_enabled()]


def test_every_part_in_sight_has_a_name_of_ours(bench: Bench, workspace: Workspace) -> None:
    page = bench.page
    project = made(bench, "nothing by accident")
    document = make_document(workspace, project, [bill(1)])
    accept(workspace, document, "What is the total due?", [4])
    add_run(workspace, project, before=0.60, after=0.72)
    page.evaluate("(id) => window.Glossator.chooseProject(id)", project)
    answers = Answers(page)
    seen: list[tuple[str, str, list[str]]] = []
    for name in TABS:
        panel = tab(page, name)
        seen.append((name, "opened", panel.evaluate(_NAMELESS)))
        if name not in OF_GRADIO:
            continue
        closed = panel.locator(".label-wrap:not(.open):visible")
        while closed.count():
            closed.first.click()
        refresh(page, answers, name)
        seen.append((name, "unfolded", panel.evaluate(_NAMELESS)))
        clicked: set[str] = set()
        while buttons := [button for button in buttons_of(panel) if button not in clicked]:
            panel.get_by_role("button", name=buttons[0], exact=True).click()
            clicked.add(buttons[0])
            refresh(page, answers, name)
            seen.append((name, buttons[0], panel.evaluate(_NAMELESS)))
    nameless = [f"{name}, {step}: {parts}" for name, step, parts in seen if parts]
    assert not nameless, "\n".join(nameless)
    assert len(seen) >= len(TABS) + len(OF_GRADIO) + 10  # every button of the tabs was found
