"""The card, the lists and the dialog: used without a mouse, and while something is being saved."""

import io
import json
import zipfile
from datetime import timedelta
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import expect

from annotator.front_end_files import BASE
from db.base import now
from db.tables import Document
from engine.documents.reading import read_jobs
from engine.workspace import Workspace
from tests.browser.bench import Bench, invoice
from tests.browser.stored_invoice import TOTAL, Invoiced, store_invoice
from tests.browser.window import Window

pytestmark = pytest.mark.browser

_RENDER = "() => document.querySelector('.glossator').workspace.drawing.render()"
SENDER = "Who is the sender?"
# What is announced or built anew in a part of the page from now on.
_WATCH = """(selector) => {
  window.changes = [];
  new MutationObserver((list) => window.changes.push(...list.map((each) => each.target.className)))
    .observe(document.querySelector(selector), { childList: true, subtree: true, characterData: true });
}"""


def test_the_focus_stays_on_a_question_while_answers_are_saved(invoiced: Invoiced) -> None:
    bench = invoiced(SENDER, TOTAL)
    rows = bench.page.locator(".g-question")
    rows.nth(1).focus()
    asked = rows.nth(1).locator(".g-question-text").inner_text()
    bench.page.evaluate(  # an edit of the open answer, which the list tells of
        "() => document.querySelector('.glossator').workspace.answer.noAnswer()"
    )
    expect(rows.filter(has_text="Who is the sender?")).to_contain_text("Not answered in this document")
    bench.settled()
    assert bench.page.evaluate("() => document.activeElement.querySelector('.g-question-text')?.textContent") == asked


def test_the_focus_stays_on_a_ranked_page_that_was_opened(bench: Bench) -> None:
    bench.upload(invoice(pages=3))
    bench.ask("What is the total due?")
    row = bench.page.locator(".g-ranked-page").nth(1)
    row.focus()
    name = row.inner_text()
    bench.keys.press("Enter")
    expect(row).to_have_attribute("aria-current", "true")
    bench.settled()
    assert bench.page.evaluate("() => document.activeElement.className") == "g-ranked-page"
    assert bench.page.evaluate("() => document.activeElement.innerText") == name


def test_a_press_on_a_question_counts_although_its_row_changes_meanwhile(invoiced: Invoiced) -> None:
    bench = invoiced(SENDER, TOTAL)
    row = bench.page.locator(".g-question").filter(has_text="total due")
    box = row.locator(".g-question-answer").bounding_box()
    assert box is not None
    bench.page.mouse.move(box["x"] + 10, box["y"] + 4)
    bench.page.mouse.down()
    bench.page.evaluate(
        """() => { const { workspace } = document.querySelector('.glossator');
          const { annotations } = workspace.library.document;
          annotations.find((each) => each.question.text.includes('total')).text = 'another text';
          workspace.drawing.render(); }"""
    )
    expect(row).to_contain_text("another text")
    bench.page.mouse.up()
    expect(bench.page.locator(".g-asked")).to_have_text("What is the total due?")


def test_the_line_of_the_open_document_counts_the_questions_beside_it(bench: Bench) -> None:
    bench.upload()
    bench.page.route("**/api/projects/*/documents*", lambda route: route.abort())  # the list is not fetched anew
    bench.ask("Who is the sender?")
    bench.ask("What is the total due?")
    row = bench.page.locator(".g-document[aria-selected=true]")
    expect(row).to_contain_text("0 of 2 accepted")
    if not bench.painted().any():
        bench.click("2,987.88")
    bench.keys.press("Enter")
    expect(row).to_contain_text("1 of 2 accepted")
    bench.settled()


