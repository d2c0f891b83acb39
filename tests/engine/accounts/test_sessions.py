"""Guessing passwords gets slow, nobody is shut out by others, and a login leads nowhere but here."""

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any, cast

import httpx
import pytest
from sqlalchemy import select, update
from starlette.testclient import TestClient

from annotator.app import create_app
from annotator.auth import safe_next
from db.base import now
from db.tables import LoginAttempt, LoginSession
from engine import audit
from engine.accounts import login_throttle, passwords, sessions, users
from engine.commands.servers.serve import server_options
from engine.errors import Forbidden, TooMany
from engine.login_attempts import LoginAttempts
from engine.settings import Settings
from engine.workspace import Workspace
from tests.support.accounts import ADDRESS, make_user
from tests.support.server_thread import served

PASSWORD = "a long password"
HOME, OFFICE, ELSEWHERE = "192.0.2.1", "192.0.2.2", "198.51.100.9"


@pytest.fixture
def ann(workspace: Workspace):
    return users.add_user(workspace, "ann", PASSWORD, "annotator")


def guess(workspace: Workspace, address: str, times: int = 1, name: str = "ann") -> list[str]:
    """Try wrong passwords; return what each was told."""
    told = []
    for _ in range(times):
        try:
            told.append(str(sessions.log_in(workspace, name, "wrong password", address=address)))
        except TooMany:
            told.append("wait")
    return told


def wait_for(workspace: Workspace, address: str, name: str = "ann") -> int:
    """Seconds that a login has to wait; 0 when it may be tried. Counts as an attempt then."""
    try:
        sessions.log_in(workspace, name, "wrong password", address=address)
    except TooMany as refused:
        return refused.seconds
    return 0


def earlier(workspace: Workspace, minutes: float) -> None:
    """Let time pass: everything tried so far was tried so much earlier. Memory forgets, as after a restart."""
    workspace.deferred_writes.flush()
    object.__setattr__(workspace, "login_attempts", LoginAttempts())
    with workspace.database.write() as session:
        for attempt in session.scalars(select(LoginAttempt)):
            attempt.created_at -= timedelta(minutes=minutes)


def test_after_five_wrong_passwords_one_waits_longer_each_time(workspace: Workspace, ann) -> None:
    assert guess(workspace, HOME, 5) == ["None"] * 5
    waits = []
    for _ in range(4):
        waits.append(wait_for(workspace, HOME))
        earlier(workspace, waits[-1] / 60)
        assert guess(workspace, HOME) == ["None"]
    assert [round(wait / 30) for wait in waits] == [1, 2, 4, 8]
    with pytest.raises(TooMany, match="Try again in"):
        sessions.log_in(workspace, "ann", PASSWORD, address=HOME)
    earlier(workspace, 16)
    assert sessions.log_in(workspace, "ann", PASSWORD, address=HOME)


def test_waiting_is_not_counted_so_that_it_ends(workspace: Workspace, ann) -> None:
    guess(workspace, HOME, 5)
    assert guess(workspace, HOME, 20) == ["wait"] * 20
    earlier(workspace, 0.6)
    assert sessions.log_in(workspace, "ann", PASSWORD, address=HOME)


def test_a_success_begins_the_count_anew(workspace: Workspace, ann) -> None:
    guess(workspace, HOME, 4)
    assert sessions.log_in(workspace, "ann", PASSWORD, address=HOME)
    assert guess(workspace, HOME, 5) == ["None"] * 5
    assert guess(workspace, HOME) == ["wait"]


def test_guessing_in_somebody_s_name_does_not_shut_them_out_elsewhere(workspace: Workspace, ann) -> None:
    assert sessions.log_in(workspace, "ann", PASSWORD, address=HOME)
    for number in range(12):
        guess(workspace, f"203.0.113.{number}", 5)
    assert sessions.log_in(workspace, "ann", PASSWORD, address=HOME), "an address of their own is spared"
    with pytest.raises(TooMany):
        sessions.log_in(workspace, "ann", PASSWORD, address=ELSEWHERE)
    earlier(workspace, 15.1)
    assert sessions.log_in(workspace, "ann", PASSWORD, address=ELSEWHERE), "and nowhere is it for ever"


def test_many_names_from_one_address_are_slowed_down_too(workspace: Workspace, ann) -> None:
    for number in range(login_throttle.FREE_FAILURES_ADDRESS):
        guess(workspace, ELSEWHERE, name=f"nobody {number}")
    with pytest.raises(TooMany):
        sessions.log_in(workspace, "ann", PASSWORD, address=ELSEWHERE)
    assert sessions.log_in(workspace, "ann", PASSWORD, address=OFFICE)


