"""Parts of the canvas that no walk through the page reaches: fingers, several pages, prompts of a page opened anew."""

import pytest
from playwright.sync_api import expect

from tests.browser.stored_invoice import TOTAL, Invoiced

pytestmark = pytest.mark.browser


def test_two_fingers_zoom_and_pan_and_paint_nothing(invoiced: Invoiced) -> None:
    bench = invoiced(TOTAL)
    bench.keys.press("b")
    head = bench.annotation()["head"]
    scale = bench.page.evaluate("() => document.querySelector('.glossator').workspace.stage.view.scale")
    x, y = bench.at(*bench.centre("2,987.88"))
    touch = bench.page.context.new_cdp_session(bench.page)

    def fingers(kind: str, *places: tuple[float, float]) -> None:
        points = [{"x": px, "y": py, "id": finger} for finger, (px, py) in enumerate(places)]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    fingers("touchStart", (x - 40, y))
    fingers("touchStart", (x - 40, y), (x + 40, y))
    for spread in range(45, 125, 10):
        fingers("touchMove", (x - spread, y), (x + spread, y))
    fingers("touchEnd")
    bench.settled()
    zoomed = bench.page.evaluate("() => document.querySelector('.glossator').workspace.stage.view.scale")
    assert zoomed > 1.5 * scale
    assert not bench.painted().any()
    assert bench.annotation()["head"] == head
    # One finger paints.
    fingers("touchStart", (x, y))
    fingers("touchMove", (x + 30, y))
    fingers("touchEnd")
    bench.settled()
    assert bench.painted().any() and (bench.painted() == bench.stored()).all()


def test_an_answer_has_several_regions_on_several_pages(invoiced: Invoiced) -> None:
    bench = invoiced(TOTAL, pages=2)
    first = bench.place()["page"]
    bench.keys.press("r")
    for text in ("2,987.88", "March"):
        x0, y0, x1, y1 = bench.box(text)
        if text == "March":
            bench.keys.down("Shift")
        bench.ask_in((x0 - 3, y0 - 3), (x1 + 3, y1 + 3))
        bench.keys.up("Shift")
        bench.settled()
    marks = bench.annotation()["state"]["pages"]
    assert {bench.number("2,987.88"), bench.number("March")} <= set(marks[first]["words"])
    assert len(marks[first]["boxes"]) == 2
    bench.keys.press("PageDown" if bench.page.locator(".g-number").first.text_content() == "1 / 2" else "PageUp")
    bench.page.wait_for_function(
        "(page) => { const { ready } = document.querySelector('.glossator').dataset; return ready && ready !== page; }",
        arg=first,
    )
    bench.keys.press("w")
    bench.click("EUR")
    bench.settled()
    marks = bench.annotation()["state"]["pages"]
    assert set(marks) == {first, bench.place()["page"]} and marks[first]["words"]
    expect(bench.page.locator(".g-ranked-page[data-origin=person]")).to_have_count(2)
    reading = bench.page.locator(".g-reading")
    expect(reading).to_contain_text("2,987.88")
    expect(reading).to_contain_text("EUR")


def test_a_browser_that_translates_the_page_leaves_names_questions_and_answers(invoiced: Invoiced) -> None:
    bench = invoiced(TOTAL)
    bench.click("2,987.88")
    bench.settled()
    for data in (".g-name", ".g-question-text", ".g-asked", ".g-reading"):
        expect(bench.page.locator(data).first).to_be_visible()
        assert bench.page.locator(data).evaluate_all("all => all.every((each) => !each.translate)"), data
    assert bench.page.locator(".g-canvas").evaluate("canvas => canvas.translate")


def test_points_and_boxes_stand_on_the_page_again_when_it_is_opened_anew(invoiced: Invoiced) -> None:
    bench = invoiced(TOTAL)
    bench.keys.press("r")
    x0, y0, x1, y1 = bench.box("2,987.88")
    bench.ask_in((x0 - 6, y0 - 6), (x1 + 6, y1 + 6))
    bench.settled()
    before = bench.annotation()["state"]["pages"][bench.place()["page"]]
    assert len(before["boxes"]) == 1
    bench.reopen()
    bench.ready()
    shown = bench.page.evaluate("() => document.querySelector('.glossator').workspace.stage.mark.boxes")
    assert shown == before["boxes"]
    assert (bench.painted() == bench.stored()).all()
