"""The tab Table: documents by fields are filtered and sorted, and a cell leads to its answer; for reviewers only."""

import re

import pytest
from playwright.sync_api import Locator, expect
from sqlalchemy import select

from db.tables import Annotation, Document
from engine.accounts.users import local_user
from engine.fields.definition import FieldDefinition, RangeRule
from engine.fields.project_fields import replace_fields
from engine.followers import catch_up
from engine.workspace import Workspace
from tests.browser.bench import Bench
from tests.browser.stored_invoice import DATE, TOTAL, draft, store_invoice
from tests.browser.tabs import Asked, send, tab
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
    panel.get_by_role("region", name="Cell: invoice_number").get_by_role("link", name="Open the page").click()
    expect(page.get_by_role("tab", name="Annotate", exact=True)).to_have_attribute("aria-selected", "true")
    expect(page.locator(".g-asked").first).to_have_text(NUMBER)
    assert bench.place()["annotation"] == number != total


def test_documents_are_listed_oldest_first(bench: Bench, stored: Workspace) -> None:
    answered(stored, bench.project)
    panel = tab(bench.page, "Table")
    rows = panel.get_by_role("rowheader")
    expect(rows.first).to_contain_text("a empty.pdf")
    panel.get_by_label("Order").select_option("Oldest first")
    expect(rows.first).to_contain_text("b answered.pdf")
    csv = panel.get_by_role("link", name="Export CSV").get_attribute("href") or ""
    assert "sort=created" in csv


def in_hand(bench: Bench, field: str) -> tuple[Locator, Locator]:
    """Take the cell of the answered invoice in hand; return it and its panel, once the mark is seen."""
    panel = tab(bench.page, "Table")
    expect(panel.get_by_label("Project")).to_have_value(bench.project)  # the rows of another one stand until then
    column = [each.name for each in FIELDS].index(field)
    cell = panel.get_by_role("row", name="b answered.pdf").get_by_role("gridcell").nth(column)
    expect(cell).not_to_have_text("")
    cell.click()
    beside = panel.get_by_role("region", name=f"Cell: {field}")
    expect(beside.locator("canvas")).to_be_visible()
    return cell, beside


def type_over(bench: Bench, beside: Locator, text: str) -> None:
    bench.keys.press("F2")
    line = beside.get_by_role("textbox", name="Text of the value")
    line.fill(text)
    line.press("Enter")


def test_a_cell_is_corrected_beside_its_page_and_the_change_undone(bench: Bench, stored: Workspace) -> None:
    [number, _] = answered(stored, bench.project)
    cell, beside = in_hand(bench, "invoice_number")
    type_over(bench, beside, "A-0007")
    expect(cell).to_have_text("A-0007")
    expect(cell.get_by_role("link")).to_be_focused()
    expect(beside.get_by_text("Saved", exact=True)).to_be_visible()
    said = bench.get(f"/annotations/{number}")
    assert (said["status"], said["values"][0]["text"], said["values"][0]["printed"]) == ("accepted", "A-0007", "A-0001")
    bench.keys.press("x")
    expect(cell).to_have_text("—")
    bench.keys.press("ArrowRight")  # an undone change is looked at, wherever it was made
    expect(beside).to_have_count(0)
    bench.keys.press("Control+z")
    expect(cell).to_have_text("A-0007")
    expect(cell.get_by_role("link")).to_be_focused()
    bench.keys.press("Control+z")
    expect(cell).to_have_text("A-0001")
    expect(beside.get_by_role("button", name="Undo")).to_have_count(0)
    expect(beside.get_by_text("Saved", exact=True)).to_be_visible()
    said = bench.get(f"/annotations/{number}")
    assert (said["status"], said["values"][0]["corrected"], said["state"]["no_answer"]) == ("accepted", False, False)