def test_many_guesses_at_once_cannot_outrun_the_count(workspace: Workspace, ann) -> None:
    told: list[str] = []
    at_once = [threading.Thread(target=lambda: told.extend(guess(workspace, HOME))) for _ in range(12)]
    for one in at_once:
        one.start()
    for one in at_once:
        one.join()
    assert sorted(told) == ["None"] * 5 + ["wait"] * 7


def test_one_customer_s_ipv6_addresses_are_one(workspace: Workspace, ann) -> None:
    for number in range(5):
        guess(workspace, f"2001:db8:1:2::{number}")
    assert guess(workspace, "2001:db8:1:2:ffff::1") == ["wait"]
    assert guess(workspace, "2001:db8:1:3::1") == ["None"]
    assert login_throttle.network_of("::ffff:192.0.2.1") == HOME


def test_a_name_that_nobody_has_is_not_kept_and_waits_alike(workspace: Workspace) -> None:
    secret = "correct horse battery"  # typed into the wrong field
    assert guess(workspace, HOME, 6, name=secret) == ["None"] * 5 + ["wait"]
    workspace.deferred_writes.flush()
    with workspace.database.read() as session:
        assert not [row for row in session.scalars(select(LoginAttempt)) if secret in row.name]
    assert not [line for line in audit.entries(workspace) if secret in str(line)]


def test_the_failure_that_fills_the_count_is_written_down_once(workspace: Workspace, ann) -> None:
    guess(workspace, HOME, 9)
    workspace.deferred_writes.flush()
    found = [line for line in audit.entries(workspace) if line.action == "login.limited"]
    assert [line.what for line in found] == [f"throttled logins as ann from {HOME} after 5 wrong passwords"]


def test_attempts_are_forgotten_after_a_day(workspace: Workspace, ann) -> None:
    guess(workspace, HOME, 3)
    earlier(workspace, 25 * 60)
    guess(workspace, HOME)
    workspace.deferred_writes.flush()
    with workspace.database.read() as session:
        assert len(session.scalars(select(LoginAttempt)).all()) == 1


def test_a_session_that_ran_out_is_none(workspace: Workspace, ann) -> None:
    token = sessions.log_in(workspace, "ann", PASSWORD, address=HOME)
    assert isinstance(token, str)
    found = sessions.user_of_token(workspace, token)
    assert found is not None and found.name == "ann"
    with workspace.database.write() as session:
        session.execute(update(LoginSession).values(expires_at=now() - timedelta(seconds=1)))
    assert sessions.user_of_token(workspace, token) is None
    assert sessions.sessions(workspace, ann.id) == []


