"""A login ends when its person is away for long, and in any case after a time; open pages do not keep it alive."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta

import pytest
from sqlalchemy import select, update
from starlette.testclient import TestClient

from annotator.app import create_app
from annotator.auth import BACKGROUND
from annotator.change_streams import OF_ONE, ChangeStreams
from annotator.event_stream import END, EventStream
from annotator.login_gate import PAGE_OF
from db.base import now
from db.tables import LoginSession, User
from engine.accounts import sessions, tokens, users
from engine.settings import Settings
from engine.workspace import Workspace
from tests.support.accounts import ADDRESS, Person, actions, cookie_of, here, make_user, somebody
from tests.support.own_loop import run_on_own_loop


@pytest.fixture
def ann(tmp_path) -> Iterator[Person]:
    """Somebody on a server whose logins end after an hour of rest, or eight hours."""
    settings = Settings(data_dir=tmp_path / "data", auth="login", session_idle_hours=1, session_hours=8, _env_file=None)
    with TestClient(create_app(settings, with_page=False), base_url=ADDRESS) as client:
        yield somebody(client, here(client), make_user(here(client), "ann"))


def put_back(workspace: Workspace, **hours: float) -> None:
    """Let the login begin, or be used last, so many hours ago."""
    with workspace.database.write() as session:
        times = {name: now() - timedelta(hours=number) for name, number in hours.items()}
        session.execute(update(LoginSession).values(**times))


def used_at(workspace: Workspace):
    workspace.deferred_writes.flush()
    with workspace.database.read() as session:
        return session.scalars(select(LoginSession.last_used_at)).one()


def test_an_idle_login_ends_and_is_listed_no_more(ann: Person) -> None:
    workspace = here(ann.client)
    put_back(workspace, created_at=2, last_used_at=0.9)
    assert ann.get("/api/me").status_code == 200
    put_back(workspace, created_at=2, last_used_at=1.1)
    assert ann.get("/api/me").status_code == 401
    assert sessions.sessions(workspace, ann.known.id) == []
    put_back(workspace, created_at=1.1, last_used_at=1.1)
    assert ann.get("/api/me").status_code == 401


def test_a_used_login_ends_after_its_hours_even_those_that_were_set_later(ann: Person) -> None:
    put_back(here(ann.client), created_at=7.9, last_used_at=0)
    assert ann.get("/api/me").status_code == 200
    put_back(here(ann.client), created_at=8.1, last_used_at=0)
    assert ann.get("/api/me").status_code == 401


def test_only_what_the_person_does_counts_as_use(ann: Person) -> None:
    workspace = here(ann.client)
    put_back(workspace, created_at=2, last_used_at=0.5)
    before = used_at(workspace)
    ann.get("/api/changes/since")
    ann.get("/api/health/ready")
    ann.get("/api/projects", headers={BACKGROUND: "1"})
    ann.get("/api/me", headers={"sec-fetch-dest": "image"})
    assert used_at(workspace) == before
    ann.get("/api/projects")
    after = used_at(workspace)
    assert after is not None and before is not None and after > before + timedelta(minutes=29)
    ann.get("/api/projects")
    assert used_at(workspace) == after, "a second use within minutes is not written"


def test_the_stream_of_an_idle_login_ends(ann: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = here(ann.client)
    streams = ChangeStreams(workspace, most=2)
    monkeypatch.setattr("annotator.change_streams.RIGHTS_SECONDS", 0)
    [token] = ann.cookie.values()
    stream = streams.open(ann.known, token, None, lambda: None)
    put_back(workspace, created_at=2, last_used_at=1.1)
    streams._send_new([stream])
    streams.close(stream)
    assert stream.ended and stream.logged_out
    sent: list[bytes] = []

    async def receive():
        return await asyncio.Event().wait()

    async def send(message) -> None:
        sent.append(message.get("body", b""))

    async def serve() -> None:
        await EventStream(stream, asyncio.Event(), lambda: None)({"type": "http"}, receive, send)

    run_on_own_loop(serve)
    assert sent[-1] == END


def test_streams_that_could_not_begin_do_not_count(ann: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    streams = ChangeStreams(here(ann.client), most=2)

    def fail(*_: object) -> None:
        raise OSError("the database is gone")

    with monkeypatch.context() as patched:
        patched.setattr("engine.changes.newest", fail)
        for _ in range(OF_ONE):
            with pytest.raises(OSError):
                streams.open(ann.known, None, None, lambda: None)
    streams.close(streams.open(ann.known, None, None, lambda: None))


def test_tokens_of_programs_know_no_rest(ann: Person) -> None:
    workspace = here(ann.client)
    token = tokens.issue(workspace, "ann", purpose="tests", days=30, scope="read", by=ann.known.id)
    put_back(workspace, created_at=100, last_used_at=100)
    headers = {"authorization": f"Bearer {token}"}
    assert ann.client.get("/api/me", headers=headers).status_code == 200


def test_a_login_that_ends_meanwhile_gets_no_token(ann: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else whoever had somebody's password could keep asking for one while that person sets another."""
    workspace = here(ann.client)

    def log_out_first(workspace: Workspace, name: str) -> User:
        sessions.log_out_everywhere(workspace, ann.known)
        return users.user_named(workspace, name)

    monkeypatch.setattr("engine.accounts.tokens.user_named", log_out_first)
    refused = ann.post("/api/me/tokens", json={"purpose": "tests"})
    assert refused.status_code == 403 and refused.json()["detail"] == "Your login has ended. Log in again."
    assert sessions.sessions(workspace, ann.known.id) == []


def test_logging_out_everywhere_ends_every_browser_and_no_token(ann: Person) -> None:
    workspace = here(ann.client)
    token = tokens.issue(workspace, "ann", purpose="tests", days=30, scope="read", by=ann.known.id)
    elsewhere = Person(ann.user, ann.client, cookie_of(workspace, ann.known))
    ben = somebody(ann.client, workspace, make_user(workspace, "ben"))
    assert ann.delete("/api/me/sessions").status_code == 204
    assert [each.get("/api/me").status_code for each in (ann, elsewhere, ben)] == [401, 401, 200]
    assert sessions.user_of_token(workspace, token) is not None
    assert actions(workspace)[0] == "sessions.end"


def test_a_page_of_one_person_does_nothing_as_another_who_has_logged_in_since(ann: Person) -> None:
    ben = somebody(ann.client, here(ann.client), make_user(here(ann.client), "ben"))
    page_of_ann = {PAGE_OF: ann.known.id}
    assert ann.get("/api/projects", headers=page_of_ann).status_code == 200
    refused = ben.put("/api/me/preferences", headers=page_of_ann, json={"theme": "dark"})
    assert refused.status_code == 401 and refused.json()["detail"].startswith("ben is logged in here now")
    assert ben.get("/api/me/preferences").json() == {}
