"""People whom a proxy names in a header: from trusted addresses alone, and as long as the proxy names them."""

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import Request

from annotator.app import create_app
from annotator.auth import COOKIE
from annotator.passed_on import headers_with_origin
from engine.accounts import members, sessions, users
from engine.commands.servers.serve import server_options
from engine.logs import ACCESS
from engine.settings import Settings
from engine.web_process import WebProcess
from engine.workspace import Workspace
from tests.support.factories import make_project
from tests.support.server_process import free_port
from tests.support.server_thread import served
from tests.support.waiting import wait_until

ANNA = {"remote-user": "anna", "remote-groups": "staff, lab, readers|it, a;it", "remote-name": "Anna Maier"}


@contextmanager
def behind_a_proxy(folder: Path, **more: Any) -> Iterator[tuple[httpx.Client, Workspace]]:
    """A server that people reach from 127.0.0.1; its workspace."""
    settings = Settings(data_dir=folder, auth="login", proxy_user_header="Remote-User", _env_file=None, **more)
    app = create_app(settings, with_page=False)
    with (
        served(app, **server_options(settings)) as address,
        httpx.Client(base_url=address, verify=False, timeout=60) as client,
    ):
        yield client, app.state.answer_service.workspace


def me(client: httpx.Client, **headers: str) -> Any:
    """Name of the logged-in user; None for nobody."""
    answer = client.get("/api/me", headers=headers)
    return answer.json()["user"]["name"] if answer.status_code == 200 else None


def test_a_trusted_proxy_names_the_person(tmp_path: Path) -> None:
    more = {"proxy_name_header": "Remote-Name", "proxy_groups_header": "Remote-Groups"}
    groups = {"lab": {"Letters": "reviewer"}, "it": "admin"}
    with behind_a_proxy(tmp_path, group_roles=groups, **more) as (client, workspace):
        letters = make_project(workspace, "Letters")
        answer = client.get("/login", params={"next": "/app/?x=1"}, headers=ANNA)
        assert answer.status_code == 303 and answer.headers["location"] == "/app/?x=1"
        assert me(client, **ANNA) == "Anna Maier"
        assert client.get(f"/api/projects/{letters.id}/tasks", headers=ANNA).status_code == 200
        assert [member.role for member in members.members(workspace, letters.id)] == ["reviewer"]
        assert users.user_named(workspace, "Anna Maier").role == "annotator", "commas alone separate groups"
        assert me(client) is None, "the session holds while the proxy names the person"
        assert me(client, **{"remote-user": "ben"}) is None
        assert me(client, **ANNA) == "Anna Maier"
        users.change_user(workspace, users.user_named(workspace, "Anna Maier").id, disabled=True, by=_admin(workspace))
        assert me(client, **ANNA) is None
        assert client.get("/login", headers=ANNA).status_code == 403


@pytest.mark.parametrize("forwarded", [{}, {"x-forwarded-for": "192.0.2.1"}, {"x-forwarded-for": "127.0.0.1"}])
def test_nobody_else_can_name_a_person(tmp_path: Path, forwarded: dict[str, str]) -> None:
    """The address of the connection counts, not what X-Forwarded-For says of it."""
    with behind_a_proxy(tmp_path, trusted_proxies=["192.0.2.1"]) as (client, workspace):
        answer = client.get("/login", headers={**ANNA, **forwarded})
        assert answer.status_code == 200 and COOKIE not in answer.cookies
        assert [user.name for user in users.users(workspace)] == ["local"]


def test_behind_a_trusted_proxy_the_address_of_the_person_does_not_matter(tmp_path: Path) -> None:
    with behind_a_proxy(tmp_path, trusted_proxies=["127.0.0.0/8"]) as (client, _):
        assert client.get("/login", headers={**ANNA, "x-forwarded-for": "203.0.113.7"}).status_code == 303


def test_a_header_that_comes_twice_names_nobody(tmp_path: Path) -> None:
    with behind_a_proxy(tmp_path) as (client, _):
        twice = client.get("/login", headers=[("remote-user", "admin"), ("remote-user", "anna")])
        assert twice.status_code == 200 and COOKIE not in twice.cookies
        assert client.get("/login", headers={"remote-user": ""}).status_code == 200


