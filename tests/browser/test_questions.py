"""The list of standard questions on the tab and in the dialog: nobody's questions are lost because a page was old."""

import pytest
from playwright.sync_api import expect

from engine.fields.ready_sets import READY_SETS
from tests.browser.bench import Bench
from tests.browser.standard_list import Listed, tab

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
    tab(page, "Questions")
    field = page.get_by_role("textbox", name="Standard questions")
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
