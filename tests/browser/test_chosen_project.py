"""One project for the whole page: chosen in the workspace or on a tab, the others follow."""

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.slow_connection import Line
from tests.support.server_process import Served

pytestmark = pytest.mark.browser
HEADERS = {"X-Glossator": "1", "Sec-Fetch-Site": "same-origin"}
TABS = ["Documents", "Questions", "Training", "Quality", "Export"]


@pytest.fixture
def page(profile: BrowserContext) -> Page:
    return profile.new_page()


def opened(page: Page, served: Served, fragment: str = "") -> None:
    page.goto(f"{served.address}/app/{fragment}")
    page.wait_for_selector(".glossator[data-started]")


def made(page: Page, served: Served, name: str) -> str:
    answer = page.request.post(
        f"{served.address}/api/projects",
        data={"name": name},
        headers=HEADERS,
    )
    return str(answer.json()["id"])


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


def test_every_tab_shows_the_project_that_is_open_in_the_workspace(page: Page, served: Served) -> None:
    wanted = made(page, served, "Deeds of 1850")
    opened(page, served, f"#project={wanted}")
    assert in_workspace(page) == "Deeds of 1850"
    for name in TABS:
        expect(tab(page, name)).to_have_value("Deeds of 1850")
    for name in ("Jobs", "People"):
        expect(tab(page, name)).to_have_value(wanted)


def test_a_project_chosen_or_made_on_a_tab_is_chosen_everywhere(page: Page, served: Served) -> None:
    letters = made(page, served, "Letters")
    opened(page, served)
    tab(page, "Export").click()
    page.get_by_role("option", name="Letters").click()
    expect(tab(page, "Documents")).to_have_value("Letters")
    assert page.evaluate("() => window.Glossator.chosenProject()") == letters
    in_workspace(page)
    page.wait_for_function("() => document.querySelector('.glossator').workspace.library.project?.name === 'Letters'")
    tab(page, "Documents")
    page.get_by_label("New project").fill("Ledgers")
    page.get_by_role("button", name="Create").click()
    expect(tab(page, "Documents")).to_have_value("Ledgers")
    expect(tab(page, "Quality")).to_have_value("Ledgers")
    in_workspace(page)
    page.wait_for_function("() => document.querySelector('.glossator').workspace.library.project?.name === 'Ledgers'")
    page.reload()
    page.wait_for_selector(".glossator[data-started]")
    assert in_workspace(page) == "Ledgers"
    expect(tab(page, "Training")).to_have_value("Ledgers")
    tab(page, "Jobs").select_option(letters)
    expect(tab(page, "People")).to_have_value(letters)
    expect(tab(page, "Export")).to_have_value("Letters")


def test_questions_that_are_being_written_stay_until_they_are_saved(page: Page, served: Served) -> None:
    first, other = (made(page, served, name) for name in ("Bills", "Forms"))
    page.request.put(
        f"{served.address}/api/projects/{first}/standard-questions",
        data={"questions": ["Who owes?"]},
        headers=HEADERS,
    )
    opened(page, served, f"#project={first}")
    expect(tab(page, "Questions")).to_have_value("Bills")
    written = page.get_by_label("Standard questions")
    expect(written).to_have_value("Who owes?")
    written.fill("Who pays?")
    page.evaluate("(id) => window.Glossator.chooseProject(id)", other)
    expect(tab(page, "Documents")).to_have_value("Forms")
    count(page, "askedByForm")
    shown = tab(page, "Questions")
    counted(page)
    expect(shown).to_have_value("Bills")
    expect(written).to_have_value("Who pays?")
    page.get_by_role("button", name="Save questions").click()
    expect(page.get_by_text("1 standard question saved.")).to_be_visible()
    tab(page, "Documents")
    expect(tab(page, "Questions")).to_have_value("Forms")
    expect(written).to_have_value("")


def test_a_project_that_is_picked_while_a_tab_is_being_filled_stays(page: Page, served: Served) -> None:
    wills, deeds = made(page, served, "Wills"), made(page, served, "Deeds")
    opened(page, served, f"#project={deeds}")
    choice = tab(page, "Export")
    expect(choice).to_have_value("Deeds")
    tab(page, "Documents")
    page.evaluate("() => window.Glossator.chooseProject('none')")  # so that the tab Export is filled again
    line = Line(page, '"coco"')  # a message of the tab Export
    tab(page, "Export")
    line.wait()
    choice.click()
    page.get_by_role("option", name="Wills").click()
    count(page, "placed")
    line.free()
    counted(page)
    expect(choice).to_have_value("Wills")
    assert page.evaluate("() => window.Glossator.chosenProject()") == wills


def test_a_queue_is_left_by_whoever_is_in_it_alone(page: Page, served: Served) -> None:
    """Looking at the figures of another project gives no task back."""
    made(page, served, "Maps")
    here = made(page, served, "Notes")
    opened(page, served, f"#project={here}")
    workspace = "document.querySelector('.glossator').workspace"
    page.locator(".g-mode[data-mode=queue]").click()
    page.wait_for_function(f"() => {workspace}.work.mode === 'queue'")
    tab(page, "Quality").click()
    page.get_by_role("option", name="Maps").click()
    in_workspace(page)
    page.wait_for_timeout(300)  # nothing can be waited for: that the project stays is what counts
    assert page.evaluate(f"() => {workspace}.library.project.name") == "Notes"
    page.evaluate(f"() => {workspace}.commands.queue()")
    page.wait_for_function(f"() => {workspace}.work.mode === 'free'")
    tab(page, "Quality")
    in_workspace(page)
    page.wait_for_function(f"() => {workspace}.library.project.name === 'Maps'")
