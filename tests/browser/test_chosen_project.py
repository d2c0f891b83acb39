"""One project for the whole page: chosen in the workspace or on a tab, the others follow."""

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.bench import Bench
from tests.browser.slow_connection import Line
from tests.browser.tabs import made, send
from tests.browser.window import Window

pytestmark = pytest.mark.browser
TABS = ["Documents", "Questions", "Training", "Quality", "Export"]
_OPEN = "(name) => document.querySelector('.glossator').workspace.library.project?.name === name"


def tab(page: Page, name: str) -> Locator:
    """Open a tab, and return its choice of a project."""
    page.get_by_role("tab", name=name, exact=True).click()
    return page.locator("[role=tabpanel]:visible").get_by_role("combobox", name="Project", exact=True)


def in_workspace(page: Page) -> str:
    page.get_by_role("tab", name="Annotate", exact=True).click()
    return str(page.evaluate("() => document.querySelector('.glossator').workspace.library.project?.name"))


def count(page: Page, name: str) -> None:
    """Count from here on how often a tab asks for the project that it should show."""
    page.evaluate(
        """(name) => {
          const { Glossator } = window, was = Glossator[name];
          window.asked = 0;
          Glossator[name] = (...given) => { window.asked++; return was(...given); };
        }""",
        name,
    )


def counted(page: Page) -> None:
    """Wait until a tab has asked, and for what it does with the answer."""
    page.wait_for_function("() => window.asked > 0")
    page.wait_for_timeout(300)


def test_every_tab_shows_the_project_that_is_open_in_the_workspace(window: Window) -> None:
    wanted = window.make_project("Deeds of 1850")
    page = window.open(wanted).page
    name = in_workspace(page)
    assert name.startswith("Deeds of 1850")
    for each in TABS:
        expect(tab(page, each)).to_have_value(name)
    for each in ("Jobs", "People"):
        expect(tab(page, each)).to_have_value(wanted)


def test_a_project_chosen_or_made_on_a_tab_is_chosen_everywhere(bench: Bench) -> None:
    page = bench.page
    letters = made(bench, f"Letters {bench.project}")
    name, made_here = f"Letters {bench.project}", f"Ledgers {bench.project}"
    tab(page, "Export").click()
    page.get_by_role("option", name=name).click()
    expect(tab(page, "Documents")).to_have_value(name)
    assert page.evaluate("() => window.Glossator.chosenProject()") == letters
    in_workspace(page)
    page.wait_for_function(_OPEN, arg=name)
    tab(page, "Documents")
    page.get_by_label("New project").fill(made_here)
    page.get_by_role("button", name="Create").click()
    expect(tab(page, "Documents")).to_have_value(made_here)
    expect(tab(page, "Quality")).to_have_value(made_here)
    in_workspace(page)
    page.wait_for_function(_OPEN, arg=made_here)
    bench.reload()
    assert in_workspace(page) == made_here
    expect(tab(page, "Training")).to_have_value(made_here)
    tab(page, "Jobs").select_option(letters)
    expect(tab(page, "People")).to_have_value(letters)
    expect(tab(page, "Export")).to_have_value(name)


def test_questions_that_are_being_written_stay_until_they_are_saved(window: Window) -> None:
    first, other = window.make_project("Bills"), window.make_project("Forms")
    bench = window.open(first)
    page = bench.page
    bills, forms = window.names[first], window.names[other]
    send(bench, "PUT", f"/projects/{first}/standard-questions", {"questions": ["Who owes?"]})
    expect(tab(page, "Questions")).to_have_value(bills)
    written = page.get_by_label("Standard questions")
    expect(written).to_have_value("Who owes?")
    written.fill("Who pays?")
    page.evaluate("(id) => window.Glossator.chooseProject(id)", other)
    expect(tab(page, "Documents")).to_have_value(forms)
    count(page, "prepareFormInputs")
    shown = tab(page, "Questions")
    counted(page)
    expect(shown).to_have_value(bills)
    expect(written).to_have_value("Who pays?")
    page.get_by_role("button", name="Save questions").click()
    expect(page.get_by_text("1 standard question saved.")).to_be_visible()
    tab(page, "Documents")
    expect(tab(page, "Questions")).to_have_value(forms)
    expect(written).to_have_value("")


def test_a_project_that_is_picked_while_a_tab_is_being_filled_stays(window: Window) -> None:
    wills, deeds = window.make_project("Wills"), window.make_project("Deeds")
    page = window.open(deeds).page
    choice = tab(page, "Export")
    expect(choice).to_have_value(window.names[deeds])
    tab(page, "Documents")
    page.evaluate("() => window.Glossator.chooseProject('none')")  # so that the tab Export is filled again
    line = Line(page, '"coco"')  # a message of the tab Export
    tab(page, "Export")
    line.wait()
    choice.click()
    page.get_by_role("option", name=window.names[wills]).click()
    count(page, "showProjects")
    line.free()
    counted(page)
    expect(choice).to_have_value(window.names[wills])
    assert page.evaluate("() => window.Glossator.chosenProject()") == wills


def test_a_queue_is_left_by_whoever_is_in_it_alone(window: Window) -> None:
    """Looking at the figures of another project gives no task back."""
    maps, here = window.make_project("Maps"), window.make_project("Notes")
    page = window.open(here).page
    workspace = "document.querySelector('.glossator').workspace"
    page.locator(".g-mode[data-mode=queue]").click()
    page.wait_for_function(f"() => {workspace}.work.mode === 'queue'")
    tab(page, "Quality").click()
    page.get_by_role("option", name=window.names[maps]).click()
    in_workspace(page)
    page.wait_for_timeout(300)  # nothing can be waited for: that the project stays is what counts
    assert page.evaluate(f"() => {workspace}.library.project.id") == here
    page.evaluate(f"() => {workspace}.commands.queue()")
    page.wait_for_function(f"() => {workspace}.work.mode === 'free'")
    tab(page, "Quality")
    in_workspace(page)
    page.wait_for_function("(id) => document.querySelector('.glossator').workspace.library.project.id === id", arg=maps)


def test_a_queue_that_is_chosen_before_the_projects_are_there_hands_out_its_work(window: Window) -> None:
    page = window.open(window.make_project("Early")).page
    held: list[Route] = []
    page.route("**/api/projects", lambda route: held.append(route))
    page.reload(wait_until="commit")
    page.locator(".g-mode[data-mode=queue]").click()
    page.wait_for_function("() => document.querySelector('.glossator').workspace?.work.mode === 'queue'")
    for route in held:
        route.continue_()
    page.unroute("**/api/projects")
    # There is no standard question, and the queue says so.
    page.wait_for_function("() => document.querySelector('.glossator').workspace.work.tasks.reason !== null")
