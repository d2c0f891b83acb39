"""Long documents and dense pages: the browser fetches what it shows, and no more stays in its memory."""

import pymupdf
import pytest
from playwright.sync_api import expect

from tests.browser.bench import Bench

pytestmark = pytest.mark.browser

PAGES = 300
ROWS, COLUMNS = 100, 50


def long_document() -> bytes:
    document = pymupdf.open()
    for number in range(1, PAGES + 1):
        document.new_page(width=120, height=160).insert_text((12, 40), f"Page {number}", fontsize=12)
    return document.tobytes()


def dense_page() -> bytes:
    document = pymupdf.open()
    page = document.new_page(width=842, height=1191)
    for row in range(ROWS):
        for column in range(COLUMNS):
            page.insert_text((20 + 16 * column, 20 + 11.4 * row), f"{row:02}{column:02}", fontsize=5)
    return document.tobytes()


def test_a_document_of_300_pages_fetches_only_what_it_shows(bench: Bench) -> None:
    asked: list[str] = []
    bench.page.on("request", lambda request: asked.append(request.url))
    bench.upload(long_document(), "long.pdf")
    bench.page.wait_for_load_state("networkidle")
    strip = bench.page.locator(".g-pages")
    expect(strip.locator(".g-thumbnail")).to_have_count(PAGES)
    thumbnails = {url for url in asked if "/thumbnail?width=200" in url}
    assert 0 < len(thumbnails) < 60
    assert len({url for url in asked if url.endswith("/words")}) == 1
    assert len({url for url in asked if url.endswith("/image")}) == 1
    bench.keys.press("Escape")
    strip.locator(".g-thumbnail").nth(PAGES - 1).scroll_into_view_if_needed()
    expect(strip.locator(".g-thumbnail").nth(PAGES - 1).locator("img")).to_have_count(1)
    expect(strip.locator(".g-thumbnail").first.locator("img")).to_have_count(0)
    assert strip.locator("img").count() < 60


def test_only_the_last_pages_stay_in_memory(bench: Bench) -> None:
    bench.upload(long_document() + b"\n", "long too.pdf")
    expect(bench.page.locator(".g-pages .g-thumbnail")).to_have_count(PAGES)  # the document opens before all are read
    bench.keys.press("Escape")
    for number in range(2, 31):
        before = bench.place()["page"]
        bench.keys.press("PageDown")
        bench.page.wait_for_function(
            "(page) => { const { ready } = document.querySelector('.glossator').dataset; return ready && ready !== page; }",
            arg=before,
        )
        expect(bench.page.locator(".g-number").first).to_have_text(f"{number} / {PAGES}")
    held = bench.page.evaluate(
        "() => { const { pages } = document.querySelector('.glossator').workspace;"
        " return [pages.words.size, pages.read.size, pages.images.size]; }"
    )
    assert held == [24, 24, 6]


def test_a_page_of_5000_words_is_marked_mended_and_painted(bench: Bench) -> None:
    bench.upload(dense_page(), "dense.pdf")
    bench.ask_and_clear("What stands there?")
    words = bench.words()
    assert len(words["numbers"]) == ROWS * COLUMNS
    bench.click("5025", modifiers=["Shift"])
    bench.settled()
    line = {number for number, text in zip(words["numbers"], words["texts"], strict=True) if text.startswith("50")}
    assert bench.marked() == line
    bench.keys.press("b")
    bench.drag(bench.centre("3010"), bench.centre("3040"))
    bench.settled()
    assert (bench.painted() == bench.stored()).all()
    bench.keys.press("t")
    bench.click("7049")
    bench.page.get_by_label("Text of the word").fill("seven")
    bench.keys.press("Enter")
    bench.settled()
    assert bench.words()["texts"][words["texts"].index("7049")] == "seven"
