"""Names stand for one person each: no two look alike, and none is the program's own."""

import threading
import unicodedata

import pytest

from engine import invitations, logins, people
from engine.errors import Conflict, Refused
from engine.workspace import Workspace
from tests.factories import make_project
from tests.integration.people_made import make_user

PASSWORD = "a long password"


def test_names_of_the_program_are_refused_however_they_are_written(workspace: Workspace) -> None:
    olga = make_user(workspace, "olga", "admin")
    link = invitations.invite(workspace, make_project(workspace).id, "annotator", by=olga).token
    for name in ("Glossator", "GLOSSATOR", "glossator", "others", "Others", "local", "LOCAL", "ｌｏｃａｌ"):
        with pytest.raises(Refused, match="the program's own"):
            people.add_user(workspace, name, PASSWORD, "annotator")
        with pytest.raises(Refused, match="the program's own"):
            invitations.accept_new(workspace, link, name, PASSWORD)
    assert people.add_user(workspace, "localhost", PASSWORD, "annotator").name == "localhost"


def test_a_name_that_looks_like_another_is_taken(workspace: Workspace) -> None:
    olga = make_user(workspace, "olga", "admin")
    people.add_user(workspace, "Ann Straße", PASSWORD, "annotator")
    people.add_user(workspace, "Zoé", PASSWORD, "annotator")
    link = invitations.invite(workspace, make_project(workspace).id, "annotator", by=olga).token
    for name in ("Ann Straße", "ann straße", "ANN STRASSE", unicodedata.normalize("NFD", "Zoé"), "ZOÉ", "Ｚoé"):
        with pytest.raises(Conflict, match="already"):
            people.add_user(workspace, name, PASSWORD, "annotator")
        with pytest.raises(Conflict, match="taken"):
            invitations.accept_new(workspace, link, name, PASSWORD, address=name)
    assert invitations.accept_new(workspace, link, "Zoe", PASSWORD).token


def test_who_take_one_name_at_once_are_one(workspace: Workspace) -> None:
    outcomes: list[str] = []

    def add(name: str) -> None:
        try:
            people.add_user(workspace, name, PASSWORD, "annotator")
            outcomes.append("added")
        except Conflict:
            outcomes.append("taken")

    at_once = [threading.Thread(target=add, args=(name,)) for name in ("ann", "Ann", "ANN", "aNN")]
    for one in at_once:
        one.start()
    for one in at_once:
        one.join()
    assert sorted(outcomes) == ["added", "taken", "taken", "taken"]


def test_a_name_is_stored_composed_and_may_be_typed_either_way(workspace: Workspace) -> None:
    apart = unicodedata.normalize("NFD", "Zoé")
    assert people.add_user(workspace, apart, PASSWORD, "annotator").name == "Zoé" != apart
    for typed in (apart, "Zoé"):
        assert logins.log_in(workspace, typed, PASSWORD)


def test_who_has_an_unfit_name_already_keeps_it_and_can_log_in(workspace: Workspace) -> None:
    admin = make_user(workspace, "olga", "admin")
    for name in ("Glossator", "ann", "Ann", unicodedata.normalize("NFD", "Zoé")):
        user = make_user(workspace, name)
        people.set_password(workspace, user.id, PASSWORD, by=admin)
        token = logins.log_in(workspace, name, PASSWORD)
        assert token is not None and logins.user_of_token(workspace, token).id == user.id
