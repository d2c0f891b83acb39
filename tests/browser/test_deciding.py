"""Deciding on an answer: what Enter, X, undo and the keys of commands do, wherever the focus is."""

from playwright.sync_api import expect

from tests.browser.bench import Bench
from tests.browser.stored_invoice import DATE, TOTAL, Invoiced


def mark(bench: Bench, word: str) -> Bench:
    """Mark a word as the answer that is open."""
    bench.keys.press("w")
    bench.click(word)
    bench.settled()
    return bench


def test_the_last_decision_is_taken_back_by_undo_and_by_its_toast(invoiced: Invoiced) -> None:
    bench = mark(invoiced(TOTAL, DATE), "2,987.88")
    word, total = bench.number("2,987.88"), bench.place()["annotation"]
    bench.keys.press("Enter")
    bench.settled()
    assert bench.annotation()["status"] == "accepted"
    bench.keys.press("Control+z")
    bench.settled()
    assert bench.annotation()["status"] == "draft" and bench.marked() == {word}
    bench.keys.press("Control+y")  # and forth again, before any other step
    bench.settled()
    assert bench.annotation()["status"] == "accepted" and bench.marked() == {word}
    bench.keys.press("Control+z")
    bench.settled()
    bench.keys.press("Control+z")  # the step before the decision
    bench.settled()
    assert not bench.marked()
    bench.keys.press("Control+y")
    bench.keys.press("Enter")
    bench.settled()
    # Another answer is open by now: the toast leads back to the one that was decided.
    bench.page.locator(".g-question", has_text=DATE).click()
    bench.page.wait_for_function(f"() => !location.hash.includes('{total}')")
    bench.page.locator(".g-toast", has_text="Accepted.").get_by_role("button", name="Undo").click()
    bench.page.wait_for_function(f"() => location.hash.includes('{total}')")
    bench.settled()
    assert bench.annotation()["status"] == "draft" and bench.marked() == {word}
    expect(bench.page.locator(".g-accept")).to_contain_text("Accept")


def test_back_and_forward_lead_through_answers_with_their_marks(invoiced: Invoiced) -> None:
    bench = mark(invoiced(TOTAL, DATE), "2,987.88")
    first = bench.place()["annotation"]
    bench.keys.press("j")
    bench.page.wait_for_function("(id) => !location.hash.includes(id)", arg=first)
    bench.settled()
    second = bench.place()["annotation"]
    bench.page.go_back()
    bench.page.wait_for_function("(id) => location.hash.includes(id)", arg=first)
    bench.settled()
    assert bench.marked() == {bench.number("2,987.88")} and (bench.painted() == bench.stored()).all()
    bench.page.go_forward()
    bench.page.wait_for_function("(id) => location.hash.includes(id)", arg=second)
    bench.settled()
    assert bench.marked() == set() and not bench.painted().any()


def test_an_answer_without_answer_shows_no_mark_and_has_it_back_with_the_next_x(invoiced: Invoiced) -> None:
    bench = mark(invoiced(TOTAL), "2,987.88")
    strip = bench.page.locator(".g-thumbnail[data-mark=person]")
    expect(strip).to_have_count(1)
    bench.keys.press("x")
    bench.settled()
    expect(strip).to_have_count(0)
    assert not bench.painted().any()
    bench.keys.press("x")
    bench.settled()
    expect(strip).to_have_count(1)
    assert bench.painted().any() and bench.marked() == {bench.number("2,987.88")}


def test_enter_accepts_after_a_question_was_chosen_in_the_list(invoiced: Invoiced) -> None:
    bench = mark(invoiced(TOTAL, DATE), "2,987.88")
    first = bench.place()["annotation"]
    bench.page.locator(".g-question", has_text=DATE).click()
    expect(bench.page.locator(".g-asked")).to_have_text(DATE)
    mark(bench, "March")
    bench.page.locator(f".g-question[data-annotation='{first}']").click()
    bench.page.wait_for_function(f"() => location.hash.includes('{first}')")
    bench.keys.press("x")
    bench.keys.press("Enter")
    bench.settled()
    assert bench.annotation()["status"] == "accepted" and bench.annotation()["state"]["no_answer"]


