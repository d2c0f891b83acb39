"""Names stand for one person each: no two look alike, and none is the program's own."""

import threading
import unicodedata
from pathlib import Path

import pytest
from PIL import Image

from db.tables import Question
from engine.accounts import invitations, sessions, users
from engine.documents.ingest import ingest
from engine.errors import Conflict, Refused
from engine.tasks.standard_questions import replace_standard_questions
from engine.workspace import Workspace
from tests.support.accounts import make_user
from tests.support.factories import make_project

PASSWORD = "a long password"


def test_names_of_the_program_are_refused_however_they_are_written(workspace: Workspace) -> None:
    olga = make_user(workspace, "olga", "admin")
    link = invitations.invite(workspace, make_project(workspace).id, "annotator", by=olga).token
    for name in ("Glossator", "GLOSSATOR", "glossator", "others", "Others", "local", "LOCAL", "ｌｏｃａｌ"):
        with pytest.raises(Refused, match="is reserved"):
            users.add_user(workspace, name, PASSWORD, "annotator")
        with pytest.raises(Refused, match="is reserved"):
            invitations.accept_new(workspace, link, name, PASSWORD)
    assert users.add_user(workspace, "localhost", PASSWORD, "annotator").name == "localhost"


def test_a_name_that_looks_like_another_is_taken(workspace: Workspace) -> None:
    olga = make_user(workspace, "olga", "admin")
    users.add_user(workspace, "Ann Straße", PASSWORD, "annotator")
    users.add_user(workspace, "Zoé", PASSWORD, "annotator")
    link = invitations.invite(workspace, make_project(workspace).id, "annotator", by=olga).token
    for name in ("Ann Straße", "ann straße", "ANN STRASSE", unicodedata.normalize("NFD", "Zoé"), "ZOÉ", "Ｚoé"):
        with pytest.raises(Conflict, match="is taken"):
            users.add_user(workspace, name, PASSWORD, "annotator")
        with pytest.raises(Conflict, match="taken"):
            invitations.accept_new(workspace, link, name, PASSWORD, address=name)
    assert invitations.accept_new(workspace, link, "Zoe", PASSWORD).token


def test_who_take_one_name_at_once_are_one(workspace: Workspace) -> None:
    outcomes: list[str] = []

    def add(name: str) -> None:
        try:
            users.add_user(workspace, name, PASSWORD, "annotator")
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
    assert users.add_user(workspace, apart, PASSWORD, "annotator").name == "Zoé" != apart
    for typed in (apart, "Zoé"):
        assert sessions.log_in(workspace, typed, PASSWORD)


def test_who_has_an_unfit_name_already_keeps_it_and_can_log_in(workspace: Workspace) -> None:
    admin = make_user(workspace, "olga", "admin")
    for name in ("Glossator", "ann", "Ann", unicodedata.normalize("NFD", "Zoé")):
        user = make_user(workspace, name)
        users.set_password(workspace, user.id, PASSWORD, by=admin)
        token = sessions.log_in(workspace, name, PASSWORD)
        assert isinstance(token, str)
        found = sessions.user_of_token(workspace, token)
        assert found is not None and found.id == user.id


UNSEEN = ("ann\u202e", "a\u200bnn", "an\u00adn", "\u3164", "\u2800\u2800", "\u0301", "ann\u2066", "  ", "a\u200cn")


def test_users_and_projects_are_called_by_what_can_be_seen(workspace: Workspace) -> None:
    for name in UNSEEN:
        with pytest.raises(Refused, match="A user's name"):
            users.add_user(workspace, name, PASSWORD, "annotator")
        with pytest.raises(Refused, match="A project's name"):
            make_project(workspace, name)
    for name in ("فواتير", "חשבוניות", "صورت‌حساب‌ها", "क्‍ष"):
        assert make_project(workspace, name).name == name
    for name in ("عبد الله", "יעל"):
        assert users.add_user(workspace, name, PASSWORD, "annotator").name == name


def test_a_file_keeps_coming_under_a_name_that_can_be_seen(workspace: Workspace, tmp_path: Path) -> None:
    project = make_project(workspace)
    for sent, stored in (
        ("invoice\u202efdp.png", "invoicefdp.png"),
        ("\u3164\u200b", "document"),
        ("a\nb.png", "a b.png"),
    ):
        picture = tmp_path / "picture.png"
        Image.new("RGB", (40 + len(sent), 40), "white").save(picture)
        assert ingest(workspace, picture, name=sent, project_id=project.id, user_id=None).name == stored


def test_standard_questions_can_be_seen_and_those_that_are_there_stay(workspace: Workspace) -> None:
    project, by = make_project(workspace), make_user(workspace)
    turning = "What is \u202ethe total?"
    for text in (turning, "\u3164", "\u200b"):
        with pytest.raises(Refused):
            replace_standard_questions(workspace, project.id, [text], by.id)
    with workspace.database.write() as session:  # from before this rule
        session.add(Question(project_id=project.id, text=turning, standard=True, position=0))
    kept = replace_standard_questions(workspace, project.id, [turning, "Who pays?"], by.id)
    assert [each.text for each in kept] == [turning, "Who pays?"]
