"""Who a person of single sign-on is here: accounts, names, roles by groups, and nobody taken over or locked out."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pyotp
import pytest
from sqlalchemy import select

from db.tables import Identity, LoginSession, Project, User
from engine import audit
from engine.accounts import (
    identities,
    invitations,
    members,
    own_second_factor,
    second_factor,
    second_login,
    sessions,
    tokens,
    users,
)
from engine.accounts.identities import Person
from engine.accounts.login_steps import SecondStep
from engine.errors import Conflict, Forbidden, NotFound
from engine.settings import Settings
from engine.workspace import Workspace
from tests.support.accounts import actions
from tests.support.factories import make_project

ISSUER = "https://sign-in.example"
PASSWORD = "a long password"
_ENDED = select(LoginSession.revoked_at, LoginSession.id_token)
ANNA = Person(ISSUER, "7", "anna", email="anna@example.org")


def set_up(workspace: Workspace, **changed: Any) -> None:
    """Change settings of single sign-on."""
    provider = {"auth": "login", "oidc_issuer": ISSUER, "oidc_client_id": "x", "oidc_client_secret": "x" * 16}
    before = workspace.settings.model_dump()
    object.__setattr__(workspace, "settings", Settings(**{**before, **provider, **changed}, _env_file=None))


def sign_in(workspace: Workspace, person: Person = ANNA) -> User:
    """Sign in; return the user of the new session."""
    user = sessions.user_of_token(workspace, identities.sign_in(workspace, person))
    assert user is not None
    return user


def roles(workspace: Workspace, project: Project) -> dict[str, str]:
    return {member.name: member.role for member in members.members(workspace, project.id)}


def test_a_person_keeps_their_account_whatever_their_name(workspace: Workspace) -> None:
    anna = sign_in(workspace)
    again = sign_in(workspace, replace(ANNA, name="Anna Maier", email=""))
    assert again.id == anna.id and again.name == "Anna Maier"
    assert actions(workspace)[:2] == ["sign_in.name", "sign_in.first"]
    assert sign_in(workspace, replace(ANNA, issuer="https://other.example")).id != anna.id


def test_first_sign_ins_at_once_make_one_account(workspace: Workspace) -> None:
    namesakes = [ANNA] * 3 + [replace(ANNA, subject="8")] * 3
    with ThreadPoolExecutor(6) as threads:
        signed_in = list(threads.map(lambda person: sign_in(workspace, person), namesakes))
    ids = [user.id for user in signed_in]
    assert ids == ids[:1] * 3 + ids[3:4] * 3 and ids[0] != ids[3]
    assert {user.name for user in users.users(workspace)} == {"anna", "anna 2"}
    assert actions(workspace) == ["sign_in.first"] * 2


def test_admins_who_lose_their_group_at_once_leave_one(workspace: Workspace) -> None:
    set_up(workspace, group_roles={"it": "admin"})
    people = [Person(ISSUER, str(number), f"person {number}") for number in range(4)]
    for person in people:
        sign_in(workspace, replace(person, groups=frozenset({"it"})))
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda person: sign_in(workspace, person), people))
    assert [user.role for user in users.users(workspace)].count("admin") == 1


def test_an_equal_name_or_address_takes_over_nobody(workspace: Workspace) -> None:
    local = users.add_user(workspace, "anna", PASSWORD, "admin")
    users.add_user(workspace, "anna@example.org", PASSWORD, "admin")
    stranger = sign_in(workspace)
    assert stranger.id != local.id and stranger.name == "anna 2" and stranger.role == "annotator"
    assert sign_in(workspace).name == "anna 2", "the number stays"
    assert sign_in(workspace, replace(ANNA, subject="8", name="ANNA")).name == "ANNA 3"
    assert sign_in(workspace, replace(ANNA, subject="9", name="local")).name == "local 2"
    assert sign_in(workspace, replace(ANNA, subject="10", name="\u202e \n")).name == "person"
    long = sign_in(workspace, replace(ANNA, subject="11", name="a" * 300))
    assert sign_in(workspace, replace(ANNA, subject="12", name="a" * 300)).name == f"{'a' * 98} 2" != long.name


def test_a_verified_address_finds_its_account_where_a_setting_allows_it(workspace: Workspace) -> None:
    set_up(workspace, oidc_link_by_email=True)
    local = users.add_user(workspace, "anna@example.org", PASSWORD, "reviewer")
    assert sign_in(workspace, replace(ANNA, subject="6", email="")).id != local.id, "an address that is not verified"
    assert sign_in(workspace).id == local.id
    assert "sign_in.email" in actions(workspace)
    assert sign_in(workspace, replace(ANNA, subject="8")).id != local.id, "who has this address now is another person"
    owner = users.ensure_local_user(workspace)
    assert sign_in(workspace, replace(ANNA, subject="9", email=owner.name)).id != owner.id, "nobody is the command line"


def test_who_made_an_account_under_the_address_of_another_loses_it(
    workspace: Workspace, owner: User, project: Project
) -> None:
    set_up(workspace, oidc_link_by_email=True)
    invitation = invitations.invite(workspace, project.id, "annotator", by=owner)
    joined = invitations.accept_new(workspace, invitation.token, ANNA.email, PASSWORD)
    account = users.user_named(workspace, ANNA.email)
    token = tokens.issue(workspace, account.name, purpose="scripts", days=3)
    secret = own_second_factor.enrol(workspace, account, PASSWORD).secret
    own_second_factor.confirm(workspace, account, pyotp.TOTP(secret).now(), token=joined.token)
    with workspace.database.write() as session:
        session.add(Identity(issuer="https://before.example", subject="mallory", user_id=account.id))
    step = sessions.log_in(workspace, ANNA.email, PASSWORD)
    assert isinstance(step, SecondStep) and joined.token is not None

    anna = sign_in(workspace)
    assert anna.id == account.id and roles(workspace, project) == {anna.name: "annotator"}
    assert [sessions.user_of_token(workspace, old) for old in (joined.token, token)] == [None, None]
    with pytest.raises(NotFound, match="expired"):
        second_login.secret_of(workspace, step.token)
    assert sessions.log_in(workspace, anna.name, PASSWORD) is None
    assert second_factor.view(workspace, anna).since is None
    assert sign_in(workspace, Person("https://before.example", "mallory", "mallory")).id != anna.id
    assert sign_in(workspace).name == ANNA.name, "without a password the name follows the provider"


def test_an_admin_links_an_account(workspace: Workspace, owner: User) -> None:
    local = users.add_user(workspace, "anna", PASSWORD, "annotator")
    made = sign_in(workspace)
    identities.link(workspace, "anna", "7", issuer=ISSUER, by=owner.id)
    assert sign_in(workspace).id == local.id
    with pytest.raises(Conflict):
        identities.link(workspace, "anna", "7", issuer=ISSUER, by=owner.id)
    token = identities.sign_in(workspace, ANNA)
    assert identities.unlink(workspace, "anna", by=owner.id) == 1
    assert sessions.user_of_token(workspace, token) is None
    assert sign_in(workspace).id not in (local.id, made.id)
    with pytest.raises(NotFound):
        identities.unlink(workspace, "olga", by=owner.id)
    lines = [line.what for line in audit.entries(workspace)]
    assert f"let 7 of {ISSUER} sign in as anna" in lines


def test_groups_give_roles_and_take_them_away(workspace: Workspace, owner: User, project: Project) -> None:
    other = make_project(workspace, "Letters")
    mapping = {"it": "admin", "lab": {project.name: "annotator"}, "leads": {project.id: "reviewer", "nowhere": "admin"}}
    set_up(workspace, group_roles=mapping)
    anna = sign_in(workspace, replace(ANNA, groups=frozenset({"it", "lab", "leads", "unknown"})))
    assert anna.role == "admin" and roles(workspace, project) == {"anna": "reviewer"}
    members.put_member(workspace, other.id, anna.id, "annotator", by=owner)
    anna = sign_in(workspace, replace(ANNA, groups=frozenset({"lab"})))
    assert anna.role == "annotator" and roles(workspace, project) == {"anna": "annotator"}
    sign_in(workspace)
    assert roles(workspace, project) == {}
    assert roles(workspace, other) == {"anna": "annotator"}, "projects that no group names are left to people"
    assert "left the project as annotator, by their groups" in [line.what for line in audit.entries(workspace)]


def test_without_groups_of_the_installation_admins_decide(workspace: Workspace, owner: User, project: Project) -> None:
    set_up(workspace, group_roles={"lab": {project.name: "annotator"}})
    anna = sign_in(workspace)
    users.change_user(workspace, anna.id, role="admin", by=owner)
    assert sign_in(workspace).role == "admin"


def test_the_last_admin_stays_admin(workspace: Workspace) -> None:
    set_up(workspace, group_roles={"it": "admin"})
    users.ensure_local_user(workspace)
    it = frozenset({"it"})
    assert sign_in(workspace, replace(ANNA, groups=it)).role == "admin"
    assert sign_in(workspace).role == "admin", "nobody else could mend a mistake at the provider"
    assert actions(workspace)[0] == "groups.last_admin"
    sign_in(workspace, Person(ISSUER, "8", "ben", groups=it))
    assert sign_in(workspace).role == "annotator"


def test_only_people_of_a_group_sign_in_where_a_setting_says_so(workspace: Workspace, project: Project) -> None:
    set_up(workspace, group_roles={"lab": {project.name: "annotator"}}, group_required=True)
    with pytest.raises(Forbidden, match="one of its groups"):
        identities.sign_in(workspace, ANNA)
    assert actions(workspace)[0] == "sign_in.refused"
    assert sign_in(workspace, replace(ANNA, groups=frozenset({"lab"}))).name == "anna"


def test_disabling_a_person_ends_what_they_have_and_lets_them_in_no_more(workspace: Workspace, owner: User) -> None:
    token = identities.sign_in(workspace, ANNA)
    anna = sessions.user_of_token(workspace, token)
    assert anna is not None
    users.change_user(workspace, anna.id, disabled=True, by=owner)
    assert sessions.user_of_token(workspace, token) is None
    with pytest.raises(Forbidden, match="disabled"):
        identities.sign_in(workspace, ANNA)
    assert actions(workspace)[0] == "sign_in.refused"
    users.change_user(workspace, anna.id, disabled=False, by=owner)
    assert sign_in(workspace).id == anna.id


def test_the_signed_identity_is_deleted_however_a_session_ends(workspace: Workspace, owner: User) -> None:
    people = [replace(ANNA, subject=str(number), id_token="name, address, groups") for number in range(3)]
    tokens_of = [identities.sign_in(workspace, person) for person in people]
    mine = [sessions.user_of_token(workspace, token) for token in tokens_of]
    assert mine[0] is not None and mine[1] is not None and mine[2] is not None
    sessions.log_out(workspace, tokens_of[0])
    [begun] = sessions.sessions(workspace, mine[1].id)
    sessions.revoke(workspace, mine[1].id, begun.id, by=owner.id)
    users.end_sessions(workspace, mine[2].id, by=owner)
    with workspace.database.read() as session:
        assert [(ended is None, kept) for ended, kept in session.execute(_ENDED)] == [(False, None)] * 3


def test_a_password_counts_for_whom_the_setting_allows(workspace: Workspace) -> None:
    users.add_user(workspace, "ben", PASSWORD, "annotator")
    users.add_user(workspace, "ada", PASSWORD, "admin")
    set_up(workspace, password_login="admins")
    assert sessions.log_in(workspace, "ben", PASSWORD) is None and sessions.log_in(workspace, "ada", PASSWORD)
    set_up(workspace, password_login="nobody")
    assert sessions.log_in(workspace, "ada", PASSWORD) is None
