"""The tabs Documents and Questions: files are uploaded there, names can be read, and numbers add up."""

import re

from playwright.sync_api import FilePayload, expect

from tests.browser.bench import Bench, invoice
from tests.browser.tabs import OWN, made, tab

NAME = "Delivery note of the eleventh of November 2026, signed.pdf"


def pdf(name: str, content: bytes | None = None) -> FilePayload:
    return {"name": name, "mimeType": "application/pdf", "buffer": invoice() if content is None else content}


def test_files_are_uploaded_with_their_progress_and_their_refusals(bench: Bench) -> None:
    page = bench.page
    page.evaluate("(id) => window.Glossator.chooseProject(id)", made(bench, "uploaded on its tab"))
    panel = tab(page, "Documents")
    expect(panel).to_contain_text("No documents yet.")
    with page.expect_file_chooser() as chooser:
        panel.get_by_role("button", name="Upload documents").press("Enter")
    chooser.value.set_files([pdf(NAME), pdf("no PDF at all.pdf", b"nothing"), pdf("short.pdf")])
    expect(panel.get_by_role("row", name=re.compile("^Choose short"))).to_be_visible()
    expect(panel.get_by_role("row", name=re.compile(f"^Choose {NAME}"))).to_be_visible()
    upload = panel.locator("glossator-upload")
    expect(upload).to_contain_text("2 of 3 files stored")
    expect(upload.get_by_text("no PDF at all.pdf")).to_be_visible()  # with the reason
    expect(panel.locator(".glossator-figures")).to_contain_text(re.compile(r"2\s*documents"))
    panel.get_by_role("combobox", name="Skipped tasks").click()
    page.get_by_role("option", name="Unreadable").click()
    expect(panel).to_contain_text("No documents found.")
    panel.get_by_role("combobox", name="Skipped tasks").click()
    page.get_by_role("option", name="All documents").click()
    expect(panel.get_by_role("row", name=re.compile("^Choose short"))).to_be_visible()
    # On a phone, the name comes first, on whole words.
    page.set_viewport_size({"width": 390, "height": 844})
    row = panel.get_by_role("row", name=re.compile(f"^Choose {NAME}"))
    expect(row.get_by_role("cell").first).to_have_text(NAME)
    name, line = row.get_by_role("link").bounding_box(), row.bounding_box()
    assert name is not None and line is not None
    assert name["y"] - line["y"] < 20 and name["width"] > 0.6 * line["width"] and name["height"] < 60


def test_chosen_documents_are_removed_with_one_undo_and_lie_in_the_bin(bench: Bench) -> None:
    page = bench.page
    project = made(bench, "removed on its tab")
    files = {f"{name}.pdf": invoice() for name in ("first", "second", "third")}
    for name, content in files.items():
        address = f"{bench.server}/api/projects/{project}/documents"
        stored = page.request.post(address, multipart={"files": pdf(name, content)}, headers=OWN)
        assert stored.ok, stored.text()
    page.evaluate("(id) => window.Glossator.chooseProject(id)", project)
    panel = tab(page, "Documents")
    rows = panel.get_by_role("row").filter(has=page.get_by_role("link"))
    expect(rows).to_have_count(3)
    expect(panel.locator("glossator-bin summary")).to_be_hidden()
    panel.get_by_role("checkbox", name="Choose first.pdf").check()
    panel.get_by_role("checkbox", name="Choose third.pdf").check()
    panel.get_by_role("button", name="Remove 2 documents").click()
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("second.pdf")
    panel.get_by_text("Bin: 2 documents").click()
    expect(panel.locator("glossator-bin li")).to_have_count(2)
    panel.get_by_role("button", name="Undo: restore 2 documents").click()
    expect(rows).to_have_count(3)
    expect(panel.locator("glossator-bin summary")).to_be_hidden()
    panel.get_by_role("button", name="Choose all on this page").click()
    panel.get_by_role("button", name="Remove 3 documents").click()
    expect(panel).to_contain_text("No documents yet.")
    expect(panel).to_contain_text("Bin: 3 documents")
    panel.locator("glossator-bin li", has_text="second.pdf").get_by_role("button", name="Restore").click()
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("second.pdf")
    panel.get_by_role("button", name="Empty bin").click()
    panel.get_by_role("button", name="Confirm: delete all for good").click()
    expect(panel.locator("glossator-bin")).to_contain_text("Deleting 2 documents for good.")
    expect(panel.locator("glossator-bin summary")).to_be_hidden()


def test_chosen_documents_are_moved_with_one_undo_and_copied(bench: Bench) -> None:
    page = bench.page
    project, other = made(bench, "sends documents"), made(bench, "takes documents")
    for name in ("first.pdf", "second.pdf"):
        address = f"{bench.server}/api/projects/{project}/documents"
        stored = page.request.post(address, multipart={"files": pdf(name)}, headers=OWN)
        assert stored.ok, stored.text()
    page.evaluate("(id) => window.Glossator.chooseProject(id)", project)
    panel = tab(page, "Documents")
    rows, told = panel.get_by_role("row").filter(has=page.get_by_role("link")), panel.locator("glossator-bin")
    panel.get_by_role("checkbox", name="Choose first.pdf").check()
    panel.get_by_role("button", name="Move…").click()
    panel.get_by_label("Other project").select_option(other)
    expect(panel.locator(".g-transfer-told")).to_contain_text("The originals lie in the bin of sends documents")
    panel.get_by_role("button", name="Cancel").click()
    expect(panel.get_by_label("Other project")).to_be_hidden()
    panel.get_by_role("button", name="Move…").click()
    expect(panel.get_by_label("Other project")).to_be_visible()
    panel.get_by_role("button", name="Choose none").click()
    expect(panel.get_by_label("Other project")).to_be_hidden()
    panel.get_by_role("checkbox", name="Choose first.pdf").check()
    panel.get_by_role("button", name="Move…").click()
    expect(panel.get_by_label("Other project")).to_be_visible()
    panel.get_by_role("button", name="Remove 1 document", exact=True).click()
    expect(panel.get_by_label("Other project")).to_be_hidden()
    panel.get_by_role("button", name="Undo: restore 1 document").click()
    expect(rows).to_have_count(2)
    panel.get_by_role("checkbox", name="Choose first.pdf").check()
    panel.get_by_role("button", name="Move…").click()
    panel.get_by_label("Other project").select_option(other)
    panel.get_by_role("button", name="Move 1 document", exact=True).click()  # Remove 1 document, too
    expect(told).to_contain_text("Moved 1 document to the other project.")
    expect(rows).to_have_count(1)
    assert [each["name"] for each in bench.get(f"/projects/{other}/documents")] == ["first.pdf"]
    panel.get_by_role("button", name="Undo: take back 1 document").click()
    expect(told).to_contain_text("1 document taken back.")
    expect(rows).to_have_count(2)
    assert bench.get(f"/projects/{other}/documents") == []
    panel.get_by_role("checkbox", name="Choose second.pdf").check()
    panel.get_by_role("button", name="Copy…").click()
    panel.get_by_label("Other project").select_option(other)
    panel.get_by_role("button", name="Copy 1 document").click()
    expect(told).to_contain_text("Copied 1 document to the other project.")
    expect(rows).to_have_count(2)
    assert [each["name"] for each in bench.get(f"/projects/{other}/documents")] == ["second.pdf"]
