"""What a program's token may do: a decision for each route, asked at the door."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from fastapi import APIRouter
from sqlalchemy import select
from starlette.testclient import TestClient

from annotator.app import create_app
from annotator.auth import COOKIE
from annotator.scopes import ScopeTable, needs_scope, scopes_of
from db import migrate
from db.base import now
from db.tables import LoginSession, User
from engine import audit
from engine.accounts import sessions, tokens
from engine.accounts.digests import digest
from engine.errors import Refused
from engine.followers import catch_up
from engine.settings import Settings
from engine.workspace import Workspace
from tests.support.accounts import ADDRESS, here, make_user
from tests.support.route_table import ANYBODY, ROUTES

# Tokens come to REST alone.
DECIDED = {route: row.scope for route, row in ROUTES.items() if " /api/" in route and row.needed != ANYBODY}
OPEN = {"GET /api/health", "GET /api/health/live", "GET /api/health/ready"}
# Scopes that a token of each scope covers.
COVERS = {
    "read": {"read"},
    "extract": {"extract"},
    "annotate": {"read", "extract", "annotate"},
    "admin": {"read", "extract", "annotate", "admin"},
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    settings = Settings(data_dir=tmp_path_factory.mktemp("scopes"), auth="login", _env_file=None)
    with TestClient(create_app(settings), base_url=ADDRESS) as client:
        make_user(here(client), "olga", "admin")
        make_user(here(client), "anna")
        yield client


def token_of(client: TestClient, scope: str, name: str = "olga") -> dict[str, str]:
    made = tokens.issue(here(client), name, purpose="tests", days=1, scope=scope)
    return {"authorization": f"Bearer {made}"}


def routes(client: TestClient) -> list[str]:
    paths = client.get("/api/openapi.json", headers=token_of(client, "read")).json()["paths"]
    return [f"{method.upper()} {path}" for path, methods in paths.items() for method in methods]


def test_every_route_has_a_decided_scope(client: TestClient) -> None:
    undescribed = {
        "GET /api/projects/{project_id}/second-looks",  # the old name of label-reviews, still answered
        "GET /api/docs",
        "GET /api/metrics",  # for programs that gather them, not for people
        "GET /api/openapi.json",
    }
    assert set(routes(client)) - OPEN == set(DECIDED) - undescribed


def test_the_door_holds_each_token_to_its_scope_on_every_route(client: TestClient) -> None:
    wrong = []
    for scope, covered in COVERS.items():
        for route, least in DECIDED.items():
            method, path = route.split(" ")
            url = "/".join("0" * 32 if part.startswith("{") else part for part in path.split("/"))
            if route in ("PUT /api/me/preferences", "POST /api/me/tokens") and scope == "admin":
                continue  # they would do it
            if route == "GET /api/changes" and least in covered:
                continue  # its answer has no end; test_changes.py reads it
            answer = client.request(method, url, headers=token_of(client, scope))
            refused = answer.status_code == 403 and "The token's scope is" in answer.text
            if refused != (least not in covered):
                wrong.append(f"{route} with {scope}: {answer.status_code}")
            if not refused and answer.status_code == 401:
                wrong.append(f"{route} with {scope}: 401")
    assert not wrong, "\n".join(wrong)


def test_a_route_that_nobody_has_decided_on_needs_all_rights(client: TestClient) -> None:
    scopes = scopes_of(client.app)  # type: ignore[arg-type]
    for method, path in (("GET", "/api/secrets"), ("DELETE", "/api/projects"), ("POST", "/api/projects/x/new")):
        assert scopes.needed(method, path) == "admin"
    assert scopes.needed("GET", "/api/projects/x/../../users") == "admin"
    assert scopes.needed("HEAD", "/api/projects") == "read"
    assert scopes.refusal(None, "DELETE", "/api/whatever") is None, "a browser has all rights of its person"


def test_the_route_that_answers_decides_where_two_fit() -> None:
    routes = APIRouter()

    @routes.get("/papers/secret")
    def secret() -> None: ...

    @routes.get("/papers/{paper_id}")
    @needs_scope("read")
    def paper(paper_id: str) -> None: ...

    scopes = ScopeTable(routes.routes)
    assert scopes.needed("GET", "/papers/secret") == "admin"
    assert scopes.needed("GET", "/papers/17") == "read"
    assert scopes.needed("GET", "/papers/17/more") == "admin"


def test_a_scope_never_adds_to_what_a_person_may(client: TestClient) -> None:
    answer = client.get("/api/users", headers=token_of(client, "admin", "anna"))
    assert answer.status_code == 403 and answer.json()["detail"].startswith("Only an admin can do this.")


@pytest.mark.parametrize("scope", COVERS)
def test_tokens_open_neither_the_page_nor_invitations(client: TestClient, scope: str) -> None:
    headers = token_of(client, scope)
    assert client.get("/app/", headers=headers, follow_redirects=False).status_code == 303
    assert client.get("/app/config", headers=headers).status_code == 401
    joined = client.post("/app/gradio_api/queue/join", headers=headers, json={"fn_index": 0, "data": []})
    assert joined.status_code == 401
    as_cookie = {"cookie": f"{COOKIE}={headers['authorization'].split(' ')[1]}"}
    assert client.get("/app/config", headers=as_cookie).status_code == 401
    assert client.get("/login", headers=headers, follow_redirects=False).status_code == 200


def test_the_last_use_is_shown_and_written_once_in_a_while(client: TestClient) -> None:
    workspace = here(client)
    with workspace.database.read() as session:
        anna = session.scalars(select(User).where(User.name == "anna")).one()
    headers = token_of(client, "read", "anna")
    hashed = digest(headers["authorization"].split(" ")[1])

    def used():
        workspace.deferred_writes.flush()
        [one] = [each for each in sessions.sessions(workspace, anna.id) if hashed.startswith(each.id)]
        assert one.scope == "read" and one.client == "token: tests"
        return one.last_used_at

    assert used() is None
    client.get("/api/me", headers=headers)
    first = used()
    assert first is not None
    client.get("/api/me", headers=headers)
    assert used() == first, "not at every request"
    with workspace.database.write() as session:
        session.get_one(LoginSession, hashed).last_used_at = now() - timedelta(hours=1)
    client.get("/api/me", headers=headers)
    assert used() >= first


def test_people_make_and_end_tokens_of_their_own(client: TestClient) -> None:
    workspace = here(client)
    bob = make_user(workspace, "bob")
    with workspace.database.write() as session:
        cookie = {"cookie": f"{COOKIE}={sessions.begin(workspace, session, bob.id)}"}
    body = {"purpose": "nightly import", "scope": "read", "days": 7}
    made = client.post("/api/me/tokens", json=body, headers=cookie)
    assert made.status_code == 201, made.text
    headers = {"authorization": f"Bearer {made.json()['token']}"}
    assert client.get("/api/me", headers=headers).json()["user"]["name"] == "bob"
    assert client.post("/api/me/tokens", json=body, headers=headers).status_code == 403
    [line] = [each for each in audit.entries(workspace) if each.action == "users.token" and each.actor == "bob"]
    assert line.what == "created a token of bob for nightly import, valid for 7 days, scope read"
    [listed] = [each for each in client.get("/api/me/sessions", headers=cookie).json() if each["scope"]]
    assert client.delete(f"/api/me/sessions/{listed['id']}", headers=cookie).status_code == 204
    assert client.get("/api/me", headers=headers).status_code == 401
    assert client.post("/api/me/tokens", json={**body, "days": 0}, headers=cookie).status_code == 422
    assert client.post("/api/me/tokens", json={**body, "scope": "all"}, headers=cookie).status_code == 422


def test_an_unknown_scope_is_refused(client: TestClient) -> None:
    with pytest.raises(Refused, match="read, extract, annotate, admin"):
        tokens.issue(here(client), "anna", purpose="tests", days=1, scope="everything")


def test_tokens_of_before_keep_all_rights(workspace: Workspace) -> None:
    ann = make_user(workspace, "ann")
    old = tokens.issue(workspace, "ann", purpose="old", days=1, scope="admin")
    narrow = tokens.issue(workspace, "ann", purpose="narrow", days=1, scope="read")
    with workspace.database.write() as session:
        browser = sessions.begin(workspace, session, ann.id, client="Firefox")
    catch_up(workspace)
    migrate.downgrade(workspace.database, "0005")
    migrate.upgrade(workspace.database)
    found = {each: sessions.login_of_token(workspace, each) for each in (old, browser, narrow)}
    first, second = found[old], found[browser]
    assert first is not None and first.scope == "admin"
    assert second is not None and second.scope is None
    assert found[narrow] is None, "ended: a version without scopes would have given it all rights"
