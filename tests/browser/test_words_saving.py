"""Fixed words are saved once: without network, beside other people, and as the server fixes them."""

import numpy as np
import pytest
from playwright.sync_api import Route, expect

from tests.browser.bench import sent_json
from tests.browser.stored_invoice import TOTAL, Invoiced
from tests.browser.word_fixing import WORDS, cut_the_line, mend_elsewhere, mend_the_line, split_total, texts

pytestmark = pytest.mark.browser


def test_offline_word_fixes_survive_a_reload_and_marks_may_name_new_words(invoiced: Invoiced) -> None:
    bench = invoiced(TOTAL)
    cut_the_line(bench)
    bench.keys.press("t")
    split_total(bench)
    number = bench.page.evaluate("() => document.querySelector('.glossator').workspace.library.words.next - 1")
    x, y = bench.page.evaluate(
        """(number) => {
          const [x0, y0, x1, y1] = document.querySelector('.glossator').workspace.stage.grid.boxOf(number);
          return [(x0 + x1) / 2, (y0 + y1) / 2];
        }""",
        number,
    )
    bench.keys.press("w")
    bench.page.mouse.click(*bench.at(x, y))
    expect(bench.page.locator(".g-reading")).to_have_text("987.88")
    expect(bench.saved).to_contain_text("Offline: 2 edits kept in this browser")
    bench.reload()
    bench.ready()
    expect(bench.page.locator(".g-reading")).to_have_text("987.88")
    mend_the_line(bench)
    bench.settled()
    assert bench.words()["version"] == 1
    assert bench.marked() == {number} and bench.annotation()["text"] == "987.88"
    assert np.array_equal(bench.painted(), bench.stored())


def test_an_answer_lost_on_the_way_back_does_not_mend_twice(invoiced: Invoiced) -> None:
    bench = invoiced()
    lost: list[str] = []

    def lose_the_first(route: Route) -> None:
        if lost or route.request.method != "PUT":
            route.continue_()
            return
        lost.append(sent_json(route.request)["idempotency_key"])
        route.fetch()
        route.abort("connectionreset")

    bench.page.route(WORDS, lose_the_first)
    bench.keys.press("t")
    split_total(bench)
    bench.settled()
    assert lost and bench.words()["version"] == 1
    assert texts(bench).count("987.88") == 1


def test_my_word_fixes_apply_to_those_of_others_and_marks_keep_their_words(invoiced: Invoiced) -> None:
    bench = invoiced(TOTAL)
    cut_the_line(bench)
    bench.keys.press("t")
    split_total(bench)
    box = bench.page.evaluate(
        """() => { const { stage, library } = document.querySelector('.glossator').workspace;
          return stage.grid.boxOf(library.words.next - 1); }"""
    )
    bench.keys.press("w")
    bench.page.mouse.click(*bench.at((box[0] + box[2]) / 2, (box[1] + box[3]) / 2))
    _, y0, x1, y1 = bench.box("EUR")
    mend_elsewhere(bench, {"op": "add", "text": "net", "box": [x1 + 20, y0, x1 + 60, y1]})
    mend_the_line(bench)
    dialog = bench.page.get_by_role("dialog")
    expect(dialog).to_contain_text("words of this page were changed by somebody else")
    expect(dialog.locator("li")).to_have_text("2,987.88 is split into 2, and 987.88")
    dialog.get_by_role("button", name="Apply my changes").click()
    bench.settled()
    words = bench.words()
    assert words["version"] == 2 and {"net", "2,", "987.88"} <= set(words["texts"])
    assert bench.marked() == {words["numbers"][words["texts"].index("987.88")]}
    assert bench.annotation()["text"] == "987.88"


def test_theirs_stay_and_a_mark_on_a_word_that_never_was_keeps_its_pixels(invoiced: Invoiced) -> None:
    bench = invoiced(TOTAL)
    cut_the_line(bench)
    bench.keys.press("t")
    split_total(bench)
    bench.keys.press("w")
    bench.click("2,987.88")  # the middle lies in its second half
    painted = bench.painted()
    assert painted.any()
    mend_elsewhere(bench, {"op": "text", "number": bench.number("March"), "text": "May"})
    mend_the_line(bench)
    bench.page.get_by_role("dialog").get_by_role("button", name="Use saved words").click()
    bench.settled()
    assert bench.words()["version"] == 1 and "2,987.88" in texts(bench)
    assert bench.marked() == set()
    assert (bench.painted() == painted).all() and (bench.stored() == painted).all()
    expect(bench.page.get_by_role("button", name="Take the word under the paint")).to_be_visible()
