"""Documents come into the workspace: many at once, some of them refused, and a server that is busy or away."""

import re

import pytest
from playwright.sync_api import expect

from engine import quotas
from engine.accounts.users import ensure_local_user
from engine.workspace import Workspace
from tests.browser.bench import Bench
from tests.browser.upload_gate import Gate, pdf
from tests.browser.window import Window
from tests.support.factories import bill, make_document
from tests.support.waiting import wait_until

pytestmark = pytest.mark.browser

# How many letters of a name can be read from its beginning.
READ = """(name) => {
  const range = document.createRange(), { bottom, right } = name.getBoundingClientRect();
  const letters = [...name.textContent].map((_, at) => {
    range.setStart(name.firstChild, at);
    range.setEnd(name.firstChild, at + 1);
    return range.getBoundingClientRect();
  });
  const hidden = letters.findIndex((letter) => letter.bottom > bottom + 1 || letter.right > right + 1);
  return hidden < 0 ? letters.length : hidden;
}"""


def test_documents_of_a_drop_appear_one_by_one_and_refusals_fold(bench: Bench) -> None:
    page = bench.page
    gate = Gate(bench)
    files = [pdf(f"delivery note {number}.pdf") for number in range(1, 7)]
    files.insert(2, pdf("minutes of a meeting.pdf", b"this is no PDF"))
    files.insert(4, pdf("holiday pictures.png", b"nor is this a picture"))
    page.set_input_files("input[type=file]", files)
    uploads, documents = page.locator(".glossator .g-uploads"), page.locator(".g-document")
    gate.wait(2)
    expect(uploads.get_by_role("status")).to_have_text("0 of 8 files")
    expect(page.locator(".g-notice")).to_contain_text("Reading your documents")
    expect(uploads.get_by_role("listitem")).to_have_count(2)
    gate.free(1)
    expect(documents).to_have_text(["delivery note 1.pdf1 page · no questions"])
    bench.ready()  # the first one opens before the others are in
    expect(uploads.get_by_role("status")).to_have_text("1 of 8 files")
    expect(page.locator(".g-document[aria-selected=true]")).to_contain_text("delivery note 1.pdf")
    gate.wait(2)
    for _ in (2, 3):
        gate.free(1)
        gate.wait(2)
    expect(documents).to_have_count(2)
    expect(uploads.locator("summary:visible")).to_have_text("1 file was refused")
    gate.free()
    expect(documents.first).to_have_attribute("aria-setsize", "6")
    expect(uploads.get_by_role("status")).to_have_text("6 of 8 files stored")
    refused = uploads.locator(".g-remark:visible")
    expect(refused.locator("summary")).to_have_text("2 files were refused")
    expect(refused.get_by_text("cannot be read").first).to_be_hidden()
    refused.locator("summary").click()
    expect(refused.get_by_role("listitem")).to_have_count(2)
    for name in ("minutes of a meeting.pdf", "holiday pictures.png"):
        expect(refused.get_by_role("listitem").filter(has_text=name).locator("span")).to_contain_text("cannot be read")
    room, area = page.locator(".g-documents-room").bounding_box(), uploads.bounding_box()
    assert room and area and area["height"] <= 0.34 * room["height"], (area, room)
    expect(page.locator(".g-document[aria-selected=true]")).to_contain_text("delivery note 1.pdf")
    refused.get_by_role("button", name="Dismiss").click()
    expect(refused).to_have_count(0)
    expect(uploads).to_be_hidden()


def test_the_list_shows_the_open_document_and_beginnings_of_names(window: Window, stored: Workspace) -> None:
    names = [f"Rechnung {number:02d} der Gebrüder Müller-Lüdenscheidt vom 12. Februar.pdf" for number in range(16)]
    project = window.make_project("long names")
    oldest, *_ = [make_document(stored, project, [bill(1)], name=name) for name in names]
    bench = window.open(project)
    bench.ready()
    page = bench.page
    page.evaluate("(id) => { location.hash = `document=${id}`; }", oldest.id)
    row = page.locator(".g-document[aria-selected=true]")
    expect(row).to_contain_text("Rechnung 00")
    expect(row).to_be_in_viewport(ratio=0.9)
    page.locator(".g-documents").evaluate("(list) => list.scrollTo(0, 0)")
    page.evaluate("document.querySelector('.glossator').workspace.drawing.render()")
    assert page.locator(".g-documents").evaluate("(list) => list.scrollTop") == 0  # as somebody has left it
    for width in (1400, 1024, 390):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.locator(".g-name").first.evaluate(READ) >= 24, width


def test_a_quota_is_told_before_it_bites_and_when_it_does(window: Window, stored: Workspace) -> None:
    project = window.make_project("small")
    quotas.set_quota(stored, "project", project, 1, None, by=ensure_local_user(stored).id)
    bench = window.open(project)
    bench.upload(name="first.pdf")
    told = bench.page.locator(".g-toast", has_text=re.compile(r"The project small.* holds 1 of 1 document\."))
    wait_until(lambda: bench.get(f"/projects/{project}/quota")["project"]["documents"] == 1)
    bench.page.set_input_files("input[type=file]", [pdf("second.pdf")])
    refused = bench.page.locator(".glossator .g-uploads .g-remark:visible")
    expect(refused.locator("summary")).to_have_text("1 file was refused")
    reason = re.compile(r"The project small.* has reached its quota of 1 document\. Remove")
    expect(refused.get_by_text(reason)).to_be_visible()
    expect(told).to_be_visible()
