"""Signing in with a real provider of OpenID Connect, and what attackers may try on the way."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from annotator.app import create_app
from annotator.auth import COOKIE
from annotator.single_sign_on import COOKIE as SIGN_IN
from annotator.single_sign_on import MOST
from engine.accounts import identities, invitations, members, users
from engine.lifecycle.doctor import signing_in
from engine.settings import Settings
from tests.support.accounts import here
from tests.support.factories import make_project
from tests.support.identity_provider import OpenIdServer, Visitor, openid_server

BASE = "http://127.0.0.1:7860"
PASSWORD = "a long password"


@pytest.fixture(scope="module")
def office() -> Iterator[OpenIdServer]:
    with openid_server(BASE, f"{BASE}/gloss") as server:
        yield server


def settings_in(folder: Path, office: OpenIdServer, **more: Any) -> Settings:
    return Settings(data_dir=folder, _env_file=None, **{**office.settings(), **more})


@pytest.fixture(scope="module")
def application(office: OpenIdServer, tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    """A Glossator where people sign in at the office."""
    return create_app(settings_in(tmp_path_factory.mktemp("glossator"), office), with_page=False)


@pytest.fixture(autouse=True)
def _an_orderly_office(office: OpenIdServer) -> None:
    office.control(skew=0, forge=None, silent=False)
    office.add("anna")


@pytest.fixture
def glossator(application: FastAPI) -> TestClient:
    return browser(application)


def browser(application: FastAPI) -> TestClient:
    """A browser of somebody who is not logged in."""
    return TestClient(application, base_url=BASE, follow_redirects=False)


def begin(client: TestClient, next: str = "/app/", root: str = "") -> str:
    """Press the button; return the address at the provider."""
    answer = client.get(f"{root}/sign-in", params={"next": next})
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


def sign_in(client: TestClient, login: str = "anna", next: str = "/app/", **visit: bool) -> Any:
    """Sign in at the provider and come back."""
    back = Visitor(login, **visit).pass_through(begin(client, next), BASE)
    return client.get(back.removeprefix(BASE))


def me(client: TestClient) -> str | None:
    answer = client.get("/api/me")
    return answer.json()["user"]["name"] if answer.status_code == 200 else None


def refusal_of(answer: Any) -> str:
    assert COOKIE not in answer.cookies and answer.status_code in (400, 403, 503)
    return str(answer.text.split('role="alert">')[1].split("</p>")[0])


def test_a_person_signs_in_and_returns_to_the_page_they_wanted(glossator: TestClient) -> None:
    assert "Sign in with Office" in glossator.get("/login").text
    answer = sign_in(glossator, next="/app/?x=1#document=7")
    assert answer.status_code == 303 and answer.headers["location"] == "/app/?x=1#document=7"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=lax" in cookie
    assert me(glossator) == "anna" and glossator.get("/api/me").json()["password"] is False


def test_a_place_that_no_cookie_can_hold_is_forgotten(glossator: TestClient) -> None:
    assert sign_in(glossator, next="/app/?" + "ж" * 1900).headers["location"] == "/app/"


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example", "/\\evil.example", "/sign-in", "x"])
def test_a_sign_in_leads_nowhere_else(glossator: TestClient, elsewhere: str) -> None:
    assert sign_in(glossator, next=elsewhere).headers["location"] == "/app/"


def test_the_request_to_the_provider_is_bound_to_this_attempt(glossator: TestClient) -> None:
    first, second = (parse_qs(urlsplit(begin(glossator)).query) for _ in range(2))
    assert first["code_challenge_method"] == ["S256"] and first["response_type"] == ["code"]
    assert not {*first["state"], *first["nonce"], *first["code_challenge"]} & {
        *second["state"],
        *second["nonce"],
        *second["code_challenge"],
    }


def test_the_answer_to_another_browser_lets_nobody_in(glossator: TestClient) -> None:
    """Login CSRF: an attacker lets a victim open the end of the attacker's own sign-in."""
    back = Visitor("anna").pass_through(begin(glossator), BASE).removeprefix(BASE)
    glossator.cookies.clear()
    assert "not begun in this browser" in refusal_of(glossator.get(back))
    begin(glossator)  # the victim has an attempt of their own
    assert "not begun in this browser" in refusal_of(glossator.get(back))


def test_of_many_attempts_the_newest_stay(glossator: TestClient) -> None:
    addresses = [begin(glossator) for _ in range(MOST + 2)]
    assert len([name for name in glossator.cookies if name.startswith(SIGN_IN)]) == MOST
    newest = Visitor("anna").pass_through(addresses[-2], BASE).removeprefix(BASE)
    assert glossator.get(newest).status_code == 303
    oldest = Visitor("anna").pass_through(addresses[0], BASE).removeprefix(BASE)
    assert "not begun in this browser" in refusal_of(glossator.get(oldest))


