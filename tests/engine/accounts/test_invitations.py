"""A link makes one person a member, once, and tells nothing to who only tries names."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

from db.base import now
from db.tables import Invitation, Member, Project, User
from engine.accounts import invitations, login_throttle, members, passwords, sessions, users
from engine.errors import Conflict, Forbidden, NotFound, Refused, TooMany
from engine.settings import Settings
from engine.workspace import Workspace
from tests.support.accounts import ADDRESS, Person, actions, here, make_user, somebody
from tests.support.factories import make_project

PASSWORD = "a long password"


def test_a_link_makes_a_stranger_a_member_once(app_client: TestClient) -> None:
    workspace = here(app_client)
    owner = somebody(app_client, workspace, make_user(workspace, "olga", "admin"))
    project = owner.post("/api/projects", json={"name": "guests"}).json()["id"]
    made = owner.post(f"/api/projects/{project}/invitations", json={"role": "reviewer"}).json()
    link = made["url"].removeprefix(ADDRESS)
    assert link.startswith("/invite/") and made["state"] == "open"
    token = link.rsplit("/", 1)[1]
    with workspace.database.read() as session:
        assert token not in str([vars(row) for row in session.scalars(select(Invitation))])
    stranger = somebody(app_client, workspace)
    page = stranger.get(link)
    assert page.status_code == 200 and "guests" in page.text and "a reviewer" in page.text
    assert page.headers["cache-control"] == "no-store"
    assert stranger.get(link).status_code == 200  # looking uses nothing up
    short = stranger.post(link, data={"name": "gil", "password": "short"})
    assert short.status_code == 422 and "at least 10" in short.text and "gil" in short.text
    joined = stranger.post(link, data={"name": "gil", "password": PASSWORD})
    assert (joined.status_code, joined.headers["location"]) == (303, f"/app/#project={project}")
    gil = Person(None, app_client, {"glossator_session": joined.cookies["glossator_session"]})
    assert gil.get("/api/me").json()["user"]["role"] == "annotator"
    assert [(each["id"], each["role"]) for each in gil.get("/api/projects").json()] == [(project, "reviewer")]
    again = stranger.post(link, data={"name": "second", "password": PASSWORD})
    assert again.status_code == 404 and "has been used" in again.text
    listed = owner.get(f"/api/projects/{project}/invitations").json()
    assert [(one["state"], one["used_by"]) for one in listed] == [("used", "gil")]
    assert "url" not in listed[0] and "token" not in listed[0]
    assert actions(workspace, project)[:2] == ["invitations.accept", "invitations.create"]


@pytest.mark.parametrize(
    ("chosen", "link"),
    [
        ({}, "http://127.0.0.1:7860/invite/x"),
        ({"root_path": "/gloss", "host": "::1"}, "http://[::1]:7860/gloss/invite/x"),
        ({"root_path": "/gloss", "allowed_hosts": ["example.org"]}, "http://example.org/gloss/invite/x"),
        ({"allowed_hosts": ["example.org"], "secure_cookies": True}, "https://example.org/invite/x"),
    ],
)
def test_a_link_of_the_command_line_leads_to_the_server(chosen: dict[str, Any], link: str) -> None:
    assert invitations.address_of(Settings(**chosen, _env_file=None), "x") == link


def test_who_is_logged_in_joins_with_one_click_and_never_loses_by_it(
    workspace: Workspace, project: Project, owner: User
) -> None:
    bob = make_user(workspace, "bob")
    first = invitations.invite(workspace, project.id, "annotator", by=owner)
    assert invitations.accept_as(workspace, first.token, bob).role == "annotator"
    better = invitations.invite(workspace, project.id, "reviewer", by=owner)
    assert invitations.accept_as(workspace, better.token, bob).role == "reviewer"
    lesser = invitations.invite(workspace, project.id, "annotator", by=owner)
    assert invitations.accept_as(workspace, lesser.token, bob).role == "reviewer"
    states = {one.id: one.state for one in invitations.invitations(workspace, project.id)}
    assert states == {first.id: "used", better.id: "used", lesser.id: "open"}


def test_a_link_that_is_withdrawn_expired_or_void_opens_nothing(
    workspace: Workspace, project: Project, owner: User
) -> None:
    withdrawn, expired, void = (
        invitations.invite(workspace, project.id, "annotator", by=owner),
        invitations.invite(workspace, project.id, "annotator", by=owner),
        invitations.invite(
            workspace, project.id, "admin", by=(adam := make_user(workspace, "adam", **{project.id: "admin"}))
        ),
    )
    invitations.withdraw(workspace, withdrawn.id, by=owner)
    invitations.withdraw(workspace, withdrawn.id, by=owner)
    with workspace.database.write() as session:
        session.get_one(Invitation, expired.id).expires_at = now() - timedelta(seconds=1)
    members.remove_member(workspace, project.id, adam.id, by=owner)
    for made, why in ((withdrawn, "withdrawn"), (expired, "expired"), (void, "no longer valid")):
        with pytest.raises(NotFound, match=why):
            invitations.offer(workspace, made.token)
        with pytest.raises(NotFound, match=why):
            invitations.accept_new(workspace, made.token, "gil", PASSWORD)
    with pytest.raises(NotFound, match="complete"):
        invitations.offer(workspace, "nothing")
    assert [user.name for user in users.users(workspace) if user.name == "gil"] == []


def test_of_many_who_open_one_link_at_once_one_joins(workspace: Workspace, project: Project, owner: User) -> None:
    made = invitations.invite(workspace, project.id, "annotator", by=owner)
    crowd = [make_user(workspace, f"guest {number}") for number in range(4)]
    outcomes: list[str] = []

    def join(user: User) -> None:
        try:
            invitations.accept_as(workspace, made.token, user)
            outcomes.append("joined")
        except NotFound:
            outcomes.append("late")

    at_once = [threading.Thread(target=join, args=(user,)) for user in crowd]
    for one in at_once:
        one.start()
    for one in at_once:
        one.join()
    assert sorted(outcomes) == ["joined", "late", "late", "late"]
    with workspace.database.read() as session:
        assert len(session.scalars(select(Member)).all()) == 1


def test_a_taken_name_is_told_and_leaves_the_link_usable(workspace: Workspace, project: Project, owner: User) -> None:
    made = invitations.invite(workspace, project.id, "annotator", by=owner)
    with pytest.raises(Conflict, match="taken"):
        invitations.accept_new(workspace, made.token, "olga", PASSWORD)
    assert invitations.accept_new(workspace, made.token, "gil", PASSWORD).token


def test_who_asks_a_link_for_many_names_has_to_wait(
    workspace: Workspace, project: Project, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = invitations.invite(workspace, project.id, "annotator", by=owner)
    hashed = passwords.hash_password
    hashes: list[str] = []

    def counted(password: str, name: str) -> str:
        hashes.append(name)
        return hashed(password, name)

    monkeypatch.setattr(passwords, "hash_password", counted)
    for _ in range(login_throttle.FREE_FAILURES_PAIR):
        with pytest.raises(Conflict, match="taken"):
            invitations.accept_new(workspace, made.token, "olga", PASSWORD, address="192.0.2.1")
    assert hashes == [], "a taken name costs no hash"
    for name in ("olga", "gil"):
        with pytest.raises(TooMany, match="taken names"):
            invitations.accept_new(workspace, made.token, name, PASSWORD, address="192.0.2.1")
    assert invitations.accept_new(workspace, made.token, "gil", PASSWORD, address="198.51.100.9").token
    assert sessions.log_in(workspace, "gil", PASSWORD, address="192.0.2.1"), "and nobody's login waits for it"


def test_a_page_says_when_a_link_may_be_tried_again(app_client: TestClient) -> None:
    workspace = here(app_client)
    project, olga = make_project(workspace), make_user(workspace, "olga", "admin")
    link = f"/invite/{invitations.invite(workspace, project.id, 'annotator', by=olga).token}"
    stranger = somebody(app_client, workspace)
    for _ in range(login_throttle.FREE_FAILURES_PAIR):
        assert stranger.post(link, data={"name": "olga", "password": PASSWORD}).status_code == 422
    late = stranger.post(link, data={"name": "gil", "password": PASSWORD})
    assert late.status_code == 429 and 0 < int(late.headers["retry-after"]) <= 30 and "Try again in" in late.text


def test_invitations_are_for_admins_and_end_within_90_days(workspace: Workspace, project: Project, owner: User) -> None:
    rita = make_user(workspace, "rita", **{project.id: "reviewer"})
    with pytest.raises(Forbidden):
        invitations.invite(workspace, project.id, "annotator", by=rita)
    made = invitations.invite(workspace, project.id, "annotator", by=owner)
    with pytest.raises(Forbidden):
        invitations.withdraw(workspace, made.id, by=rita)
    for days in (0, -1, 91):
        with pytest.raises(Refused, match="at most 90"):
            invitations.invite(workspace, project.id, "annotator", days, by=owner)
