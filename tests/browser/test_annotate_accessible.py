"""What axe-core finds on the tab Annotate: nothing, whatever is open, wide and narrow, light and dark."""

from collections.abc import Sequence
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import violations
from tests.browser.bench import Bench, invoice
from tests.browser.team import Desk, Team

pytestmark = pytest.mark.browser

NARROW = (390, 844)
SIZES = [(1400, 900), NARROW]
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
TOTAL, DATE = "What is the total due?", "What is the invoice date?"


def sound(page: Page, what: str, sizes: Sequence[tuple[int, int]] = SIZES) -> list[str]:
    """What axe-core finds on this screen in all sizes, light and dark."""
    page.locator(".g-toast [aria-label=Dismiss]").evaluate_all("(all) => all.forEach((each) => each.click())")
    found, before = [], page.viewport_size
    for width, height in sizes:
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_function("(width) => innerWidth === width", arg=width)
        for theme in THEMES:
            page.emulate_media(color_scheme=theme, reduced_motion="reduce")
            dark = "(dark) => matchMedia('(prefers-color-scheme: dark)').matches === dark"
            page.wait_for_function(dark, arg=theme == "dark")
            found += [f"{what}, {width}, {theme}: {line}" for line in violations(page)]
    assert before
    page.set_viewport_size(before)
    return found


def test_an_empty_project_and_a_document_before_any_question(bench: Bench) -> None:
    page = bench.page
    answer = page.request.post(
        f"{bench.server}/api/projects",
        data={"name": "nothing in it"},
        headers={"X-Glossator": "1", "Sec-Fetch-Site": "same-origin"},
    )
    page.goto(f"{bench.server}/app/#project={answer.json()['id']}")
    bench.reload()
    page.wait_for_selector(".glossator[data-started]")
    expect(page.get_by_text("Start with a document")).to_be_visible()
    found = sound(page, "empty")
    bench.upload(invoice(pages=3))
    found += sound(page, "document")
    assert not found, "\n".join(found)


def test_an_answer_its_details_and_the_dialogs(bench: Bench) -> None:
    page = bench.page
    bench.upload(invoice(pages=3))
    bench.ask(DATE)
    bench.ask(TOTAL)
    found = sound(page, "answer")
    page.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})
    page.get_by_role("button", name="All details").click()
    page.get_by_role("button", name="More tools").click()
    found += sound(page, "details and more tools", [NARROW])
    bench.keys.press("Escape")
    page.get_by_role("button", name="Documents and pages").click()
    found += sound(page, "documents and pages", [NARROW])
    bench.keys.press("Escape")
    page.set_viewport_size({"width": 1400, "height": 900})
    page.locator(".g-canvas").focus()
    for key in ("h", "?"):
        bench.keys.press(key)
        expect(page.get_by_role("dialog")).to_be_visible()
        found += sound(page, f"dialog of {key}")
        bench.keys.press("Escape")
    bench.keys.press("Delete")
    bench.settled()
    page.route("**/api/annotations/*", lambda route: route.abort())  # hears nothing of it
    bench.save_elsewhere([{"op": "no_answer", "value": True}])
    bench.click("2,987.88")
    expect(page.get_by_role("dialog")).to_be_visible()
    found += sound(page, "conflict")
    assert not found, "\n".join(found)


def test_the_queue_and_the_review(team: Team) -> None:
    team.ask_of_all(TOTAL, DATE)
    ann = team.sit("Ann")
    found = sound(ann.page, "standard questions")
    ann.mode("queue")
    ann.at_work(TOTAL)
    found += sound(ann.page, "queue")
    for question in (DATE, None):
        ann.mark("2,987.88")
        ann.keys.press("Enter")
        if question:
            ann.at_work(question)
    ann.nothing.wait_for()
    found += sound(ann.page, "empty queue")
    rita: Desk = team.sit("Rita")
    rita.mode("review")
    rita.at_work(TOTAL)
    found += sound(rita.page, "review")
    rita.keys.press("r")
    found += sound(rita.page, "review without a reason")
    rita.page.get_by_label("Reason", exact=True).fill("This is the date")
    rita.keys.press("Enter")
    rita.at_work(DATE)
    ann.page.reload()
    ann.ready()
    ann.mode("free")
    ann.page.locator(".g-question", has_text=TOTAL).click()
    expect(ann.page.locator(".g-rejection")).to_be_visible()
    found += sound(ann.page, "rejected")
    assert not found, "\n".join(found)
