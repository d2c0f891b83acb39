"""The tab Quality in a browser: what was done shows there, wide and narrow."""

from playwright.sync_api import expect

from tests.browser.bench import Bench


def test_an_accepted_answer_shows_on_the_tab_quality(bench: Bench) -> None:
    bench.upload()
    bench.ask_and_clear()
    bench.click("2,987.88")
    bench.settled()
    bench.keys.press("Enter")
    bench.settled()
    page = bench.page
    page.get_by_role("tab", name="Quality", exact=True).click()
    plots = page.locator(".glossator-plot:visible")
    expect(plots.filter(has_text="Masks a day")).to_contain_text("1 day")
    expect(page.get_by_role("figure", name="Seconds a mask Median")).to_contain_text("nano")
    first = plots.filter(has_text="Masks a day")
    first.get_by_text("Values").click()
    expect(first.locator("table")).to_contain_text("local")
    page.set_viewport_size({"width": 390, "height": 844})
    expect(first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_the_reference_asks_no_other_machine_for_anything(bench: Bench) -> None:
    asked: list[str] = []
    page = bench.page.context.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{bench.server}/api/docs")
    page.get_by_text("Append a revision").first.click()
    expect(page.locator("details[open]").get_by_text("idempotency_key").first).to_be_visible()
    assert asked and all(url.startswith(bench.server) for url in asked), asked
    page.close()
