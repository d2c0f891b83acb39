"""Foreign names, foreign pages, and endless bodies are turned away."""

import re
from pathlib import Path
from typing import Any, cast

import pymupdf
import pytest
from gradio.route_utils import BUILD_PATH_LIB
from starlette.testclient import TestClient

from annotator.app import create_app
from annotator.front_end_files import BASE
from engine.accounts import members, users
from engine.projects import projects
from engine.settings import Settings
from engine.workspace import open_workspace


@pytest.fixture
def settings(tmp_path) -> Settings:
    return Settings(data_dir=tmp_path / "data", max_upload_mb=2, _env_file=None)


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory):
    settings = Settings(data_dir=tmp_path_factory.mktemp("local"), max_upload_mb=2, _env_file=None)
    with TestClient(create_app(settings), base_url="http://127.0.0.1:7860") as client:
        yield client


@pytest.fixture
def login(settings: Settings):
    settings = settings.model_copy(update={"auth": "login"})
    workspace = open_workspace(settings)
    users.add_user(workspace, "ann", "a long password", "admin")
    users.add_user(workspace, "bob", "another password", "annotator")
    workspace.close()
    with TestClient(create_app(settings), base_url="http://127.0.0.1:7860") as client:
        yield client


def test_a_foreign_host_name_is_refused(local: TestClient) -> None:
    for host in ("evil.example", "127.0.0.1.evil.example", "", "evil.example:7860"):
        answer = local.get("/api/projects", headers={"host": host})
        assert answer.status_code == 421
    assert local.get("/api/health", headers={"host": "localhost:7860"}).status_code == 200
    assert local.get("/api/health", headers={"host": "[::1]:7860"}).status_code == 200


def test_a_host_is_a_name_and_named_once(local: TestClient) -> None:
    for host in ("evil@127.0.0.1", "127.0.0.1#.evil.com", "127.0.0.1/.evil.com", "127.0.0.1:999999", "127.0.0.1:x"):
        assert local.get("/api/health/live", headers={"host": host}).status_code == 421, host
    twice = [("host", "127.0.0.1:7860"), ("host", "evil.example")]
    assert local.get("/api/health/live", headers=twice).status_code == 421
    origins = [("origin", "http://127.0.0.1:7860"), ("origin", "https://evil.example")]
    assert local.post("/api/projects", json={"name": "x"}, headers=origins).status_code == 403


def test_a_forwarded_host_that_is_not_ours_stands_nowhere(local: TestClient) -> None:
    for path in ("/app/", "/app/config"):
        said = local.get(path, headers={"x-forwarded-host": "evil.example"})
        assert said.status_code == 200 and "evil.example" not in said.text
        assert said.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/annotations/x/revisions", '{"edits":[' + ",".join(['""'] * 100_001) + "]}"),
        ("/api/annotations/x/table", '{"rows":[' + ",".join(['""'] * 20_001) + "]}"),
        ("/api/annotations/x/revisions", "[" * 60_000),
        ("/api/projects", "{" + ",".join(f'"{number}":1' for number in range(50_000)) + "}"),
    ],
)
def test_a_request_of_endless_values_is_refused_before_it_is_read(local: TestClient, path: str, body: str) -> None:
    method = "PUT" if path.endswith("revisions") else "POST"
    said = local.request(method, path, content=body, headers={"content-type": "application/json"})
    assert said.status_code == 413 and "too many values" in said.json()["detail"]


def test_the_first_wrong_number_ends_the_reading_of_a_mask(local: TestClient) -> None:
    patch = {"box": [0, 0, 9, 9], "counts": [1.5] * 100_000}
    edit = {"op": "patch", "page": "p", "value": 1, "patch": patch}
    body = {"idempotency_key": "12345678", "base": 0, "edits": [edit] * 3}
    said = local.put("/api/annotations/x/revisions", json=body)
    assert said.status_code == 422 and len(said.json()["errors"]) == 1


