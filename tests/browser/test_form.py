"""The form beside the page: fields are walked by Tab, accepted by Enter or together, and show their broken rules."""

import pytest
from playwright.sync_api import expect

from engine.accounts.users import local_user
from engine.fields.definition import FieldDefinition, RangeRule
from engine.fields.project_fields import replace_fields
from engine.workspace import Workspace
from tests.browser.bench import Bench
from tests.browser.stored_invoice import DATE, TOTAL, Invoiced

pytestmark = pytest.mark.browser

SLOW = 60_000  # milliseconds: the model answers the first questions of a server late
CHEAP = (RangeRule(rule="range", most="5"),)
FIELDS = [
    FieldDefinition(name="invoice_number", question="What is the invoice number?", required=True),
    FieldDefinition(name="invoice_date", question=DATE, type="date"),
    FieldDefinition(name="total", question=TOTAL, type="currency", rules=CHEAP),
]


def filled(bench: Bench, stored: Workspace) -> Bench:
    """Give the project its fields, show the form and wait until the model has answered."""
    with stored.database.write() as session:
        owner = local_user(session).id
    replace_fields(stored, bench.project, FIELDS, owner)
    bench.keys.press("Shift+F")
    expect(bench.page.locator(".g-field")).to_have_count(3, timeout=SLOW)
    expect(bench.page.locator(".g-field[data-state=waiting]")).to_have_count(0, timeout=SLOW)
    return bench


def test_fields_are_walked_accepted_and_taken_back(invoiced: Invoiced, stored: Workspace) -> None:
    bench = filled(invoiced(), stored)
    rows = bench.page.locator(".g-field")
    number, date, total = rows.nth(0), rows.nth(1), rows.nth(2)
    expect(total).to_contain_text("total (2987.88 EUR) is above 5.")
    expect(total).to_have_attribute("data-state", "broken")
    number.focus()
    expect(number).to_have_attribute("aria-selected", "true")
    bench.keys.press("Tab")
    expect(date).to_be_focused()
    expect(date).to_have_attribute("aria-selected", "true")  # the page follows
    bench.keys.press("Enter")
    expect(date).to_have_attribute("data-state", "accepted")
    expect(total).to_be_focused()
    bench.settled()
    bench.keys.press("Control+Enter")
    bench.page.get_by_role("dialog").get_by_role("button", name="Accept 1", exact=True).click()
    expect(number).to_have_attribute("data-state", "accepted")
    toast = bench.page.locator(".g-toast", has_text="1 field accepted. 1 field left to check.")
    toast.get_by_role("button", name="Undo").click()
    expect(number).not_to_have_attribute("data-state", "accepted")
    lines = bench.get(f"/documents/{bench.place()['document']}")["annotations"]
    states = {line["question"]["text"]: line["status"] for line in lines}
    assert states == {FIELDS[0].question: "draft", DATE: "accepted", TOTAL: "draft"}


def test_the_form_takes_the_focus_and_the_question_box_takes_its_place(invoiced: Invoiced, stored: Workspace) -> None:
    bench = invoiced(TOTAL, DATE)
    bench.page.get_by_role("button", name="Rename").focus()
    bench = filled(bench, stored)
    rows = bench.page.locator(".g-field")
    expect(rows.and_(bench.page.locator("[aria-selected=true]"))).to_be_focused()  # the field of the open answer
    bench.page.locator(".g-document").click()
    expect(rows.and_(bench.page.locator("[aria-selected=true]"))).to_be_focused()
    bench.keys.press("q")
    bench.keys.type("Who sent it?")
    expect(bench.page.get_by_label("Ask this document")).to_have_value("Who sent it?")
    expect(rows.first).to_be_hidden()
    bench.keys.press("Escape")
    bench.keys.press("Shift+F")
    expect(rows.and_(bench.page.locator("[aria-selected=true]"))).to_be_focused()


def test_a_project_without_fields_says_where_to_make_them(invoiced: Invoiced) -> None:
    bench = invoiced()
    bench.keys.press("Shift+F")
    expect(bench.page.locator(".g-form-note")).to_contain_text("This project has no fields")
    bench.page.get_by_role("button", name="Form", exact=True).click()
    expect(bench.page.locator(".g-form-note")).to_be_hidden()


def test_a_stored_preference_shows_the_form_only_where_fields_are(invoiced: Invoiced, stored: Workspace) -> None:
    bench = invoiced()
    bench.keys.press("Shift+F")
    expect(bench.page.locator(".g-form-note")).to_be_visible()
    bench.reload()
    bench.page.wait_for_function("() => document.querySelector('.glossator').workspace.formWork.form.view !== null")
    expect(bench.page.get_by_label("Ask this document")).to_be_visible()
    expect(bench.page.locator(".g-form-note")).to_be_hidden()
    with stored.database.write() as session:
        owner = local_user(session).id
    replace_fields(stored, bench.project, FIELDS, owner)
    expect(bench.page.locator(".g-field")).to_have_count(3, timeout=SLOW)
