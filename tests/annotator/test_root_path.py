"""Glossator below a path of a host, behind a proxy that takes the path off and behind one that passes it on."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from pydantic import ValidationError
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Receive, Scope, Send

from annotator.app import create_app
from annotator.auth import COOKIE
from annotator.front_end_files import BASE, STATIC
from db.ids import new_id
from engine.accounts import users
from engine.client import Glossator
from engine.settings import Settings
from tests.support.client_house import PASSWORD
from tests.support.server_thread import served

ROOT = "/gloss"
HOST = "http://127.0.0.1:7860"
STRANGER = b"Another program of this host."


class HostOfMany:
    """A proxy on a host of several programs: Glossator is below ROOT, and everything else belongs to others."""

    def __init__(self, app: ASGIApp, *, takes_off: bool) -> None:
        self.app = app
        self.takes_off = takes_off

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif not path.startswith(f"{ROOT}/"):
            await send({"type": "http.response.start", "status": 404, "headers": []})
            await send({"type": "http.response.body", "body": STRANGER})
        elif self.takes_off:
            shorter = {"path": path.removeprefix(ROOT), "raw_path": scope["raw_path"].removeprefix(ROOT.encode())}
            await self.app({**scope, **shorter}, receive, send)
        else:
            await self.app(scope, receive, send)


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Any:
    settings = Settings(
        data_dir=tmp_path_factory.mktemp("below"), auth="login", root_path=f"{ROOT}/", port=7860, _env_file=None
    )
    app = create_app(settings)
    users.add_user(app.state.answer_service.workspace, "ada", PASSWORD, "admin")
    return app


@pytest.fixture(params=[False, True], ids=["passes the path on", "takes the path off"])
def below(application: Any, request: pytest.FixtureRequest) -> TestClient:
    host = HostOfMany(application, takes_off=request.param)
    client = TestClient(host, base_url=HOST, follow_redirects=False)
    form = {"name": "ada", "password": PASSWORD, "next": "/api/docs?x=1"}
    welcome = client.post(f"{ROOT}/login", data=form)
    assert welcome.status_code == 303 and welcome.headers["location"] == f"{ROOT}/api/docs?x=1"
    return client


def _addresses(page: str) -> Iterator[str]:
    """Yield what a page names: links, scripts, pictures, forms."""
    for address in re.findall(r'\b(?:href|src|action)="([^"#]+)', page):
        yield address.replace("&amp;", "&")


def test_the_login_is_for_this_path_alone(below: TestClient) -> None:
    (cookie,) = (cookie for cookie in below.cookies.jar if cookie.name == COOKIE)
    assert cookie.path == ROOT
    ended = below.post(f"{ROOT}/logout")
    assert ended.headers["location"] == f"{ROOT}/login" and not list(below.cookies.jar)


@pytest.mark.parametrize(
    ("asked", "led_to"),
    [
        ("/", f"{ROOT}/app/"),
        ("/app", f"{ROOT}/app/"),
        ("/favicon.ico", f"{ROOT}/static/icon.svg"),
        ("/login?next=/app/", f"{ROOT}/app/"),
        ("/login?next=https://evil.example/", f"{ROOT}/app/"),
    ],
)
def test_redirects_stay_below_the_path(below: TestClient, asked: str, led_to: str) -> None:
    where = below.get(f"{ROOT}{asked}").headers["location"]
    assert where in (led_to, f"{HOST}{led_to}")


def test_strangers_are_led_to_the_login_below_the_path(below: TestClient) -> None:
    below.cookies.clear()
    refused = below.get(f"{ROOT}/app/?x=1")
    assert refused.headers["location"] == f"{ROOT}/login?next=/app/%3Fx%3D1"
    assert f'action="{ROOT}/login"' in below.get(refused.headers["location"]).text


def test_every_address_that_a_page_names_leads_below_the_path(below: TestClient) -> None:
    project = below.post(f"{ROOT}/api/projects", json={"name": f"below {new_id()}"}).json()["id"]
    made = below.post(f"{ROOT}/api/projects/{project}/invitations", json={"role": "annotator"}).json()
    assert made["url"].startswith(f"{HOST}{ROOT}/invite/")
    seen = set()
    for page in ("/app/", "/api/docs", urlsplit(made["url"]).path.removeprefix(ROOT), "/invite/none", "/login"):
        if page in ("/login", "/invite/none"):
            below.cookies.clear()
        answer = below.get(f"{ROOT}{page}")
        for address in _addresses(answer.text):
            where = str(answer.url.join(address))
            if where.startswith(HOST) and "/invite/" not in where and "/logout" not in where:
                seen.add(where)
                assert STRANGER not in below.get(where).content, f"{page} names {address}"
    assert {f"{HOST}{ROOT}{part}" for part in ("/app/", "/api/me", "/source", "/login", f"{BASE}/bundle.js")} <= seen


def test_the_page_tells_gradio_and_the_front_end_where_they_are(below: TestClient) -> None:
    page = below.get(f"{ROOT}/app/", headers={"x-forwarded-host": "127.0.0.1:7860"}).text
    assert f'"root":"{HOST}{ROOT}/app"' in page.replace('": "', '":"')
    assert f'<meta name="glossator-root" content="{ROOT}" ' in page
    assert "manifest.json" not in page
    joined = {"data": [], "fn_index": 10**6, "session_hash": "a1"}
    refused = below.post(f"{ROOT}/app/gradio_api/queue/join", json=joined)
    assert refused.status_code == 422  # by the gate, which knows Gradio's routes below the path too
    assert below.get(f"{ROOT}/app/gradio_api/info").status_code == 404


def test_rest_names_its_addresses_below_the_path(below: TestClient) -> None:
    listed = below.get(f"{ROOT}/api/projects?limit=1")
    while "link" not in listed.headers:
        assert below.post(f"{ROOT}/api/projects", json={"name": f"one more {new_id()}"}).is_success
        listed = below.get(f"{ROOT}/api/projects?limit=1")
    assert listed.headers["link"].startswith(f"<{ROOT}/api/projects?limit=1&cursor=")
    assert below.get(listed.links["next"]["url"]).status_code == 200
    document = below.get(f"{ROOT}/api/openapi.json").json()
    assert document["servers"] == [{"url": ROOT}] and "/api/me" in document["paths"]
    assert f"{HOST}{ROOT}/api/me" in below.get(f"{ROOT}/api/docs").text


def test_the_python_client_takes_an_address_with_a_path(application: Any) -> None:
    host = HostOfMany(application, takes_off=False)
    with served(host, lifespan="off") as address:
        for host.takes_off in (False, True):
            with Glossator(f"{address}{ROOT}", name="ada", password=PASSWORD) as client:
                project = client.create_project(f"by a program {new_id()}")
                assert project.id in {listed.id for listed in client.projects()}


@pytest.mark.parametrize("path", ["gloss", "/a b", '/"><script>', "//host", "/../up", "/api", "/app/below", "/a//b"])
def test_paths_that_cannot_be_served_are_refused(path: str) -> None:
    with pytest.raises(ValidationError, match="is not a path to serve under"):
        Settings(root_path=path, _env_file=None)


def test_the_front_end_names_no_address_of_a_whole_host() -> None:
    """An address begins with ROOT of core/root.js: one that begins with "/" is another program's below a path."""
    own = r"(?:api|app|static|login|logout|invite|source)\b"
    absolute = [
        f"{path.relative_to(STATIC)}:{number}: {line.strip()}"
        for path in sorted(STATIC.rglob("*"))
        if path.suffix in (".js", ".css", ".svg", ".html")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(rf"""(?:['"`=(]\s*/{own}|\$\{{location\.origin\}}/)""", line)
    ]
    assert not absolute, "\n".join(absolute)
    kept_for_a_host = re.compile(r"\b(?:BroadcastChannel|indexedDB\.open|locks\.request)\((.*)")
    names = {
        match[1]
        for path in STATIC.rglob("*.js")
        for match in kept_for_a_host.finditer(path.read_text(encoding="utf-8"))
    }
    assert names and all(name.startswith(("NAME", "`${name}${ROOT}`")) for name in names), names
