"""Logins and tokens of programs: renewed, ended, and stored as hashes."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import update
from typer.testing import CliRunner

from db.base import now
from db.tables import LoginSession
from engine.accounts import sessions, tokens, users
from engine.accounts.digests import digest
from engine.cli import app
from engine.client import Glossator
from engine.errors import NotFound, Refused
from tests.support.client_house import PASSWORD, House


def end_logins(house: House, name: str) -> None:
    """End what the client has logged in to by name and password, as a server would after two weeks."""
    user = users.user_named(house.workspace, name)
    with house.workspace.database.write() as session:
        session.execute(
            update(LoginSession)
            .where(LoginSession.user_id == user.id, LoginSession.client.startswith("glossator-client"))
            .values(revoked_at=now())
        )


def test_a_login_that_ends_in_between_is_renewed(house: House) -> None:
    with Glossator(house.address, name="ann", password=PASSWORD) as ann:
        assert ann.me().name == "ann"
        end_logins(house, "ann")
        assert ann.me().name == "ann"


def asked(house: House, token: str | None, **headers: str) -> httpx.Response:
    if token is not None:
        headers["authorization"] = f"Bearer {token}"
    return httpx.post(f"{house.address}/api/projects", json={"name": "x", "extra": 1}, headers=headers)


def test_a_token_needs_no_origin_and_a_foreign_page_gains_nothing(house: House) -> None:
    assert asked(house, house.tokens["ada"]).status_code == 422  # let in; what it asked for is wrong
    assert asked(house, None).status_code == 401
    assert asked(house, "not a token").status_code == 401
    assert asked(house, house.tokens["ada"], origin="http://evil.example").status_code == 403
    cookie = {"cookie": f"glossator_session={house.tokens['ada']}"}
    assert asked(house, None, **cookie, origin="http://evil.example").status_code == 403
    assert asked(house, "wrong", **cookie).status_code == 401  # whoever names a token is judged by it
    basic = {"authorization": "Basic eDp5", **cookie}  # a proxy's own login beside the cookie
    assert httpx.get(f"{house.address}/api/me", headers=basic).json()["user"]["name"] == "ada"


def test_a_token_ends_when_revoked_when_expired_and_with_its_user(house: House) -> None:
    workspace = house.workspace
    user = users.add_user(workspace, "temp", PASSWORD, "annotator")

    def works(token: str) -> bool:
        return httpx.get(f"{house.address}/api/me", headers={"authorization": f"Bearer {token}"}).status_code == 200

    token = tokens.issue(workspace, "temp", purpose="nightly export", days=30)
    [listed] = sessions.sessions(workspace, user.id)
    assert listed.client == "token: nightly export" and listed.expires_at > now() + timedelta(days=29)
    assert works(token)
    sessions.revoke(workspace, user.id, listed.id)
    assert not works(token)
    token = tokens.issue(workspace, "temp", purpose="again", days=1)
    with workspace.database.write() as session:
        session.execute(
            update(LoginSession)
            .where(LoginSession.token_sha256 == digest(token))
            .values(expires_at=now() - timedelta(seconds=1))
        )
    assert not works(token)
    token = tokens.issue(workspace, "temp", purpose="again", days=1)
    users.change_user(workspace, user.id, disabled=True, by=users.user_named(workspace, "ada"))
    assert not works(token)
    with pytest.raises(Refused, match="disabled"):
        tokens.issue(workspace, "temp", purpose="again", days=1)


def test_a_token_needs_a_user_a_purpose_and_an_end(house: House) -> None:
    settings: list[dict[str, Any]] = [{"purpose": " "}, {"days": 0}, {"days": 100_000}]
    for wrong in settings:
        with pytest.raises(Refused):
            tokens.issue(house.workspace, "ann", **{"purpose": "tests", "days": 1, **wrong})
    with pytest.raises(NotFound):
        tokens.issue(house.workspace, "nobody", purpose="tests", days=1)


def test_the_command_prints_a_token_and_stores_only_its_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, house: House
) -> None:
    monkeypatch.setenv("GLOSSATOR_DATA_DIR", str(house.workspace.settings.data_dir))
    run = CliRunner().invoke(app, ["users", "token", "ann", "--for", "a script", "--days", "3", "--json"])
    assert run.exit_code == 0, run.output
    token = json.loads(run.stdout.splitlines()[-1])["token"]
    with Glossator(house.address, token=token) as ann:
        assert ann.me().name == "ann"
    with house.workspace.database.read() as session:
        assert session.get(LoginSession, digest(token)) is not None
        assert session.get(LoginSession, token) is None
