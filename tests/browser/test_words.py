"""Fixing words on the page: written, split, merged, added, deleted, and undone."""

import pytest
from playwright.sync_api import expect

from tests.browser.stored_invoice import TOTAL, Invoiced
from tests.browser.word_fixing import field, mend_elsewhere, split_total, texts, write

pytestmark = pytest.mark.browser


HEBREW = {"Total": "סך", "due:": "לתשלום", "EUR": "שקל"}


def test_a_word_is_written_anew_undone_and_done_again(invoiced: Invoiced) -> None:
    bench = invoiced()
    before = bench.words()
    bench.keys.press("t")
    write(bench, "2,987.88", "2,987.00")
    bench.settled()
    expect(bench.saved).to_contain_text("Saved ")
    after = bench.words()
    assert after["numbers"] == before["numbers"] and after["boxes"] == before["boxes"]
    assert after["texts"] == [{"2,987.88": "2,987.00"}.get(text, text) for text in before["texts"]]
    bench.keys.press("Control+z")
    bench.settled()
    assert texts(bench) == before["texts"]
    bench.keys.press("Control+Shift+z")
    bench.settled()
    assert texts(bench) == after["texts"] and bench.words()["version"] == 3
    bench.reopen()
    bench.ready()
    assert texts(bench) == after["texts"]


def test_escape_leaves_the_word_as_it_was_and_a_word_cannot_be_written_away(invoiced: Invoiced) -> None:
    bench = invoiced()
    bench.keys.press("t")
    bench.click("March")
    field(bench).fill("April")
    bench.keys.press("Escape")
    bench.click("March")
    field(bench).fill("  ")
    bench.keys.press("Enter")
    expect(bench.page.locator(".g-toast").last).to_contain_text("needs text")
    expect(field(bench)).to_be_visible()
    bench.keys.press("Escape")
    bench.settled()
    assert bench.words()["version"] == 0 and "March" in texts(bench)


def test_a_split_word_stays_marked_with_its_pixels_and_is_read_in_parts(invoiced: Invoiced) -> None:
    bench = invoiced(TOTAL)
    bench.click("2,987.88")
    bench.settled()
    painted, box, number = bench.painted(), bench.box("2,987.88"), bench.number("2,987.88")
    bench.keys.press("t")
    split_total(bench)
    bench.settled()
    after = bench.words()
    at = after["texts"].index("2,")
    assert after["texts"][at : at + 2] == ["2,", "987.88"] and number not in after["numbers"]
    left, right = after["boxes"][at : at + 2]
    assert [left[0], left[1], right[2], right[3]] == list(box) and left[2] == right[0]
    assert 0.1 < (left[2] - box[0]) / (box[2] - box[0]) < 0.35
    expect(bench.page.locator(".g-reading")).to_have_text("2, 987.88")
    assert bench.annotation()["text"] == "2, 987.88"
    assert (bench.painted() == painted).all()
    expect(bench.page.locator(".g-differs")).to_have_count(0)
    # The next stroke writes the mark down with the words that stand there now.
    bench.keys.press("w")
    bench.click("987.88")
    bench.settled()
    assert bench.marked() == {after["numbers"][at]}
    assert (bench.painted() == bench.stored()).all()
    bench.keys.press("t")
    bench.keys.press("Control+z")
    bench.settled()
    assert number in bench.words()["numbers"]


def test_chosen_words_are_merged_and_come_back_with_their_numbers(invoiced: Invoiced) -> None:
    bench = invoiced()
    before = bench.words()
    bench.keys.press("t")
    bench.click("14", modifiers=["Shift"])
    bench.click("March", modifiers=["Shift"])
    bench.keys.press("g")
    expect(field(bench)).to_have_value("14March")
    field(bench).fill("14.03.")
    bench.keys.press("Enter")
    bench.settled()
    assert "14.03." in texts(bench) and "March" not in texts(bench)
    bench.keys.press("Control+z")
    bench.keys.press("Control+z")
    bench.settled()
    after = bench.words()
    assert (after["numbers"], after["texts"], after["boxes"]) == (before["numbers"], before["texts"], before["boxes"])


def test_a_drag_on_paper_makes_a_word_in_its_line_and_delete_takes_it_away(invoiced: Invoiced) -> None:
    bench = invoiced()
    before = bench.words()
    _, y0, x1, y1 = bench.box("EUR")
    bench.keys.press("t")
    bench.drag((x1 + 30, y0 + 4), (x1 + 110, y1 - 3))
    expect(field(bench)).to_be_focused()
    bench.keys.type("net")
    bench.keys.press("Enter")
    bench.settled()
    after = bench.words()
    at = after["texts"].index("net")
    assert after["texts"][at - 1] == "EUR" and after["lines"][at] == after["lines"][at - 1]
    assert (after["boxes"][at][1], after["boxes"][at][3]) == (y0, y1)  # drawn a little askew, it fits the line
    bench.click("net", modifiers=["Shift"])
    bench.keys.press("Delete")
    bench.settled()
    assert texts(bench) == before["texts"]
    bench.keys.press("Control+z")
    bench.settled()
    assert texts(bench) == after["texts"]


