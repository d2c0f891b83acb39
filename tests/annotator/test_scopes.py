"""What a program's token may do: a decision for each route, asked at the door."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

from annotator import scopes
from annotator.app import create_app
from annotator.auth import COOKIE
from db import migrate
from db.base import now
from db.tables import LoginSession, User
from engine import audit
from engine.accounts import sessions, tokens
from engine.errors import Refused
from engine.followers import catch_up
from engine.settings import Settings
from engine.workspace import Workspace
from tests.support.accounts import ADDRESS, here, make_user

# The least scope of each route. A new route fails the test below until its line stands here, and in annotator/scopes.py
# where it is not "admin".
READ = [
    "/api/annotations/{annotation_id}",
    "/api/annotations/{annotation_id}/reviews",
    "/api/annotations/{annotation_id}/revisions",
    "/api/changes",
    "/api/changes/since",
    "/api/documents/{document_id}",
    "/api/documents/{document_id}/removed-answers",
    "/api/me",
    "/api/me/preferences",
    "/api/pages/{page_id}/image",
    "/api/pages/{page_id}/thumbnail",
    "/api/pages/{page_id}/words",
    "/api/projects",
    "/api/projects/{project_id}/agreement",
    "/api/projects/{project_id}/automatic-answers",
    "/api/projects/{project_id}/documents",
    "/api/projects/{project_id}/export",
    "/api/projects/{project_id}/export-formats",
    "/api/projects/{project_id}/exports",
    "/api/projects/{project_id}/exports/{export_id}/file",
    "/api/projects/{project_id}/figures",
    "/api/projects/{project_id}/imports",
    "/api/projects/{project_id}/jobs",
    "/api/projects/{project_id}/members",
    "/api/projects/{project_id}/models",
    "/api/projects/{project_id}/next",
    "/api/projects/{project_id}/questions",
    "/api/projects/{project_id}/asked-questions",
    "/api/projects/{project_id}/queue",
    "/api/projects/{project_id}/runs",
    "/api/projects/{project_id}/label-reviews",
    "/api/projects/{project_id}/second-looks",
    "/api/projects/{project_id}/stage",
    "/api/projects/{project_id}/standard-questions",
    "/api/projects/{project_id}/task-changes",
    "/api/projects/{project_id}/tasks",
    "/api/projects/{project_id}/triggers",
    "/api/runs/{run_id}",
    "/api/runs/{run_id}/changes",
]
ANNOTATE = {
    "DELETE /api/annotations/{annotation_id}",
    "POST /api/annotations/{annotation_id}/restore",
    "POST /api/annotations/{annotation_id}/ask-more",
    "POST /api/annotations/{annotation_id}/refine",
    "POST /api/annotations/{annotation_id}/review/heartbeat",
    "POST /api/annotations/{annotation_id}/review/release",
    "POST /api/annotations/{annotation_id}/reviews",
    "POST /api/documents/{document_id}/ask",
    "POST /api/pages/{page_id}/encode",
    "POST /api/projects/{project_id}/documents",
    "POST /api/documents/{document_id}/reading/stop",
    "POST /api/documents/{document_id}/reading/resume",
    "POST /api/documents/{document_id}/read-again",
    "POST /api/pages/{page_id}/read-again",
    "POST /api/projects/{project_id}/queue/next",
    "POST /api/projects/{project_id}/review/next",
    "POST /api/tasks/{task_id}/heartbeat",
    "POST /api/tasks/{task_id}/release",
    "PUT /api/annotations/{annotation_id}/revisions",
    "PUT /api/pages/{page_id}/words",
}
ADMIN = {
    "DELETE /api/invitations/{invitation_id}",
    "DELETE /api/me/sessions/{session_id}",
    "DELETE /api/projects/{project_id}/members/{user_id}",
    "DELETE /api/users/{user_id}/sessions",
    "GET /api/audit",
    "GET /api/me/sessions",
    "GET /api/projects/{project_id}/audit",
    "GET /api/projects/{project_id}/invitations",
    "GET /api/users",
    "GET /api/users/{user_id}/sessions",
    "PATCH /api/projects/{project_id}/settings",
    "PATCH /api/users/{user_id}",
    "POST /api/jobs/{job_id}/cancel",
    "POST /api/jobs/{job_id}/retry",
    "POST /api/me/tokens",
    "POST /api/projects",
    "POST /api/projects/{project_id}/automatic-answers/undo",
    "POST /api/projects/{project_id}/exports/{export_id}/stop",
    "POST /api/projects/{project_id}/import",
    "POST /api/projects/{project_id}/imports/{import_id}/stop",
    "POST /api/projects/{project_id}/invitations",
    "POST /api/projects/{project_id}/models/{version_id}/promote",
    "POST /api/projects/{project_id}/retrain",
    "POST /api/projects/{project_id}/rollback",
    "POST /api/projects/{project_id}/survey",
    "POST /api/users",
    "PUT /api/documents/{document_id}/first",
    "PUT /api/me/password",
    "PUT /api/me/preferences",
    "PUT /api/projects/{project_id}/members/{user_id}",
    "PUT /api/projects/{project_id}/stage",
    "PUT /api/projects/{project_id}/standard-questions",
    "PUT /api/tasks/{task_id}/gold",
    "PUT /api/users/{user_id}/password",
}
DECIDED = {
    **{f"GET {path}": "read" for path in READ},
    "POST /api/projects/{project_id}/exports": "read",
    **dict.fromkeys(ANNOTATE, "annotate"),
    **dict.fromkeys(ADMIN, "admin"),
}
OPEN = {"GET /api/health", "GET /api/health/live", "GET /api/health/ready"}
RANK = ["read", "annotate", "admin"]


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
    undescribed = {"GET /api/projects/{project_id}/second-looks"}  # the old name of label-reviews, still answered
    assert set(routes(client)) - OPEN == set(DECIDED) - undescribed


def test_the_door_holds_each_token_to_its_scope_on_every_route(client: TestClient) -> None:
    wrong = []
    for scope in RANK:
        for route, least in DECIDED.items():
            method, path = route.split(" ")
            url = "/".join("0" * 32 if part.startswith("{") else part for part in path.split("/"))
            if route in ("PUT /api/me/preferences", "POST /api/me/tokens") and scope == "admin":
                continue  # they would do it
            if route == "GET /api/changes" and RANK.index(scope) >= RANK.index(least):
                continue  # its answer has no end; test_changes.py reads it
            answer = client.request(method, url, headers=token_of(client, scope))
            refused = answer.status_code == 403 and "The token's scope is" in answer.text
            if refused != (RANK.index(scope) < RANK.index(least)):
                wrong.append(f"{route} with {scope}: {answer.status_code}")
            if not refused and answer.status_code == 401:
                wrong.append(f"{route} with {scope}: 401")
    assert not wrong, "\n".join(wrong)


def test_a_route_that_nobody_has_decided_on_needs_all_rights() -> None:
    for method, path in (("GET", "/api/secrets"), ("DELETE", "/api/projects"), ("POST", "/api/projects/x/new")):
        assert scopes.needed_scope(method, path) == "admin"
    assert scopes.needed_scope("GET", "/api/projects/x/../../users") == "admin"
    assert scopes.needed_scope("HEAD", "/api/projects") == "read"
    assert scopes.refusal(None, "DELETE", "/api/whatever") is None, "a browser has all rights of its person"


def test_a_scope_never_adds_to_what_a_person_may(client: TestClient) -> None:
    answer = client.get("/api/users", headers=token_of(client, "admin", "anna"))
    assert answer.status_code == 403 and answer.json()["detail"].startswith("Only an admin can do this.")


@pytest.mark.parametrize("scope", RANK)
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
    hashed = sessions.digest(headers["authorization"].split(" ")[1])

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
    with pytest.raises(Refused, match="read, annotate, admin"):
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
