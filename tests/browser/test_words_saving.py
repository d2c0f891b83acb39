"""Fixed words are saved once: without network, beside other people, and as the server fixes them."""

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
from tests.browser.word_fixing import WORDS, cut_the_line, mend_elsewhere, mend_the_line, split_total, start, texts

pytestmark = pytest.mark.browser


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


_MENDED = """async ([words, edits]) => {
  const { mended } = await import('/static/words/words.js');
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
