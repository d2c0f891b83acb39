"""Documents come into the workspace: many at once, some of them refused, and a server that is busy or away."""

import itertools
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, FilePayload, Route, expect

from tests.browser.bench import Bench, invoice
from tests.browser.conftest import bench_in

pytestmark = pytest.mark.browser

HEADERS = {"X-Glossator": "1", "Sec-Fetch-Site": "same-origin"}
SENT = "**/api/projects/*/documents?early=true"
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
_serial = itertools.count(1)


def pdf(name: str, content: bytes | None = None) -> FilePayload:
    return {"name": name, "mimeType": "application/pdf", "buffer": content or invoice()}


class Gate:
    """Uploads wait here until a test lets them through."""

    def __init__(self, bench: Bench) -> None:
        self.page = bench.page
        self.held: list[Route] = []
        self.open = False
        bench.page.route(SENT, self.take)

    def take(self, route: Route) -> None:
        if self.open:
            route.continue_()
        else:
            self.held.append(route)

    def wait(self, number: int) -> None:
        """Wait until so many are held."""
        while len(self.held) < number:
            self.page.wait_for_timeout(20)

    def free(self, number: int | None = None) -> None:
        """Let some through, or all of them and those that come."""
        self.open = number is None
        for route in self.held[:number]:
            route.continue_()
        del self.held[:number]


@pytest.fixture
def empty(profile: BrowserContext, server: str) -> Iterator[Bench]:
    """The workspace in a project without documents."""
    answer = profile.request.post(f"{server}/api/projects", data={"name": f"uploads {next(_serial)}"}, headers=HEADERS)
    assert answer.ok, answer.text()
    with bench_in(profile, server, f"#project={answer.json()['id']}") as bench:
        expect(bench.page.get_by_text("No documents yet")).to_be_visible()
        yield bench


def test_documents_of_a_drop_appear_one_by_one_and_refusals_fold(empty: Bench) -> None:
    page = empty.page
    gate = Gate(empty)
    files = [pdf(f"delivery note {number}.pdf") for number in range(1, 17)]
    files.insert(2, pdf("minutes of a meeting.pdf", b"this is no PDF"))
    files.insert(4, pdf("holiday pictures.png", b"nor is this a picture"))
    page.set_input_files("input[type=file]", files)
    uploads, documents = page.locator(".g-uploads"), page.locator(".g-document")
    gate.wait(2)
    expect(uploads.get_by_role("status")).to_have_text("0 of 18 files")
    expect(page.locator(".g-notice")).to_contain_text("Reading your documents")
    expect(uploads.get_by_role("listitem")).to_have_count(2)
    gate.free(1)
    expect(documents).to_have_text(["delivery note 1.pdf1 page · no questions"])
    empty.ready()  # the first one opens before the others are in
    expect(uploads.get_by_role("status")).to_have_text("1 of 18 files")
    expect(page.locator(".g-document[aria-selected=true]")).to_contain_text("delivery note 1.pdf")
    gate.wait(2)
    for _ in (2, 3):
        gate.free(1)
        gate.wait(2)
    expect(documents).to_have_count(2)
    expect(uploads.locator("summary:visible")).to_have_text("1 file was refused")
    gate.free()
    expect(documents.first).to_have_attribute("aria-setsize", "16")
    expect(uploads.get_by_role("status")).to_have_text("16 of 18 files stored")
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


def test_a_busy_server_is_asked_again_and_what_was_not_sent_is_sent_at_a_wish(empty: Bench) -> None:
    page = empty.page
    answers = iter(
        [
            lambda route: route.fulfill(status=429, headers={"Retry-After": "1"}, json={"detail": "Too many files."}),
            lambda route: route.abort(),
        ]
    )
    page.route(SENT, lambda route: next(answers, lambda each: each.continue_())(route))
    page.set_input_files("input[type=file]", [pdf("one.pdf"), pdf("two.pdf")])
    uploads = page.locator(".g-uploads")
    expect(uploads.get_by_text("The server is busy")).to_be_visible()
    expect(uploads.locator("summary:visible")).to_have_text("1 file was not sent")
    expect(page.locator(".g-document")).to_have_count(1)
    uploads.get_by_role("button", name="Try again").click()
    expect(page.locator(".g-document")).to_have_count(2)
    expect(uploads).to_be_hidden()


def test_files_that_wait_are_left_out_when_somebody_cancels(empty: Bench) -> None:
    page = empty.page
    gate = Gate(empty)
    page.set_input_files("input[type=file]", [pdf(f"{number}.pdf") for number in range(6)])
    gate.wait(2)
    page.locator(".g-uploads").get_by_role("button", name="Cancel").click()
    expect(page.locator(".g-uploads").get_by_role("status")).to_have_text("0 of 2 files")
    gate.free()
    expect(page.locator(".g-document")).to_have_count(2)


def test_the_list_shows_the_open_document_and_beginnings_of_names(empty: Bench) -> None:
    page = empty.page
    names = [f"Rechnung {number:02d} der Gebrüder Müller-Lüdenscheidt vom 12. Februar.pdf" for number in range(16)]
    project = page.evaluate("document.querySelector('.glossator').workspace.library.project.id")
    for name in names:
        file = pdf(name)
        answer = page.request.post(
            f"{empty.server}/api/projects/{project}/documents", multipart={"files": file}, headers=HEADERS
        )
        assert answer.ok, answer.text()
    oldest = empty.get(f"/projects/{project}/documents")[-1]
    empty.reload()
    empty.ready()
    page.evaluate("(id) => { location.hash = `document=${id}`; }", oldest["id"])
    row = page.locator(".g-document[aria-selected=true]")
    expect(row).to_contain_text("Rechnung 00")
    expect(row).to_be_in_viewport(ratio=0.9)
    page.locator(".g-documents").evaluate("(list) => list.scrollTo(0, 0)")
    page.evaluate("document.querySelector('.glossator').workspace.drawing.render()")
    assert page.locator(".g-documents").evaluate("(list) => list.scrollTop") == 0  # as somebody has left it
    for width in (1400, 1024, 390):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.locator(".g-name").first.evaluate(READ) >= 24, width
