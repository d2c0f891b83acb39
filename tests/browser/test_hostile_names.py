"""Names that are HTML, of documents, questions, projects, people, files and reasons, are text everywhere."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, BrowserContext, FilePayload, Page, expect

from db.tables import Run, Snapshot, User
from engine.accounts import members, sessions
from engine.accounts.invitations import invite
from engine.accounts.users import add_user
from engine.jobs import queue
from engine.models import registry
from engine.projects.projects import create_project
from engine.selection import stages
from engine.settings import Settings
from engine.tasks.standard_questions import replace_standard_questions
from engine.workspace import Workspace, open_workspace
from tests.browser.tabs import tab
from tests.browser.team import PASSWORD
from tests.support.factories import accept, bill, make_document
from tests.support.server_process import Served

pytestmark = pytest.mark.browser

# Closes an attribute, breaks out of an element, and is a template of JavaScript and of Handlebars too.
HOSTILE = '"><img src=x onerror="window.hacked=1">${window.hacked=1}{{this}}'
QUESTION = f"Who is {HOSTILE}?"
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
    project = create_project(workspace, HOSTILE, created_by=user.id).id
    document = make_document(workspace, project, [bill(1)], name=f"{HOSTILE}.png")
    replace_standard_questions(workspace, project, [QUESTION], user.id)
    accept(workspace, document, QUESTION, [4], author=HOSTILE)
    stages.set_stage(workspace, project, "semi_automatic", by=user, reason=HOSTILE)
    other = add_user(workspace, f"{HOSTILE} 2", PASSWORD, "annotator")
    members.put_member(workspace, project, other.id, "annotator", by=user)
    job = queue.enqueue(workspace, "nothing", project, {})
    with workspace.database.write() as session:
        session.get_one(type(job), job.id).failure = HOSTILE
        snapshot = Snapshot(project_id=project, sha256="1" * 64)
        session.add(snapshot)
        session.flush()
        session.add(
            Run(
                project_id=project,
                job_id=job.id,
                snapshot_id=snapshot.id,
                parent_id=registry.champion(session, project).id,
                seed=0,
                code_version="test",
                status="judged",
                verdict={"passed": False, "sentence": HOSTILE},
            )
        )
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


def harmless(page: Page) -> None:
    """Nothing of a name has run, and nothing of it is an element."""
    assert page.evaluate("() => [typeof window.hacked, document.querySelectorAll('img[src=x]').length]") == [
        "undefined",
        0,
    ]


def opened(page: Page, tab: str) -> None:
    page.get_by_role("tab", name=tab, exact=True).click()


def shown(page: Page, text: str = HOSTILE) -> None:
    """Wait until a text can be read as it is."""
    expect(page.get_by_text(text).locator("visible=true").first).to_be_visible()
    harmless(page)


def test_names_are_text_in_the_workspace_and_in_its_messages(page: Page) -> None:
    shown(page, f"{HOSTILE}.png")
    page.locator(".g-document").first.click()
    shown(page, QUESTION)
    page.locator(".g-person-face").click()
    shown(page)
    broken: FilePayload = {"name": f"{HOSTILE}.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.4 nothing"}
    page.set_input_files("input[type=file][accept*=pdf]", [broken])
    shown(page, f"{HOSTILE}.pdf")


def test_names_are_text_on_every_tab(page: Page) -> None:
    texts = {"Documents": f"{HOSTILE}.png", "People": f"{HOSTILE} 2"}
    for name in ("Documents", "Training", "Jobs", "Quality", "Export", "People"):
        panel = tab(page, name)
        expect(panel.get_by_text(texts.get(name, HOSTILE)).locator("visible=true").first).to_be_visible()
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