# --- what happens while a password is looked at


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Let something happen once, between the look at a password and what follows from it."""

    def arrange(what: Callable[[], object]) -> None:
        looked, due = passwords.fits, [what]

        def fits(stored: str | None, password: str) -> bool:
            right = looked(stored, password)
            while due:
                due.pop()()
            return right

        monkeypatch.setattr(passwords, "fits", fits)

    return arrange


def test_a_login_in_flight_does_not_survive_a_new_password_or_a_disable(workspace: Workspace, ann, meanwhile) -> None:
    admin = make_user(workspace, "olga", "admin")
    for change in (
        lambda: users.set_password(workspace, ann.id, "another password", by=admin),
        lambda: users.change_user(workspace, ann.id, disabled=True, by=admin),
    ):
        password = PASSWORD if sessions.log_in(workspace, "ann", PASSWORD, address=HOME) else "another password"
        meanwhile(change)
        assert sessions.log_in(workspace, "ann", password, address=OFFICE) is None
        assert sessions.sessions(workspace, ann.id) == []


def test_a_change_of_one_s_password_in_flight_does_not_undo_an_admin_s(workspace: Workspace, ann, meanwhile) -> None:
    admin = make_user(workspace, "olga", "admin")
    meanwhile(lambda: users.set_password(workspace, ann.id, "another password", by=admin))
    with pytest.raises(Forbidden, match="Nothing was changed"):
        sessions.change_password(workspace, ann, PASSWORD, "the thief's password", address=HOME)
    assert sessions.log_in(workspace, "ann", "the thief's password", address=OFFICE) is None
    assert sessions.log_in(workspace, "ann", "another password", address=OFFICE)
    ann = users.user_by_id(workspace, ann.id)
    meanwhile(lambda: users.change_user(workspace, ann.id, disabled=True, by=admin))
    with pytest.raises(Forbidden):
        sessions.change_password(workspace, ann, "another password", "the thief's password", address=OFFICE)


# --- behind a proxy


@pytest.mark.parametrize(
    ("trusted", "seen"),
    [
        (["127.0.0.1"], "203.0.113.7"),
        (["127.0.0.0/8", "10.0.0.5"], "203.0.113.7"),
        (["10.0.0.5"], "127.0.0.1"),
        ([], "127.0.0.1"),
    ],
)
def test_only_a_trusted_proxy_says_where_a_request_comes_from(tmp_path, trusted: list[str], seen: str) -> None:
    settings = Settings(data_dir=tmp_path / "data", auth="login", trusted_proxies=trusted, _env_file=None)
    application = create_app(settings, with_page=False)
    workspace = application.state.answer_service.workspace
    ann = users.add_user(workspace, "ann", PASSWORD, "annotator")
    with served(application, **server_options(settings)) as address:
        sent = {"x-forwarded-for": "203.0.113.7"}
        answer = httpx.post(f"{address}/login", data={"name": "ann", "password": PASSWORD}, headers=sent)
        assert answer.status_code == 303
        [session] = sessions.sessions(workspace, ann.id)
    assert session.address == seen


# --- the form


@pytest.fixture
def login(tmp_path) -> Iterator[TestClient]:
    settings = Settings(data_dir=tmp_path / "data", auth="login", secure_cookies=True, _env_file=None)
    with TestClient(create_app(settings), base_url=ADDRESS.replace("http:", "https:")) as client:
        users.add_user(cast(Any, client.app).state.answer_service.workspace, "ann", PASSWORD, "admin")
        yield client


def enter(client: TestClient, password: str = PASSWORD, **more: str):
    return client.post("/login", data={"name": "ann", "password": password, **more}, follow_redirects=False)


def test_the_form_says_when_to_come_back(login: TestClient) -> None:
    for _ in range(5):
        assert enter(login, "wrong password").status_code == 401
    late = enter(login)
    assert late.status_code == 429 and 0 < int(late.headers["retry-after"]) <= 30
    assert "Too many wrong passwords. Try again in" in late.text
    other = login.put("/api/me/password", json={"old": "x", "new": "y"})
    assert other.status_code == 401


FOREIGN = [
    "https://evil.example/",
    "//evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/a\\b",
    "javascript:alert(1)",
    "app",
    "/app/\nlocation: x",
    "/\t/evil.example",
    "http:/app/",
    "",
    "/login?next=/login",
    "/logout",
]


@pytest.mark.parametrize("wanted", FOREIGN)
def test_an_address_to_go_on_to_is_of_this_server(wanted: str) -> None:
    assert safe_next(wanted) == "/app/"


def test_a_login_leads_nowhere_else(login: TestClient) -> None:
    for wanted in FOREIGN[:3]:
        answer = enter(login, next=wanted)
        assert (answer.status_code, answer.headers["location"]) == (303, "/app/"), wanted


def test_a_login_leads_back_to_where_one_was_going(login: TestClient) -> None:
    for wanted in ("/app/#document=abc&page=2", "/invite/abc", "/api/docs", "/app/?x=1"):
        assert enter(login, next=wanted).headers["location"] == wanted
        assert login.get("/login", params={"next": wanted}, follow_redirects=False).headers["location"] == wanted


def test_a_stranger_comes_back_to_the_link_after_logging_in(login: TestClient) -> None:
    asked = login.get("/api/docs", follow_redirects=False)
    assert asked.headers["location"] == "/login?next=/api/docs"
    assert 'name="next" value="/api/docs"' in login.get(asked.headers["location"]).text
    assert 'value="/app/"' in login.get('/login?next=//evil.example"><script>').text


def test_over_https_cookie_and_headers_say_so(login: TestClient) -> None:
    answer = enter(login)
    cookie = answer.headers["set-cookie"].lower()
    assert "secure" in cookie and "httponly" in cookie and "samesite=lax" in cookie
    for path in ("/login", "/api/health", "/app/", "/static/main.js"):
        headers = login.get(path, follow_redirects=False).headers
        assert headers["strict-transport-security"].startswith("max-age=")
        assert "camera=()" in headers["permissions-policy"]
    assert login.get("/login", headers={"host": "evil.example"}).headers["x-frame-options"] == "DENY"


def test_a_foreign_page_cannot_log_anybody_in_or_out(login: TestClient) -> None:
    for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}, {"origin": "null"}):
        for path in ("/login", "/logout", "/invite/x"):
            assert login.post(path, data={"name": "ann", "password": PASSWORD}, headers=headers).status_code == 403
    silent = {"user-agent": "Mozilla/5.0 (X11; Linux x86_64)"}
    assert login.post("/logout", headers=silent).status_code == 403
    named = {**silent, "origin": ADDRESS.replace("http:", "https:")}
    assert login.post("/logout", headers=named, follow_redirects=False).status_code == 303
