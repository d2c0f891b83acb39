"""Names that are HTML are text in messages, in the corner of the page, and on the pages before the page."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from db.tables import User
from engine.accounts import sessions
from engine.accounts.invitations import invite
from engine.accounts.users import add_user
from engine.settings import Settings
from engine.tasks.standard_questions import replace_standard_questions
from engine.workspace import Workspace, open_workspace
from tests.browser.hostile_names import HOSTILE, QUESTION, harmless, make_hostile_project
from tests.browser.team import PASSWORD
from tests.support.server_process import Served

pytestmark = pytest.mark.browser

TOAST = "[data-testid=toast-text]"


@dataclass
class Scene:
    """Where everything has a hostile name, and its admin, who has one too."""

    server: str
    workspace: Workspace
    project: str
    user: User

    def token(self) -> str:
        with self.workspace.database.write() as session:
            return sessions.begin(self.workspace, session, self.user.id)


@pytest.fixture(scope="module")
def scene(server_with_login: tuple[Served, dict[str, str]]) -> Iterator[Scene]:
    served, _ = server_with_login
    workspace = open_workspace(Settings(data_dir=served.data, _env_file=None))
    user = add_user(workspace, HOSTILE, PASSWORD, "admin")
    project = make_hostile_project(workspace, user)
    yield Scene(served.address, workspace, project, user)
    workspace.close()


@pytest.fixture
def page(scene: Scene, profile: BrowserContext) -> Iterator[Page]:
    """The page of the admin. When a test ends, no name has become anything but text."""
    profile.add_cookies([{"name": "glossator_session", "value": scene.token(), "url": scene.server}])
    page = profile.new_page()
    page.goto(f"{scene.server}/app/#project={scene.project}")
    page.wait_for_selector(".glossator[data-started]")
    yield page
    harmless(page)


def opened(page: Page, tab: str) -> None:
    page.get_by_role("tab", name=tab, exact=True).click()


def test_the_name_of_a_person_is_text_in_the_corner(page: Page) -> None:
    page.locator(".g-person-face").click()
    expect(page.get_by_text(HOSTILE).locator("visible=true").first).to_be_visible()
    harmless(page)


def test_names_are_text_in_the_messages_of_the_tabs(scene: Scene, page: Page) -> None:
    opened(page, "Documents")
    page.get_by_label("New project").fill(HOSTILE)
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.locator(TOAST).first).to_contain_text(f"The project name '{HOSTILE}' is taken. Choose another one.")
    harmless(page)
    opened(page, "Questions")
    listed = page.get_by_role("textbox", name="Standard questions")
    expect(listed).to_have_value(QUESTION)
    replace_standard_questions(scene.workspace, scene.project, [QUESTION, f"{QUESTION} 2"], scene.user.id)
    listed.fill("What is the total due?")
    page.get_by_role("button", name="Save questions").click()
    expect(page.locator(TOAST, has_text="Somebody else added")).to_contain_text(f'"{QUESTION} 2"')


def test_names_are_text_on_the_pages_before_the_page(scene: Scene, browser: Browser) -> None:
    made = invite(scene.workspace, scene.project, "annotator", by=scene.user)
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{scene.server}/invite/{made.token}")
    expect(page.locator("h1")).to_have_text(HOSTILE)
    harmless(page)
    page.goto(f"{scene.server}/login")
    page.get_by_label("Name").fill(HOSTILE)
    page.get_by_label("Password").fill("not this one")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_label("Name")).to_have_value(HOSTILE)
    harmless(page)
    context.close()
