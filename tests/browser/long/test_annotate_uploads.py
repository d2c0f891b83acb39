"""Documents come into the workspace while the server is busy or away, and are given up at a wish."""

import pytest
from playwright.sync_api import expect

from tests.browser.bench import Bench
from tests.browser.upload_gate import SENT, Gate, pdf

pytestmark = pytest.mark.browser


def test_a_busy_server_is_asked_again_and_what_was_not_sent_is_sent_at_a_wish(bench: Bench) -> None:
    page = bench.page
    answers = iter(
        [
            lambda route: route.fulfill(status=429, headers={"Retry-After": "1"}, json={"detail": "Too many files."}),
            lambda route: route.abort(),
        ]
    )
    page.route(SENT, lambda route: next(answers, lambda each: each.continue_())(route))
    page.set_input_files("input[type=file]", [pdf("one.pdf"), pdf("two.pdf")])
    uploads = page.locator(".g-uploads")
    expect(uploads.get_by_text("The server is busy")).to_be_visible()
    expect(uploads.locator("summary:visible")).to_have_text("1 file was not sent")
    expect(page.locator(".g-document")).to_have_count(1)
    uploads.get_by_role("button", name="Try again").click()
    expect(page.locator(".g-document")).to_have_count(2)
    expect(uploads).to_be_hidden()


def test_files_that_wait_are_left_out_when_somebody_cancels(bench: Bench) -> None:
    page = bench.page
    gate = Gate(bench)
    page.set_input_files("input[type=file]", [pdf(f"{number}.pdf") for number in range(6)])
    gate.wait(2)
    page.locator(".g-uploads").get_by_role("button", name="Cancel").click()
    expect(page.locator(".g-uploads").get_by_role("status")).to_have_text("0 of 2 files")
    gate.free()
    expect(page.locator(".g-document")).to_have_count(2)
