"""The walk of one person through one answer, and every tool: the screen and the server show the same pixels."""

import numpy as np
import pytest
from playwright.sync_api import Request, Route, expect

from model.masks import rasterise
from tests.browser.bench import Bench, sent_json
from tests.browser.database_check import assert_kept
from tests.browser.stored_invoice import TOTAL, Invoiced
from tests.support.server_process import Served

pytestmark = pytest.mark.browser


def test_a_pdf_is_asked_corrected_accepted_and_still_marked_after_a_reload(bench: Bench) -> None:
    bench.upload()
    bench.ask("What is the total due?")
    proposed = bench.annotation()
    assert proposed["head"] == 0
    assert (bench.painted() == bench.stored()).all()
    for text in ("2,987.88", "March"):
        expected = "blue" if bench.number(text) in bench.marked() else "none"
        assert bench.tint(bench.box(text)) == expected
    bench.click("March")
    bench.keys.press("b")
    x0, y0, x1, y1 = bench.box("Page")
    bench.drag((x0, y0), (x1, y1))
    bench.keys.press("e")
    bench.drag((x0, y1), ((x0 + x1) / 2, y1))
    bench.settled()
    assert bench.annotation()["head"] == 3
    corrected = bench.painted()
    assert corrected.any() and (corrected == bench.stored()).all()
    bench.keys.press("Enter")
    expect(bench.page.locator(".g-answer-head .g-status")).to_have_text("Accepted")
    bench.settled()
    assert bench.annotation()["status"] == "accepted"
    bench.reload()
    bench.ready()
    expect(bench.page.locator(".g-answer-head .g-status")).to_have_text("Accepted")
    assert (bench.painted() == corrected).all()
    assert (bench.stored() == corrected).all()


def test_a_click_marks_a_word_and_another_click_takes_it_back(invoiced: Invoiced) -> None:
    bench = invoiced(TOTAL)
    bench.click("2,987.88")
    bench.settled()
    assert bench.marked() == {bench.number("2,987.88")}
    painted = bench.painted()
    assert (painted == rasterise([bench.box("2,987.88")], painted.shape)).all()
    assert (painted == bench.stored()).all()
    assert bench.tint(bench.box("2,987.88")) == "orange"
    assert bench.tint(bench.box("March")) == "none"
    bench.click("2,987.88")
    bench.settled()
    assert bench.marked() == set()
    assert not bench.painted().any() and not bench.stored().any()
    assert bench.tint(bench.box("2,987.88")) == "none"


def test_shift_takes_the_line_and_a_drag_takes_what_lies_between(invoiced: Invoiced) -> None:
    bench = invoiced(TOTAL)
    bench.click("March", modifiers=["Shift"])
    bench.settled()
    assert bench.marked() == {bench.number(text) for text in ("date:", "14", "March", "2026")} | {
        bench.number("date:") - 1
    }
    bench.drag(bench.centre("Total"), bench.centre("2,987.88"))
    bench.settled()
    assert {bench.number(text) for text in ("Total", "due:", "2,987.88")} <= bench.marked()
    assert bench.number("EUR") not in bench.marked()
    assert (bench.painted() == bench.stored()).all()


def test_a_drag_between_lines_takes_the_text_between_and_gives_back_what_it_leaves(invoiced: Invoiced) -> None:
    bench = invoiced(TOTAL)
    words = bench.page.evaluate("() => document.querySelector('.glossator').workspace.stage.grid.texts")
    first, last = words.index("March"), words.index("Total")
    (start_x, start_y), (end_x, end_y) = bench.centre("March"), bench.centre("Total")
    mouse = bench.page.mouse
    mouse.move(*bench.at(start_x, start_y))
    mouse.down()
    mouse.move(*bench.at(end_x, end_y), steps=4)
    taken = set(bench.page.evaluate("() => [...document.querySelector('.glossator').workspace.stage.selected]"))
    assert {bench.number("March"), bench.number("Total")} <= taken
    assert all(bench.number("March") <= number <= bench.number("Total") for number in taken) and first < last
    mouse.move(*bench.at(*bench.centre("2026")), steps=4)
    mouse.up()
    bench.settled()
    assert bench.marked() == {bench.number("March"), bench.number("2026")}
    assert (bench.painted() == bench.stored()).all()


def test_a_frame_marks_the_words_it_holds_and_asks_nobody(invoiced: Invoiced) -> None:
    bench = invoiced(TOTAL)
    asked: list[str] = []
    bench.listen("request", lambda request: asked.append(request.url) if request.url.endswith("/refine") else None)
    bench.click("EUR")
    bench.keys.press("r")
    (x0, y0, _, _), (_, _, x1, y1) = bench.box("14"), bench.box("2026")
    bench.drag((x0 - 6, y0 - 6), (x1 + 6, y1 + 6))
    bench.settled()
    assert bench.marked() == {bench.number(text) for text in ("14", "March", "2026")}
    assert (bench.painted() == bench.stored()).all()
    bench.keys.press("Control+z")
    bench.settled()
    assert bench.marked() == {bench.number("EUR")}
    assert (bench.painted() == bench.stored()).all() and not asked