def test_a_code_counts_once(glossator: TestClient) -> None:
    address = begin(glossator)
    kept = dict(glossator.cookies)
    back = Visitor("anna").pass_through(address, BASE).removeprefix(BASE)
    assert glossator.get(back).status_code == 303
    glossator.cookies.clear()
    assert "not begun in this browser" in refusal_of(glossator.get(back)), "the cookie went with the first answer"
    glossator.cookies.update(kept)
    assert "refuses the code" in refusal_of(glossator.get(back))


def test_a_changed_state_or_cookie_is_refused(glossator: TestClient) -> None:
    back = Visitor("anna").pass_through(begin(glossator), BASE).removeprefix(BASE)
    state = parse_qs(urlsplit(back).query)["state"][0]
    assert "another window" in refusal_of(glossator.get(back.replace(state, f"{state[:-1]}!")))
    back = Visitor("anna").pass_through(begin(glossator), BASE).removeprefix(BASE)
    state = parse_qs(urlsplit(back).query)["state"][0]
    [name] = [name for name in glossator.cookies if name.endswith(state[:12])]
    header, claims, signature = str(glossator.cookies[name]).split(".")
    glossator.cookies.set(name, f"{header}.{claims[:-2]}AA.{signature}", path="/sign-in", domain="127.0.0.1")
    assert "not begun in this browser" in refusal_of(glossator.get(back))


def test_another_issuer_cannot_answer(glossator: TestClient) -> None:
    back = Visitor("anna").pass_through(begin(glossator), BASE).removeprefix(BASE)
    assert "iss=" in back
    changed = back.split("iss=")[0] + "iss=https%3A%2F%2Fevil.example"
    assert "another issuer" in refusal_of(glossator.get(changed))


FORGED = {
    "none": ({"alg": "none"}, "unsupported_algorithm"),
    "signed by the public key": ({"alg": "HS256"}, "unsupported_algorithm"),
    "key of a stranger": ({"stranger": True}, "bad_signature"),
    "unknown key": ({"kid": "key 0"}, "invalid_key_id"),
    "audience": ({"claims": {"aud": "another client"}}, "wrong aud"),
    "party": ({"claims": {"aud": ["glossator", "other"], "azp": "other"}}, "wrong azp"),
    "issuer": ({"claims": {"iss": "https://evil.example"}}, "wrong iss"),
    "nonce": ({"claims": {"nonce": "of an earlier token"}}, "wrong nonce"),
    "no nonce": ({"claims": {"nonce": None}}, "nonce"),
    "expired": ({"claims": {"exp": 1_000_000_000}}, "has expired"),
    "no end": ({"claims": {"exp": None}}, "wrong exp"),
    "of the future": ({"claims": {"iat": 4_000_000_000}}, "compare the clocks"),
    "subject": ({"claims": {"sub": ""}}, "sub"),
}


def test_a_forged_token_lets_nobody_in(glossator: TestClient, office: OpenIdServer) -> None:
    for what, (forged, why) in FORGED.items():
        office.control(forge=forged)
        assert why in refusal_of(sign_in(glossator)), what
    assert me(glossator) is None
    office.control(forge={})
    assert sign_in(glossator).status_code == 303, "the same forger, with nothing changed"


def test_keys_that_turn_are_fetched_anew_but_not_for_every_stranger(tmp_path: Path) -> None:
    with openid_server(BASE) as office:
        office.add("anna")
        glossator = browser(create_app(settings_in(tmp_path, office), with_page=False))
        assert sign_in(glossator).status_code == 303 and office.asked("/jwks") == 1
        office.control(turnKeys=True)
        assert sign_in(glossator).status_code == 303 and office.asked("/jwks") == 2
        office.control(forge={"kid": "unknown"})
        for _ in range(3):
            assert "invalid_key_id" in refusal_of(sign_in(glossator))
        assert office.asked("/jwks") == 2


def test_clocks_may_differ_by_a_minute(glossator: TestClient, office: OpenIdServer) -> None:
    office.control(skew=40)
    assert sign_in(glossator).status_code == 303
    office.control(skew=120)
    assert "compare the clocks" in refusal_of(sign_in(glossator))


def test_without_the_provider_admins_still_log_in(tmp_path: Path, office: OpenIdServer) -> None:
    glossator = browser(create_app(settings_in(tmp_path, office, password_login="admins"), with_page=False))
    users.add_user(here(glossator), "ada", PASSWORD, "admin")
    users.add_user(here(glossator), "ben", PASSWORD, "annotator")
    office.control(silent=True)
    answer = glossator.get("/sign-in")
    assert answer.status_code == 503 and "cannot sign in with Office now" in refusal_of(answer)
    assert glossator.post("/login", data={"name": "ben", "password": PASSWORD}).status_code == 401
    assert glossator.post("/login", data={"name": "ada", "password": PASSWORD}).status_code == 303
    assert me(glossator) == "ada"


