"""Access to every route and blob, by everybody, as tests/support/route_table.py says.

Ids in a path are those of a project in which the people below have their roles; `outsider` is admin of another project.
"""

from collections.abc import Iterator
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
from tests.support.route_table import ADMIN, ANYBODY, MEMBER, OWNER, REVIEWER, ROUTES, USER, Row

KINDS = {
    "anonymous": ANYBODY,
    "outsider": USER,
    "annotator": MEMBER,
    "reviewer": REVIEWER,
    "admin": ADMIN,
    "owner": OWNER,
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
        if method == "HEAD" and f"HEAD {path}" not in ROUTES:
            continue  # Starlette answers HEAD with what GET would say
        if is_closed(path):
            continue
        row = ROUTES.get(f"{method} {path}")
        if row is None:
            wrong.append(f"{method} {path} is not in the table")
            continue
        seen.add(f"{method} {path}")
        for kind, person in world.people.items():
            ends_session = path == "/logout" or (method, path) == ("DELETE", "/api/me/sessions")
            endless = path in ("/api/changes", *(f"/app/gradio_api/{each}" for each in GRADIO_STREAMS))
            if (ends_session or endless) and KINDS[kind] >= row.needed:
                continue
            status = send(world, person, method, path, row)
            said = str(status) if str(status) in expected(row, kind) else told(status)
            if said not in expected(row, kind):
                wrong.append(f"{method} {path} as {kind}: {status}, not {' '.join(expected(row, kind))}")
    assert not wrong, "\n".join(wrong)
    assert not (gone := set(ROUTES) - seen), f"in the table, but no route: {sorted(gone)}"


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
