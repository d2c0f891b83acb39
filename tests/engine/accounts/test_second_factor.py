"""A password alone opens nothing where a second factor is set up or required, and its codes are not guessed."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pyotp
import pytest
from sqlalchemy import select, update
from starlette.testclient import TestClient

from annotator import code_login
from annotator.app import create_app
from annotator.auth import COOKIE
from db.base import now
from db.tables import LoginStep, RecoveryCode, SecondFactor
from engine.accounts import own_second_factor, passwords, second_factor, second_login, sessions, tokens, users
from engine.accounts.login_steps import SecondStep
from engine.errors import Conflict, Forbidden, NotFound, Refused, TooMany
from engine.settings import Settings
from engine.workspace import Workspace
from tests.support.accounts import ADDRESS, actions, make_user
from tests.support.route_table import ROUTES

PASSWORD = "a long password"


@dataclass
class Clock:
    """The time of codes, which tests move; the database keeps its own."""

    step: int = field(default_factory=second_factor.current_step)

    def code(self, secret: str, ahead: int = 0) -> str:
        """The code that an app shows so many steps from now."""
        return pyotp.TOTP(secret).generate_otp(self.step + ahead)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(second_factor, "current_step", lambda: made.step)
    return made


@pytest.fixture
def ann(workspace: Workspace):
    return users.add_user(workspace, "ann", PASSWORD, "annotator")


def set_up(workspace: Workspace, user, clock: Clock) -> tuple[str, list[str]]:
    """Give somebody a second factor; return secret and recovery codes. The next step has come."""
    secret = own_second_factor.enrol(workspace, user, PASSWORD).secret
    codes = own_second_factor.confirm(workspace, user, clock.code(secret), token=None)
    clock.step += 1
    return secret, codes


def half(workspace: Workspace, name: str = "ann") -> str:
    """The token of a login whose password was right."""
    step = sessions.log_in(workspace, name, PASSWORD)
    assert isinstance(step, SecondStep)
    return step.token


def finish(workspace: Workspace, step: str, code: str):
    return second_login.finish(workspace, step, code, enrols=False)


def test_a_password_without_a_code_begins_no_session(workspace: Workspace, ann, clock: Clock) -> None:
    secret, _ = set_up(workspace, ann, clock)
    step = half(workspace)
    assert sessions.user_of_token(workspace, step) is None
    assert sessions.sessions(workspace, ann.id) == []
    assert finish(workspace, step, "000000") is None
    finished = finish(workspace, step, clock.code(secret))
    assert finished is not None and finished.token != step
    assert sessions.user_of_token(workspace, finished.token) is not None
    clock.step += 1
    with pytest.raises(NotFound):
        finish(workspace, step, clock.code(secret))


def test_a_code_is_right_once_and_a_step_early_or_late(workspace: Workspace, ann, clock: Clock) -> None:
    secret, _ = set_up(workspace, ann, clock)
    clock.step += 5
    for ahead, right in ((-2, False), (2, False), (-1, True), (-1, False), (1, True), (1, False), (0, False)):
        step = half(workspace)
        assert (finish(workspace, step, clock.code(secret, ahead)) is not None) == right, ahead


def test_of_two_logins_with_one_code_only_one_succeeds(workspace: Workspace, ann, clock: Clock) -> None:
    secret, _ = set_up(workspace, ann, clock)
    steps, came = [half(workspace) for _ in range(4)], []
    code = clock.code(secret)
    threads = [threading.Thread(target=lambda step=step: came.append(finish(workspace, step, code))) for step in steps]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(each is not None for each in came) == 1


def test_guesses_at_once_cannot_outrun_the_count_and_right_passwords_do_not_reset_it(
    workspace: Workspace, ann, clock: Clock
) -> None:
    secret, _ = set_up(workspace, ann, clock)
    told: list[str] = []

    def guess(step: str) -> None:
        try:
            told.append(str(finish(workspace, step, "000000")))
        except TooMany:
            told.append("wait")

    threads = [threading.Thread(target=guess, args=(half(workspace),)) for _ in range(9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(told) == ["None"] * 5 + ["wait"] * 4
    with pytest.raises(TooMany, match="Too many wrong codes"):
        finish(workspace, half(workspace), clock.code(secret))
    assert actions(workspace).count("second_factor.limited") == 1
    with workspace.database.write() as session:
        session.execute(update(SecondFactor).values(failed_at=now() - timedelta(minutes=16)))
    assert finish(workspace, half(workspace), clock.code(secret)) is not None


def test_a_recovery_code_stands_in_once_however_it_is_typed(workspace: Workspace, ann, clock: Clock) -> None:
    _, codes = set_up(workspace, ann, clock)
    assert len(set(codes)) == second_factor.RECOVERY_CODES
    assert finish(workspace, half(workspace), f" {codes[0].lower().replace('-', ' ')} ") is not None
    assert finish(workspace, half(workspace), codes[0]) is None
    assert second_factor.view(workspace, ann).recovery_codes == 9
    with workspace.database.read() as session:
        assert not {row.code_sha256 for row in session.scalars(select(RecoveryCode))} & set(codes)
    renewed = own_second_factor.renew_recovery_codes(workspace, ann, codes[1])
    assert finish(workspace, half(workspace), codes[2]) is None
    assert finish(workspace, half(workspace), renewed[2]) is not None


def test_a_step_ends_with_time_and_with_whatever_ends_sessions(workspace: Workspace, ann, clock: Clock) -> None:
    secret, _ = set_up(workspace, ann, clock)
    olga = make_user(workspace, "olga", "admin")

    def expire() -> None:
        with workspace.database.write() as session:
            session.execute(update(LoginStep).values(expires_at=now() - timedelta(seconds=1)))

    ends: list[Callable[[], object]] = [
        expire,
        lambda: users.end_sessions(workspace, ann.id, by=olga),
        lambda: users.set_password(workspace, ann.id, PASSWORD, by=olga),
        lambda: users.change_user(workspace, ann.id, disabled=True, by=olga),
    ]
    for end in ends:
        step = half(workspace)
        end()
        with pytest.raises(NotFound, match="Enter your name and password again"):
            finish(workspace, step, clock.code(secret))


def test_an_admin_resets_it_which_ends_all_sessions(workspace: Workspace, ann, clock: Clock) -> None:
    secret, codes = set_up(workspace, ann, clock)
    olga = make_user(workspace, "olga", "admin")
    finished, step = finish(workspace, half(workspace), codes[0]), half(workspace)
    assert finished is not None and users.user_view(workspace, ann).second_factor
    users.reset_second_factor(workspace, ann.id, by=olga)
    assert sessions.user_of_token(workspace, finished.token) is None
    with pytest.raises(NotFound):
        finish(workspace, step, clock.code(secret))
    assert isinstance(sessions.log_in(workspace, "ann", PASSWORD), str)
    assert actions(workspace)[0] == "users.second_factor"
    with pytest.raises(NotFound):
        users.reset_second_factor(workspace, ann.id, by=olga)


def test_setting_up_asks_for_the_password_and_a_code_and_removing_for_a_code(
    workspace: Workspace, ann, clock: Clock
) -> None:
    with pytest.raises(Forbidden):
        own_second_factor.enrol(workspace, ann, "wrong password")
    earlier = own_second_factor.enrol(workspace, ann, PASSWORD).secret
    secret = own_second_factor.enrol(workspace, ann, PASSWORD).secret
    assert isinstance(sessions.log_in(workspace, "ann", PASSWORD), str), "an unconfirmed secret shuts nobody out"
    with pytest.raises(Forbidden):
        own_second_factor.confirm(workspace, ann, clock.code(earlier), token=None)
    own_second_factor.confirm(workspace, ann, clock.code(secret), token=None)
    with pytest.raises(Conflict):
        own_second_factor.enrol(workspace, ann, PASSWORD)
    with pytest.raises(Forbidden):
        own_second_factor.remove(workspace, ann, clock.code(secret))
    clock.step += 1
    own_second_factor.remove(workspace, ann, clock.code(secret))
    assert [action for action in actions(workspace) if "second" in action] == [
        "second_factor.remove",
        "second_factor.set",
    ]


# --- on a server that requires it


@dataclass
class Door:
    client: TestClient
    workspace: Workspace

    def enter(self, name: str = "ann", **more: Any):
        data = {"name": name, "password": PASSWORD, "next": "/app/#page=2"}
        return self.client.post("/login", data=data, follow_redirects=False, **more)

    def send(self, path: str, code: str, **more: Any):
        return self.client.post(path, data={"code": code}, follow_redirects=False, **more)

    def me(self) -> int:
        return self.client.get("/api/me").status_code


@pytest.fixture
def door(tmp_path) -> Iterator[Door]:
    settings = Settings(data_dir=tmp_path / "data", auth="login", second_factor="everyone", _env_file=None)
    with TestClient(create_app(settings, with_page=False), base_url=ADDRESS) as client:
        workspace = client.app.state.answer_service.workspace  # type: ignore[attr-defined]
        users.add_user(workspace, "ann", PASSWORD, "admin")
        yield Door(client, workspace)


def secret_in(page: str) -> str:
    return page.split("<p>Or type this secret into the app: <b>")[1].split("</b>")[0].replace(" ", "")


def test_who_must_have_one_sets_it_up_at_the_login_and_can_do_nothing_else(door: Door, clock: Clock) -> None:
    answer = door.enter()
    assert answer.headers["location"] == "/login/second-factor?next=/app/%23page%3D2"
    assert COOKIE not in answer.cookies and code_login.COOKIE in answer.cookies
    cookie = answer.headers["set-cookie"].lower()
    assert "path=/login;" in cookie and "httponly" in cookie and "samesite=strict" in cookie
    step = answer.cookies[code_login.COOKIE]
    thief = TestClient(door.client.app, base_url=ADDRESS)
    for method, path in (line.split(" ") for line in ROUTES if line.split(" ")[1].startswith("/api/me")):
        for sent in ({"cookie": f"{COOKIE}={step}"}, {"authorization": f"Bearer {step}"}):
            assert thief.request(method, path.replace("{session_id}", "x"), headers=sent).status_code == 401, path
    assert door.me() == 401
    page = door.client.get(answer.headers["location"])
    secret = secret_in(page.text)
    assert "data:image/svg+xml" in page.text and page.headers["cache-control"] == "no-store"
    assert door.send("/login/second-factor", "000000").status_code == 401
    assert door.send("/login/code", clock.code(secret)).status_code == 303, "not the way to set one up"
    done = door.client.post("/login/second-factor", data={"code": clock.code(secret), "next": "/app/#page=2"})
    assert done.status_code == 200 and done.text.count("<li><code>") == 10 and 'href="/app/#page=2"' in done.text
    assert done.cookies[COOKIE] != step and door.me() == 200
    door.client.cookies.clear()
    clock.step += 1
    answer = door.enter()
    assert answer.headers["location"].startswith("/login/code")
    shown = door.client.get("/login/second-factor").text
    assert secret not in shown.replace(" ", "") and "Enter a code" in shown, "a confirmed secret is shown to nobody"
    assert door.send("/login/second-factor", clock.code(secret)).status_code == 303, "nor replaced"
    assert door.me() == 401
    assert door.send("/login/code", clock.code(secret)).headers["location"] == "/app/"
    assert door.me() == 200
    refused = door.client.post("/api/me/second-factor/removal", json={"code": clock.code(secret, 1)})
    assert refused.status_code == 422
    assert door.client.get("/api/me/second-factor").json()["since"] is not None


def test_sessions_from_before_the_requirement_end_and_tokens_do_not(door: Door) -> None:
    ann = users.user_named(door.workspace, "ann")
    with door.workspace.database.write() as session:
        earlier = sessions.begin(door.workspace, session, ann.id)
    assert door.client.get("/api/me", headers={"cookie": f"{COOKIE}={earlier}"}).status_code == 401
    token = tokens.issue(door.workspace, "ann", purpose="tests", days=1, scope="admin", by=ann.id)
    assert door.client.get("/api/me", headers={"authorization": f"Bearer {token}"}).status_code == 200


def test_a_requirement_for_admins_meets_whoever_becomes_one(workspace: Workspace, ann) -> None:
    strict = workspace.settings.model_copy(update={"second_factor": "admins", "auth": "login"})
    object.__setattr__(workspace, "settings", strict)
    token = sessions.log_in(workspace, "ann", PASSWORD)
    assert isinstance(token, str) and sessions.user_of_token(workspace, token) is not None
    users.change_user(workspace, ann.id, role="admin", by=make_user(workspace, "olga", "admin"))
    assert sessions.user_of_token(workspace, token) is None
    step = sessions.log_in(workspace, "ann", PASSWORD)
    assert isinstance(step, SecondStep) and step.enrols


def test_a_script_logs_in_step_by_step(door: Door, clock: Clock) -> None:
    json = {"accept": "application/json"}
    assert door.enter(headers=json).json() == {"step": "enrolment"}
    secret = secret_in(door.client.get("/login/second-factor").text)
    assert door.send("/login/second-factor", clock.code(secret)).status_code == 200
    door.client.cookies.clear()
    clock.step += 1
    wrong = {"name": "ann", "password": "wrong password"}
    assert door.client.post("/login", data=wrong, headers=json).json() == {
        "detail": "Wrong name or password. Try again."
    }
    assert door.enter(headers=json).json() == {"step": "code"}
    assert door.send("/login/code", "000000", headers=json).json() == {"detail": second_factor.WRONG}
    assert door.send("/login/code", clock.code(secret), headers=json).json() == {"step": "done"}
    assert door.me() == 200
    assert door.send("/login/code", clock.code(secret), headers=json).status_code == 404


def test_an_account_without_a_password_sets_up_none(workspace: Workspace) -> None:
    with pytest.raises(Refused, match="no password"):
        own_second_factor.enrol(workspace, make_user(workspace, "olga"), PASSWORD)
    assert not passwords.fits(None, PASSWORD)
