"""Users, members, sessions, settings and preferences."""

import threading

import pytest
from starlette.testclient import TestClient

from db.tables import Project, User
from engine import audit
from engine.accounts import members, sessions, users
from engine.errors import Conflict, Forbidden, NotFound, Refused
from engine.projects import project_settings, projects
from engine.workspace import Workspace
from tests.support.accounts import Person, here, make_user, somebody
from tests.support.factories import accept, bill, make_document, make_project

PASSWORD = "a long password"


# --- members


def test_who_creates_a_project_is_its_admin_and_others_do_not_see_it(workspace: Workspace) -> None:
    ann = users.add_user(workspace, "ann", PASSWORD, "annotator")
    bob = make_user(workspace, "bob")
    project = projects.create_project(workspace, "hers", created_by=ann.id)
    assert [(one.name, one.role) for one in members.members(workspace, project.id)] == [("ann", "admin")]
    assert [each.project.name for each in projects.summaries(workspace, ann)] == ["hers"]
    assert projects.summaries(workspace, bob) == []
    assert [each.project.name for each in projects.summaries(workspace)] == ["hers"]


def test_members_come_change_and_go_on_the_record(workspace: Workspace, project: Project, owner: User) -> None:
    bob = make_user(workspace, "bob")
    members.put_member(workspace, project.id, bob.id, "annotator", by=owner)
    members.put_member(workspace, project.id, bob.id, "reviewer", by=owner)
    members.put_member(workspace, project.id, bob.id, "reviewer", by=owner)
    members.remove_member(workspace, project.id, bob.id, by=owner)
    assert members.members(workspace, project.id) == []
    lines = audit.entries(workspace, project.id)
    assert [line.what for line in lines] == [
        "removed bob, who was reviewer",
        "changed bob from annotator to reviewer",
        "added bob to the project as annotator",
        "created the project bills",
    ]
    assert {line.actor for line in lines[:3]} == {"olga"}
    with pytest.raises(NotFound):
        members.remove_member(workspace, project.id, bob.id, by=owner)
    with pytest.raises(Refused, match="Unknown role"):
        members.put_member(workspace, project.id, bob.id, "king", by=owner)


def test_a_project_keeps_an_admin_unless_an_admin_of_everything_decides(
    workspace: Workspace, project: Project, owner: User
) -> None:
    adam = make_user(workspace, "adam", **{project.id: "admin"})
    with pytest.raises(Conflict, match="without an admin"):
        members.put_member(workspace, project.id, adam.id, "annotator", by=adam)
    with pytest.raises(Conflict, match="without an admin"):
        members.remove_member(workspace, project.id, adam.id, by=adam)
    eve = make_user(workspace, "eve", **{project.id: "admin"})
    members.remove_member(workspace, project.id, adam.id, by=adam)
    members.remove_member(workspace, project.id, eve.id, by=owner)
    assert members.members(workspace, project.id) == []


def test_two_admins_who_remove_each_other_at_once_leave_one(workspace: Workspace, project: Project) -> None:
    pair = [make_user(workspace, name, **{project.id: "admin"}) for name in ("adam", "eve")]
    outcomes: list[str] = []

    def remove(by: User, other: User) -> None:
        try:
            members.remove_member(workspace, project.id, other.id, by=by)
            outcomes.append("removed")
        except (Conflict, Forbidden):
            outcomes.append("refused")

    at_once = [threading.Thread(target=remove, args=(by, other)) for by, other in (pair, pair[::-1])]
    for one in at_once:
        one.start()
    for one in at_once:
        one.join()
    assert sorted(outcomes) == ["refused", "removed"]
    assert len(members.members(workspace, project.id)) == 1


def test_only_admins_of_the_project_change_members_but_everybody_may_leave(
    workspace: Workspace, project: Project
) -> None:
    rita = make_user(workspace, "rita", **{project.id: "reviewer"})
    bob = make_user(workspace, "bob", **{project.id: "annotator"})
    with pytest.raises(Forbidden):
        members.remove_member(workspace, project.id, bob.id, by=rita)
    with pytest.raises(Forbidden):
        members.put_member(workspace, project.id, rita.id, "admin", by=rita)
    members.remove_member(workspace, project.id, bob.id, by=bob)
    assert [one.name for one in members.members(workspace, project.id)] == ["rita"]


# --- answers of others


def test_an_annotator_changes_their_own_answers_only(app_client: TestClient) -> None:
    workspace = here(app_client)
    project = make_project(workspace)
    document = make_document(workspace, project.id, [bill(1)])
    annotation = accept(workspace, document, "What is the total due?", [4], author="anna")
    anna = users.user_named(workspace, "anna")
    members.put_member(workspace, project.id, anna.id, "annotator", by=make_user(workspace, "olga", "admin"))
    persons = {
        role: somebody(app_client, workspace, make_user(workspace, role, **{project.id: role}))
        for role in ("annotator", "reviewer", "admin")
    }
    persons["author"] = somebody(app_client, workspace, anna)

    def save(person: Person, base: int):
        body = {"idempotency_key": f"key-{base}-{person.known.name}", "base": base, "edits": []}
        return person.put(f"/api/annotations/{annotation.id}/revisions", json=body)

    refused = save(persons["annotator"], 1)
    assert refused.status_code == 403 and "This answer belongs to anna" in refused.json()["detail"]
    assert persons["annotator"].get(f"/api/annotations/{annotation.id}").json()["head"] == 1
    page = {"page_id": "nothing"}
    assert persons["annotator"].post(f"/api/annotations/{annotation.id}/refine", json=page).status_code == 403
    assert persons["author"].post(f"/api/annotations/{annotation.id}/refine", json=page).status_code == 404
    for base, who in enumerate(("author", "reviewer", "admin"), 1):
        assert save(persons[who], base).status_code == 200, who


