"""Access to every route and blob, by everybody: one table says who gets in.

To add a route, add its row: the role that it needs, and a body where an empty one would be refused before the check of
access. Ids in a path are those of a project in which the people below have their roles; `outsider` is admin of another
project.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import iter_route_contexts
from starlette.routing import Mount
from starlette.testclient import TestClient

from annotator.app import create_app
from annotator.front_end_files import STATIC
from annotator.gradio.closed_routes import is_closed
from db.ids import new_id
from engine.accounts import members
from engine.accounts.users import ensure_local_user
from engine.settings import Settings
from tests.support.accounts import ADDRESS, Person
from tests.support.factories import bill, make_document, make_project
from tests.support.populated_project import World

# What one must be. Whoever is less gets 401 (nobody), 404 (no member: the project does not exist for them) or 403.
ANYBODY, USER, MEMBER, REVIEWER, ADMIN, OWNER, CLOSED = range(7)  # OWNER: admin of the whole installation
KINDS = {
    "anonymous": ANYBODY,
    "outsider": USER,
    "annotator": MEMBER,
    "reviewer": REVIEWER,
    "admin": ADMIN,
    "owner": OWNER,
}


@dataclass(frozen=True)
class Row:
    """Access that a route needs. `nobody`: status for strangers. `missing`: its ids do not exist, for anybody."""

    needed: int
    body: Any = None
    nobody: int = 401
    missing: bool = False
    query: str = ""
    more: dict[str, Any] = field(default_factory=dict)


EDIT = {"idempotency_key": "access-" + "0" * 9, "base": 1, "edits": []}
WITHOUT_POINTS = {"page_id": "{page_id}", "points": [[-1, -1, True]]}

TABLE: dict[str, Row] = {
    # --- the doors
    "GET /": Row(ANYBODY),
    "GET /favicon.ico": Row(ANYBODY),
    "GET /login": Row(ANYBODY),
    "POST /login": Row(ANYBODY),
    "POST /logout": Row(ANYBODY),
    "GET /invite/{token}": Row(ANYBODY),
    "POST /invite/{token}": Row(ANYBODY),
    "GET /static/{path:path}": Row(ANYBODY),
    "GET /source": Row(ANYBODY),
    "GET /source/weights/{path:path}": Row(ANYBODY, missing=True),
    "GET /api/health": Row(ANYBODY),
    "GET /api/health/live": Row(ANYBODY),
    "GET /api/health/ready": Row(ANYBODY),
    "GET /api/docs": Row(USER, nobody=303),
    "GET /api/openapi.json": Row(USER),
    # --- oneself
    "GET /api/changes": Row(USER),
    "GET /api/changes/since": Row(USER),
    "GET /api/me": Row(USER),
    "GET /api/me/preferences": Row(USER),
    "PUT /api/me/preferences": Row(USER, body={"theme": "dark"}),
    "GET /api/me/sessions": Row(USER),
    "DELETE /api/me/sessions/{session_id}": Row(USER),
    "POST /api/me/tokens": Row(USER, body={"purpose": "tests"}),
    "PUT /api/me/password": Row(USER, body={"old": "x"}),
    # --- users
    "GET /api/users": Row(OWNER),
    "POST /api/users": Row(OWNER),
    "PATCH /api/users/{user_id}": Row(OWNER, body={}),
    "PUT /api/users/{user_id}/password": Row(OWNER),
    "GET /api/users/{user_id}/sessions": Row(OWNER),
    "DELETE /api/users/{user_id}/sessions": Row(OWNER),
    "GET /api/audit": Row(OWNER),
    # --- projects and members
    "GET /api/projects": Row(USER),
    "POST /api/projects": Row(OWNER, body={"name": "one of {person}"}),
    "PATCH /api/projects/{project_id}/settings": Row(ADMIN, body={}),
    "GET /api/projects/{project_id}/next": Row(MEMBER),
    "GET /api/projects/{project_id}/members": Row(MEMBER),
    "PUT /api/projects/{project_id}/members/{user_id}": Row(ADMIN, body={"role": "reviewer"}),
    "DELETE /api/projects/{project_id}/members/{user_id}": Row(ADMIN),
    "GET /api/projects/{project_id}/invitations": Row(ADMIN),
    "POST /api/projects/{project_id}/invitations": Row(ADMIN, body={"role": "annotator"}),
    "DELETE /api/invitations/{invitation_id}": Row(ADMIN),
    "GET /api/projects/{project_id}/audit": Row(ADMIN),
    # --- documents and pages
    "GET /api/projects/{project_id}/documents": Row(MEMBER),
    "POST /api/projects/{project_id}/documents": Row(MEMBER),
    "GET /api/documents/{document_id}": Row(MEMBER),
    "POST /api/documents/{document_id}/reading/stop": Row(MEMBER),
    "POST /api/documents/{document_id}/read-again": Row(REVIEWER),
    "POST /api/pages/{page_id}/read-again": Row(REVIEWER),
    "POST /api/documents/{document_id}/reading/resume": Row(MEMBER),
    "GET /api/pages/{page_id}/image": Row(MEMBER),
    "GET /api/pages/{page_id}/thumbnail": Row(MEMBER),
    "GET /api/pages/{page_id}/words": Row(MEMBER),
    "PUT /api/pages/{page_id}/words": Row(MEMBER),
    "POST /api/pages/{page_id}/encode": Row(MEMBER),
    # --- annotations: of another annotator, so that only reviewers may change it
    "POST /api/documents/{document_id}/ask": Row(MEMBER),
    "GET /api/annotations/{annotation_id}": Row(MEMBER),
    "POST /api/annotations/{annotation_id}/restore": Row(REVIEWER),
    "DELETE /api/annotations/{annotation_id}": Row(REVIEWER, query="?base=0"),  # 409: it is at revision 1
    "GET /api/documents/{document_id}/removed-answers": Row(MEMBER),
    "POST /api/annotations/{annotation_id}/refine": Row(REVIEWER, body=WITHOUT_POINTS),
    "POST /api/annotations/{annotation_id}/ask-more": Row(REVIEWER, body={"pages": 1}),
    "PUT /api/annotations/{annotation_id}/revisions": Row(REVIEWER, body=EDIT),
    "GET /api/annotations/{annotation_id}/revisions": Row(MEMBER),
    "GET /api/annotations/{annotation_id}/reviews": Row(MEMBER),
    "POST /api/annotations/{annotation_id}/reviews": Row(REVIEWER),
    "POST /api/annotations/{annotation_id}/review/heartbeat": Row(REVIEWER),
    "POST /api/annotations/{annotation_id}/review/release": Row(REVIEWER),
    # --- standard questions, the queue, reviews, figures
    "GET /api/projects/{project_id}/questions": Row(MEMBER),
    "GET /api/projects/{project_id}/asked-questions": Row(MEMBER),
    "GET /api/projects/{project_id}/standard-questions": Row(MEMBER),
    "PUT /api/projects/{project_id}/standard-questions": Row(REVIEWER),
    "GET /api/projects/{project_id}/task-changes": Row(MEMBER),
    "GET /api/projects/{project_id}/queue": Row(MEMBER),
    "POST /api/projects/{project_id}/queue/next": Row(MEMBER, body={}),
    "POST /api/tasks/{task_id}/heartbeat": Row(MEMBER),
    "POST /api/tasks/{task_id}/release": Row(MEMBER),
    "GET /api/projects/{project_id}/tasks": Row(REVIEWER),
    "PUT /api/tasks/{task_id}/gold": Row(REVIEWER),
    "POST /api/projects/{project_id}/review/next": Row(REVIEWER, body={}),
    "GET /api/projects/{project_id}/agreement": Row(REVIEWER),
    "GET /api/projects/{project_id}/figures": Row(MEMBER),
    # --- what the model says unasked
    "POST /api/projects/{project_id}/survey": Row(REVIEWER),
    "GET /api/projects/{project_id}/label-reviews": Row(REVIEWER),
    "GET /api/projects/{project_id}/second-looks": Row(REVIEWER),
    "PUT /api/documents/{document_id}/first": Row(REVIEWER),
    "GET /api/projects/{project_id}/stage": Row(MEMBER),
    "PUT /api/projects/{project_id}/stage": Row(ADMIN, body={"stage": "semi_automatic"}),
    "GET /api/projects/{project_id}/automatic-answers": Row(REVIEWER),
    "POST /api/projects/{project_id}/automatic-answers/undo": Row(ADMIN),
    # --- learning
    "GET /api/projects/{project_id}/models": Row(MEMBER),
    "POST /api/projects/{project_id}/models/{version_id}/promote": Row(ADMIN, body={}),
    "POST /api/projects/{project_id}/rollback": Row(ADMIN, body={}),
    "GET /api/projects/{project_id}/runs": Row(MEMBER),
    "GET /api/runs/{run_id}": Row(MEMBER),
    "GET /api/runs/{run_id}/changes": Row(REVIEWER),
    "POST /api/projects/{project_id}/retrain": Row(REVIEWER),
    "GET /api/projects/{project_id}/jobs": Row(MEMBER),
    "POST /api/jobs/{job_id}/cancel": Row(ADMIN),
    "POST /api/jobs/{job_id}/retry": Row(ADMIN),
    "GET /api/projects/{project_id}/triggers": Row(REVIEWER),
    "GET /api/projects/{project_id}/export": Row(REVIEWER),
    "POST /api/projects/{project_id}/exports": Row(REVIEWER),
    "GET /api/projects/{project_id}/exports": Row(REVIEWER),
    "POST /api/projects/{project_id}/exports/{export_id}/stop": Row(REVIEWER, missing=True),  # it has ended
    "GET /api/projects/{project_id}/exports/{export_id}/file": Row(REVIEWER),
    "POST /api/projects/{project_id}/import": Row(REVIEWER),
    "GET /api/projects/{project_id}/imports": Row(REVIEWER),
    "POST /api/projects/{project_id}/imports/{import_id}/stop": Row(REVIEWER),
    "GET /api/projects/{project_id}/export-formats": Row(REVIEWER),
    # --- Gradio: the page, its events, and its own files; everything else that it brings along is closed
    "GET /app/": Row(USER, nobody=303),
    "HEAD /app/": Row(USER, nobody=303),
    "GET /app/config": Row(USER),
    "GET /app/theme.css": Row(USER),
    "POST /app/gradio_api/queue/join": Row(USER),
    "GET /app/gradio_api/queue/data": Row(USER, query="?session_hash=none"),
    "GET /app/gradio_api/heartbeat/{session_hash}": Row(USER),
    "GET /app/assets/{path:path}": Row(ANYBODY, missing=True),
    "GET /app/static/{path:path}": Row(ANYBODY, missing=True),
}

GRADIO_STREAMS = ("queue/data", "heartbeat/{session_hash}")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    settings = Settings(data_dir=tmp_path_factory.mktemp("access"), auth="login", _env_file=None)
    application = create_app(settings)
    with TestClient(application, base_url=ADDRESS) as client:
        yield World(application.state.answer_service.workspace, client)


def routes_of(routes: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Every (method, path) that an application answers to, those of what is mounted in it included."""
    for context in iter_route_contexts(routes):
        route = getattr(context, "original_route", context)
        if isinstance(route, Mount):
            if route.routes:
                yield from routes_of(route.routes, prefix + route.path)
            else:
                yield "GET", f"{prefix}{route.path}/{{path:path}}"
            continue
        for method in sorted(context.methods or {"GET"}):
            assert context.path is not None
            yield method, prefix + context.path


