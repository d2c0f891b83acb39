"""Mending words: written, split, merged, added and deleted on the page, undone, and never lost on the way to the server."""

import json
import random
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Route, expect
from pydantic import TypeAdapter

from engine.annotation.word_list import ListedWord, WordChange, WordList
from engine.annotation.words import as_lists
from tests.browser.bench import Bench, sent_json

pytestmark = pytest.mark.browser

WORDS = "**/api/pages/*/words"
HEBREW = {"Total": "סך", "due:": "לתשלום", "EUR": "שקל"}


def field(bench: Bench):
    return bench.page.get_by_label("Text of the word")


def texts(bench: Bench) -> list[str]:
    return list(bench.words()["texts"])


def mend_elsewhere(bench: Bench, *edits: dict) -> None:
    """Somebody else mends the words of the open page."""
    page, version = bench.place()["page"], bench.words()["version"]
    answer = bench.page.request.put(
        f"{bench.server}/api/pages/{page}/words",
        data={"idempotency_key": f"elsewhere-{version}", "base": version, "edits": list(edits)},
        headers={"X-Glossator": "1", "Sec-Fetch-Site": "same-origin"},
    )
    assert answer.ok, answer.text()


def cut_the_line(bench: Bench) -> None:
    def refuse(route: Route) -> None:
        if route.request.method == "PUT":
            route.abort("internetdisconnected")
        else:
            route.continue_()

    bench.page.route(WORDS, refuse)


def mend_the_line(bench: Bench) -> None:
    bench.page.unroute(WORDS)
    bench.page.evaluate("window.dispatchEvent(new Event('online'))")


def start(bench: Bench) -> None:
    """Upload, and leave the question field, which has the focus then."""
    bench.upload()
    bench.page.locator(".g-canvas").focus()


def write(bench: Bench, word: str, text: str) -> None:
    bench.click(word)
    expect(field(bench)).to_have_value(word)
    field(bench).fill(text)
    bench.keys.press("Enter")
    expect(field(bench)).to_be_hidden()


def split_total(bench: Bench) -> None:
    """Split 2,987.88 after the comma."""
    bench.click("2,987.88")
    expect(field(bench)).to_be_focused()
    bench.keys.press("Home")
    bench.keys.press("ArrowRight")
    bench.keys.press("ArrowRight")
    bench.keys.press("Control+Enter")
    expect(field(bench)).to_be_hidden()


def test_a_word_is_written_anew_undone_and_done_again(bench: Bench) -> None:
    start(bench)
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
    bench.reload()
    bench.ready()
    assert texts(bench) == after["texts"]


def test_escape_leaves_the_word_as_it_was_and_a_word_cannot_be_written_away(bench: Bench) -> None:
    start(bench)
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


def test_a_split_word_stays_marked_with_its_pixels_and_is_read_in_parts(bench: Bench) -> None:
    bench.upload()
    bench.ask_and_clear()
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


def test_chosen_words_are_merged_and_come_back_with_their_numbers(bench: Bench) -> None:
    start(bench)
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


def test_a_drag_on_paper_makes_a_word_in_its_line_and_delete_takes_it_away(bench: Bench) -> None:
    start(bench)
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


def test_words_are_mended_without_a_mouse(bench: Bench) -> None:
    start(bench)
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


def test_offline_word_fixes_survive_a_reload_and_marks_may_name_new_words(bench: Bench) -> None:
    bench.upload()
    bench.ask_and_clear()
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


def test_an_answer_lost_on_the_way_back_does_not_mend_twice(bench: Bench) -> None:
    start(bench)
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


def test_my_word_fixes_apply_to_those_of_others_and_marks_keep_their_words(bench: Bench) -> None:
    bench.upload()
    bench.ask_and_clear()
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


def test_theirs_stay_and_a_mark_on_a_word_that_never_was_keeps_its_pixels(bench: Bench) -> None:
    bench.upload()
    bench.ask_and_clear()
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
    expect(bench.page.locator(".g-differs")).to_contain_text("outside marked words")


def test_right_to_left_words_are_written_split_and_read_from_the_right(bench: Bench) -> None:
    bench.upload()
    bench.ask_and_clear()
    mend_elsewhere(bench, *({"op": "text", "number": bench.number(old), "text": new} for old, new in HEBREW.items()))
    bench.reload()
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


def test_words_and_pixels_that_differ_are_said(bench: Bench) -> None:
    bench.upload()
    bench.ask_and_clear()
    bench.click("2,987.88")
    expect(bench.page.locator(".g-differs")).to_have_count(0)
    bench.keys.press("e")
    x0, y0, x1, y1 = bench.box("2,987.88")
    bench.page.get_by_label("Brush width").fill("60")
    bench.drag((x0, (y0 + y1) / 2), (x1, (y0 + y1) / 2))
    expect(bench.page.locator(".g-differs")).to_have_text("1 marked word is not painted.")
    bench.keys.press("b")
    bench.drag((x0, y1 + 200), (x1, y1 + 200))
    expect(bench.page.locator(".g-differs")).to_contain_text("All of the painted area is outside marked words")
    bench.settled()


def test_zooming_to_the_mark_brings_it_into_the_middle(bench: Bench) -> None:
    bench.upload()
    bench.ask_and_clear()
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


_MENDED = """async ([words, edits]) => {
  const { mended } = await import('/static/words.js');
  return edits.reduce((sum, edit) => mended(sum, [edit]).words, words);
}"""


def random_edit(chance: random.Random, words: list[ListedWord]) -> dict[str, Any]:
    live, retired = [word for word in words if not word.retired], [word for word in words if word.retired]
    one = chance.choice(live)
    x0, y0, x1, y1 = one.box
    middle = (x0 + x1) // 2
    parts = [{"text": "a", "box": [x0, y0, middle, y1]}, {"text": "שלום", "box": [middle, y0, x1, y1]}]
    left, top = chance.randrange(0, 900), chance.randrange(0, 1000)
    kinds: list[dict[str, Any]] = [
        {"op": "text", "number": one.number, "text": chance.choice(["Summe", "مجموع", "12.50"])},
        {"op": "add", "text": chance.choice(["neu", "חדש", "7"]), "box": [left, top, left + 60, top + 22]},
    ]
    if x1 - x0 >= 4:
        kinds.append({"op": "split", "number": one.number, "parts": parts})
    if len(live) > 12:
        kinds += [
            {"op": "merge", "numbers": [word.number for word in chance.sample(live, 3)]},
            {"op": "remove", "number": one.number},
        ]
    if retired:
        instead = [word.number for word in chance.sample(live, 1)] if len(live) > 12 else []
        kinds.append({"op": "restore", "numbers": [chance.choice(retired).number], "instead": instead})
    return chance.choice(kinds)


@pytest.mark.parametrize("seed", range(3))
def test_browser_and_server_mend_words_the_same_way(bench: Bench, seed: int) -> None:
    chance = random.Random(seed)
    boxes = [(90 * (at % 8), 60 * (at // 8), 90 * (at % 8) + 70, 60 * (at // 8) + 24) for at in range(40)]
    words = [ListedWord(at, at // 8, "שלום" if at // 8 == 2 else f"w{at}", box) for at, box in enumerate(boxes)]
    page = WordList(words, (1000, 1100))
    before = json.loads(json.dumps(as_lists(page.words, 0)))
    edits = []
    for _ in range(80):
        edits.append(random_edit(chance, page.words))
        page.apply([TypeAdapter(WordChange).validate_python(edits[-1])])
    assert bench.page.evaluate(_MENDED, [before, edits]) == json.loads(json.dumps(as_lists(page.words, 80)))
