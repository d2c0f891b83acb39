"""A tab is fetched once when it is opened, asks for nothing while nobody touches it, and keeps what was begun."""

import pytest
from playwright.sync_api import expect

from tests.browser.bench import Bench
from tests.browser.tabs import OF_GRADIO, TABS, Asked, made, send, tab


@pytest.mark.own_profile
def test_a_page_left_alone_for_a_minute_asks_for_nothing(bench: Bench) -> None:
    page = bench.page
    page.clock.install()
    page.reload()
    page.wait_for_selector(".glossator[data-started]")
    for name in (*TABS, "Jobs", "Quality", "Documents"):
        tab(page, name)
    page.clock.run_for(2_000)
    asked = Asked(bench)
    page.clock.run_for(60_000)
    assert asked.paths == []


def test_opening_the_page_asks_nothing_for_a_tab_and_opening_a_tab_asks_once(bench: Bench) -> None:
    page, asked = bench.page, Asked(bench)
    page.reload()
    page.wait_for_selector(".glossator[data-started]")
    for name in TABS:
        tab(page, name)
    assert asked.events == len(OF_GRADIO)
    asked.paths.clear()
    for name in TABS:
        tab(page, name)
    page.get_by_role("tab", name="Annotate", exact=True).click()
    expect(page.locator(".g-canvas")).to_be_visible()
    # The workspace looks at the projects, and the browser loads a picture when it comes into sight.
    assert not [path for path in asked.paths if path != "/api/projects" and not path.endswith("/thumbnail")]


def test_a_tab_keeps_what_the_reader_has_opened_and_begun_to_write(bench: Bench) -> None:
    """Also while others change the same project."""
    page = bench.page
    project = made(bench, "kept under changes")
    page.evaluate("(id) => window.Glossator.chooseProject(id)", project)
    documents = tab(page, "Documents")
    documents.get_by_label("New project").fill("not made yet")
    questions = tab(page, "Questions")
    written = questions.get_by_label("Standard questions")
    written.fill("Who owes?")
    send(bench, "PATCH", f"/projects/{project}/settings", {"review_required": True})
    expect(questions.get_by_label("Review required")).to_be_checked()
    expect(written).to_have_value("Who owes?")
    send(bench, "PUT", f"/projects/{project}/standard-questions", {"questions": ["Who pays?"]})
    tab(page, "Documents")
    expect(documents.get_by_label("New project")).to_have_value("not made yet")
    jobs = tab(page, "Jobs")
    jobs.get_by_text("Change", exact=True).click()
    jobs.get_by_label("Newly accepted answers that start a retraining").fill("77")
    send(bench, "PATCH", f"/projects/{project}/settings", {"retrain_after": 5})
    expect(jobs.locator(".g-triggers")).to_contain_text("5 newly accepted answers")
    expect(jobs.get_by_label("Newly accepted answers that start a retraining")).to_have_value("77")