def test_a_body_without_masks_is_small(local: TestClient) -> None:
    assert local.post("/api/projects", json={"name": "x", "description": "y" * 1_100_000}).status_code == 413


def test_a_foreign_page_cannot_write(local: TestClient) -> None:
    new = {"name": "stolen"}
    for headers in (
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"sec-fetch-site": "cross-site"},
    ):
        assert local.post("/api/projects", json=new, headers=headers).status_code == 403
    assert [project["name"] for project in local.get("/api/projects").json()] == ["default"]
    own = local.post("/api/projects", json=new, headers={"origin": "http://127.0.0.1:7860"})
    assert own.status_code == 201


def test_an_upload_over_the_limit_is_refused_before_it_is_read(local: TestClient) -> None:
    project = local.get("/api/projects").json()[0]["id"]
    answer = local.post(f"/api/projects/{project}/documents", files=[("files", ("big.pdf", b"x" * 4_000_000, ""))])
    assert answer.status_code == 413 and "2 MB" in answer.json()["detail"]


def test_an_import_may_be_as_large_as_an_upload(tmp_path) -> None:
    settings = Settings(data_dir=tmp_path / "data", max_upload_mb=40, _env_file=None)
    with TestClient(create_app(settings), base_url="http://127.0.0.1:7860") as client:
        project = client.get("/api/projects").json()[0]["id"]
        for size, status in ((34_000_000, 422), (42_000_000, 413)):
            answer = client.post(f"/api/projects/{project}/import", files={"file": ("set.zip", b"x" * size)})
            assert answer.status_code == status, answer.text


def test_an_upload_without_a_declared_length_is_cut_off(local: TestClient) -> None:
    project = local.get("/api/projects").json()[0]["id"]
    boundary = "b"
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="files"; filename="big.pdf"\r\n\r\n'.encode()

    def body():
        yield head
        for _ in range(50):
            yield b"x" * 100_000
        yield f"\r\n--{boundary}--\r\n".encode()

    headers = {"content-type": f"multipart/form-data; boundary={boundary}"}
    answer = local.post(f"/api/projects/{project}/documents", content=body(), headers=headers)
    assert 400 <= answer.status_code < 500
    assert local.get(f"/api/projects/{project}/documents").json() == []


def test_a_form_that_strangers_may_send_is_small(local: TestClient) -> None:
    for path in ("/login", "/invite/nothing", "/invite/documents"):
        said = local.post(path, data={"name": "x" * 70_000})
        assert (said.status_code, said.json()["detail"]) == (
            413,
            "The request is larger than the 65 KB allowed. Send it in parts.",
        ), path
        assert local.post(path, data={"name": "x" * 50_000, "password": "y"}).status_code in (401, 404, 422), path


def test_safe_headers_stand_on_every_answer(local: TestClient) -> None:
    for path in ("/api/health", "/app/", "/static/css/tabs.css"):
        headers = local.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]


def test_a_browser_keeps_this_edition_of_the_front_end_and_is_refused_another_one(local: TestClient) -> None:
    module = local.get(f"{BASE}/main.js")
    assert "immutable" in module.headers["cache-control"] and "max-age=31536000" in module.headers["cache-control"]
    revalidated = local.get("/static/main.js")
    assert module.text == revalidated.text
    plain = local.get(f"{BASE}/main.js", headers={"accept-encoding": "identity"})
    assert module.headers["content-encoding"] == "gzip" and "content-encoding" not in plain.headers
    assert plain.text == module.text and int(module.headers["content-length"]) < int(plain.headers["content-length"])
    for sent in (module, plain):
        assert sent.headers["content-type"] == revalidated.headers["content-type"]
    for path in ("/static/0123456789abcdef/main.js", f"{BASE}/missing.js", f"{BASE}/", f"{BASE}/../app.py"):
        refused = local.get(path)
        assert refused.status_code == 404 and "immutable" not in refused.headers.get("cache-control", ""), path


