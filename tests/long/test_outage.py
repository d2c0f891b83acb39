"""A PostgreSQL that is stopped, that hangs, and that is back: what the application says meanwhile, and that it goes on by itself."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from annotator import health_checks
from annotator.app import create_app
from engine.settings import Settings
from tests.support.accounts import cookie_of, make_user
from tests.support.own_postgresql import frozen, own_server, stopped  # noqa: F401 (a fixture)
from tests.support.server_thread import served

READY, LIVE, OLD = "/api/health/ready", "/api/health/live", "/api/health"
MANY = 60  # checks at once: more than the application has threads


@pytest.fixture
def server(own_server: Any, tmp_path: Path) -> Iterator[tuple[str, dict[str, str]]]:  # noqa: F811
    """An application where people log in, on that PostgreSQL: its address, and the cookie of an admin."""
    settings = Settings(data_dir=tmp_path / "data", database_url=own_server.get_uri(), auth="login", _env_file=None)
    app = create_app(settings)
    workspace = app.state.answer_service.workspace
    cookie = cookie_of(workspace, make_user(workspace, "olga", "admin"))
    with served(app) as address:
        yield address, cookie


def eventually(happens: Callable[[], bool], seconds: float = 60) -> None:
    latest = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < latest, "it did not happen in time"
        time.sleep(0.05)


def status(address: str, path: str) -> int:
    return httpx.get(f"{address}{path}", timeout=30).status_code


@pytest.mark.postgresql
def test_a_stopped_database_is_told_by_every_route_until_it_is_back(
    own_server: Any,  # noqa: F811
    server: tuple[str, dict[str, str]],
) -> None:
    address, cookie = server
    assert status(address, READY) == status(address, OLD) == 200
    with stopped(own_server):
        eventually(lambda: status(address, READY) == 503)
        told = httpx.get(f"{address}{READY}").json()
        assert told["database"]["sentence"] == "The database does not respond." and told["blobs"]["ok"]
        assert "details" not in told["database"], "an admin cannot be told from a stranger now"
        assert status(address, OLD) == 503 and status(address, LIVE) == 200
        for method, path in (("GET", "/api/projects"), ("GET", "/api/me"), ("PUT", "/api/me/preferences")):
            answer = httpx.request(method, f"{address}{path}", cookies=cookie, json={} if method == "PUT" else None)
            assert answer.status_code == 503 and int(answer.headers["retry-after"]) > 0, path
            assert answer.json()["detail"].startswith("The server's database does not respond."), path
    eventually(lambda: status(address, READY) == status(address, OLD) == 200)
    eventually(lambda: httpx.get(f"{address}/api/me", cookies=cookie).status_code == 200)


@pytest.mark.postgresql
def test_a_database_that_hangs_is_told_in_time_to_many_who_ask_at_once(
    own_server: Any,  # noqa: F811
    server: tuple[str, dict[str, str]],
) -> None:
    address, _ = server
    assert status(address, READY) == 200
    with frozen(own_server), ThreadPoolExecutor(MANY) as many, httpx.Client(limits=httpx.Limits()) as client:

        def ask(_: int) -> tuple[int, float]:
            began = time.monotonic()
            return client.get(f"{address}{READY}", timeout=60).status_code, time.monotonic() - began

        eventually(lambda: ask(0)[0] == 503)  # what was found a moment ago is told for a second
        for _ in range(3):
            found = list(many.map(ask, range(MANY)))
            looking = [thread for thread in threading.enumerate() if thread.name == "checkup"]
            assert len(looking) <= health_checks.MOST_UNDER_WAY
        assert {code for code, _ in found} == {503}
        assert status(address, LIVE) == 200
        longest = max(seconds for _, seconds in found)
        assert longest < health_checks.GIVEN_UP_SECONDS, f"it took as long as the hanging itself: {longest:.1f} s"
    eventually(lambda: status(address, READY) == 200)
