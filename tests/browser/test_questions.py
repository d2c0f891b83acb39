"""The list of standard questions on the tab and in the dialog: nobody's questions are lost because a page was old."""

import pytest
from playwright.sync_api import FilePayload, Route, expect

from engine.fields.ready_sets import READY_SETS
from tests.browser.bench import Bench, invoice
from tests.browser.standard_list import Listed, tab
from tests.browser.tabs import OWN, made
from tests.browser.tabs import tab as open_tab

pytestmark = pytest.mark.browser


def test_the_tab_shows_what_others_have_added_when_it_is_opened_again(bench: Bench, listed: Listed) -> None:
    page = bench.page
    tab(page, "Questions")
    field = page.get_by_role("textbox", name="Standard questions")
    expect(field).to_have_value("What is the total?")
    tab(page, "Annotate")
    listed.put("What is the total?", "Who signed it?")
    tab(page, "Questions")
    expect(field).to_have_value("What is the total?\nWho signed it?")
    field.fill("What is the total?\nWho signed it?\nWhen?")
    tab(page, "Annotate")
    tab(page, "Questions")
    page.get_by_role("button", name="Save questions").click()
    expect(page.get_by_text("3 standard questions saved.")).to_be_visible()
    assert listed.texts() == ["What is the total?", "Who signed it?", "When?"]


def test_saving_an_old_list_takes_nothing_away_that_others_added(bench: Bench, listed: Listed) -> None:
    page = bench.page
    bench.reload()  # Gradio draws the tab anew
    on_the_way: list[Route] = []
    holding = True
    page.route("**/queue/join**", lambda route: on_the_way.append(route) if holding else route.continue_())
    page.get_by_role("tab", name="Questions").click()
    field = page.get_by_role("textbox", name="Standard questions")
    expect(field).to_be_disabled()  # what is written before the stored list is there would be replaced by it
    expect(page.get_by_role("button", name="Save questions")).to_have_count(0)
    holding = False
    for route in on_the_way:
        route.continue_()
    expect(field).to_have_value("What is the total?")
    listed.put("What is the total?", "Who signed it?")
    field.fill("What is the total?\nWhen?")
    page.get_by_role("button", name="Save questions").click()
    expect(page.get_by_text('Somebody else added "Who signed it?" meanwhile')).to_be_visible()
    assert listed.texts() == ["What is the total?", "Who signed it?"]
    expect(field).to_have_value("What is the total?\nWhen?")
    field.fill("What is the total?\nWho signed it?\nWhen?")
    page.get_by_role("button", name="Save questions").click()
    expect(page.get_by_text("3 standard questions saved.")).to_be_visible()
    assert listed.texts() == ["What is the total?", "Who signed it?", "When?"]


def test_the_dialog_tells_what_others_added_and_keeps_what_was_written(bench: Bench, listed: Listed) -> None:
    page = bench.page
    bench.upload()
    page.get_by_role("button", name="Standard questions of this project").click()
    field = page.get_by_label("Standard questions, one per line")
    expect(field).to_have_value("What is the total?")
    listed.put("What is the total?", "Who signed it?")
    field.fill("What is the total?\nWhen?")
    page.get_by_role("button", name="Save questions").click()
    expect(page.locator(".g-toast")).to_contain_text('Somebody else added "Who signed it?" meanwhile')
    expect(field).to_have_value("What is the total?\nWhen?")
    assert listed.texts() == ["What is the total?", "Who signed it?"]
    page.get_by_role("button", name="Save questions").click()  # knowingly, by now
    expect(page.get_by_role("dialog")).to_have_count(0)
    listed.wait("What is the total?", "When?")


def test_a_ready_set_adds_its_questions_and_keeps_those_there(bench: Bench, listed: Listed) -> None:
    page = bench.page
    tab(page, "Questions")
    field = page.get_by_role("textbox", name="Standard questions")
    expect(field).to_have_value("What is the total?")
    page.get_by_role("button", name="Add ready set").click()
    expect(page.get_by_role("button", name="Edit due_date")).to_be_visible()
    page.get_by_role("button", name="Preview and save").click()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("The fields were saved.")).to_be_visible()
    invoice = [field.question for field in READY_SETS["invoice"].fields if field.name != "total"]  # it is there
    expect(field).to_have_value("\n".join(["What is the total?", *invoice]))
    assert listed.texts() == ["What is the total?", *invoice]


def test_a_question_is_removed_with_its_answers_and_one_undo_brings_them_back(bench: Bench) -> None:
    page = bench.page
    project = made(bench, "questions removed on their tab")
    file: FilePayload = {"name": "invoice.pdf", "mimeType": "application/pdf", "buffer": invoice()}
    address = f"{bench.server}/api/projects/{project}/documents"
    assert page.request.post(address, multipart={"files": file}, headers=OWN).ok
    [document] = bench.get(f"/projects/{project}/documents")
    asked = f"{bench.server}/api/documents/{document['id']}/ask"
    assert page.request.post(asked, data={"question": "Who signed it?"}, headers=OWN, timeout=120_000).ok
    page.evaluate("(id) => window.Glossator.chooseProject(id)", project)
    panel = open_tab(page, "Questions")
    signed = panel.get_by_role("row", name="Who signed it?")
    signed.get_by_role("button", name="Remove the question Who signed it?").click()
    asking = panel.get_by_label("Removal of a question")
    expect(asking).to_contain_text("1 answer of 1 person, 0 values and 0 tasks go to the bin with it.")
    asking.get_by_role("button", name="Cancel").click()
    expect(asking).to_be_hidden()
    signed.get_by_role("button", name="Remove the question Who signed it?").click()
    asking.get_by_role("button", name="Remove question").click()
    expect(signed).to_have_count(0)
    expect(panel.get_by_text("Who signed it? Removed with 1 answer. The bin keeps them.")).to_be_visible()
    panel.get_by_text("Bin: 1 question").click()
    expect(panel.locator("glossator-question-bin li")).to_contain_text("1 answer, 0 tasks. Removed by")
    panel.get_by_role("button", name="Undo: restore the question").click()
    expect(signed).to_be_visible()
    expect(panel.locator("glossator-question-bin summary")).to_be_hidden()
    assert len(bench.get(f"/documents/{document['id']}")["annotations"]) == 1
