"""Documents and projects get other names on the page, and a project goes into the archive and comes back."""

import pytest
from playwright.sync_api import expect

from tests.browser.bench import Bench
from tests.browser.tabs import made, send, tab

pytestmark = pytest.mark.browser


def test_a_document_is_renamed_by_its_row_unless_somebody_was_faster(bench: Bench) -> None:
    page = bench.page
    bench.upload(name="scan 17.pdf")
    document = bench.place()["document"]
    row = page.locator(f".g-document[data-document='{document}']")
    dialog, field = page.get_by_role("dialog", name="Rename document"), page.get_by_label("New name")
    row.focus()
    bench.keys.press("F2")
    expect(field).to_be_focused()
    page.keyboard.type("Invoice of March")  # the extension is not chosen, so it stays
    page.keyboard.press("Enter")
    expect(row).to_contain_text("Invoice of March.pdf")
    expect(dialog).to_be_hidden()
    page.locator(".g-toast").get_by_role("button", name="Undo").click()
    expect(row).to_contain_text("scan 17.pdf")

    row.dblclick()
    field.fill("mine.pdf")
    send(bench, "PATCH", f"/documents/{document}", {"name": "theirs.pdf", "before": "scan 17.pdf"})
    dialog.get_by_role("button", name="Rename").click()
    expect(page.locator(".g-toast.g-error")).to_contain_text("Somebody renamed scan 17.pdf to theirs.pdf meanwhile")
    expect(field).to_have_value("mine.pdf")
    assert bench.get(f"/documents/{document}")["name"] == "theirs.pdf"
    dialog.get_by_role("button", name="Rename").click()  # now knowingly
    expect(row).to_contain_text("mine.pdf")
    assert bench.get(f"/documents/{document}")["name"] == "mine.pdf"


def test_a_project_is_renamed_archived_and_unarchived(bench: Bench) -> None:
    page = bench.page
    project, taken, name = made(bench, f"bills {bench.project}"), f"taken {bench.project}", f"deeds {bench.project}"
    made(bench, taken)
    page.evaluate("(id) => window.Glossator.chooseProject(id)", project)
    card = tab(page, "People").locator(".g-card", has=page.get_by_role("heading", name="Project", exact=True))
    field = card.get_by_label("Name")
    field.fill(taken)
    card.get_by_role("button", name="Rename").click()
    expect(card).to_contain_text(f"The project name '{taken}' is taken. Choose another one.")
    field.fill(name)
    card.get_by_role("button", name="Rename").click()
    expect(page.locator("#tab-people").get_by_role("combobox", name="Project").locator("option:checked")).to_have_text(
        name
    )
    card.get_by_role("button", name="Archive project").click()
    card.get_by_role("button", name="Confirm: nothing in it can be changed then").click()
    archived = page.get_by_role("list", name="Archived projects")
    page.get_by_text("Archived: ").click()
    line = archived.locator("li", has_text=name)
    expect(line).to_be_visible()
    assert bench.get("/projects?archived=true")[0]["id"] == project
    line.get_by_role("button", name="Unarchive").click()
    expect(line).to_be_hidden()
    assert project in [each["id"] for each in bench.get("/projects")]
