"""Walks through the tab Annotate in windows of several sizes."""

from collections.abc import Sequence
from typing import Any

from playwright.sync_api import Locator, expect

from tests.browser.bench import Bench

Sizes = Sequence[tuple[int, int]]
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
    part.page.wait_for_function(top, arg=part.element_handle())


def reach_every_command(bench: Bench, sizes: Sizes) -> None:
    """Every command can be reached, and the decision seen, in windows of these sizes."""
    page = bench.page
    for width, height in sizes:
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


def choose_every_tool(bench: Bench, sizes: Sizes) -> None:
    """No button moves when a tool is chosen, in windows of these sizes, nor when a page is turned."""
    for width, height in sizes:
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
