"""What can be asked: standard questions, recent ones, one's own before; and asking further pages of a long document."""

import itertools

import pytest
from playwright.sync_api import Route, expect

from tests.browser.bench import Bench, invoice

pytestmark = pytest.mark.browser

STANDARD = ["What is the total due?", "What is the invoice date?", "What is the invoice number?"]
HEADERS = {"X-Glossator": "1", "Sec-Fetch-Site": "same-origin"}
_serial = itertools.count(1)


@pytest.fixture
def project(bench: Bench) -> str:
    """A project of its own with standard questions and one document, open in the workspace."""
    made = bench.page.request.post(
        f"{bench.server}/api/projects", data={"name": f"suggestions {next(_serial)}"}, headers=HEADERS
    )
    assert made.ok, made.text()
    project = str(made.json()["id"])
    stored = bench.page.request.put(
        f"{bench.server}/api/projects/{project}/standard-questions", data={"questions": STANDARD}, headers=HEADERS
    )
    assert stored.ok, stored.text()
    bench.page.goto(f"{bench.server}/app/?fresh#project={project}")
    bench.page.wait_for_selector(".glossator[data-started]")
    bench.upload()
    expect(bench.page.locator(".g-suggestion")).to_have_count(3)
    return project


def asked(bench: Bench, question: str) -> None:
    expect(bench.page.locator(".g-asked").first).to_have_text(question)
    bench.settled()


def test_a_standard_question_is_one_click_and_leaves_the_list(bench: Bench, project: str) -> None:
    bench.page.locator(".g-suggestion", has_text="invoice date").click()
    asked(bench, STANDARD[1])  # beside an open answer two are shown
    expect(bench.page.locator(".g-suggestion span")).to_have_text([STANDARD[0], STANDARD[2]])
    bench.reload()
    bench.ready()
    expect(bench.page.locator(".g-suggestion span")).to_have_text([STANDARD[0], STANDARD[2]])


def test_s_and_a_digit_ask(bench: Bench, project: str) -> None:
    bench.keys.press("Escape")
    bench.keys.press("s")
    bench.keys.press("3")
    asked(bench, STANDARD[2])
    bench.keys.press("s")
    bench.keys.press("w")  # any other key does what it does
    bench.keys.press("1")
    bench.settled()
    expect(bench.page.locator(".g-suggestion")).to_have_count(2)


def test_ask_all_shows_progress_and_stops(bench: Bench, project: str) -> None:
    waiting: list[Route] = []
    bench.page.route("**/api/documents/*/ask", lambda route: waiting.append(route))
    bench.page.get_by_role("button", name="Ask all").click()
    expect(bench.page.locator(".g-suggestions-head")).to_contain_text("Asking 1 of 3")
    bench.page.locator(".g-suggestions-head").get_by_role("button", name="Stop").click()
    expect(bench.page.locator(".g-suggestions-head")).to_contain_text("Stopping…")
    waiting[0].continue_()
    bench.page.unroute("**/api/documents/*/ask")
    expect(bench.page.locator(".g-question")).to_have_count(1)
    expect(bench.page.locator(".g-suggestion")).to_have_count(2)
    asked(bench, STANDARD[0])
    bench.page.get_by_role("button", name="Ask all").click()
    expect(bench.page.locator(".g-question-text")).to_have_text(STANDARD)
    expect(bench.page.locator(".g-suggestions")).to_contain_text("All standard questions asked")


def test_questions_of_the_project_are_offered_while_typing(bench: Bench, project: str) -> None:
    bench.ask("Who is the sender?")
    bench.ask("Who has sent it?")
    bench.upload()
    field = bench.page.get_by_label("Ask this document")
    field.fill("who")
    options = bench.page.get_by_role("listbox", name="Questions asked before").get_by_role("option")
    expect(options).to_have_count(2)
    bench.keys.press("ArrowDown")
    bench.keys.press("ArrowDown")
    chosen = options.nth(1).locator("span").inner_text()
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    bench.keys.press("Enter")
    asked(bench, chosen)
    expect(options).to_have_count(0)
    field.fill("who")
    expect(options).to_have_count(1)
    bench.keys.press("Escape")
    expect(options.first).to_be_hidden()
    expect(field).to_have_value("who")


def test_up_in_an_empty_field_brings_back_what_was_asked(bench: Bench, project: str) -> None:
    bench.ask("Who is the sender?")
    bench.ask("Which page is this?")
    field = bench.page.get_by_label("Ask this document")
    field.click()
    for key, expected in (
        ("ArrowUp", "Which page is this?"),
        ("ArrowUp", "Who is the sender?"),
        ("ArrowUp", "Who is the sender?"),
        ("ArrowDown", "Which page is this?"),
        ("ArrowDown", ""),
    ):
        bench.keys.press(key)
        expect(field).to_have_value(expected)


def test_a_long_document_says_how_many_pages_were_asked_and_asks_the_rest(bench: Bench, project: str) -> None:
    bench.upload(invoice(pages=11))
    bench.ask("What is on page 9 of 11?")
    ranked, card = bench.page.locator(".g-ranked-page"), bench.page.locator(".g-ranked")
    expect(card).to_contain_text("8 of 11 pages asked")
    bench.page.get_by_role("button", name="more pages").click()
    expect(ranked).to_have_count(8)
    bench.page.get_by_role("button", name="Ask the other 3").click()
    expect(ranked).to_have_count(11)
    expect(card).not_to_contain_text("pages asked")
    bench.settled()
    assert len(bench.annotation()["ranked"]) == 11
    ranked.nth(5).click()
    number = ranked.nth(5).locator("span").inner_text().removeprefix("Page ")
    expect(bench.page.locator(".g-number").first).to_have_text(f"{number} / 11")
    expect(ranked.nth(5)).to_have_attribute("aria-current", "true")