def test_keys_work_after_coming_back_by_the_button_of_the_tab(invoiced: Invoiced) -> None:
    bench = mark(invoiced(TOTAL), "2,987.88")
    bench.page.get_by_role("tab", name="People").click()
    bench.page.get_by_role("tab", name="Annotate").click()
    expect(bench.page.get_by_role("tab", name="Annotate")).to_be_focused()
    bench.keys.press("b")
    expect(bench.page.locator(".g-tool[data-tool=brush]")).to_have_attribute("aria-pressed", "true")
    bench.keys.press("Enter")
    bench.settled()
    assert bench.annotation()["status"] == "accepted"
    # While something is written elsewhere on the page, keys write.
    bench.page.get_by_label("Ask this document").focus()
    bench.page.keyboard.type("web")
    expect(bench.page.get_by_label("Ask this document")).to_have_value("web")
    expect(bench.page.locator(".g-tool[data-tool=brush]")).to_have_attribute("aria-pressed", "true")


def test_paint_over_printed_words_offers_them(invoiced: Invoiced) -> None:
    bench = invoiced(TOTAL)
    bench.keys.press("b")
    x0, y0, _, y1 = bench.box("Total")
    x1 = bench.box("EUR")[2]
    bench.page.locator(".g-radius").evaluate(
        "(slider, radius) => { slider.value = radius; slider.dispatchEvent(new Event('input')); }", (y1 - y0) // 2 + 2
    )
    bench.drag((x0, (y0 + y1) / 2), (x1, (y0 + y1) / 2))
    bench.settled()
    assert not bench.marked()
    offer = bench.page.get_by_role("button", name="Take the 4 words under the paint")
    expect(offer).to_be_visible()
    bench.keys.press("Enter")
    bench.settled()
    assert bench.marked() == {bench.number(text) for text in ("Total", "due:", "2,987.88", "EUR")}
    assert bench.annotation()["status"] == "draft"
    expect(offer).to_be_hidden()
    expect(bench.page.locator(".g-reading")).to_have_text("Total due: 2,987.88 EUR")
    bench.keys.press("Enter")
    bench.settled()
    assert bench.annotation()["status"] == "accepted"


def test_a_link_to_another_page_of_the_open_document_opens_it(invoiced: Invoiced) -> None:
    bench = invoiced(pages=3)
    place = bench.place()
    third = bench.get(f"/documents/{place['document']}")["pages"][2]["id"]
    bench.page.evaluate("(hash) => { location.hash = hash; }", f"document={place['document']}&page={third}")
    bench.page.wait_for_selector(f".glossator[data-ready='{third}']")


def test_a_question_asked_by_mistake_is_removed_and_comes_back(invoiced: Invoiced) -> None:
    bench = mark(invoiced("asdf", TOTAL), "2,987.88")
    mistake = bench.place()["annotation"]
    rows = bench.page.locator(".g-question")
    expect(rows).to_have_count(2)
    bench.page.get_by_role("button", name="Remove this question").click()
    toast = bench.page.locator(".g-toast", has_text="The question “asdf” was removed.")
    expect(toast).to_be_visible()
    expect(rows).to_have_count(1)
    assert not bench.painted().any()
    document = bench.place()["document"]
    assert [line["question"]["text"] for line in bench.get(f"/documents/{document}")["annotations"]] == [TOTAL]
    bench.keys.press("Control+z")
    expect(rows).to_have_count(2)
    bench.page.wait_for_function(f"() => location.hash.includes('{mistake}')")
    bench.settled()
    bench.page.get_by_role("button", name="Remove this question").click()
    expect(rows).to_have_count(1)
    bench.reopen()
    bench.ready()
    expect(rows).to_have_count(1)
