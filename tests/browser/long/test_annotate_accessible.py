"""What axe-core finds on the tab Annotate: nothing, whatever is open, wide and narrow, light and dark."""

import pytest
from playwright.sync_api import expect

from tests.browser.axe import NARROW, found_on
from tests.browser.bench import Bench, invoice
from tests.browser.team import Desk, Team

pytestmark = pytest.mark.browser

TOTAL, DATE = "What is the total due?", "What is the invoice date?"


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
    found = found_on(page, "empty")
    bench.upload(invoice(pages=3))
    found += found_on(page, "document")
    assert not found, "\n".join(found)


def test_an_answer_its_details_and_the_dialogs(bench: Bench) -> None:
    page = bench.page
    bench.upload(invoice(pages=3))
    bench.ask(DATE)
    bench.ask(TOTAL)
    found = found_on(page, "answer")
    page.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})
    page.get_by_role("button", name="All details").click()
    page.get_by_role("button", name="More tools").click()
    found += found_on(page, "details and more tools", [NARROW])
    bench.keys.press("Escape")
    page.get_by_role("button", name="Documents and pages").click()
    found += found_on(page, "documents and pages", [NARROW])
    bench.keys.press("Escape")
    page.set_viewport_size({"width": 1400, "height": 900})
    page.locator(".g-canvas").focus()
    for key in ("h", "?"):
        bench.keys.press(key)
        expect(page.get_by_role("dialog")).to_be_visible()
        found += found_on(page, f"dialog of {key}")
        bench.keys.press("Escape")
    bench.keys.press("Delete")
    bench.settled()
    page.route("**/api/annotations/*", lambda route: route.abort())  # hears nothing of it
    bench.save_elsewhere([{"op": "no_answer", "value": True}])
    bench.click("2,987.88")
    expect(page.get_by_role("dialog")).to_be_visible()
    found += found_on(page, "conflict")
    assert not found, "\n".join(found)


def test_the_queue_and_the_review(team: Team) -> None:
    team.ask_of_all(TOTAL, DATE)
    ann = team.sit("Ann")
    found = found_on(ann.page, "standard questions")
    ann.mode("queue")
    ann.at_work(TOTAL)
    found += found_on(ann.page, "queue")
    for question in (DATE, None):
        ann.mark("2,987.88")
        ann.keys.press("Enter")
        if question:
            ann.at_work(question)
    ann.nothing.wait_for()
    found += found_on(ann.page, "empty queue")
    rita: Desk = team.sit("Rita")
    rita.mode("review")
    rita.at_work(TOTAL)
    found += found_on(rita.page, "review")
    rita.keys.press("r")
    found += found_on(rita.page, "review without a reason")
    rita.page.get_by_label("Reason", exact=True).fill("This is the date")
    rita.keys.press("Enter")
    rita.at_work(DATE)
    ann.page.reload()
    ann.ready()
    ann.mode("free")
    ann.page.locator(".g-question", has_text=TOTAL).click()
    expect(ann.page.locator(".g-rejection")).to_be_visible()
    found += found_on(ann.page, "rejected")
    assert not found, "\n".join(found)