def test_a_browser_keeps_the_page_s_own_modules_too(local: TestClient) -> None:
    name = re.findall(r"assets/index-[^\"']+\.js", local.get("/app/").text)[0]
    module = local.get(f"/app/{name}")
    assert "immutable" in module.headers["cache-control"] and module.headers["content-encoding"] == "gzip"
    assert module.content == (Path(BUILD_PATH_LIB).parent / name).read_bytes()
    for path in ("missing.js", "", "../index.html", "%2e%2e/index.html", "x" * 300, "%00"):
        refused = local.get(f"/app/assets/{path}")
        assert refused.status_code == 404 and "immutable" not in refused.headers.get("cache-control", ""), path
    assert local.post(f"/app/{name}").status_code in (403, 404, 405)


def test_a_browser_asks_again_for_scripts_without_an_edition(local: TestClient) -> None:
    script = local.get("/static/main.js")
    assert script.headers["cache-control"] == "no-cache"
    assert local.get("/static/main.js", headers={"if-none-match": script.headers["etag"]}).status_code == 304
    assert local.get("/favicon.ico").headers["content-type"].startswith("image/svg")


def test_with_login_strangers_reach_nothing(login: TestClient) -> None:
    assert login.get("/api/health").status_code in (200, 503)  # open to all; on a busy machine the database is late
    for path in ("/api/projects", "/api/me", "/api/documents/x", "/api/pages/x/image", "/api/annotations/x"):
        assert login.get(path).status_code == 401, path
    answer = login.get("/app/", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/login")
    assert login.get("/app/config", follow_redirects=False).status_code in (303, 401)


def test_a_login_opens_page_and_rest_and_a_logout_closes_both(login: TestClient) -> None:
    wrong = login.post("/login", data={"name": "ann", "password": "guess"}, follow_redirects=False)
    assert wrong.status_code == 401 and "wrong" in wrong.text
    done = login.post("/login", data={"name": "ann", "password": "a long password"}, follow_redirects=False)
    cookie = done.headers["set-cookie"].lower()
    assert done.status_code == 303 and "httponly" in cookie and "samesite=lax" in cookie
    assert login.get("/api/me").json()["user"]["name"] == "ann"
    assert login.get("/app/").status_code == 200
    token = login.cookies["glossator_session"]
    login.post("/logout", follow_redirects=False)
    assert login.get("/api/me", headers={"cookie": f"glossator_session={token}"}).status_code == 401


def test_the_name_in_the_login_form_is_escaped(login: TestClient) -> None:
    page = login.post("/login", data={"name": '"><script>x</script>', "password": "guess"}).text
    assert "<script>x" not in page


def test_an_annotator_cannot_do_what_is_an_admin_s(login: TestClient) -> None:
    login.post("/login", data={"name": "bob", "password": "another password"})
    assert login.get("/api/projects").json() == []
    workspace = cast(Any, login.app).state.answer_service.workspace
    project = projects.project_named(workspace, projects.DEFAULT_NAME).id
    bob, ann = (users.user_named(workspace, name) for name in ("bob", "ann"))
    members.put_member(workspace, project, bob.id, "annotator", by=ann)
    assert [each["id"] for each in login.get("/api/projects").json()] == [project]
    assert login.post("/api/projects", json={"name": "mine"}).status_code == 403
    assert login.patch(f"/api/projects/{project}/settings", json={"retrain_after": 1}).status_code == 403
    version = login.get(f"/api/projects/{project}/models").json()[0]["id"]
    forced = login.post(f"/api/projects/{project}/models/{version}/promote", json={"force": True})
    assert forced.status_code == 403
    document = pymupdf.open()
    document.new_page().insert_text((72, 72), "Hello")
    files = [("files", ("a.pdf", document.tobytes(), ""))]
    assert login.post(f"/api/projects/{project}/documents", files=files).status_code == 200
