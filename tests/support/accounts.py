"""People for tests: a project with one person of each kind, logged in without the slow hashing of passwords."""

from dataclasses import dataclass, field

from starlette.testclient import TestClient

from annotator.auth import COOKIE
from db.base import now
from db.ids import new_id
from db.tables import Member, User
from engine import audit
from engine.accounts import sessions
from engine.workspace import Workspace

ADDRESS = "http://127.0.0.1:7860"


def make_user(workspace: Workspace, name: str | None = None, role: str = "annotator", **projects: str) -> User:
    """A user who has no password yet; `projects`: what they are in which project, by its id."""
    with workspace.database.write() as session:
        user = User(name=name or f"person {new_id()}", role=role)
        session.add(user)
        session.flush()
        for project_id, as_what in projects.items():
            session.add(Member(project_id=project_id, user_id=user.id, role=as_what, created_at=now()))
        return user


def cookie_of(workspace: Workspace, user: User) -> dict[str, str]:
    """The cookie of a new session of a user."""
    with workspace.database.write() as session:
        token = sessions.begin(
            workspace, session, user.id, client="Mozilla/5.0 (X11; Linux) Firefox/140.0", address="10.0.0.7"
        )
    return {COOKIE: token}


@dataclass
class Person:
    """Somebody with a browser."""

    user: User | None
    client: TestClient
    cookie: dict[str, str] = field(default_factory=dict)

    @property
    def known(self) -> User:
        """The user; nobody who is not logged in has one."""
        assert self.user is not None
        return self.user

    def request(self, method: str, url: str, **more: object):
        """A request with this person's cookie and nobody else's."""
        self.client.cookies.clear()
        for name, value in self.cookie.items():
            self.client.cookies.set(name, value)
        return self.client.request(method, url, follow_redirects=False, **more)  # type: ignore[arg-type]

    def get(self, url: str, **more: object):
        return self.request("GET", url, **more)

    def post(self, url: str, **more: object):
        return self.request("POST", url, **more)

    def put(self, url: str, **more: object):
        return self.request("PUT", url, **more)

    def patch(self, url: str, **more: object):
        return self.request("PATCH", url, **more)

    def delete(self, url: str, **more: object):
        return self.request("DELETE", url, **more)


def somebody(client: TestClient, workspace: Workspace, user: User | None = None) -> Person:
    """A person at the application of `client`: a stranger, or a user who is logged in."""
    return Person(user, client, cookie_of(workspace, user) if user is not None else {})


def here(client: TestClient) -> Workspace:
    """The workspace of an application."""
    return client.app.state.answer_service.workspace  # type: ignore[attr-defined]


def actions(workspace: Workspace, project_id: str | None = None) -> list[str]:
    """What was done, newest first."""
    return [line.action for line in audit.entries(workspace, project_id)]
