"""nginx with the files of deploy/ before two web servers of one installation: routes, limits and streams."""

import http.client
import json
import ssl
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.nginx import CHOSEN, HOST, nginx_program, running_nginx
from tests.support.server_process import Served

SETTINGS = {"GLOSSATOR_ALLOWED_HOSTS": f'["{HOST}"]'}
LOGINS = [f"login{number}" for number in range(8)]


@dataclass
class Proxied:
    """Two servers with one data folder, and nginx before them."""

    servers: list[Served]
    port: int
    log: Path

    def call(self, method: str, path: str, **more: Any) -> httpx.Response:
        headers = {"host": HOST, **more.pop("headers", {})}
        address = f"https://127.0.0.1:{self.port}{path}"
        return httpx.request(method, address, headers=headers, verify=False, timeout=120, **more)

    def servers_of(self, beginning: str) -> list[str]:
        """The servers that took requests below a path, in order; nginx writes a line when a request has ended."""
        lines = [line.rsplit(" ", 1) for line in self.log.read_text().splitlines()]
        return [server for path, server in lines if path.startswith(beginning)]


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    nginx_program()
    folder = tmp_path_factory.mktemp("proxied")
    first = Served(folder / "first", SETTINGS, ("--samples",))
    second = Served(folder / "second", {**SETTINGS, "GLOSSATOR_DATA_DIR": str(first.data)})
    servers = [first, second]
    try:
        for server in servers:
            server.folder.mkdir()
            server.start()
        with running_nginx(folder, [server.port for server in servers]) as port:
            yield Proxied(servers, port, folder / CHOSEN)
    finally:
        for server in servers:
            server.stop()


def test_requests_go_to_both_servers(proxied: Proxied) -> None:
    for _ in range(4):
        assert proxied.call("GET", "/api/health").json()["status"] == "ok"
    assert len(set(proxied.servers_of("/api/health"))) == 2


def test_calls_of_gradio_stay_with_the_server_of_the_login(proxied: Proxied) -> None:
    config = proxied.call("GET", "/app/config").json()
    event = next(each for each in config["dependencies"] if each["backend_fn"])
    servers = defaultdict(set)
    for login in LOGINS:
        cookie = {"cookie": f"glossator_session={login}"}
        before = len(proxied.servers_of("/app/gradio_api/"))
        body = {"data": [None] * len(event["inputs"]), "fn_index": event["id"], "session_hash": login}
        joined = proxied.call("POST", "/app/gradio_api/queue/join", json=body, headers=cookie)
        assert joined.status_code == 200, joined.text
        told = proxied.call("GET", "/app/gradio_api/queue/data", params={"session_hash": login}, headers=cookie)
        assert '"process_completed"' in told.text, told.text
        servers[login] = set(proxied.servers_of("/app/gradio_api/")[before:])
    assert all(len(chosen) == 1 for chosen in servers.values()), servers
    assert len(set.union(*servers.values())) == 2, "all logins reached the same server"


def test_imports_and_exports_stay_on_one_server(proxied: Proxied) -> None:
    [project] = proxied.call("GET", "/api/projects").json()
    path = f"/api/projects/{project['id']}/exports"
    for _ in range(4):
        assert proxied.call("GET", path).status_code == 200
    assert set(proxied.servers_of(path)) == {f"127.0.0.1:{proxied.servers[0].port}"}


def test_a_body_above_the_limit_ends_at_the_proxy_with_a_sentence(proxied: Proxied) -> None:
    connection = http.client.HTTPSConnection(
        "127.0.0.1", proxied.port, timeout=60, context=ssl._create_unverified_context()
    )
    connection.putrequest("POST", "/api/projects/any/documents", skip_host=True)
    connection.putheader("Host", HOST)
    connection.putheader("Content-Length", "201000000")
    connection.endheaders()
    reply = connection.getresponse()
    assert reply.status == 413 and reply.headers["Server"].startswith("nginx")
    assert "larger than the server allows" in json.loads(reply.read())["detail"]
    connection.close()


def test_a_change_arrives_while_the_stream_goes_on(proxied: Proxied) -> None:
    address = f"https://127.0.0.1:{proxied.port}/api/changes"
    with httpx.stream("GET", address, headers={"host": HOST}, verify=False, timeout=60) as stream:
        assert stream.status_code == 200 and stream.headers["content-type"].startswith("text/event-stream")
        lines = stream.iter_lines()
        next(lines)
        made = proxied.call("POST", "/api/projects", json={"name": f"At {time.monotonic_ns()}"})
        assert made.status_code in (200, 201), made.text
        seen = next(line for line in lines if made.json()["id"] in line)
        assert json.loads(seen.removeprefix("data:"))