def expected(row: Row, kind: str) -> set[str]:
    """What a kind of person must be told: a status, or a class of them. `in`: neither 401, 403, 404 nor a failure."""
    have = KINDS[kind]
    if have >= row.needed:
        return {"404"} if row.missing else {"in"}
    if kind == "anonymous":
        return {str(row.nobody)}
    if kind == "outsider" and row.needed in (MEMBER, REVIEWER, ADMIN):
        return {"404"}
    return {"403"}


def told(status: int) -> str:
    return str(status) if status in (401, 403, 404) or status >= 500 else "in"


def send(world: World, person: Person, method: str, path: str, row: Row) -> int:
    """Ask for a route as somebody, with real ids in its path; return the status."""
    names = {part.split("}")[0] for part in path.split("{")[1:]}
    ids = {name: world.id_of(name, person) for name in names | {"page_id"}}
    url = path
    for name, value in ids.items():
        url = url.replace("{" + name + "}", value)
    body = filled(row.body, {**ids, "person": new_id()})
    more = {"json": body} if body is not None else {}
    answer = person.request(method, url + row.query, **more)
    return answer.status_code


def filled(body: Any, values: dict[str, str]) -> Any:
    if isinstance(body, str):
        for name, value in values.items():
            body = body.replace("{" + name + "}", value)
        return body
    if isinstance(body, dict):
        return {name: filled(each, values) for name, each in body.items()}
    return [filled(each, values) for each in body] if isinstance(body, list) else body


