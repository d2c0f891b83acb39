"""The same key several times on a page: all values are listed with their places, and one key picks one."""

import random
from string import ascii_lowercase

import pymupdf
import pytest
from playwright.sync_api import expect

from tests.browser.bench import Bench

pytestmark = pytest.mark.browser
QUESTION = "What is the date?"
PLACES = {"3 March 2026": "ORDER", "14 April 2026": "DELIVERY", "30 June 2026": "PAYMENT"}


def order() -> bytes:
    """A PDF that prints the key "Date:" under three headings."""
    document = pymupdf.open()
    page = document.new_page()
    goods = ["".join(random.choices(ascii_lowercase, k=8)) for _ in range(6)]  # no duplicate of another test's
    lines = (
        (90, "ORDER"), (120, "Date: 3 March 2026"), (150, f"Goods: {' '.join(goods[:2])}"),
        (210, "DELIVERY"), (240, "Date: 14 April 2026"), (270, f"Carrier: {' '.join(goods[2:4])}"),
        (330, "PAYMENT"), (360, "Date: 30 June 2026"), (390, f"Bank: {' '.join(goods[4:])}"),
    )  # fmt: skip
    for y, text in lines:
        page.insert_text((72, y), text, fontsize=14)
    return document.tobytes()


def test_a_digit_picks_the_value_of_another_place(bench: Bench) -> None:
    page = bench.page
    bench.upload(order(), "order.pdf")
    bench.ask(QUESTION)
    proposal = bench.annotation()["proposal"]
    assert proposal["repeated"] == 3
    expect(page.locator(".g-repeated")).to_contain_text("The key stands 3 times on this page.")
    rows = page.locator(".g-candidate")
    shown = rows.locator("bdi").all_inner_texts()
    at, other = next((number, text) for number, text in enumerate(shown) if number and text in PLACES)
    expect(rows.nth(at).locator("small")).to_have_text(PLACES[other])
    proposed = bench.painted()
    bench.keys.press(str(at + 1))
    bench.settled()
    expect(page.locator(".g-reading")).to_have_text(other)
    expect(rows.nth(at)).to_have_attribute("aria-pressed", "true")
    picked = bench.painted()
    assert (picked == bench.stored()).all() and (picked != proposed).any()
    bench.keys.press("Control+z")
    bench.settled()
    assert (bench.painted() == proposed).all() and (bench.stored() == proposed).all()
    bench.keys.press(str(at + 1))
    bench.keys.press("Enter")
    expect(page.locator(".g-answer-head .g-status")).to_have_text("Accepted")
    bench.settled()
    assert bench.annotation()["status"] == "accepted" and (bench.stored() == picked).all()


def test_a_key_that_stands_once_says_nothing_of_places(bench: Bench) -> None:
    bench.upload()
    bench.ask("What is the total due?")
    expect(bench.page.locator(".g-repeated")).to_have_count(0)
    expect(bench.page.locator(".g-candidate small")).to_have_count(0)