def test_a_step_of_the_zoom_draws_no_card_and_no_list(invoiced: Invoiced) -> None:
    bench = invoiced(TOTAL, pages=2)
    bench.page.evaluate(_WATCH, ".g-answer-room")
    scale = bench.page.locator(".g-scale").inner_text()
    drawn = """() => { const { workspace } = document.querySelector('.glossator'); window.drawings = 0;
      const { drawing } = workspace, { render } = drawing;
      drawing.render = () => (window.drawings++, render.call(drawing)); }"""
    bench.page.evaluate(drawn)
    still = False
    while not still:  # what the answer draws late
        bench.page.evaluate("window.drawings = 0")
        bench.page.wait_for_timeout(500)
        still = bench.page.evaluate("window.drawings") == 0
    bench.keys.press("+")
    expect(bench.page.locator(".g-scale")).not_to_have_text(scale)
    bench.page.wait_for_timeout(100)
    assert bench.page.evaluate("window.drawings") == 0
    bench.page.evaluate(_RENDER)
    assert bench.page.evaluate("window.changes") == []


def test_only_the_text_of_the_answer_is_read_out(invoiced: Invoiced) -> None:
    bench = invoiced(TOTAL)
    live = "[aria-live]"
    assert bench.page.locator(f".g-answer{live}").count() == 0
    bench.click("2,987.88")
    expect(bench.page.locator(f".g-answer {live}")).to_have_text("2,987.88")
    bench.settled()
    bench.page.evaluate(_WATCH, f".g-answer {live}")
    bench.keys.press("Enter")
    expect(bench.page.locator(".g-answer-head .g-status")).to_have_attribute("data-status", "accepted")
    bench.settled()
    assert bench.page.evaluate("window.changes") == []


def test_what_a_search_has_found_is_reached_by_keys(window: Window, stored: Workspace) -> None:
    project = window.make_project("haystack")
    found = store_invoice(stored, project, name="needle in a haystack.pdf").id
    store_invoice(stored, project, name="what is open.pdf")
    bench = window.open(project)
    bench.ready()
    bench.page.locator(".g-canvas").focus()
    bench.keys.press("d")
    bench.page.keyboard.type("haystack")
    rows = bench.page.locator(".g-document")
    expect(rows.filter(has_text="what is open")).to_have_count(0)
    expect(rows.first).to_have_attribute("tabindex", "0")
    bench.keys.press("ArrowDown")
    expect(rows.first).to_be_focused()
    bench.keys.press("Enter")
    bench.page.wait_for_function(f"() => location.hash.includes('{found}')")


def test_the_list_of_questions_is_reached_by_keys_while_no_answer_is_open(invoiced: Invoiced) -> None:
    bench = invoiced(TOTAL)
    bench.page.evaluate(
        """() => { const { workspace } = document.querySelector('.glossator');
          workspace.answer.close(); workspace.drawing.render(); }"""
    )
    expect(bench.page.locator(".g-question")).to_have_attribute("tabindex", "0")


def test_the_dialog_keeps_the_focus_inside(bench: Bench) -> None:
    bench.keys.press("?")
    dialog = bench.page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    assert dialog.get_by_role("link", name="Source").get_attribute("href") == "/source"
    close = dialog.get_by_label("Close", exact=True)
    close.focus()
    bench.keys.press("Shift+Tab")  # to the last stop that can be seen, not behind the dialog
    inside = (
        "() => document.querySelector('.g-dialog').contains(document.activeElement)"
        " && (document.activeElement.className || document.activeElement.tagName)"
    )
    last = bench.page.evaluate(inside)
    assert last and last != "g-dialog", last
    bench.keys.press("Tab")
    expect(close).to_be_focused()
    row = dialog.locator("[data-command=brush]").get_by_role("button").first
    row.click()
    bench.keys.press("F2")
    everything = dialog.get_by_role("button", name="Reset all keys")
    everything.focus()
    bench.keys.press("Enter")  # it hides itself
    expect(everything).to_be_hidden()
    expect(dialog).to_be_focused()
    bench.keys.press("Escape")
    expect(dialog).to_have_count(0)


