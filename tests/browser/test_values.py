"""Values of an answer on the page: corrected texts, readings to pick from, several values with their own marks."""

import pytest
from playwright.sync_api import expect

from db.tables import Document
from engine.workspace import Workspace
from tests.browser.bench import Bench
from tests.browser.stored_invoice import DATE, Invoiced
from tests.browser.tabs import send, tab
from tests.support.factories import accept

pytestmark = pytest.mark.browser


def define(bench: Bench, **options: object) -> None:
    field = {"name": "issued", "question": DATE, **options}
    send(bench, "PUT", f"/projects/{bench.project}/fields", {"fields": [field]})
    bench.reload()
    bench.ready()


def test_a_corrected_text_is_ambiguous_until_a_reading_is_picked(invoiced: Invoiced) -> None:
    bench = invoiced(DATE)
    define(bench, type="date")
    card = bench.page.locator(".g-answer")
    bench.click("March")
    expect(card.get_by_text("Correct the text")).to_be_visible()
    bench.keys.press("c")
    line = card.get_by_role("textbox", name="Text of the value")
    line.fill("03/04/26")
    line.press("Enter")
    expect(card.get_by_text("The text may mean:")).to_be_visible()
    expect(card.get_by_text("Read on the page as")).to_contain_text("March")
    bench.keys.press("o")
    expect(card.get_by_text("picked by a person")).to_be_visible()
    bench.settled()
    [value] = bench.annotation()["values"]
    assert (value["printed"], value["text"], value["value"]) == ("March", "03/04/26", "2026-03-04")
    [project] = [each for each in bench.get("/projects") if each["id"] == bench.project]
    assert project["settings"]["conventions"] == {"date_order": "MDY"}
    bench.keys.press("Control+z")
    bench.keys.press("Control+z")
    bench.settled()
    [value] = bench.annotation()["values"]
    assert (value["text"], value["corrected"]) == ("March", False)


def test_a_reading_is_remembered_for_the_issuer_alone(invoiced: Invoiced, stored: Workspace) -> None:
    bench = invoiced(DATE)
    supplier = {"name": "supplier", "question": "Who is the supplier?", "issuer": True}
    fields = [supplier, {"name": "issued", "question": DATE, "type": "date"}]
    send(bench, "PUT", f"/projects/{bench.project}/fields", {"fields": fields})
    with stored.database.read() as session:
        document = session.get_one(Document, bench.place()["document"])
    accept(stored, document, "Who is the supplier?", [0])
    bench.reload()
    bench.ready()
    bench.page.locator(".g-question", has_text=DATE).click()
    expect(bench.page.locator(".g-asked")).to_have_text(DATE)
    bench.settled()
    bench.click("March")
    expect(bench.page.get_by_text("Correct the text")).to_be_visible()
    bench.keys.press("c")
    line = bench.page.get_by_role("textbox", name="Text of the value")
    line.fill("03/04/26")
    line.press("Enter")
    expect(bench.page.get_by_text("The text may mean:")).to_be_visible()
    bench.keys.press("o")
    bench.page.get_by_role("button", name="Only of Invoice").click()
    card = tab(bench.page, "Questions").locator(".g-fields")
    expect(card.get_by_text("Only of Invoice")).to_be_visible()
    [project] = [each for each in bench.get("/projects") if each["id"] == bench.project]
    assert project["settings"]["issuer_conventions"] == {"Invoice": {"date_order": "MDY"}}
    assert project["settings"]["conventions"] == {}
    card.get_by_role("button", name="Forget").click()
    expect(card.get_by_text("Only of Invoice")).to_be_hidden()
    card.get_by_role("button", name="Undo").click()
    expect(card.get_by_text("Only of Invoice")).to_be_visible()


def test_values_have_marks_of_their_own_also_after_a_reload_and_undo(invoiced: Invoiced) -> None:
    bench = invoiced(DATE)
    define(bench, several=True)
    rows = bench.page.locator(".g-value-row")
    bench.click("14")
    bench.keys.press("Shift+A")
    expect(rows).to_have_count(2)
    bench.click("March")
    expect(rows).to_have_text(["1.14", "2.March"])
    bench.settled()
    state = bench.annotation()["state"]
    assert [next(iter(value["pages"].values()))["words"] for value in state["values"]] == [
        [bench.number("14")],
        [bench.number("March")],
    ]
    bench.reload()
    bench.ready()
    expect(rows).to_have_text(["1.14", "2.March"])
    bench.keys.press("Shift+Delete")
    bench.settled()
    assert "values" not in bench.annotation()["state"]
    bench.keys.press("Control+z")
    expect(rows).to_have_text(["1.14", "2.March"])
    bench.settled()
    assert [value["text"] for value in bench.annotation()["values"]] == ["14", "March"]