def test_every_route_lets_in_whom_the_table_says(world: World) -> None:
    wrong, seen = [], set()
    for method, path in routes_of(world.client.app.routes):  # type: ignore[attr-defined]
        if method == "HEAD" and f"HEAD {path}" not in TABLE:
            continue  # Starlette answers HEAD with what GET would say
        if is_closed(path):
            continue
        row = TABLE.get(f"{method} {path}")
        if row is None:
            wrong.append(f"{method} {path} is not in the table")
            continue
        seen.add(f"{method} {path}")
        for kind, person in world.people.items():
            if (
                path in ("/logout", "/api/changes", *(f"/app/gradio_api/{each}" for each in GRADIO_STREAMS))
                and KINDS[kind] >= row.needed
            ):
                continue  # would end the session; streams without an end
            status = send(world, person, method, path, row)
            said = str(status) if str(status) in expected(row, kind) else told(status)
            if said not in expected(row, kind):
                wrong.append(f"{method} {path} as {kind}: {status}, not {' '.join(expected(row, kind))}")
    assert not wrong, "\n".join(wrong)
    assert not (gone := set(TABLE) - seen), f"in the table, but no route: {sorted(gone)}"


def test_what_gradio_brings_along_is_closed_to_everybody(world: World) -> None:
    found = [(method, path) for method, path in routes_of(world.client.app.routes) if is_closed(path)]  # type: ignore[attr-defined]
    assert len(found) > 30
    assert any("upload" in path for _, path in found) and any("file=" in path for _, path in found)
    for method, path in found:
        for name in ("path:path", "path_or_url:path", "url_path:path"):
            path = path.replace("{" + name + "}", "etc/passwd")
        for kind in ("anonymous", "owner"):
            assert world.people[kind].request(method, path).status_code == 404, (method, path, kind)