# --- sessions, passwords, users


def test_sessions_are_seen_and_ended_by_their_owner(app_client: TestClient) -> None:
    workspace = here(app_client)
    bob = make_user(workspace, "bob")
    one, two = somebody(app_client, workspace, bob), somebody(app_client, workspace, bob)
    eve = somebody(app_client, workspace, make_user(workspace, "eve"))
    listed = one.get("/api/me/sessions").json()
    assert [each["client"] for each in listed] == ["Firefox on Linux"] * 2
    assert [each["address"] for each in listed] == ["10.0.0.7"] * 2
    other = next(each["id"] for each in listed if not each["current"])
    assert two.cookie["glossator_session"] not in str(listed)
    assert eve.delete(f"/api/me/sessions/{other}").status_code == 404
    assert one.delete(f"/api/me/sessions/{other[:4]}").status_code == 404
    assert one.delete(f"/api/me/sessions/{other}").status_code == 204
    assert (one.get("/api/me").status_code, two.get("/api/me").status_code) == (200, 401)


def test_a_new_password_ends_the_other_sessions(app_client: TestClient) -> None:
    workspace = here(app_client)
    bob = users.add_user(workspace, "bob", PASSWORD, "annotator")
    one, two = somebody(app_client, workspace, bob), somebody(app_client, workspace, bob)
    wrong = one.put("/api/me/password", json={"old": "not this one", "new": "another password"})
    assert wrong.status_code == 403 and two.get("/api/me").status_code == 200
    assert one.put("/api/me/password", json={"old": PASSWORD, "new": "short"}).status_code == 422
    assert one.put("/api/me/password", json={"old": PASSWORD, "new": "another password"}).status_code == 204
    assert (one.get("/api/me").status_code, two.get("/api/me").status_code) == (200, 401)
    assert sessions.log_in(workspace, "bob", PASSWORD) is None
    assert sessions.log_in(workspace, "bob", "another password")


def test_who_is_disabled_is_out_at_once_and_old_sessions_stay_dead(app_client: TestClient) -> None:
    workspace = here(app_client)
    owner = somebody(app_client, workspace, make_user(workspace, "olga", "admin"))
    bob = somebody(app_client, workspace, make_user(workspace, "bob"))
    url = f"/api/users/{bob.known.id}"
    assert owner.patch(url, json={"disabled": True}).json()["disabled"] is True
    assert bob.get("/api/me").status_code == 401
    assert owner.patch(url, json={"disabled": False}).json()["disabled"] is False
    assert bob.get("/api/me").status_code == 401
    assert [line.what for line in audit.entries(workspace)][:2] == [
        "enabled the user bob",
        "disabled the user bob",
    ]


def test_an_admin_manages_others_logins_but_cannot_lock_themselves_out(
    app_client: TestClient,
) -> None:
    workspace = here(app_client)
    owner = somebody(app_client, workspace, make_user(workspace, "olga", "admin"))
    bob = somebody(app_client, workspace, make_user(workspace, "bob"))
    url = f"/api/users/{bob.known.id}"
    assert len(owner.get(f"{url}/sessions").json()) == 1
    assert owner.delete(f"{url}/sessions").status_code == 204
    assert bob.get("/api/me").status_code == 401
    assert owner.put(f"{url}/password", json={"new": PASSWORD}).status_code == 204
    assert sessions.log_in(workspace, "bob", PASSWORD)
    for change in ({"disabled": True}, {"role": "annotator"}):
        assert owner.patch(f"/api/users/{owner.known.id}", json=change).status_code == 422
        local = users.user_named(workspace, users.LOCAL_NAME).id
        assert owner.patch(f"/api/users/{local}", json=change).status_code == 422
    assert owner.post("/api/users", json={"name": "bob", "password": PASSWORD}).status_code == 409
    assert owner.post("/api/users", json={"name": "gil", "password": "gil"}).status_code == 422
    assert owner.post("/api/users", json={"name": "gil", "password": PASSWORD}).status_code == 201


def test_a_password_is_not_short_and_not_the_name(workspace: Workspace) -> None:
    for name, password in (("ann", "short"), ("Annabella Maria", "annabella maria"), ("ann", "x" * 1001)):
        with pytest.raises(Refused, match="password"):
            users.add_user(workspace, name, password, "annotator")


