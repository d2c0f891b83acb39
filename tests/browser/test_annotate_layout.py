"""The tab Annotate in windows of all sizes: nothing is cut off, nothing jumps, the decision stays in sight."""

from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.bench import Bench, invoice

pytestmark = pytest.mark.browser

SIZES = [(1600, 900), (1280, 720), (1024, 768), (768, 1024), (390, 844), (640, 360)]  # the last: 1280 x 720 at 200 %
COMMANDS = [
    *("Words", "Box", "Brush", "Eraser", "Here", "Not here", "Fix words", "Undo", "Redo", "Clear this page"),
    *("Previous page", "Next page", "Zoom out", "Zoom in", "Zoom to the mark", "Keys and colours"),
]
FITTED = """() => { const bar = document.querySelector('.g-toolbar');
  return bar.clientWidth > 0 && bar.scrollWidth <= bar.clientWidth; }"""
# Where the controls of the toolbar stand.
PLACES = """() => Object.fromEntries([...document.querySelectorAll('.g-toolbar :is(button, .g-number)')]
  .filter((each) => each.checkVisibility())
  .map((each) => [each.dataset.command ?? each.className, each.getBoundingClientRect().toJSON()]))"""
# What reaches over the right edge of the window.
WIDER = """() => [...document.querySelectorAll('.glossator *')]
  .filter((each) => each.checkVisibility({ visibilityProperty: true }) && !each.closest('.g-left-column, .g-spoken'))
  .filter((each) => each.getBoundingClientRect().right > innerWidth + 1).map((each) => each.outerHTML.slice(0, 80))"""


def resize(bench: Bench, width: int, height: int) -> None:
    """Change the size of the window, and wait until the toolbar has found its form."""
    bench.page.set_viewport_size({"width": width, "height": height})
    bench.page.wait_for_function("(width) => innerWidth === width", arg=width)
    bench.page.wait_for_function(FITTED)


def in_sight(part: Locator) -> None:
    """Wait until the whole of it lies in the window, and nothing lies over it."""
    expect(part).to_be_in_viewport(ratio=1)
    top = """(part) => { const { x, y, width, height } = part.getBoundingClientRect();
      return part.contains(document.elementFromPoint(x + width / 2, y + height / 2)); }"""
    assert part.evaluate(top), part


def test_every_command_is_reached_and_the_decision_seen_at_every_size(bench: Bench) -> None:
    page = bench.page
    bench.upload(invoice(pages=2))
    bench.ask("What is the total due?")
    for width, height in SIZES:
        resize(bench, width, height)
        assert page.evaluate(WIDER) == [], (width, height)
        for part in (".g-asked", ".g-reading", ".g-accept"):
            in_sight(page.locator(part))
        more = page.get_by_role("button", name="More tools")
        if more.is_visible():
            more.click()
        for name in COMMANDS:
            command = page.locator(".g-centre").get_by_role("button", name=name, exact=True)
            command.scroll_into_view_if_needed()  # in a low window the panel scrolls
            in_sight(command)
        if more.is_visible():
            bench.keys.press("Escape")
        stage = page.locator(".g-stage").bounding_box()
        assert stage and stage["height"] >= 0.4 * height and stage["width"] >= 0.45 * width, (width, height, stage)


def test_no_button_moves_when_a_tool_is_chosen(bench: Bench) -> None:
    bench.upload(invoice(pages=12))
    bench.ask("What is the total due?")
    for width, height in SIZES:
        resize(bench, width, height)
        bench.page.locator(".g-canvas").focus()
        before: dict[str, Any] = {}
        for key, tool in (("w", "word"), ("b", "brush"), ("e", "eraser"), ("p", "plus"), ("t", "mend"), ("w", "word")):
            bench.keys.press(key)
            expect(bench.page.locator(f"[data-tool={tool}][aria-pressed=true]")).to_be_attached()
            before = before or bench.page.evaluate(PLACES)
            assert bench.page.evaluate(PLACES) == before, (width, tool)
    resize(bench, 1400, 900)
    before = bench.page.evaluate(PLACES)
    number = bench.page.locator(".g-number").first
    shown = number.inner_text()
    bench.keys.press("PageUp" if shown == "12 / 12" else "PageDown")
    expect(number).not_to_have_text(shown)
    bench.page.evaluate("document.querySelector('.glossator').workspace.panels.toolbar.scaled(1)")
    assert bench.page.evaluate(PLACES) == before


def test_what_does_not_fit_is_worked_by_keys(bench: Bench) -> None:
    page = bench.page
    bench.upload()
    bench.ask("What is the total due?")
    resize(bench, 390, 844)
    more, panel = page.get_by_role("button", name="More tools"), page.get_by_role("group", name="More tools")
    more.focus()
    bench.keys.press("Enter")
    expect(more).to_have_attribute("aria-expanded", "true")
    bench.keys.press("ArrowDown")
    expect(panel.get_by_role("button").first).to_be_focused()
    bench.keys.press("End")
    expect(panel.get_by_role("button", name="Keys and colours")).to_be_focused()
    bench.keys.press("Escape")
    expect(more).to_be_focused()
    expect(panel).to_be_hidden()
    bench.keys.press("ArrowUp")  # opens it at its end
    bench.keys.press("Enter")
    expect(page.get_by_role("dialog", name="Keys and colours")).to_be_visible()
    bench.keys.press("Escape")
    bench.keys.press("b")
    more.click()
    slider = panel.get_by_label("Brush width")
    slider.fill("60")
    page.locator(".g-canvas").click(position={"x": 20, "y": 20})
    expect(panel).to_be_hidden()
    resize(bench, 1400, 900)
    expect(more).to_be_hidden()
    expect(page.locator(".g-toolbar").get_by_label("Brush width")).to_have_value("60")


def test_the_list_that_comes_from_the_side_takes_the_focus_and_gives_it_back(bench: Bench) -> None:
    page = bench.page
    bench.upload(name="first.pdf")
    bench.upload(name="second.pdf")
    resize(bench, 390, 844)
    menu = page.get_by_role("button", name="Documents and pages")
    menu.focus()
    bench.keys.press("Enter")
    expect(menu).to_have_attribute("aria-expanded", "true")
    expect(page.locator(".g-document[aria-selected=true]")).to_be_focused()
    bench.keys.press("ArrowDown")
    bench.keys.press("Enter")
    expect(page.locator(".g-document[aria-selected=true]")).to_contain_text("first.pdf")
    bench.ready()
    expect(page.locator(".g-canvas")).to_be_focused()
    expect(menu).to_have_attribute("aria-expanded", "false")
    expect(page.get_by_label("Search documents")).to_be_hidden()


def test_details_unfold_in_a_small_window_and_accept_stays(bench: Bench) -> None:
    page = bench.page
    bench.upload()
    for question in ("What is the total due?", "What is the invoice date?", "What is the invoice number?"):
        bench.ask(question)
    for width, height in ((390, 844), (640, 360)):
        resize(bench, width, height)
        details = page.get_by_role("button", name="All details")
        expect(page.locator(".g-figures")).to_be_hidden()
        expect(page.get_by_label("Ask this document")).to_be_in_viewport(ratio=1)
        details.click()
        last = page.locator(".g-question").last
        last.evaluate("(row) => row.scrollIntoView({ block: 'nearest' })")  # as the focus does
        in_sight(last)
        in_sight(page.locator(".g-accept"))
        page.locator(".g-gauge").first.scroll_into_view_if_needed()
        expect(page.locator(".g-gauge").first).to_be_in_viewport(ratio=1)
        details.click()
        expect(last).to_be_hidden()
        in_sight(page.locator(".g-accept"))
