"""The tab Table: documents by fields are filtered and sorted, and a cell leads to its answer; for reviewers only."""

import re

import pytest
from playwright.sync_api import expect

from db.tables import Document
from engine.accounts.users import local_user
from engine.fields.definition import FieldDefinition, RangeRule
from engine.fields.project_fields import replace_fields
from engine.followers import catch_up
from engine.workspace import Workspace
from tests.browser.bench import Bench
from tests.browser.stored_invoice import DATE, TOTAL, draft, store_invoice
from tests.browser.tabs import Asked, tab
from tests.browser.team import Team
from tests.support.annotators import save
from tests.support.factories import accept

pytestmark = pytest.mark.browser

NUMBER = "What is the invoice number?"
FIELDS = [
    FieldDefinition(name="invoice_number", question=NUMBER),
    FieldDefinition(name="invoice_date", question=DATE, type="date"),
    FieldDefinition(name="total", question=TOTAL, type="currency", rules=(RangeRule(rule="range", most="5"),)),
]


def answered(stored: Workspace, project: str) -> list[str]:
    """Store two invoices, of which one is answered; return the ids of the accepted answers."""
    with stored.database.write() as session:
        owner = local_user(session).id
    replace_fields(stored, project, FIELDS, owner)
    first, _ = (store_invoice(stored, project, name=name) for name in ("b answered.pdf", "a empty.pdf"))
    answers = [accept(stored, first, NUMBER, (2,)), accept(stored, first, TOTAL, (10, 11))]
    catch_up(stored)
    return [answer.id for answer in answers]


def test_the_table_filters_sorts_and_leads_to_an_answer(bench: Bench, stored: Workspace) -> None:
    page, (number, total) = bench.page, answered(stored, bench.project)
    panel = tab(page, "Table")
    grid = panel.get_by_role("grid", name="Table of answers")
    expect(grid).to_have_attribute("aria-rowcount", "3")
    # The newest first; one broken rule. The server derives rows beside the test: they may come a moment later.
    expect(page.get_by_role("rowheader")).to_have_text(["a empty.pdf", "b answered.pdf1"])
    grid.get_by_role("columnheader", name="total").get_by_role("button").click()
    expect(grid.get_by_role("columnheader", name="total")).to_have_attribute("aria-sort", "ascending")
    expect(page.get_by_role("rowheader").first).to_contain_text("b answered.pdf")
    panel.get_by_role("button", name="Rule broken 1", exact=True).click()
    expect(grid).to_have_attribute("aria-rowcount", "2")
    csv = panel.get_by_role("link", name="Export CSV").get_attribute("href") or ""
    assert page.request.get(f"{bench.server}{csv}").text().count("\n") == 2  # the names, and one document
    panel.get_by_label("Filter by").select_option("invoice_number")
    panel.get_by_role("button", name="Rule broken 0", exact=True).click()
    expect(panel).to_contain_text("No document fits these filters.")
    panel.get_by_role("button", name="Clear filters").last.click()
    expect(grid).to_have_attribute("aria-rowcount", "3")
    page.get_by_role("columnheader", name="Document").get_by_role("button").focus()
    for key in ("ArrowDown", "End"):
        bench.keys.press(key)
    held = grid.locator(":focus")
    expect(held).to_have_attribute("aria-label", re.compile("rule broken, accepted.*is above 5"))
    bench.keys.press("Home")
    expect(held).to_contain_text("b answered.pdf")
    bench.keys.press("ArrowRight")
    bench.keys.press("Enter")
    expect(page.get_by_role("tab", name="Annotate", exact=True)).to_have_attribute("aria-selected", "true")
    expect(page.locator(".g-asked").first).to_have_text(NUMBER)
    assert bench.place()["annotation"] == number != total


def test_a_new_answer_appears_in_the_row_in_sight(bench: Bench, stored: Workspace) -> None:
    answered(stored, bench.project)
    [document] = [each for each in bench.get(f"/projects/{bench.project}/documents") if each["name"] == "a empty.pdf"]
    with stored.database.read() as session:
        [answer], person = draft(stored, session.get_one(Document, document["id"]), NUMBER), local_user(session)
    catch_up(stored)
    panel = tab(bench.page, "Table")
    cells = panel.get_by_role("row", name="a empty.pdf").get_by_role("gridcell")
    expect(cells).to_have_text(["", "", ""])
    asked = Asked(bench)
    save(stored, answer.id, person, (2,))
    catch_up(stored)
    expect(cells).to_have_text(["A-0001", "", ""])
    assert f"/api/projects/{bench.project}/values" in asked.paths


def test_a_project_without_fields_leads_to_the_questions(bench: Bench) -> None:
    panel = tab(bench.page, "Table")
    panel.get_by_role("button", name="Open Questions").click()
    expect(bench.page.get_by_role("tab", name="Questions", exact=True)).to_have_attribute("aria-selected", "true")


def test_only_reviewers_see_the_table(team: Team) -> None:
    for name, sees in (("Rita", True), ("Ann", False)):
        page = team.sit(name).page
        expect(page.get_by_role("tab", name="People", exact=True)).to_be_visible()
        expect(page.get_by_role("tab", name="Table", exact=True)).to_be_visible(visible=sees)