def test_the_last_admins_cannot_remove_each_other(workspace: Workspace) -> None:
    for change in ({"disabled": True}, {"role": "annotator"}):
        one, other = make_user(workspace, role="admin"), make_user(workspace, role="admin")
        users.change_user(workspace, other.id, by=one, **change)
        with pytest.raises(Forbidden):  # read before: the page of `other` is still open
            users.change_user(workspace, one.id, by=other, **change)
        with pytest.raises(Forbidden):
            users.set_password(workspace, one.id, PASSWORD, by=other)
        with pytest.raises(Forbidden):
            users.end_sessions(workspace, one.id, by=other)
        assert users.user_by_id(workspace, one.id).role == "admin"


def test_admins_who_remove_each_other_at_once_leave_one(workspace: Workspace) -> None:
    ring = [make_user(workspace, role="admin") for _ in range(4)]
    outcomes: list[str] = []

    def disable(by: User, other: User) -> None:
        try:
            users.change_user(workspace, other.id, disabled=True, by=by)
            outcomes.append("disabled")
        except Forbidden:
            outcomes.append("refused")

    at_once = [threading.Thread(target=disable, args=pair) for pair in zip(ring, ring[1:] + ring[:1], strict=True)]
    for one in at_once:
        one.start()
    for one in at_once:
        one.join()
    left = [user for user in users.users(workspace) if user.disabled_at is None]
    assert left and len(outcomes) == 4 and len(left) == outcomes.count("refused")


# --- settings of a project


def test_two_who_change_settings_at_once_keep_each_other_s(workspace: Workspace, project: Project) -> None:
    with workspace.database.write() as session:
        there = session.get_one(Project, project.id, with_for_update=True)
        other = threading.Thread(
            target=projects.change_settings, args=(workspace, project.id), kwargs={"retrain_after": 7}
        )
        other.start()
        other.join(1)  # it has begun, and waits for this unit of work
        assert other.is_alive()
        there.settings = {**there.settings, "review_required": True}
    other.join()
    chosen = project_settings.settings_of(projects.project_by_id(workspace, project.id))
    assert (chosen.retrain_after, chosen.review_required) == (7, True)


# --- preferences


def test_preferences_are_kept_as_they_come_up_to_64_kb(app_client: TestClient) -> None:
    workspace = here(app_client)
    one = make_user(workspace, "bob")
    bob, eve = somebody(app_client, workspace, one), somebody(app_client, workspace, make_user(workspace, "eve"))
    assert bob.get("/api/me/preferences").json() == {}
    wanted = {"keys": {"accept": ["Enter", "a"]}, "theme": "dark", "deep": {"ü": [1, None, True, 0.5]}}
    assert bob.put("/api/me/preferences", json=wanted).json() == wanted
    assert bob.get("/api/me/preferences").json() == wanted
    assert eve.get("/api/me/preferences").json() == {}
    large = bob.put("/api/me/preferences", json={"keys": "x" * 70_000})
    assert large.status_code == 422 and "65,536" in large.json()["detail"]
    assert bob.put("/api/me/preferences", json=[1]).status_code == 422
    for unreadable in ('{"a": NaN}', '{"a": -Infinity}', '{"a":' * 300 + "1" + "}" * 300):
        answer = bob.put("/api/me/preferences", content=unreadable, headers={"content-type": "application/json"})
        assert answer.status_code == 422 and answer.json()["detail"].startswith("The preferences"), unreadable
    assert bob.get("/api/me/preferences").json() == wanted


def test_half_a_character_is_refused_wherever_it_is_written(app_client: TestClient) -> None:
    workspace = here(app_client)
    project = make_project(workspace)
    document = make_document(workspace, project.id, [bill(1)])
    answer = accept(workspace, document, "What is the total due?", [4]).id
    owner = somebody(app_client, workspace, make_user(workspace, "olga", "admin"))
    rows: list[tuple[str, str, str]] = [
        ("PUT", "/api/me/preferences", r'{"theme": "\ud800"}'),
        ("PUT", "/api/me/preferences", r'{"\udfff": 1}'),
        ("POST", "/api/projects", r'{"name": "a", "description": "\ud800"}'),
        ("POST", "/api/projects", r'{"name": "a\ud800"}'),
        ("POST", "/api/users", r'{"name": "a\ud800", "password": "a long password"}'),
        ("PUT", f"/api/annotations/{answer}/revisions", r'{"idempotency_key": "12345678\ud800", "base": 1}'),
        (
            "PUT",
            f"/api/annotations/{answer}/revisions",
            r'{"idempotency_key": "12345678", "base": 1, "interactions": {"\ud800": 1}}',
        ),
        ("POST", f"/api/projects/{project.id}/rollback", r'{"reason": "\ud800"}'),
    ]
    for method, path, body in rows:
        answered = owner.request(method, path, content=body, headers={"content-type": "application/json"})
        assert answered.status_code == 422 and answered.json()["detail"], (path, body, answered.text)
    for path in ("/api/me/preferences", "/api/projects", "/api/users", f"/api/annotations/{answer}"):
        assert owner.get(path).status_code == 200, path
    assert owner.get("/api/me/preferences").json() == {}
