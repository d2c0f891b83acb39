"""The tab Jobs in a browser: why a job failed, trying it again, stopping it, and what starts the next one."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from db.tables import Project
from engine.jobs import queue
from engine.projects.projects import create_project
from engine.settings import Settings
from engine.training.retraining import trigger
from engine.workspace import Workspace, open_workspace
from tests.browser.bench import Bench
from tests.browser.team import Team
from tests.support import job_states
from tests.support.server_process import Served


@pytest.fixture
def beside(served: Served) -> Iterator[Workspace]:
    """The server's database, written to beside it as a worker does."""
    workspace = open_workspace(Settings(data_dir=served.data, _env_file=None))
    yield workspace
    workspace.close()


def tab(page: Page, project: str) -> Locator:
    """The tab, open on a project."""
    page.get_by_role("tab", name="Jobs", exact=True).click()
    panel = page.locator(".g-jobs")
    expect(panel).to_be_visible()
    panel.get_by_label("Project").select_option(label=project)
    return panel


def card(panel: Locator, title: str) -> Locator:
    return panel.locator(".g-card").filter(has=panel.page.get_by_role("heading", name=title, exact=True))


def fits(page: Page) -> bool:
    page.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


def look_again(panel: Locator, beside: Workspace, project: Project) -> None:
    """Make another job beside the page, and wait until the tab shows it."""
    rows = card(panel, "Jobs").locator("li")
    many = rows.count()
    queue.enqueue(beside, trigger.RETRAIN, project.id)
    expect(rows).to_have_count(many + 1)


def test_a_job_that_failed_says_why_is_tried_again_and_stopped(bench: Bench, beside: Workspace) -> None:
    project = create_project(beside, "that failed")
    job_states.failed(beside, project.id)
    bench.page.reload()
    panel = tab(bench.page, "that failed")
    row = card(panel, "Jobs").locator("li").last
    expect(row).to_contain_text("given up")
    expect(row).to_contain_text(job_states.FULL)
    again, stop = (row.get_by_role("button", name=name) for name in ("Try again", "Stop"))
    expect(stop).to_be_hidden()
    again.click()
    expect(row.locator(".glossator-badge")).to_have_text("waiting")
    expect(row).to_contain_text("Previous failure: The disk is full")
    expect(again).to_be_hidden()
    stop.click()
    look_again(panel, beside, project)  # does not take the question back
    row.get_by_role("button", name="Confirm stop").click()
    expect(row.locator(".glossator-badge")).to_have_text("stopped")
    bench.page.set_viewport_size({"width": 390, "height": 844})
    expect(row).to_be_visible()
    assert fits(bench.page)


def test_a_project_in_which_nothing_ran_says_what_will_start_it(bench: Bench, beside: Workspace) -> None:
    create_project(beside, "new and empty")
    bench.page.reload()
    panel = tab(bench.page, "new and empty")
    expect(card(panel, "Jobs")).to_contain_text("No jobs yet")
    expect(card(panel, "Automatic retrainings")).to_contain_text("No retraining was due yet")
    expect(card(panel, "Retraining triggers")).to_contain_text("0 of 20 answers accepted")


def test_a_clock_is_set_and_one_that_cannot_be_says_what_is_wrong(bench: Bench, beside: Workspace) -> None:
    project = create_project(beside, "with a clock")
    bench.page.reload()
    panel = tab(bench.page, "with a clock")
    causes = card(panel, "Retraining triggers")
    expect(causes.locator("dd").last).to_have_text("off")
    causes.get_by_text("Change", exact=True).click()
    expression = causes.get_by_label(re.compile("Schedule as crontab"))
    expression.fill("30 2 * *")
    causes.get_by_role("button", name="Save").click()
    expect(causes.get_by_role("status")).to_contain_text("five fields")
    look_again(panel, beside, project)
    expect(expression).to_have_value("30 2 * *")  # what was typed stays while the page looks again
    expression.fill("30 2 * * 1-5")
    causes.get_by_label("Time zone of the schedule").fill("Europe/Berlin")
    causes.get_by_label(re.compile("days that an answer waits")).fill("7")
    causes.get_by_role("button", name="Save").click()
    expect(causes.locator("dd").last).to_contain_text("30 2 * * 1-5 Europe/Berlin: next ")
    expect(causes).to_contain_text("an answer has waited 7 days")
    bench.page.set_viewport_size({"width": 390, "height": 844})
    causes.get_by_text("Change", exact=True).click()
    expect(expression).to_have_value("30 2 * * 1-5")
    assert fits(bench.page)


def test_everything_at_once_fits_a_telephone(bench: Bench, beside: Workspace) -> None:
    project = create_project(beside, "a busy one")
    job_states.of_every_kind(beside, project.id)
    bench.page.reload()
    panel = tab(bench.page, "a busy one")
    rows = card(panel, "Jobs").locator("li")
    expect(rows).to_have_count(6)
    expect(rows.first).to_contain_text("running, 37 %")
    expect(rows.nth(1)).to_contain_text("The database did not answer")
    expect(card(panel, "Automatic retrainings").locator("li")).to_have_count(5)
    expect(panel.locator(".g-watched")).to_contain_text(job_states.WORKER)
    bench.page.set_viewport_size({"width": 390, "height": 844})
    assert fits(bench.page)


def test_annotators_have_no_tabs_that_are_for_reviewers(team: Team) -> None:
    for name, has in (("Rita", True), ("Ann", False)):
        page = team.sit(name).page
        for tab_name in ("Jobs", "Table", "Export"):
            shown = page.get_by_role("tab", name=tab_name, exact=True)
            expect(page.get_by_role("tab", name="People", exact=True)).to_be_visible()
            expect(shown).to_be_visible(visible=has)
        page.set_viewport_size({"width": 390, "height": 844})
        page.get_by_role("button", name="More tabs").click()
        entries = page.locator(".overflow-dropdown button")
        expect(entries.filter(has_text="People")).to_be_visible()
        for tab_name in ("Jobs", "Table", "Export"):
            expect(entries.filter(has_text=tab_name)).to_be_visible(visible=has)