def test_words_are_mended_without_a_mouse(invoiced: Invoiced) -> None:
    bench = invoiced()
    bench.keys.press("t")
    at = texts(bench).index("March")
    for _ in range(at + 1):
        bench.keys.press("ArrowRight")
    bench.keys.press("Enter")
    expect(field(bench)).to_have_value("March")
    field(bench).fill("May")
    bench.keys.press("Tab")
    expect(field(bench)).to_have_value("2026")
    field(bench).fill("2027")
    bench.keys.press("Enter")
    bench.settled()
    assert texts(bench)[at : at + 2] == ["May", "2027"]
    expect(bench.page.locator(".g-canvas")).to_be_focused()
    assert bench.page.locator(".g-spoken").inner_text() == "2027"


def test_right_to_left_words_are_written_split_and_read_from_the_right(invoiced: Invoiced) -> None:
    bench = invoiced(TOTAL)
    mend_elsewhere(bench, *({"op": "text", "number": bench.number(old), "text": new} for old, new in HEBREW.items()))
    bench.reopen()
    bench.ready()
    bench.click("לתשלום")
    reading = bench.page.locator(".g-reading")
    expect(reading).to_have_text("לתשלום")
    expect(reading).to_have_css("direction", "rtl")
    bench.settled()
    x0, _, x1, _ = bench.box("לתשלום")
    bench.keys.press("t")
    bench.click("לתשלום")
    expect(field(bench)).to_have_css("direction", "rtl")
    field(bench).evaluate("(element) => element.setSelectionRange(2, 2)")
    bench.keys.press("Control+Enter")
    bench.settled()
    words = bench.words()
    first, second = (words["boxes"][words["texts"].index(part)] for part in ("לת", "שלום"))
    assert (second[0], first[2]) == (x0, x1) and second[2] == first[0]
    expect(reading).to_have_text("לת שלום")


def test_words_and_pixels_that_differ_are_said(invoiced: Invoiced) -> None:
    bench = invoiced(TOTAL)
    bench.click("2,987.88")
    expect(bench.page.locator(".g-differs")).to_have_count(0)
    bench.keys.press("e")
    x0, y0, x1, y1 = bench.box("2,987.88")
    bench.page.get_by_label("Brush width").fill("60")
    bench.drag((x0, (y0 + y1) / 2), (x1, (y0 + y1) / 2))
    expect(bench.page.locator(".g-differs")).to_have_text("1 selected word is not painted.")
    bench.keys.press("b")
    bench.drag((x0, y1 + 200), (x1, y1 + 200))
    expect(bench.page.locator(".g-differs")).to_contain_text("No text is selected under your paint.")
    bench.settled()


def test_zooming_to_the_mark_brings_it_into_the_middle(invoiced: Invoiced) -> None:
    bench = invoiced(TOTAL)
    bench.keys.press("z")
    expect(bench.page.locator(".g-toast").last).to_have_text("Nothing is marked on this page.")
    bench.click("2,987.88")
    before = bench.page.evaluate("() => document.querySelector('.glossator').workspace.stage.view.scale")
    bench.keys.press("z")
    view = bench.page.evaluate(
        "() => { const { scale, width, height } = document.querySelector('.glossator').workspace.stage.view;"
        " return [scale, width, height]; }"
    )
    assert view[0] > 1.5 * before
    canvas = bench.page.locator(".g-canvas").bounding_box()
    assert canvas is not None
    x, y = bench.at(*bench.centre("2,987.88"))
    assert abs(x - canvas["x"] - view[1] / 2) < 2 and abs(y - canvas["y"] - view[2] / 2) < 2
    bench.settled()


def test_a_page_is_turned_by_a_key_and_back_until_it_is_marked(invoiced: Invoiced) -> None:
    bench = invoiced(TOTAL)
    page, word = bench.page, bench.box("2,987.88")
    shape = "() => (({ width, height }) => [width, height])(document.querySelector('.glossator').workspace.stage.page)"
    width, height = page.evaluate(shape)
    thumbnail = page.locator(".g-document img").first
    before = thumbnail.get_attribute("src")
    bench.keys.press("Shift+R")
    page.wait_for_function(f"([width, height]) => ({shape})().join() === [height, width].join()", arg=[width, height])
    assert bench.box("2,987.88") == (height - word[3], word[0], height - word[1], word[2])
    expect(thumbnail).not_to_have_attribute("src", before or "")
    page.locator(".g-toast", has_text="Page 1 was turned.").get_by_role("button", name="Turn back").click()
    page.wait_for_function(f"([width, height]) => ({shape})().join() === [width, height].join()", arg=[width, height])
    assert bench.box("2,987.88") == word
    bench.click("2,987.88")
    bench.settled()
    bench.keys.press("Shift+R")
    expect(page.locator(".g-toast", has_text="Page 1 stays as it is: 1 answer marked it")).to_be_visible()
    assert page.evaluate(shape) == [width, height]
