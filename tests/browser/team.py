"""Several people on one server with login, each in a browser profile of their own."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, FilePayload, Locator, Page, Route, expect

from db.tables import Member, Revision
from engine.accounts import sessions, users
from engine.projects.projects import change_settings, create_project
from engine.settings import Settings
from engine.workspace import open_workspace
from tests.browser.bench import OPENING, Bench, invoice
from tests.support.server_process import Served

PASSWORD = "margins-and-glosses"
ROLES = {"Ann": "annotator", "Ben": "annotator", "Rita": "reviewer"}
_serial = itertools.count(1)


def add_everybody(data: Path) -> dict[str, str]:
    """Add the people to the database of a server that does not run yet; return their ids."""
    workspace = open_workspace(Settings(data_dir=data, _env_file=None))
    ids = {name: users.add_user(workspace, name, PASSWORD, "annotator").id for name in ROLES}
    workspace.close()
    return ids


class Desk(Bench):
    """The workspace of somebody who has logged in."""

    def __init__(self, page: Page, server: str, name: str) -> None:
        super().__init__(page, server)
        self.name = name
        self.strip = page.locator(".g-task")
        self.nothing = page.locator(".g-nothing")
        self.asked = page.locator(".g-asked").first
        self.status = page.locator(".g-answer-head .g-status")

    def mode(self, name: str) -> None:
        """Choose what to work on: free, queue or review."""
        self.page.locator(f".g-mode[data-mode={name}]").click()

    def at_work(self, question: str) -> None:
        """Wait until the answer to a question is open, and everything has come to rest."""
        expect(self.asked).to_have_text(question)
        self.page.wait_for_function(
            "() => { const { work: desk } = document.querySelector('.glossator').workspace;"
            " return !desk.desk || (!desk.desk.busy && desk.desk.lease); }"
        )
        self.settled()

    def go_on_in(self, question: str) -> None:
        """Accept, and wait for the next question."""
        self.keys.press("Enter")
        self.at_work(question)

    def mark(self, text: str) -> None:
        """Mark one word and nothing else, whatever the model thinks."""
        if self.painted().any():
            self.keys.press("Delete")
        self.keys.press("w")
        self.click(text)
        self.settled()

    def trap(self, pattern: str, handler: Callable[[Route], object]) -> None:
        """Route requests. Chromium takes a moment until it holds them: wait until one is held."""
        self.page.route(pattern, handler)
        held: list[Route] = []

        def hold(route: Route) -> None:
            held.append(route)
            route.fulfill(status=204)

        self.page.route("**/is-it-held", hold)
        while not held:
            self.page.evaluate("() => fetch('/is-it-held').catch(() => {})")
        self.page.unroute("**/is-it-held")

    def beat(self) -> None:
        """Let the heartbeat of the half minute come now."""
        self.page.evaluate("() => document.querySelector('.glossator').workspace.work.desk.lease.beat()")


class Team:
    """A project of its own for a test: Ann and Ben annotate, Rita reviews."""

    def __init__(self, server: str, browser: Browser, data: Path, ids: dict[str, str]) -> None:
        self.server = server
        self.browser = browser
        self.workspace = open_workspace(Settings(data_dir=data, _env_file=None))
        self.ids = ids
        self.project = create_project(self.workspace, f"team {next(_serial)}").id
        with self.workspace.database.write() as session:
            for name, role in ROLES.items():
                session.add(Member(project_id=self.project, user_id=ids[name], role=role))
        change_settings(self.workspace, self.project, review_required=True)
        self.contexts: list[BrowserContext] = []
        self.thrown: list[str] = []

    def context(self, name: str, **more: object) -> BrowserContext:
        """A browser profile in which somebody has logged in."""
        context = self.browser.new_context(viewport={"width": 1400, "height": 900}, **more)  # type: ignore[arg-type]
        self.contexts.append(context)
        context.add_cookies([{"name": "glossator_session", "value": self._token(name), "url": self.server}])
        return context

    def sit(self, name: str, place: str = "", **more: object) -> Desk:
        """Open the project for somebody, at a place of the address such as "&document=..."."""
        page = self.context(name, **more).new_page()
        page.on("pageerror", lambda error: self.thrown.append(f"{name}: {error}\n{error.stack}"))
        page.goto(f"{self.server}/app/#project={self.project}{place}")
        page.wait_for_selector(".glossator[data-started]", timeout=OPENING)
        return Desk(page, self.server, name)

    def log_in_again(self, desk: Desk, name: str | None = None) -> None:
        """Give somebody's browser a new login, as the form in another tab would; with a name, of somebody else."""
        cookie = {"name": "glossator_session", "value": self._token(name or desk.name), "url": self.server}
        desk.page.context.add_cookies([cookie])  # type: ignore[list-item]

    def end_logins(self, name: str) -> None:
        """End somebody's logins in browsers."""
        with self.workspace.database.write() as session:
            sessions.revoke_all(session, self.ids[name], tokens=False)

    def revisions(self, answer: str) -> list[tuple[int, str]]:
        """Number and author of the revisions of an answer, oldest first; no key of an edit stands there twice."""
        with self.workspace.database.read() as session:
            rows = session.query(Revision).filter_by(annotation_id=answer).order_by(Revision.number).all()
        assert len({row.idempotency_key for row in rows}) == len(rows)
        names = {key: name for name, key in self.ids.items()}
        return [(row.number, names[row.author_id]) for row in rows]

    def ask_of_all(self, *questions: str, documents: int = 1) -> None:
        """Put documents into the project, and standard questions."""
        rita = self.context("Rita").request
        own = {"X-Glossator": "1", "Sec-Fetch-Site": "same-origin"}
        for number in range(documents):
            file: FilePayload = {"name": f"invoice {number}.pdf", "mimeType": "application/pdf", "buffer": invoice()}
            answer = rita.post(
                f"{self.server}/api/projects/{self.project}/documents", multipart={"files": file}, headers=own
            )
            assert answer.ok, answer.text()
        answer = rita.put(
            f"{self.server}/api/projects/{self.project}/standard-questions",
            data={"questions": list(questions)},
            headers=own,
        )
        assert answer.ok, answer.text()

    def change(self, step: Callable) -> None:  # type: ignore[type-arg]
        """Change the database behind everybody's back: step(session)."""
        with self.workspace.database.write() as session:
            step(session)

    def close(self) -> None:
        for context in self.contexts:
            context.close()
        self.workspace.close()
        assert not self.thrown, self.thrown[0]

    def _token(self, name: str) -> str:
        with self.workspace.database.write() as session:
            return sessions.begin(self.workspace, session, self.ids[name])


def logged_out(desk: Desk) -> Locator:
    """The dialog that the login has ended."""
    return desk.page.get_by_role("dialog", name="Your session has ended")


def enter(dialog: Locator, label: str, text: str) -> None:
    """Type what the dialog asks for, and log in."""
    dialog.get_by_label(label).fill(text)
    dialog.get_by_role("button", name="Log in").click()


def said(desk: Desk) -> Sequence[str]:
    """The messages on the screen."""
    return desk.page.locator(".g-toast span").all_inner_texts()


@pytest.fixture(scope="session")
def server_with_login(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, dict[str, str]]]:
    """A server where people log in, and the ids of its people."""
    served = Served(tmp_path_factory.mktemp("login"), {"GLOSSATOR_AUTH": "login"})
    ids = add_everybody(served.data)
    try:
        served.start()
        yield served, ids
    finally:
        served.stop()


@pytest.fixture
def team(server_with_login: tuple[Served, dict[str, str]], browser: Browser) -> Iterator[Team]:
    """People at work in a project of their own. What the pages' scripts throw fails the test."""
    served, ids = server_with_login
    gathered = Team(served.address, browser, served.data, ids)
    yield gathered
    gathered.close()