def test_page_keys_work_in_the_search_field_and_undo_on_a_slider(invoiced: Invoiced) -> None:
    bench = invoiced(TOTAL, pages=2)
    bench.page.get_by_role("searchbox", name="Search documents").focus()
    bench.keys.press("PageDown")
    expect(bench.page.locator(".g-number").first).to_have_text("2 / 2")
    bench.page.get_by_role("searchbox", name="Search documents").focus()
    bench.keys.press("PageUp")
    expect(bench.page.locator(".g-number").first).to_have_text("1 / 2")
    bench.settled()
    bench.keys.press("Escape")
    if bench.painted().any():  # the model may have marked both pages
        bench.keys.press("Delete")
        bench.settled()
    bench.click("2,987.88")
    bench.settled()
    assert bench.painted().any()
    bench.keys.press("b")
    expect(bench.page.get_by_label("Brush width")).to_be_visible()  # what is hidden takes no focus
    bench.page.get_by_label("Brush width").focus()
    bench.keys.press("Control+z")
    bench.settled()
    assert not bench.painted().any()
    bench.keys.press("ArrowRight")  # the slider's own
    expect(bench.page.get_by_label("Brush width")).to_have_value("15")


@pytest.mark.own_page
def test_reasons_questions_and_people_come_where_the_browser_remembers_nothing(bench: Bench) -> None:
    panel = bench.page.evaluate(
        """async () => {
          for (const name of ['localStorage', 'sessionStorage'])
            Object.defineProperty(window, name, {
              get() { throw new DOMException('Storage is closed', 'SecurityError'); } });
          const { Reasons } = await import('BASE/tasks/verdicts.js');
          const { suggestions } = document.querySelector('.glossator').workspace.panels;
          const reasons = new Reasons({ user: { id: 'u' }, project: { id: 'p' } });
          reasons.learn('Too dark');
          suggestions.remember('What is it?');
          return [reasons.offered.length, suggestions.history.length];
        }""".replace("BASE", BASE)
    )
    assert panel == [3, 0]
    bench.page.get_by_role("tab", name="People").click()
    expect(bench.page.locator(".g-people .g-card").first).to_be_visible()


@pytest.mark.own_page
def test_a_dataset_is_imported_by_the_form_which_says_what_is_wrong_with_one(bench: Bench, tmp_path: Path) -> None:
    picture = io.BytesIO()
    Image.new("RGB", (200, 100), "white").save(picture, "PNG")
    answered = {"images": [{"id": 1, "file_name": "a.png", "width": 200, "height": 100}]}
    answered |= {"categories": [{"id": 1, "name": "Where is the seal?"}]}
    answered |= {"annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [10, 10, 30, 20]}]}
    with zipfile.ZipFile(tmp_path / "set.zip", "w") as packed:
        packed.writestr("annotations.json", json.dumps(answered))
        packed.writestr("a.png", picture.getvalue())
    (tmp_path / "bad.zip").write_bytes(b"no zip")
    page = bench.page
    page.get_by_role("tab", name="Documents", exact=True).click()
    form = page.locator("form[data-import]")
    said = form.locator("output")
    form.get_by_label("Zip file").set_input_files(tmp_path / "bad.zip")
    form.get_by_role("button", name="Import").click()
    expect(said).to_have_text("bad.zip: it is damaged or not a zip file. Nothing was imported.")
    form.get_by_label("Zip file").set_input_files(tmp_path / "set.zip")
    form.get_by_role("button", name="Import").click()
    expect(said).to_have_text("Imported as coco: 1 document, 1 page, 1 answer.")
    expect(page.get_by_role("link", name="a.png").first).to_be_visible()


def test_the_reading_of_a_long_document_is_stopped(window: Window, stored: Workspace) -> None:
    project = window.make_project("reading to be stopped")
    document = store_invoice(stored, project, pages=2)
    with stored.database.write() as session:
        job = read_jobs.request(session, session.get_one(Document, document.id), 60)
        job.run_after = now() + timedelta(hours=1)  # nobody reads it before
    bench = window.open(project)
    strip = bench.page.locator(".g-strip-head")
    expect(strip.locator("h3")).to_contain_text("2 of 60")
    strip.get_by_role("button", name="Stop reading").click()
    expect(bench.page.locator(".g-toast")).to_contain_text("2 of 60 pages were read: reading was stopped.")
    expect(strip.get_by_role("button", name="Read the rest")).to_be_visible()
    expect(strip.locator("h3")).not_to_contain_text("of 60")