def test_an_ambiguous_cell_is_decided_by_a_key_and_a_cleared_one_is_open(bench: Bench, stored: Workspace) -> None:
    answered(stored, bench.project)
    with stored.database.read() as session:
        answer = session.scalars(select(Annotation).where(Annotation.project_id == bench.project)).first()
        assert answer is not None
        document = session.get_one(Document, answer.document_id)
    dated = accept(stored, document, DATE, (5, 6, 7))
    catch_up(stored)
    cell, beside = in_hand(bench, "invoice_date")
    type_over(bench, beside, "03/04/26")
    expect(beside.get_by_text("The text may mean:")).to_be_visible()
    bench.keys.press("o")
    expect(beside.get_by_text("picked by a person")).to_be_visible()
    [value] = bench.get(f"/annotations/{dated.id}")["values"]
    assert (value["text"], value["value"]) == ("03/04/26", "2026-03-04")
    bench.keys.press("Delete")
    expect(cell).to_have_text("")
    expect(beside.get_by_text("Saved", exact=True)).to_be_visible()
    assert bench.get(f"/annotations/{dated.id}")["status"] == "draft"  # nobody accepts an answer that says nothing


def test_what_was_typed_stays_when_somebody_else_was_faster(bench: Bench, stored: Workspace) -> None:
    [number, _] = answered(stored, bench.project)
    cell, beside = in_hand(bench, "invoice_number")
    expect(beside.get_by_text("Correct the text")).to_be_visible()
    send(
        bench,
        "PUT",
        f"/annotations/{number}/revisions",
        {"idempotency_key": "elsewhere", "base": 1, "action": "accept", "edits": [{"op": "text", "text": "B-1"}]},
    )
    type_over(bench, beside, "C-1")
    expect(beside.get_by_role("alert")).to_contain_text("has changed this answer meanwhile")
    expect(beside.get_by_role("alert").locator("dd")).to_have_text(["C-1", "B-1"])
    expect(cell).to_have_text("C-1")
    assert bench.get(f"/annotations/{number}")["values"][0]["text"] == "B-1"
    beside.get_by_role("button", name="Save my version").click()
    expect(beside.get_by_role("alert")).to_be_hidden()
    expect(beside.get_by_text("Saved", exact=True)).to_be_visible()
    expect(cell).to_have_text("C-1")
    said = bench.get(f"/annotations/{number}")
    assert (said["head"], said["values"][0]["text"]) == (3, "C-1")


def test_a_correction_waits_for_the_network(bench: Bench, stored: Workspace) -> None:
    [number, _] = answered(stored, bench.project)
    cell, beside = in_hand(bench, "invoice_number")
    revisions = f"**/annotations/{number}/revisions"
    bench.page.route(revisions, lambda route: route.abort())
    type_over(bench, beside, "A-0009")
    expect(beside).to_contain_text("the server cannot be reached")
    expect(cell.get_by_role("link")).to_have_attribute("aria-label", re.compile("A-0009.*not saved yet"))
    bench.page.unroute(revisions)
    bench.page.evaluate("window.dispatchEvent(new Event('online'))")
    expect(beside.get_by_text("Saved", exact=True)).to_be_visible()
    assert bench.get(f"/annotations/{number}")["values"][0]["text"] == "A-0009"


def test_a_reviewer_fixes_the_answer_of_somebody_else(team: Team) -> None:
    owner = team.ids["Rita"]
    replace_fields(team.workspace, team.project, FIELDS, owner)
    document = store_invoice(team.workspace, team.project, name="b answered.pdf")
    given = accept(team.workspace, document, NUMBER, (2,), author="Ann")
    catch_up(team.workspace)
    rita = team.sit("Rita")
    cell, beside = in_hand(rita, "invoice_number")
    type_over(rita, beside, "A-0007")
    expect(beside.get_by_text("fixed by a reviewer")).to_be_visible()
    expect(beside.get_by_text("Saved", exact=True)).to_be_visible()
    expect(cell).to_have_text("A-0007")
    said = rita.get(f"/annotations/{given.id}")
    assert (said["status"], said["author"]["name"], said["editor"]["name"]) == ("fixed", "Ann", "Rita")
    assert [each["verdict"] for each in rita.get(f"/annotations/{given.id}/reviews")] == ["fixed"]


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