@pytest.mark.parametrize("url", ["", "https://proxy.example/out"])
def test_a_logout_leads_to_that_of_the_proxy_or_says_that_it_still_knows_the_person(tmp_path: Path, url: str) -> None:
    with behind_a_proxy(tmp_path, proxy_logout_url=url) as (client, workspace):
        assert client.get("/login", headers={"x-remote-user": "anna"}).status_code == 200, "another header"
        client.get("/login", headers=ANNA)
        token = str(client.cookies[COOKIE])
        page = client.post("/logout", headers=ANNA).text
        assert (url if url else "the proxy still knows you") in page
        assert COOKIE not in client.cookies and sessions.user_of_token(workspace, token) is None


PROXY, SECRET = "127.0.0.2", "a secret of the processes"


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[WebProcess, ...]]:
    """Two web processes of one server behind a proxy, whose Gradio route says in which of them who asks."""
    more: dict[str, Any] = {"proxy_user_header": "Remote-User", "trusted_proxies": [PROXY], "access_log": True}
    settings = Settings(data_dir=tmp_path_factory.mktemp("pair"), auth="login", **more, _env_file=None)
    ports = (free_port(), free_port())
    pair = tuple(WebProcess(ports, number, SECRET) for number in range(2))
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patched:
        for process in pair:
            for name, value in process.variables().items():
                patched.setenv(name, value)
            app = create_app(settings, with_page=False)

            @app.get("/app/gradio_api/queue/data")
            def answer(request: Request, number: int = process.number) -> list[object]:
                return [number, request.state.user.name, request.url.scheme, request.client and request.client.host]

            stack.enter_context(served(app, at=ports[process.number], **server_options(settings)))
        yield pair


@contextmanager
def browser_at(address: str, **more: Any) -> Iterator[httpx.Client]:
    """A client that reaches the first process from another address of this machine."""
    with httpx.Client(transport=httpx.HTTPTransport(local_address=address), timeout=60, **more) as client:
        yield client


def data_of(processes: tuple[WebProcess, ...], owner: WebProcess) -> str:
    """Address at the first process of the results of a session that another one keeps."""
    session = next(name for name in map("session{}".format, range(64)) if owner.owner_of(name) == owner.number)
    return f"http://127.0.0.1:{processes[0].ports[0]}/app/gradio_api/queue/data?session_hash={session}"


def test_a_call_that_a_web_process_passes_on_comes_from_the_proxy_and_is_logged_once(
    processes: tuple[WebProcess, ...], caplog: pytest.LogCaptureFixture
) -> None:
    def lines(path: str) -> int:
        return sum(path in record.getMessage() for record in caplog.records)

    sent = {"remote-user": "anna", "x-forwarded-for": "203.0.113.7", "x-forwarded-proto": "https"}
    address = f"http://127.0.0.1:{processes[0].ports[0]}"
    with browser_at(PROXY, headers=sent) as proxy, caplog.at_level(logging.INFO, logger=ACCESS):
        login = proxy.get(f"{address}/login")
        proxy.cookies.set(COOKIE, login.cookies[COOKIE])
        for owner in processes:
            answer = proxy.get(data_of(processes, owner), headers={"x-request-id": "a.1"})
            assert answer.json() == [owner.number, "anna", "https", "203.0.113.7"]
            assert answer.headers.get_list("x-request-id") == ["a.1"]
        proxy.get(f"{address}/api/health/live")
        wait_until(lambda: lines("gradio_api") >= 2 and lines("live") == 1)
    assert lines("gradio_api") == 2


def test_nobody_but_a_web_process_says_where_a_call_comes_from(processes: tuple[WebProcess, ...]) -> None:
    with browser_at(PROXY, headers={"remote-user": "anna"}) as proxy:
        token = proxy.get(f"http://127.0.0.1:{processes[0].ports[0]}/login").cookies[COOKIE]
    state = {"peer": PROXY, "request_id": "a.1"}
    scope: dict[str, Any] = {"type": "http", "headers": [], "scheme": "https", "client": None, "state": state}
    for secret, status in (("another secret", 401), (SECRET, 200)):
        headers = [(b"remote-user", b"anna"), *headers_with_origin(scope, secret)]
        with browser_at("127.0.0.9", headers=headers, cookies={COOKIE: token}) as stranger:
            assert [stranger.get(data_of(processes, owner)).status_code for owner in processes] == [status] * 2


def _admin(workspace: Workspace) -> Any:
    return users.ensure_local_user(workspace)
