"""The list of documents in a project of 250: drawn where it is seen, fetched where somebody scrolls."""

import itertools

import pytest
from playwright.sync_api import expect

from engine.documents.lists.listing import document_lines
from engine.documents.lists.views import DocumentLine
from engine.settings import Settings
from engine.workspace import open_workspace
from tests.benchmarks.growth.project import grow
from tests.browser.bench import Bench
from tests.browser.held_answers import Held
from tests.browser.window import Window
from tests.support.server_process import Served

pytestmark = pytest.mark.browser

DOCUMENTS = 250
_NODES = "() => document.querySelectorAll('.glossator *').length"
_DRAWN = "() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn())))"
_FETCHED = "() => document.querySelector('.glossator').workspace.library.listed.lines.length"


@pytest.fixture(scope="module")
def grown(served: Served) -> tuple[str, list[DocumentLine]]:
    """A project of 250 documents on the shared server, and their lines."""
    workspace = open_workspace(Settings(data_dir=served.data, _env_file=None))
    try:
        project = grow(workspace, DOCUMENTS).project
        return project, document_lines(workspace, project)
    finally:
        workspace.close()


@pytest.fixture
def large(window: Window, grown: tuple[str, list[DocumentLine]]) -> Bench:
    """The workspace in the large project, with its newest document open."""
    bench = window.open(grown[0])
    bench.ready()
    return bench


def test_a_long_list_draws_the_rows_in_sight(large: Bench) -> None:
    rows = large.page.locator(".g-document")
    expect(rows.first).to_have_attribute("aria-setsize", str(DOCUMENTS))
    expect(rows.first).to_have_attribute("aria-posinset", "1")
    assert 5 < rows.count() < 60
    assert large.page.evaluate(_NODES) < 2500
    heights = {row.bounding_box()["height"] for row in rows.all()[:5]}  # type: ignore[index]
    tops = [row.bounding_box()["y"] for row in rows.all()[:5]]  # type: ignore[index]
    assert len(heights) == 1 and {after - top for top, after in itertools.pairwise(tops)} == heights


def test_scrolling_fetches_the_list_to_its_end(large: Bench, grown: tuple[str, list[DocumentLine]]) -> None:
    oldest = grown[1][-1]
    listed = large.page.locator(".g-documents")
    row = large.page.locator(f".g-document[data-document='{oldest.id}']")
    for _ in range(DOCUMENTS // 100 + 5):
        before = large.page.evaluate(_FETCHED)
        listed.evaluate("(list) => list.scrollTo(0, list.scrollHeight)")
        if before == DOCUMENTS:
            break
        large.page.wait_for_function(f"(before) => ({_FETCHED})() > before", arg=before)
    expect(row).to_contain_text(oldest.name)
    expect(row).to_have_attribute("aria-posinset", str(DOCUMENTS))
    assert large.page.locator(".g-document").count() < 60
    names = large.page.evaluate(
        "() => document.querySelector('.glossator').workspace.library.listed.lines.map(({ id }) => id)"
    )
    assert names == [line.id for line in grown[1]]


def test_a_search_asks_the_server_and_finds_what_was_not_fetched(
    large: Bench, grown: tuple[str, list[DocumentLine]]
) -> None:
    wanted = grown[1][-3]
    asked: list[str] = []
    large.listen("request", lambda request: asked.append(request.url) if "q=" in request.url else None)
    field = large.page.get_by_role("searchbox", name="Search documents")
    rows = large.page.locator(".g-document")
    field.click()
    large.keys.type(wanted.name.upper(), delay=5)
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text(wanted.name)
    expect(rows).to_have_attribute("aria-setsize", "1")
    assert len(asked) < len(wanted.name) / 2, "keys that follow each other quickly are one search"
    field.fill("no such document")
    expect(large.page.locator(".g-no-documents")).to_have_text(
        "No document has “no such document” in its name or printed on it."
    )
    expect(rows).to_have_count(0)
    field.fill("")
    expect(rows.first).to_have_attribute("aria-setsize", str(DOCUMENTS))


def test_a_row_says_where_a_printed_word_has_found_it(large: Bench) -> None:
    field, rows = large.page.get_by_role("searchbox", name="Search documents"), large.page.locator(".g-document")
    field.fill("NOTE")
    expect(rows.first).to_contain_text("2 pages")
    field.fill("note carrier1")
    expect(rows.first).to_contain_text("In its text")
    field.fill("")
    expect(rows.first).to_have_attribute("aria-setsize", str(DOCUMENTS))


def test_the_list_before_stays_until_the_answer_and_a_late_one_is_dropped(
    large: Bench, grown: tuple[str, list[DocumentLine]]
) -> None:
    first, second = grown[1][-5].name, grown[1][-7].name
    held = Held(large.page, "**/documents?q=*")
    field, rows = large.page.get_by_role("searchbox", name="Search documents"), large.page.locator(".g-document")
    field.fill(first)
    held.wait(1)
    assert rows.count() > 5
    field.fill(second)
    held.wait(2)
    assert rows.count() > 5
    held.release_one(1)
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text(second)
    held.release()
    large.page.evaluate(_DRAWN)
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text(second)


def test_keys_walk_beyond_the_rows_that_are_drawn(large: Bench, grown: tuple[str, list[DocumentLine]]) -> None:
    rows = large.page.locator(".g-document")
    rows.first.focus()
    for at in range(1, 71):
        large.keys.press("ArrowDown")
        if at % 10 == 0:
            focused = large.page.locator(".g-document:focus")
            expect(focused).to_have_attribute("data-document", grown[1][at].id)
            expect(focused).to_be_in_viewport(ratio=0.9)
    expect(large.page.locator(".g-document[tabindex='0']")).to_have_attribute("data-document", grown[1][0].id)
    large.page.locator(".g-documents").evaluate("(list) => list.scrollTo(0, 0)")
    expect(large.page.locator(".g-document:focus")).to_have_attribute("data-document", grown[1][70].id)
    large.keys.press("ArrowUp")
    focused = large.page.locator(".g-document:focus")
    expect(focused).to_have_attribute("data-document", grown[1][69].id)
    expect(focused).to_be_in_viewport(ratio=0.9)
    large.keys.press("Enter")
    expect(large.page.locator(".g-document[aria-selected=true]")).to_have_attribute("data-document", grown[1][69].id)


def test_an_open_document_far_down_is_in_sight(large: Bench, grown: tuple[str, list[DocumentLine]]) -> None:
    far = grown[1][225]
    large.page.evaluate("([p, d]) => { location.hash = `project=${p}&document=${d}`; }", [grown[0], far.id])
    row = large.page.locator(".g-document[aria-selected=true]")
    expect(row).to_contain_text(far.name)
    expect(row).to_be_in_viewport(ratio=0.9)
    expect(row).to_have_attribute("tabindex", "0")
    assert large.page.evaluate(_FETCHED) == 100
    large.ready()
    large.ask("What is the freight?")
    expect(row).to_contain_text(f"of {far.questions + 1} accepted")


def test_a_new_document_comes_to_the_front_of_a_long_list(large: Bench) -> None:
    fetched: list[str] = []
    large.listen("request", lambda request: fetched.append(request.url) if "/documents?" in request.url else None)
    large.upload(name="just in.pdf")
    rows = large.page.locator(".g-document")
    expect(rows.first).to_contain_text("just in.pdf")
    expect(rows.first).to_have_attribute("aria-setsize", str(DOCUMENTS + 1))
    lines = [url for url in fetched if "early=" not in url]
    assert lines and all("id=" in url for url in lines), lines