def test_files_of_the_program_are_open_and_nothing_beside_them(world: World) -> None:
    stranger = world.people["anonymous"]
    for file in sorted(path.relative_to(STATIC) for path in Path(STATIC).rglob("*") if path.is_file()):
        assert stranger.get(f"/static/{file}").status_code == 200, file
    for path in ("../app.py", "..%2fapp.py", "%2e%2e/app.py", "....//app.py", "/etc/passwd"):
        assert stranger.get(f"/static/{path}").status_code in (401, 404), path


def test_a_blob_is_told_to_members_alone_even_to_who_knows_its_digest(world: World) -> None:
    image = f"/api/pages/{world.page.id}/image"
    tag = {"if-none-match": f'"{world.page.image_sha256}"'}
    shown = world.people["annotator"].get(image)
    assert shown.headers["cache-control"].startswith("private")
    known = world.people["annotator"].get(image, headers=tag)
    assert known.status_code == 304
    assert shown.headers["vary"] == known.headers["vary"] == "cookie"  # a shared browser's cache is one person's
    assert world.people["outsider"].get(image, headers=tag).status_code == 404
    assert world.people["anonymous"].get(image, headers=tag).status_code == 401


def test_ids_of_two_projects_in_one_path_are_not_there(world: World) -> None:
    elsewhere = make_project(world.workspace, f"elsewhere {new_id()}")
    members.put_member(world.workspace, elsewhere.id, world.people["annotator"].known.id, "admin", by=world.owner)
    annotator = world.people["annotator"]
    asked = {"question": "What?", "page_id": world.page.id}
    document = make_document(world.workspace, elsewhere.id, [bill(3)])
    assert annotator.post(f"/api/documents/{document.id}/ask", json=asked).status_code == 404
    version = world.id_of("version_id", annotator)
    assert annotator.post(f"/api/projects/{elsewhere.id}/models/{version}/promote", json={}).status_code != 404


def test_local_mode_lets_the_one_person_do_everything(tmp_path: Path) -> None:
    with TestClient(create_app(Settings(data_dir=tmp_path, _env_file=None)), base_url=ADDRESS) as client:
        for path in (
            "/api/me",
            "/api/users",
            "/api/audit",
            "/api/projects",
            "/app/",
            "/app/config",
            "/api/me/sessions",
        ):
            assert client.get(path).status_code == 200, path
        assert ensure_local_user(client.app.state.answer_service.workspace).role == "admin"  # type: ignore[attr-defined]
