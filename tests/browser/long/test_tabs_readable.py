"""The seven other tabs can be read: axe-core finds nothing, and no word, figure or control is cut, hidden or broken."""

import io
from collections.abc import Iterator
from datetime import UTC, datetime

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import FloatRect, Page, expect

from engine.datasets.snapshots import freeze
from engine.projects.projects import create_project
from engine.settings import Settings
from engine.workspace import Workspace, open_workspace
from tests.browser.axe import THEMES, found_on
from tests.browser.bench import Bench
from tests.browser.tabs import TABS, made, tab
from tests.support.factories import accept
from tests.support.judged_runs import add_run
from tests.support.poisoned_project import Poisoned
from tests.support.server_process import Served
from tests.support.stored_pages import paper, scanned_again, store
from tests.support.work_history import make_weeks

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server of its own: the weeks of work bring people and model versions, which no other test expects."""
    started = Served(tmp_path_factory.mktemp("served"))
    try:
        started.start()
        yield started
    finally:
        started.stop()


@pytest.fixture(scope="module")
def server(served: Served) -> str:
    return served.address


@pytest.fixture(scope="module")
def workspace(served: Served) -> Iterator[Workspace]:
    opened = open_workspace(Settings(data_dir=served.data, _env_file=None))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def weeks(workspace: Workspace) -> str:
    """Id of a project with eleven weeks of work, a run among it."""
    project = create_project(workspace, "weeks of work")
    make_weeks(workspace, project, datetime.now(UTC).date(), a_day=1)
    add_run(workspace, project.id, before=0.60, after=0.72)
    return project.id


def opened(page: Page, name: str) -> None:
    """Open a tab, and all that can be unfolded on it."""
    panel = tab(page, name)
    closed = panel.locator(".label-wrap:not(.open):visible")
    while closed.count():
        closed.first.click()
    panel.locator("details").evaluate_all("(all) => all.forEach((each) => { each.open = true; })")


def test_tabs_of_an_empty_project(bench: Bench) -> None:
    bench.page.evaluate("(id) => window.Glossator.chooseProject(id)", made(bench, "axe: nothing in it"))
    found = []
    for name in TABS:
        opened(bench.page, name)
        found += found_on(bench.page, f"{name}, empty")
    assert not found, "\n".join(found)


def test_tabs_after_weeks_of_work(bench: Bench, weeks: str) -> None:
    bench.page.evaluate("(id) => window.Glossator.chooseProject(id)", weeks)
    found = []
    for name in TABS:
        opened(bench.page, name)
        found += found_on(bench.page, f"{name}, weeks of work")
    assert not found, "\n".join(found)


def test_tabs_with_documents_in_quarantine_and_answers_left_out(bench: Bench, workspace: Workspace) -> None:
    project = Poisoned(workspace).project.id
    for number in range(3):
        store(workspace, project, [paper(number)], f"registration {number}.png")
    both = [scanned_again(paper(0)), scanned_again(paper(1)), scanned_again(paper(2))]
    accept(workspace, store(workspace, project, both, "all in one.png"), "Who signed?", [0])
    freeze(workspace, project, split="train")
    bench.page.evaluate("(id) => window.Glossator.chooseProject(id)", project)
    found = []
    for name in ("Documents", "Quality", "Export"):
        opened(bench.page, name)
        found += found_on(bench.page, f"{name}, answers left out")
    assert not found, "\n".join(found)


# What scrolls sideways: elements in sight whose content is wider than they are, the pages' tables aside on a phone.
_SCROLLING = """(tables) => [...document.querySelectorAll('.gradio-container *')]
  .filter((each) => each.checkVisibility() && each.clientWidth && each.scrollWidth > each.clientWidth)
  .filter((each) => ['auto', 'scroll'].includes(getComputedStyle(each).overflowX))
  .filter((each) => tables || !each.matches('.glossator-scroll'))
  .map((each) => `${each.tagName}.${each.className}: ${each.scrollWidth} in ${each.clientWidth}`)"""


def test_nothing_scrolls_sideways_under_accordions(bench: Bench, weeks: str) -> None:
    page = bench.page
    page.evaluate("(id) => window.Glossator.chooseProject(id)", weeks)
    for width in (1400, 390):
        page.set_viewport_size({"width": width, "height": 844})
        for name in TABS:
            panel = tab(page, name)
            assert page.evaluate(_SCROLLING, width > 600) == [], (name, width)
            if panel.locator(".gr-accordion").count():
                opened(page, name)
                assert page.evaluate(_SCROLLING, False) == [], (name, width, "open")
                panel.locator(".label-wrap.open:visible").evaluate_all("(all) => all.forEach((each) => each.click())")


# Words that stand on more than one line: a range over a word has one rectangle, but for a hyphen that may end a line.
_BROKEN = """(root) => {
  const broken = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.parentElement.checkVisibility()) continue;
    for (const { 0: word, index } of node.data.matchAll(/[^\\s-]+/g)) {
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      if (new Set([...range.getClientRects()].map((each) => Math.round(each.top))).size > 1) broken.push(word);
    }
  }
  return broken;
}"""


def test_no_table_breaks_inside_a_word(bench: Bench, weeks: str) -> None:
    page = bench.page
    page.evaluate("(id) => window.Glossator.chooseProject(id)", weeks)
    for width in (1400, 1024, 390):
        page.set_viewport_size({"width": width, "height": 844})
        for name in ("Documents", "Training", "Quality", "Export"):
            opened(page, name)
            tables = page.locator(".glossator-table:visible")
            assert name == "Export" or tables.count()
            for table in tables.all():
                assert table.evaluate(_BROKEN) == [], (name, width)


def test_full_cards_stand_before_empty_ones(bench: Bench, weeks: str) -> None:
    page = bench.page
    page.evaluate("(id) => window.Glossator.chooseProject(id)", weeks)
    cards = tab(page, "Quality").locator("figure.glossator-plot")
    empty = cards.evaluate_all("(all) => all.map((each) => each.classList.contains('empty'))")
    assert len(set(empty)) == 2 and empty == sorted(empty)


def test_the_losses_are_named_after_what_they_are_measured_on(bench: Bench, weeks: str) -> None:
    page = bench.page
    page.evaluate("(id) => window.Glossator.chooseProject(id)", weeks)
    card = tab(page, "Training").locator("figure.glossator-plot", has_text="Loss of the newest run")
    expect(card.locator("ul > li")).to_have_text(["on training answers", "on answers kept back for early stopping"])


def luminance(pixels: np.ndarray) -> np.ndarray:
    """Relative luminance of sRGB pixels, (n, 3) of 0..255 to (n,) of 0..1 (WCAG 2.2, "relative luminance")."""
    shares = pixels / 255
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    return linear @ np.array([0.2126, 0.7152, 0.0722])


def test_the_thumb_of_a_slider_stands_out(bench: Bench, weeks: str) -> None:
    page = bench.page
    page.evaluate("(id) => window.Glossator.chooseProject(id)", weeks)
    opened(page, "Questions")
    for theme in THEMES:
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        for slider in page.locator("input[type=range]:visible").all():
            slider.scroll_into_view_if_needed()
            slider.press("End")
            box = slider.bounding_box()
            assert box is not None
            right = box["x"] + box["width"]
            around: FloatRect = {"x": right - 12, "y": box["y"] - 12, "width": 12, "height": box["height"] + 24}
            picture = np.asarray(Image.open(io.BytesIO(page.screenshot(clip=around))).convert("RGB"))
            light = luminance(picture.reshape(-1, 3).astype(float))
            ground = light[0]
            contrast = np.maximum((light + 0.05) / (ground + 0.05), (ground + 0.05) / (light + 0.05))
            assert contrast.max() >= 3, (theme, contrast.max())  # WCAG 2.2, 1.4.11


def test_settings_their_audit_and_filters_are_said_in_words(bench: Bench) -> None:
    page = bench.page
    page.evaluate("(id) => window.Glossator.chooseProject(id)", made(bench, "said in words"))
    questions = tab(page, "Questions")
    for label in ("Hidden check questions (%)", "Tasks answered by several people (%)"):
        expect(questions.get_by_label(label).first).to_be_visible()
    questions.get_by_label("Review required").check()
    questions.get_by_label("Random order").check()
    questions.get_by_role("button", name="Save settings").click()
    trail = tab(page, "People").locator(".g-trail")
    expect(trail).to_contain_text("review is now required")
    expect(trail).to_contain_text("the document order is now “Random order”")
    opened(page, "Export")
    expect(page.get_by_label("Minimum reliability").first).to_be_visible()
