"""Whoever floods the login takes neither the write turn nor the threads of those at work."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from sqlalchemy import func, select

from annotator.app import create_app
from annotator.auth import COOKIE
from db.base import now
from db.tables import LoginAttempt, LoginSession
from engine import audit
from engine.accounts import passwords, sessions, users
from engine.commands.servers.serve import server_options
from engine.deferred_writes import DeferredWrites
from engine.errors import TooMany
from engine.login_attempts import SAID, LoginAttempts
from engine.settings import Settings
from engine.workspace import Workspace
from tests.support.accounts import make_user
from tests.support.server_thread import served

HOME = "192.0.2.1"


@pytest.fixture(autouse=True)
def no_hashing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only counts matter here."""
    monkeypatch.setattr(passwords, "fits", lambda stored, password: password == "right")


def attempt(workspace: Workspace, address: str = HOME, name: str = "ann", password: str = "wrong") -> str:
    try:
        return "in" if sessions.log_in(workspace, name, password, address=address) else "wrong"
    except TooMany:
        return "wait"


def stored(workspace: Workspace) -> int:
    with workspace.database.read() as session:
        return session.scalar(select(func.count(LoginAttempt.id))) or 0


def test_wrong_and_refused_logins_do_not_wait_for_the_write_turn(workspace: Workspace) -> None:
    make_user(workspace, "ann")
    told: list[str] = []
    with workspace.database.write() as session:
        session.add(LoginSession(token_sha256="0" * 64, user_id=users.local_user(session).id, expires_at=now()))
        session.flush()
        flood = threading.Thread(target=lambda: told.extend(attempt(workspace) for _ in range(20)), daemon=True)
        flood.start()
        flood.join(timeout=20)
        assert told == ["wrong"] * 5 + ["wait"] * 15, "while somebody else writes"
    workspace.deferred_writes.flush()
    assert stored(workspace) == 5


def test_failures_are_written_soon_and_nothing_else_is(workspace: Workspace) -> None:
    make_user(workspace, "ann")
    assert [attempt(workspace) for _ in range(9)] == ["wrong"] * 5 + ["wait"] * 4
    for _ in range(600):
        if stored(workspace):
            break
        threading.Event().wait(0.05)
    workspace.deferred_writes.flush()
    assert stored(workspace) == 5
    [line] = [each for each in audit.entries(workspace) if each.action == "login.limited"]
    assert "after 5 wrong passwords" in line.what


def test_a_restart_gives_no_fresh_attempts(workspace: Workspace) -> None:
    make_user(workspace, "ann")
    assert [attempt(workspace) for _ in range(4)] == ["wrong"] * 4
    workspace.deferred_writes.flush()
    object.__setattr__(workspace, "login_attempts", LoginAttempts())
    assert [attempt(workspace) for _ in range(3)] == ["wrong", "wait", "wait"]


def test_another_process_sees_what_was_written(workspace: Workspace) -> None:
    make_user(workspace, "ann")
    other = Workspace(workspace.settings, workspace.database, workspace.blobs)
    assert [attempt(workspace) for _ in range(3)] == ["wrong"] * 3
    workspace.deferred_writes.flush()
    assert [attempt(other) for _ in range(3)] == ["wrong", "wrong", "wait"]
    other.deferred_writes.flush()


def test_a_failure_that_is_being_written_counts_once(workspace: Workspace) -> None:
    make_user(workspace, "ann")
    assert [attempt(workspace) for _ in range(4)] == ["wrong"] * 4
    kept = workspace.login_attempts
    before = list(kept.unwritten("ann", HOME))
    workspace.deferred_writes.flush()
    for each in before:
        kept.add(each)  # written, and memory does not know yet
    assert [attempt(workspace) for _ in range(2)] == ["wrong", "wait"]


def test_a_success_is_stored_at_once_with_the_session(workspace: Workspace) -> None:
    make_user(workspace, "ann")
    assert [attempt(workspace) for _ in range(4)] == ["wrong"] * 4
    assert attempt(workspace, password="right") == "in"
    assert [attempt(workspace) for _ in range(6)] == ["wrong"] * 5 + ["wait"]


def test_a_flood_from_many_addresses_fills_no_audit_trail(workspace: Workspace) -> None:
    for number in range(SAID + 3):
        for _ in range(5):
            attempt(workspace, f"198.51.100.{number}", f"nobody {number}")
    workspace.deferred_writes.flush()
    found = [line for line in audit.entries(workspace) if line.action.startswith("login.limited")]
    assert len(found) == SAID + 1
    assert "throttled logins 3 more times after wrong passwords" in [line.what for line in found]


def test_nothing_is_tried_while_nothing_can_be_counted(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    make_user(workspace, "ann")
    monkeypatch.setattr(DeferredWrites, "is_full", True)
    assert attempt(workspace) == "wait"


def test_logins_that_wait_hold_no_thread_that_others_need(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(data_dir=tmp_path / "data", auth="login", _env_file=None)
    application = create_app(settings, with_page=False)
    workspace = application.state.answer_service.workspace
    ann = make_user(workspace, "ann")
    with workspace.database.write() as session:
        cookie = {COOKIE: sessions.begin(workspace, session, ann.id)}
    looked, go_on = threading.Semaphore(0), threading.Event()

    def slow(_stored: str | None, _password: str) -> bool:
        looked.release()
        go_on.wait(60)
        return False

    monkeypatch.setattr(passwords, "fits", slow)
    with served(application, **server_options(settings)) as address, ThreadPoolExecutor(60) as flood:

        def guess(number: int) -> int:
            sent = {"x-forwarded-for": f"198.51.{number}.1"}
            wrong = {"name": f"nobody {number}", "password": "wrong"}
            return httpx.post(f"{address}/login", data=wrong, headers=sent, timeout=90).status_code

        try:
            tried = [flood.submit(guess, number) for number in range(60)]
            assert looked.acquire(timeout=60)
            answer = httpx.get(f"{address}/api/me", cookies=cookie, timeout=20)
            assert answer.json()["user"]["name"] == "ann"
        finally:
            go_on.set()
        assert {each.result() for each in tried} == {401}
