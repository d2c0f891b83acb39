"""What the server says comes late: somebody has gone on meanwhile, and the answer must not land on what they look at now."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.bench import Bench, invoice, sent_json
from tests.browser.database_check import local
from tests.browser.held_answers import Held

pytestmark = pytest.mark.browser

REVISIONS = "**/api/annotations/*/revisions"
TOTAL, MONTH = "2,987.88", "March"


def question(bench: Bench, annotation: str):  # type: ignore[no-untyped-def]
    """The line of an answer in the list of questions."""
    return bench.page.locator(f".g-question[data-annotation='{annotation}']")


def open_document(bench: Bench, document: str) -> None:
    """Click a document in the list."""
    bench.page.locator(f".g-document[data-document='{document}']").click()


def two_questions(bench: Bench) -> tuple[str, str]:
    """Ids of two answers of one document with nothing marked; the second one is open."""
    bench.upload()
    bench.ask_and_clear("What is the total?")
    first = local(bench)["id"]
    bench.ask_and_clear("What is the month?")
    return first, local(bench)["id"]


def notice(bench: Bench):  # type: ignore[no-untyped-def]
    """What stands over the page."""
    return bench.page.locator(".g-notice")


# --- documents and pages


def test_a_stroke_after_a_document_failed_to_open_is_kept(bench: Bench) -> None:
    bench.upload()
    other = bench.place()["document"]
    bench.upload()
    bench.ask_and_clear()
    (_, y), (x0, _, x1, _) = bench.centre(TOTAL), bench.box(TOTAL)
    bench.page.context.set_offline(True)
    open_document(bench, other)
    expect(bench.page.locator(".g-toast.g-error")).to_contain_text("cannot be reached")
    bench.keys.press("b")
    bench.drag((x0, y), (x1, y))
    expect(bench.saved).to_have_text("Offline: 1 edit kept in this browser")
    bench.page.context.set_offline(False)
    bench.settled()
    assert bench.painted().any() and (bench.painted() == bench.stored()).all()


def test_a_page_that_comes_late_neither_covers_nor_blanks_the_one_that_is_shown(bench: Bench) -> None:
    bench.upload(invoice(pages=2))
    bench.settled()
    shown = bench.place()["page"]
    bench.page.locator(".g-canvas").focus()
    held = Held(bench.page, "**/api/pages/*/image*")
    bench.keys.press("PageDown")
    held.wait()
    bench.keys.press("PageUp")
    bench.page.wait_for_selector(f".glossator[data-ready='{shown}']")
    bench.page.wait_for_timeout(400)  # longer than the pause before a slow page is announced
    expect(notice(bench)).to_be_hidden()
    held.fail()
    bench.page.wait_for_timeout(200)
    expect(notice(bench)).to_be_hidden()
    assert bench.page.evaluate("() => document.querySelector('.glossator').workspace.stage.page?.id") == shown


def test_an_answer_of_a_document_that_was_left_does_not_open_over_the_next_one(bench: Bench) -> None:
    bench.upload()
    bench.ask_and_clear()
    answer, document = local(bench)["id"], bench.place()["document"]
    bench.upload()
    other = bench.place()["document"]
    bench.upload()
    held = Held(bench.page, f"**/api/documents/{document}")
    bench.page.evaluate("(hash) => (location.hash = hash)", f"document={document}&annotation={answer}")
    held.wait()
    open_document(bench, other)
    bench.page.wait_for_function("(id) => location.hash.includes(id)", arg=other)
    bench.settled()
    held.release()
    bench.page.wait_for_timeout(300)
    assert bench.page.evaluate("() => document.querySelector('.glossator').workspace.answer.local") is None
    assert bench.place()["document"] == other


# --- asking


def test_a_question_answered_after_one_has_left_says_where_it_waits(bench: Bench) -> None:
    bench.upload()
    other = bench.place()["document"]
    bench.upload()
    asked = bench.place()["document"]
    field = bench.page.get_by_label("Ask this document")
    held = Held(bench.page, "**/api/documents/*/ask", method="POST")
    field.fill("What is the total?")
    bench.keys.press("Enter")
    held.wait()
    open_document(bench, other)
    bench.page.wait_for_function("(id) => location.hash.includes(id)", arg=other)
    held.release()
    expect(bench.page.locator(".g-toast").last).to_contain_text("Find the answer with its document")
    assert bench.page.locator(".g-toast.g-error").count() == 0
    open_document(bench, asked)
    expect(bench.page.locator(".g-asked")).to_have_text("What is the total?")


def test_a_question_answered_after_a_stroke_is_listed_and_leaves_the_field_alone(bench: Bench) -> None:
    bench.upload()
    bench.ask_and_clear("What is the total?")
    open_now = local(bench)["id"]
    field = bench.page.get_by_label("Ask this document")
    held = Held(bench.page, "**/api/documents/*/ask", method="POST")
    field.fill("What is the month?")
    bench.keys.press("Enter")
    held.wait()
    bench.click(TOTAL)
    field.fill("And the ye")
    held.release()
    expect(bench.page.locator(".g-question", has_text="What is the month?")).to_be_visible()
    expect(bench.page.locator(".g-toast").last).to_contain_text("Find the answer in the list of questions")
    expect(field).to_have_value("And the ye")
    expect(field).to_be_focused()
    assert local(bench)["id"] == open_now


def test_a_line_that_swallows_a_question_is_given_up(bench: Bench) -> None:
    bench.upload()
    bench.page.evaluate(
        "() => { const was = AbortSignal.timeout; AbortSignal.timeout = () => was.call(AbortSignal, 500); }"
    )
    held = Held(bench.page, "**/api/documents/*/ask", method="POST")
    bench.page.get_by_label("Ask this document").fill("What is the total?")
    bench.keys.press("Enter")
    held.wait()
    expect(bench.page.locator(".g-toast.g-error").last).to_contain_text("cannot be reached")
    expect(bench.page.locator(".g-ask")).to_have_text("Ask")
    bench.page.unroute_all(behavior="ignoreErrors")


# --- the model, asked again


def test_what_is_accepted_while_the_model_looks_again_stays_accepted(bench: Bench) -> None:
    bench.upload()
    bench.ask_and_clear()
    bench.click(TOTAL)
    bench.settled()
    held = Held(bench.page, "**/api/annotations/*/refine", method="POST", answered=True)
    bench.keys.press("p")
    bench.click(MONTH)
    held.wait()
    bench.keys.press("Enter")
    held.release()
    bench.settled()
    assert bench.annotation()["status"] == "accepted"
    assert bench.marked() == {bench.number(TOTAL)}
    expect(bench.page.locator(".g-answer-head .g-status")).to_have_text("Accepted")


def test_points_for_one_page_are_not_asked_of_another(bench: Bench) -> None:
    bench.upload(invoice(pages=2))
    bench.ask_and_clear()
    place = bench.at(*bench.centre(TOTAL))
    shown = bench.place()["page"]
    held = Held(bench.page, "**/api/annotations/*/refine", method="POST")
    bench.keys.press("p")
    bench.page.mouse.click(*place)
    held.wait()
    bench.keys.press("PageUp" if bench.page.locator(".g-number").first.text_content() == "2 / 2" else "PageDown")
    bench.page.wait_for_function(
        "(page) => { const { ready } = document.querySelector('.glossator').dataset; return ready && ready !== page; }",
        arg=shown,
    )
    bench.page.mouse.click(*place)
    first, second = (sent_json(request) for request in held.wait(2))
    assert first["page_id"] != second["page_id"]
    assert len(second["points"]) == 1
    held.release()
    bench.settled()


# --- saving


def test_a_read_that_a_save_has_overtaken_is_no_conflict_with_oneself(bench: Bench) -> None:
    first, second = two_questions(bench)
    saving = Held(bench.page, REVISIONS, method="PUT")
    bench.click(MONTH)
    saving.wait()
    question(bench, first).click()
    expect(bench.page.locator(".g-asked")).to_have_text("What is the total?")
    reading = Held(bench.page, f"**/api/annotations/{second}", answered=True)
    question(bench, second).click()
    reading.wait()
    saving.release()
    bench.page.wait_for_function("() => !document.querySelector('.glossator').workspace.queue.items.length")
    reading.release()
    expect(bench.page.locator(".g-asked")).to_have_text("What is the month?")
    bench.settled()
    assert local(bench)["head"] == bench.annotation()["head"]
    bench.click(TOTAL)
    bench.settled()
    assert bench.marked() == {bench.number(TOTAL), bench.number(MONTH)}


def test_a_decision_about_one_answer_is_never_carried_out_on_another(bench: Bench) -> None:
    first, second = two_questions(bench)
    unheard = f"**/api/annotations/{second}"
    bench.page.route(unheard, lambda route: route.abort())  # the window hears nothing of the other one's edit
    bench.save_elsewhere([{"op": "words", "page": bench.place()["page"], "add": [bench.number(TOTAL)], "remove": []}])
    saving = Held(bench.page, REVISIONS, method="PUT")
    bench.click(MONTH)
    saving.wait()
    reading = Held(bench.page, f"**/api/annotations/{first}")
    question(bench, first).click()
    reading.wait()
    saving.release()
    dialog = bench.page.get_by_role("dialog")
    expect(dialog).to_contain_text("This answer was changed in another window")
    bench.page.unroute(unheard)
    before = bench.get(f"/annotations/{first}")["head"]
    reading.release()
    expect(bench.page.locator(".g-asked")).to_have_text("What is the total?")
    dialog.get_by_role("button", name="Save my version").click()
    expect(bench.page.locator(".g-asked")).to_have_text("What is the month?")
    dialog.get_by_role("button", name="Save my version").click()
    bench.settled()
    assert bench.place()["annotation"] == second
    assert bench.marked() == {bench.number(MONTH)}
    assert bench.get(f"/annotations/{first}")["head"] == before


# --- what somebody has in hand


def test_an_unfinished_word_keeps_the_answer_that_it_belongs_to(bench: Bench) -> None:
    first, second = two_questions(bench)
    bench.page.locator(".g-canvas").focus()
    bench.keys.press("t")
    bench.click(TOTAL)
    field = bench.page.get_by_label("Text of the word")
    field.fill("")
    question(bench, first).click()
    expect(bench.page.locator(".g-toast").last).to_contain_text("A word needs text")
    assert local(bench)["id"] == second
    expect(bench.page.locator(".g-asked")).to_have_text("What is the month?")
    field.press("Escape")
    question(bench, first).click()
    expect(bench.page.locator(".g-asked")).to_have_text("What is the total?")


def test_what_others_have_done_waits_until_a_word_is_written(bench: Bench) -> None:
    bench.upload()
    bench.ask_and_clear()
    bench.keys.press("t")
    bench.click("Invoice")
    field = bench.page.get_by_label("Text of the word")
    field.fill("Inv")
    bench.save_elsewhere([{"op": "words", "page": bench.place()["page"], "add": [bench.number(TOTAL)], "remove": []}])
    bench.page.evaluate("() => { document.querySelector('.glossator').workspace.navigation.refresh(); }")
    bench.page.wait_for_timeout(600)
    expect(field).to_have_value("Inv")
    assert "Inv" not in bench.words()["texts"]
    field.press("Escape")
    expect(bench.page.locator(".g-reading")).to_have_text(TOTAL)
    assert re.search("Invoice", " ".join(bench.words()["texts"]))


def test_what_others_have_done_waits_until_a_stroke_is_done(bench: Bench) -> None:
    bench.upload()
    bench.ask_and_clear()
    head = local(bench)["head"]
    bench.save_elsewhere([{"op": "words", "page": bench.place()["page"], "add": [bench.number(TOTAL)], "remove": []}])
    bench.keys.press("b")
    x, y = bench.at(*bench.centre(MONTH))
    bench.page.mouse.move(x - 20, y)
    bench.page.mouse.down()
    bench.page.mouse.move(x, y, steps=4)
    bench.page.evaluate("() => { document.querySelector('.glossator').workspace.navigation.refresh(); }")
    bench.page.wait_for_timeout(600)
    assert local(bench)["head"] == head
    bench.page.mouse.move(x + 20, y, steps=4)
    bench.page.mouse.up()
    dialog = bench.page.get_by_role("dialog")
    expect(dialog).to_contain_text("This answer was changed in another window")
    dialog.get_by_role("button", name="Use saved version").click()
    expect(bench.page.locator(".g-reading")).to_have_text(TOTAL)
    bench.settled()
