"""Several projects: switching, uploading into the right one, projects that are made meanwhile."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, FilePayload, expect

from tests.browser.bench import Bench, invoice
from tests.browser.held_answers import Held
from tests.browser.window import Window

pytestmark = pytest.mark.browser

BLOCKED = """for (const name of ['localStorage', 'sessionStorage']) {
  Object.defineProperty(window, name, { get() { throw new DOMException('blocked', 'SecurityError'); } });
}"""


def test_files_go_into_the_project_in_which_they_were_chosen(window: Window) -> None:
    here, elsewhere = window.make_project("uploads"), window.make_project("another one")
    bench = window.open(here)
    held = Held(bench.page, "**/api/projects/*/documents?*", method="POST")
    files: list[FilePayload] = [
        {"name": f"{number}.pdf", "mimeType": "application/pdf", "buffer": invoice()} for number in ("a", "b", "c")
    ]
    bench.page.set_input_files("input[type=file]", files)
    held.wait(2)
    bench.page.locator("select.g-project").select_option(elsewhere)
    expect(notice := bench.page.locator(".g-notice")).to_contain_text("Start with a document")
    held.release()
    done = """() => { const { uploads } = document.querySelector('.glossator').workspace;
      return !uploads.busy; }"""
    bench.page.wait_for_function(done)
    assert sorted(each["name"] for each in bench.get(f"/projects/{here}/documents")) == ["a.pdf", "b.pdf", "c.pdf"]
    assert bench.get(f"/projects/{elsewhere}/documents") == []
    expect(bench.page.locator("select.g-project")).to_have_value(elsewhere)
    expect(notice).to_contain_text("Start with a document")


def test_a_project_that_cannot_be_opened_leaves_the_one_before_open(window: Window) -> None:
    here, elsewhere = window.make_project("stays"), window.make_project("out of reach")
    bench = window.open(here)
    bench.upload()
    document = bench.place()["document"]
    bench.page.context.set_offline(True)
    bench.page.locator("select.g-project").select_option(elsewhere)
    expect(bench.page.locator(".g-toast.g-error")).to_contain_text("cannot be reached")
    expect(bench.page.locator("select.g-project")).to_have_value(here)
    expect(bench.page.locator(f".g-document[data-document='{document}']")).to_be_visible()
    bench.page.context.set_offline(False)
    bench.ask_and_clear()
    bench.page.locator("select.g-project").select_option(elsewhere)
    expect(bench.page.locator(".g-notice")).to_contain_text("Start with a document")


def test_a_link_into_another_project_opens_it_and_one_back_opens_the_answer(window: Window, bench: Bench) -> None:
    bench.upload()
    bench.ask_and_clear()
    place = bench.place()
    elsewhere = window.make_project("linked")
    # A page that has just come writes into the address at that very moment; the link must win.
    follow = (
        """(hash) => { location.hash = hash; document.querySelector('.glossator').workspace.library.remember(null); }"""
    )
    bench.page.evaluate(follow, f"#project={elsewhere}")
    expect(bench.page.locator("select.g-project")).to_have_value(elsewhere)
    expect(bench.page.locator(".g-notice")).to_contain_text("Start with a document")
    bench.page.evaluate(follow, "#" + urlencode(place))
    bench.page.wait_for_function(
        "(wanted) => document.querySelector('.glossator').workspace.answer.local?.id === wanted",
        arg=place["annotation"],
    )
    bench.settled()
    assert bench.place() == place


def test_a_project_made_on_another_tab_can_be_chosen_when_one_comes_back(window: Window, bench: Bench) -> None:
    bench.page.get_by_role("tab", name="Documents").click()
    expect(bench.page.locator(".glossator")).to_be_hidden()
    made = window.make_project("made meanwhile")
    bench.page.get_by_role("tab", name="Annotate").click()
    expect(bench.page.locator(f"select option[value='{made}']").first).to_be_attached()


def test_the_workspace_starts_where_site_data_is_blocked(browser: Browser, server: str) -> None:
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    context.add_init_script(BLOCKED)
    page = context.new_page()
    page.goto(f"{server}/app/")
    page.wait_for_selector(".glossator[data-started]")
    expect(page.locator(".g-notice", has_text="cannot be opened")).to_have_count(0)
    expect(page.get_by_label("Ask this document")).to_be_attached()
    context.close()