def test_brush_and_eraser_change_pixels_and_leave_the_words(invoiced: Invoiced) -> None:
    bench = invoiced(TOTAL)
    bench.click("2,987.88")
    bench.keys.press("b")
    x0, _, x1, y1 = bench.box("2,987.88")
    bench.drag((x0, y1 + 60), (x1, y1 + 60))
    bench.settled()
    brushed = bench.stored()
    assert brushed[y1 + 55 : y1 + 65, x0:x1].all()
    assert (bench.painted() == brushed).all()
    bench.keys.press("e")
    bench.drag(((x0 + x1) / 2, y1 + 30), ((x0 + x1) / 2, y1 + 90))
    bench.settled()
    erased = bench.stored()
    assert not erased[y1 + 55 : y1 + 65, (x0 + x1) // 2].any()
    assert 0 < erased.sum() < brushed.sum()
    assert (bench.painted() == erased).all()
    assert bench.marked() == {bench.number("2,987.88")}


def test_a_word_taken_out_does_not_bring_back_what_was_erased_in_another(invoiced: Invoiced) -> None:
    bench = invoiced(TOTAL)
    bench.click("2,987.88")
    bench.click("EUR")
    bench.keys.press("e")
    x0, y0, x1, y1 = bench.box("2,987.88")
    bench.drag((x0, y0), (x0, y1))
    bench.settled()
    hole = bench.stored()[y0:y1, x0:x1].copy()
    assert not hole.all()
    bench.keys.press("w")
    bench.click("EUR")
    bench.settled()
    assert bench.marked() == {bench.number("2,987.88")}
    assert (bench.stored()[y0:y1, x0:x1] == hole).all()
    assert (bench.painted() == bench.stored()).all()


def test_a_box_and_points_ask_the_model_again_with_all_prompts_so_far(invoiced: Invoiced) -> None:
    bench = invoiced(TOTAL)
    sent: list[dict] = []

    def note(request: Request) -> None:
        if request.url.endswith("/refine"):
            sent.append(sent_json(request))

    bench.listen("request", note)
    bench.keys.press("r")
    x0, y0, x1, y1 = bench.box("2,987.88")
    bench.ask_in((x0 - 6, y0 - 6), (x1 + 6, y1 + 6))
    bench.settled()
    assert sent[0]["box"] == pytest.approx([x0 - 6, y0 - 6, x1 + 6, y1 + 6], abs=2)  # as drawn, in screen pixels
    after_box = bench.annotation()["state"]["pages"][bench.place()["page"]]
    assert after_box["boxes"] == [sent[0]["box"]]
    assert bench.number("2,987.88") in after_box["words"]
    assert (bench.painted() == bench.stored()).all()
    bench.keys.press("p")
    bench.click("EUR")
    bench.settled()
    bench.keys.press("m")
    bench.click("March")
    bench.settled()
    assert [point[2] for point in sent[2]["points"]] == [True, False]
    after_points = bench.annotation()["state"]["pages"][bench.place()["page"]]
    assert after_points["points"] == sent[2]["points"]
    assert bench.number("EUR") in after_points["words"]
    assert bench.number("March") not in after_points["words"]
    assert (bench.painted() == bench.stored()).all()
    still = bench.number("2,987.88") in after_points["words"]
    assert bench.tint(bench.box("2,987.88")) == ("blue" if still else "none")


@pytest.mark.parametrize("tool", ["b", "w"])
def test_what_the_model_answers_in_mid_stroke_lies_under_the_stroke(invoiced: Invoiced, tool: str) -> None:
    bench = invoiced(TOTAL)
    held: list[Route] = []
    bench.page.route("**/refine", lambda route: held.append(route))
    bench.keys.press("r")
    x0, y0, x1, y1 = bench.box("2,987.88")
    with bench.page.expect_request("**/refine"):
        bench.ask_in((x0 - 6, y0 - 6), (x1 + 6, y1 + 6))
    bench.keys.press(tool)
    start, end = bench.centre("14"), bench.centre("2026")
    bench.page.mouse.move(*bench.at(*start))
    bench.page.mouse.down()
    with bench.page.expect_response(
        "**/revisions"
    ):  # the model's answer is on the page and saved; the hand is still down
        held[0].continue_()
    bench.page.mouse.move(*bench.at(*end), steps=5)
    bench.page.mouse.up()
    bench.settled()
    painted = bench.painted()
    assert painted[int(start[1]), int(start[0])] and painted[int(end[1]), int(end[0])]
    assert painted[int((y0 + y1) / 2), int((x0 + x1) / 2)]
    assert (painted == bench.stored()).all()
    assert bench.page.evaluate("() => document.querySelector('.glossator').workspace.queue.halted.size") == 0
    bench.keys.press("Control+z")
    assert not bench.painted()[int(start[1]), int(start[0])]
    assert bench.painted()[int((y0 + y1) / 2), int((x0 + x1) / 2)]


def test_a_point_goes_with_the_answer_that_came_too_late(invoiced: Invoiced, served: Served) -> None:
    bench = invoiced(TOTAL)
    held: list[Route] = []
    bench.page.route("**/refine", lambda route: held.append(route))
    bench.keys.press("p")
    with bench.page.expect_request("**/refine"):
        bench.click("EUR")
    bench.keys.press("w")
    bench.click("March")
    held[0].continue_()
    bench.settled()
    here = assert_kept(bench, served)
    assert [mark["points"] for mark in here["pages"].values()] == [[]]
    assert bench.marked() == {bench.number("March")}


def test_undo_and_redo_walk_through_one_mask_and_the_server_follows(invoiced: Invoiced) -> None:
    bench = invoiced(TOTAL, pages=2)
    states = [bench.painted()]
    bench.click("2,987.88")
    states.append(bench.painted())
    bench.keys.press("b")
    x, y = bench.centre("March")
    bench.drag((x, y + 40), (x + 120, y + 40))
    states.append(bench.painted())
    bench.keys.press("e")
    bench.drag((x + 40, y + 20), (x + 40, y + 60))
    states.append(bench.painted())
    assert len({state.tobytes() for state in states}) == 4
    for state in reversed(states[:-1]):
        bench.keys.press("Control+z")
        assert (bench.painted() == state).all()
    bench.settled()
    assert (bench.stored() == states[0]).all()
    for state in states[1:]:
        bench.keys.press("Control+Shift+z")
        assert (bench.painted() == state).all()
    bench.settled()
    assert (bench.stored() == states[-1]).all()
    # Another page has its own history: there is nothing to undo there, and this page stays as it is.
    first = bench.place()["page"]
    bench.keys.press("PageDown" if bench.page.locator(".g-number").first.text_content() == "1 / 2" else "PageUp")
    bench.page.wait_for_function(
        "(page) => { const { ready } = document.querySelector('.glossator').dataset; return ready && ready !== page; }",
        arg=first,
    )
    bench.keys.press("Control+z")
    bench.settled()
    assert first in bench.annotation()["state"]["pages"]
    expect(bench.page.get_by_label("Undo")).to_be_disabled()


def test_not_answered_is_said_and_taken_back(invoiced: Invoiced) -> None:
    bench = invoiced(TOTAL)
    bench.click("2,987.88")
    bench.keys.press("x")
    bench.settled()
    assert bench.annotation()["state"]["no_answer"] is True
    expect(bench.page.locator(".g-reading")).to_have_text("Not answered in this document")
    bench.click("March")  # the page is locked meanwhile
    bench.settled()
    assert bench.marked() == {bench.number("2,987.88")}
    bench.keys.press("Control+z")
    bench.settled()
    assert bench.annotation()["state"]["no_answer"] is False


def test_a_click_hits_the_word_after_zooming_and_panning(invoiced: Invoiced) -> None:
    bench = invoiced(TOTAL)
    x, y = bench.at(*bench.centre("2,987.88"))
    bench.page.mouse.move(x, y)
    for _ in range(4):
        bench.page.mouse.wheel(0, -120)
    bench.keys.down("Space")
    bench.page.mouse.down()
    bench.page.mouse.move(x + 90, y + 70, steps=4)
    bench.page.mouse.up()
    bench.keys.up("Space")
    bench.settled()
    assert not bench.painted().any()
    bench.click("2,987.88")
    bench.settled()
    assert bench.marked() == {bench.number("2,987.88")}
    assert bench.tint(bench.box("2,987.88")) == "orange"


def test_everything_goes_without_a_mouse(bench: Bench) -> None:
    bench.upload()
    bench.keys.press("Escape")
    bench.keys.press("/")
    bench.keys.type("What is the date?")
    bench.keys.press("Enter")
    expect(bench.page.locator(".g-asked")).to_have_text("What is the date?")
    bench.settled()
    if bench.painted().any():
        bench.keys.press("Delete")
    bench.keys.press("w")
    words = bench.words()
    target = words["texts"].index("2,987.88")
    for _ in range(target + 1):
        bench.keys.press("ArrowRight")
    bench.keys.press("Space")
    bench.settled()
    assert bench.marked() == {words["numbers"][target]}
    bench.keys.press("Enter")
    expect(bench.page.locator(".g-answer-head .g-status")).to_have_text("Accepted")
    bench.settled()
    assert np.array_equal(bench.painted(), bench.stored())
