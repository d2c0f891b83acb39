"""The tab Annotate in windows of all sizes: nothing is cut off, nothing jumps, the decision stays in sight."""

import pytest
from playwright.sync_api import expect

from engine.workspace import Workspace
from tests.browser.layout_walks import choose_every_tool, in_sight, reach_every_command, resize
from tests.browser.stored_invoice import DATE, TOTAL, Invoiced, store_invoice
from tests.browser.window import Window

pytestmark = pytest.mark.browser

QUICK_SIZES = [(1280, 720), (390, 844)]  # the others: tests/browser/long


def test_every_command_is_reached_and_the_decision_seen(invoiced: Invoiced) -> None:
    reach_every_command(invoiced(TOTAL, pages=2), QUICK_SIZES)


def test_no_button_moves_when_a_tool_is_chosen(invoiced: Invoiced) -> None:
    choose_every_tool(invoiced(TOTAL, pages=12), QUICK_SIZES)


def test_what_does_not_fit_is_worked_by_keys(invoiced: Invoiced) -> None:
    bench = invoiced(TOTAL)
    page = bench.page
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


def test_the_list_that_comes_from_the_side_takes_the_focus_and_gives_it_back(window: Window, stored: Workspace) -> None:
    project = window.make_project("two documents")
    for name in ("first.pdf", "second.pdf"):
        store_invoice(stored, project, name=name)
    bench = window.open(project)
    bench.ready()
    page = bench.page
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
    expect(page.get_by_role("searchbox", name="Search documents")).to_be_hidden()


def test_details_unfold_in_a_small_window_and_accept_stays(invoiced: Invoiced) -> None:
    bench = invoiced(DATE, "What is the invoice number?")
    bench.ask(TOTAL)  # the figures are the model's
    page = bench.page
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
