"""People whom a proxy names in a header: from trusted addresses alone, and as long as the proxy names them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from annotator.app import create_app
from annotator.auth import COOKIE
from engine.accounts import members, sessions, users
from engine.commands.servers.serve import server_options
from engine.settings import Settings
from engine.workspace import Workspace
from tests.support.factories import make_project
from tests.support.server_thread import served

ANNA = {"remote-user": "anna", "remote-groups": "staff, lab", "remote-name": "Anna Maier"}


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


def _admin(workspace: Workspace) -> Any:
    return users.ensure_local_user(workspace)