def test_passwords_can_be_off(tmp_path: Path, office: OpenIdServer) -> None:
    glossator = browser(create_app(settings_in(tmp_path, office, password_login="nobody"), with_page=False))
    users.add_user(here(glossator), "ada", PASSWORD, "admin")
    assert 'name="password"' not in glossator.get("/login").text
    assert glossator.post("/login", data={"name": "ada", "password": PASSWORD}).status_code == 403


def test_an_invitation_makes_no_password_where_only_admins_have_one(tmp_path: Path, office: OpenIdServer) -> None:
    glossator = browser(create_app(settings_in(tmp_path, office, password_login="admins"), with_page=False))
    workspace = here(glossator)
    ada = users.add_user(workspace, "ada", PASSWORD, "admin")
    project = make_project(workspace)
    path = f"/invite/{invitations.invite(workspace, project.id, 'reviewer', by=ada).token}"
    assert 'name="password"' not in glossator.get(path).text
    assert glossator.post(path, data={"name": "eve", "password": PASSWORD}).status_code == 422
    assert sign_in(glossator, next=path).headers["location"] == path
    assert "Join as anna" in glossator.get(path).text
    assert glossator.post(path).headers["location"] == f"/app/#project={project.id}"
    assert [member.role for member in members.members(workspace, project.id)] == ["reviewer"]


def test_a_person_may_refuse_at_the_provider(glossator: TestClient) -> None:
    assert "not signed in with Office" in refusal_of(sign_in(glossator, refuses=True))
    assert sign_in(glossator).status_code == 303


def test_any_process_ends_what_another_has_begun(
    glossator: TestClient, application: FastAPI, office: OpenIdServer
) -> None:
    back = Visitor("anna").pass_through(begin(glossator), BASE).removeprefix(BASE)
    data = application.state.answer_service.workspace.settings.data_dir
    other = browser(create_app(settings_in(data, office), with_page=False))
    other.cookies = glossator.cookies
    assert other.get(back).status_code == 303
    assert me(other) == "anna"


def test_below_a_path_the_provider_leads_back_below_it(tmp_path: Path, office: OpenIdServer) -> None:
    glossator = browser(create_app(settings_in(tmp_path, office, root_path="/gloss"), with_page=False))
    address = begin(glossator, root="/gloss")
    assert address.startswith(office.issuer)
    back = Visitor("anna").pass_through(address, f"{BASE}/gloss/").removeprefix(BASE)
    assert glossator.get(back).headers["location"] == "/gloss/app/"
    assert glossator.get("/gloss/api/me").json()["user"]["name"] == "anna"


def test_a_logout_ends_the_session_at_the_provider_too(glossator: TestClient, office: OpenIdServer) -> None:
    visitor = Visitor("anna")
    glossator.get(visitor.pass_through(begin(glossator), BASE).removeprefix(BASE))
    again = visitor.pass_through(begin(glossator), BASE)
    visitor.login = "nobody"
    assert visitor.pass_through(begin(glossator), BASE), "the provider knows the browser without its form"
    glossator.get(again.removeprefix(BASE))
    token = str(glossator.cookies[COOKIE])
    page = glossator.post("/logout").text
    there = page.split("url=")[1].split('"')[0].replace("&amp;", "&")
    assert there.startswith(f"{office.issuer}/session/end") and me(glossator) is None
    assert identities.id_token_of(here(glossator), token) is None
    form = visitor.open(there).text
    secret = form.split('name="xsrf" value="')[1].split('"')[0]
    left = visitor.send(f"{office.issuer}/session/end/confirm", {"xsrf": secret, "logout": "yes"})
    assert left.headers["location"].startswith(f"{BASE}/login")
    assert "/interaction/" in str(visitor.open(begin(glossator)).url), "the provider asks who they are again"


def test_the_doctor_asks_the_provider_and_compares_the_clocks(tmp_path: Path, office: OpenIdServer) -> None:
    settings = settings_in(tmp_path, office)
    assert [finding.state for finding in signing_in.check_provider(settings)] == ["ok", "ok"]
    office.control(skew=-300)
    assert "differ by 30" in [finding.sentence for finding in signing_in.check_provider(settings)][-1]
    office.control(silent=True)
    [finding] = signing_in.check_provider(settings)
    assert finding.state == "broken" and "cannot be used" in finding.sentence
