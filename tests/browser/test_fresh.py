"""What is changed anywhere is on every open screen; a screen that nobody touches asks nothing."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.bench import Bench, invoice

TOTAL = "What is the total due?"
OWN = {"X-Glossator": "1", "Sec-Fetch-Site": "same-origin"}


@pytest.fixture
def other(bench: Bench) -> Iterator[Bench]:
    """A second window of the same browser."""
    page: Page = bench.page.context.new_page()
    thrown: list[str] = []
    page.on("pageerror", lambda error: thrown.append(str(error)))
    page.goto(f"{bench.server}/app/#project={bench.project}")
    page.wait_for_selector(".glossator[data-started]")
    yield Bench(page, bench.server)
    assert not thrown, thrown[0]


def send(bench: Bench, method: str, path: str, body: object) -> None:
    answer = bench.page.request.fetch(f"{bench.server}/api{path}", method=method, data=body, headers=OWN)
    assert answer.ok, answer.text()


def test_what_one_window_does_is_on_the_other(bench: Bench, other: Bench) -> None:
    project = bench.project
    bench.upload(invoice(), "fresh from the press.pdf")
    document = bench.place()["document"]
    row = other.page.locator(f".g-document[data-document='{document}']")
    expect(row).to_contain_text("no questions")
    bench.ask_and_clear(TOTAL)
    row.click()
    other.ready()
    expect(other.page.locator(".g-asked")).to_have_text(TOTAL)
    bench.keys.press("w")
    bench.click("2,987.88")
    bench.settled()
    expect(other.page.locator(".g-reading")).to_have_text("2,987.88")
    bench.keys.press("Enter")
    bench.settled()
    expect(row).to_contain_text("1 of 1 accepted")
    expect(other.page.locator(".g-accept")).to_contain_text("Accepted")
    # Standard questions that somebody has written, elsewhere, for a project of which this document is.
    send(bench, "PUT", f"/projects/{project}/standard-questions", {"questions": ["Who is freshly asked?"]})
    for window in (bench, other):
        expect(window.page.locator(".g-suggestion", has_text="Who is freshly asked?")).to_be_visible()
    send(bench, "PUT", f"/projects/{project}/standard-questions", {"questions": []})
    for window in (bench, other):
        expect(window.page.locator(".g-suggestion", has_text="Who is freshly asked?")).to_have_count(0)
    # A project that is made elsewhere can be chosen.
    send(bench, "POST", "/projects", {"name": f"made elsewhere {document[-6:]}"})
    expect(other.page.locator("select.g-project")).to_contain_text(f"made elsewhere {document[-6:]}")


# Whether the row of the open document stands, and all pictures are there.
_PICTURES = """() => document.querySelector('.g-document[aria-selected=true] img')
  && [...document.querySelectorAll('.glossator img')].every((each) => each.complete && each.naturalWidth)"""


def test_a_window_that_nobody_touches_asks_nothing(bench: Bench) -> None:
    bench.upload()
    bench.ask(TOTAL)
    bench.settled()
    asked: list[str] = []
    bench.listen("request", lambda request: asked.append(request.url))
    bench.page.wait_for_function(_PICTURES)
    for _ in range(10):  # what one did oneself comes back, and is looked at once
        asked.clear()
        bench.page.wait_for_timeout(2_500)
        if not asked:
            break
    bench.page.wait_for_timeout(6_000)  # nothing can be waited for: that it does not come is what counts
    assert not asked
    # It hears all the same.
    place = bench.place()
    send(bench, "POST", f"/documents/{place['document']}/ask", {"question": "What is the invoice number?"})
    expect(bench.page.locator(".g-question")).to_have_count(2)


def test_a_lost_connection_is_said_where_nothing_waits_to_be_saved(bench: Bench) -> None:
    bench.upload()
    bench.ask("What is the total due?")
    saved = bench.page.locator(".g-saved")
    bench.page.route("**/api/changes**", lambda route: route.abort())
    bench.reload()
    expect(saved).to_contain_text("Offline: changes made elsewhere appear when the connection is back")
    bench.page.unroute("**/api/changes**")
    expect(saved).not_to_contain_text("Offline")


@pytest.mark.own_page
def test_a_page_of_another_edition_asks_to_be_reloaded(bench: Bench) -> None:
    page, notice = bench.page, bench.page.get_by_text("Glossator was upgraded.")
    expect(notice).to_be_hidden()

    def answer_newer(route: Route) -> None:
        answer = route.fetch()
        assert len(answer.headers["x-glossator-edition"]) == 16
        route.fulfill(response=answer, headers={**answer.headers, "x-glossator-edition": "another"})

    page.route("**/api/projects", answer_newer)
    page.reload()
    expect(notice).to_be_visible()
    page.unroute("**/api/projects")
    notice.get_by_role("link", name="Reload").click()
    page.wait_for_selector(".glossator[data-started]")
    expect(notice).to_be_hidden()
