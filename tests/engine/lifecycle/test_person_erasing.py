"""A person is erased: the name is found nowhere any more, and the work is kept, on both databases."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from db.base import Base
from db.tables import Annotation, LoginAttempt, Member, Quota, Review, Revision, User, WebhookDelivery
from engine import audit, quotas
from engine.accounts import identities, invitations, members, sessions, tokens, users
from engine.annotation.views import annotation_view
from engine.audit_clauses import _CLAUSES
from engine.datasets import snapshots
from engine.errors import Conflict, Forbidden, Refused
from engine.interchange.export_files import EXPORT, path_of
from engine.jobs.queue import enqueue
from engine.lifecycle import person_erasing
from engine.lifecycle.person_erasing import _OF_PEOPLE, KEPT, erase_person
from engine.tasks import skips
from engine.workspace import Workspace
from tests.support.accounts import cookie_of, make_user
from tests.support.annotators import answer, judge
from tests.support.left_behind import columns_with, files_with
from tests.support.office import Office

pytestmark = pytest.mark.usefixtures("figures_at_once")

NAME, PASSWORD = "Zsófia Quokkaworth", "a long password of hers"
SIGNS = (NAME, "Quokkaworth", json.dumps(NAME)[1:-1], "Ocelotish", "10.0.0.9")


@pytest.fixture
def office(workspace: Workspace) -> Office:
    return Office(workspace, bills=1)


@pytest.fixture
def admin(workspace: Workspace) -> User:
    return make_user(workspace, "Root", "admin")


@pytest.fixture
def person(office: Office, admin: User) -> User:
    """Somebody who has answered and reviewed, is invited, logged in and audited, and named in a message."""
    workspace, project = office.workspace, office.project.id
    user = users.add_user(workspace, NAME, PASSWORD, "admin", by=admin.id)
    members.put_member(workspace, project, user.id, "reviewer", by=admin)
    first, second = (task.id for task in office.tasks())
    judge(workspace, answer(workspace, first, user, [4]).id, office.rita)
    judge(workspace, answer(workspace, second, office.ann, [3]).id, user)
    users.set_preferences(workspace, user.id, {"signature": "Ocelotish"})
    tokens.issue(workspace, NAME, purpose="scripts", days=3, scope="annotate", by=admin.id)
    invitations.invite(workspace, project, "annotator", by=user)
    identities.link(workspace, NAME, "quokka's Quokkaworth", issuer="https://office.example", by=admin.id)
    identities.sign_in(workspace, identities.Person("https://office.example", "quokka's Quokkaworth", NAME))
    cookie_of(workspace, user)
    assert sessions.log_in(workspace, NAME, "a wrong password", address="10.0.0.9") is None
    workspace.deferred_writes.flush()
    by = {"id": user.id, "name": NAME}
    quotas.set_quota(workspace, "person", user.id, documents=9, megabytes=None, by=admin.id)
    throttled = {"name": NAME, "address": "10.0.0.9"}
    with workspace.database.write() as session:
        audit.record(session, None, "login.limited", NAME, **throttled, failures=5)
        audit.record(session, None, "second_factor.limited", user.id, **throttled, wrong_codes=5)
        audit.record(session, admin.id, "answers.remove", first, project, author=NAME, question="?", document="bill")
        session.add(
            WebhookDelivery(
                project_id=project, url="https://webhooks.invalid/", event="answer.submitted", key="a", forgets=False,
                body=json.dumps({"data": {"by": by, "answer": {"id": first}}}, ensure_ascii=False),
            )
        )  # fmt: skip
    export_names(workspace, project, user)
    return user


def export_names(workspace: Workspace, project_id: str, user: User) -> Path:
    """The file of an export that has ended, with the name of a person."""
    with workspace.database.write() as session:
        job = enqueue(session, EXPORT, project_id, {"user_id": user.id, "format": "csv", "once": False})
        job.status = "done"
        session.flush()
        exported = path_of(workspace, job.id)
    exported.parent.mkdir(parents=True, exist_ok=True)
    exported.write_text(f"author\n{user.name}\n")
    return exported


def test_nothing_of_a_name_is_left_and_the_work_is_kept(office: Office, person: User, admin: User) -> None:
    workspace = office.workspace
    columns = set(columns_with(workspace, SIGNS))
    assert {"users.name", "users.preferences", "audit_entries.details", "login_attempts.name"} <= columns
    assert "webhook_deliveries.body" in columns
    signs = [sign.encode() for sign in SIGNS]
    assert len(files_with(workspace, signs)) >= 1
    with workspace.database.read() as session:
        mine = session.scalars(select(Annotation).where(Annotation.author_id == person.id)).one()
    erased = erase_person(workspace, person.id, by=admin)
    assert erased.name == f"Erased person {person.id[-8:]}" and erased.stays == []
    assert columns_with(workspace, SIGNS) == []
    assert files_with(workspace, signs) == []
    view = annotation_view(workspace, mine.id)
    assert (view.author.name, view.status) == (erased.name, "accepted")
    entries = audit.entries(workspace)
    assert (entries[0].actor, entries[0].what) == ("Root", f"erased a person, who is now {erased.name}")
    assert f"disabled the user {erased.name}" in {entry.what for entry in entries}
    with workspace.database.read() as session:
        user = session.get_one(User, person.id)
        assert (user.password_hash, user.preferences, user.role) == (None, {}, "annotator")
        assert not session.scalars(select(Member).where(Member.user_id == person.id)).all()
        assert session.get(Quota, person.id) is None
        assert not session.scalars(select(LoginAttempt).where(LoginAttempt.name == NAME)).all()
        assert session.scalars(select(Review).where(Review.reviewer_id == person.id)).one().verdict == "accepted"
        body = json.loads(session.scalars(select(WebhookDelivery.body)).one())
    assert body["data"]["by"] == {"id": person.id, "name": erased.name}
    assert [line.state for line in invitations.invitations(workspace, office.project.id)] == ["withdrawn"]
    assert not list(sessions.sessions(workspace, person.id))
    assert sessions.log_in(workspace, NAME, PASSWORD, address="10.0.0.3") is None
    assert erase_person(workspace, person.id, by=admin) == erased, "repeating it changes nothing"


def test_exports_go_that_name_somebody_who_has_only_skipped(office: Office, admin: User) -> None:
    exported = export_names(office.workspace, office.project.id, office.ben)
    skips.skip(office.workspace, office.tasks()[0].id, office.ben.id, "unreadable")
    erase_person(office.workspace, office.ben.id, by=admin)
    assert not exported.exists()


def test_an_erased_person_cannot_be_enabled_or_get_a_password(office: Office, person: User, admin: User) -> None:
    workspace = office.workspace
    assert not users.user_view(workspace, person).erased
    erase_person(workspace, person.id, by=admin)
    assert users.user_view(workspace, users.user_by_id(workspace, person.id)).erased
    with pytest.raises(Refused, match="An erased person cannot be changed"):
        users.change_user(workspace, person.id, disabled=False, by=admin)
    with pytest.raises(Refused, match="An erased person cannot be changed"):
        users.set_password(workspace, person.id, PASSWORD, by=admin)


def test_whoever_was_interrupted_goes_on(
    office: Office, person: User, admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = office.workspace

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("engine.lifecycle.person_erasing._close_account", end)
        with pytest.raises(KeyboardInterrupt):
            erase_person(workspace, person.id, by=admin)
    assert users.user_by_id(workspace, person.id).disabled_at is not None
    erase_person(workspace, person.id, by=admin)
    assert columns_with(workspace, SIGNS) == []


def test_what_was_written_of_a_person_meanwhile_is_replaced_by_whoever_goes_on(
    office: Office, person: User, admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, project = office.workspace, office.project.id
    close = person_erasing._close_account

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:

        def write_of_the_person(session: Session, *given: Any) -> None:
            close(session, *given)
            more = {"author": NAME, "question": "?", "document": "bill"}
            audit.record(session, admin.id, "answers.remove", "an answer", project, **more)
            patched.setattr(person_erasing, "_replace_name", end)

        patched.setattr(person_erasing, "_close_account", write_of_the_person)
        with pytest.raises(KeyboardInterrupt):
            erase_person(workspace, person.id, by=admin)
    assert users.user_view(workspace, users.user_by_id(workspace, person.id)).erased
    assert "audit_entries.details" in columns_with(workspace, SIGNS)
    erase_person(workspace, person.id, by=admin)
    assert columns_with(workspace, SIGNS) == []
    assert files_with(workspace, [sign.encode() for sign in SIGNS]) == []


def test_a_snapshot_that_has_the_name_is_said(office: Office, person: User, admin: User) -> None:
    workspace = office.workspace
    frozen = snapshots.freeze(workspace, office.project.id)
    [sentence] = erase_person(workspace, person.id, by=admin).stays
    begins = f"The snapshot {frozen.sha256[:12]} of {frozen.created_at:%Y-%m-%d} still has the name {NAME}"
    assert sentence == f"{begins}: what was frozen does not change."
    again = snapshots.freeze(workspace, office.project.id)
    assert again.sha256 != frozen.sha256
    assert {item.author for item in snapshots.load(workspace, again)} == {
        "Ann",
        f"Erased person {person.id[-8:]}",
    }


def test_neither_the_only_admin_nor_oneself_nor_the_local_user_is_erased(office: Office, admin: User) -> None:
    workspace = office.workspace
    local = users.ensure_local_user(workspace)
    with pytest.raises(Refused, match="Root is the only admin"):
        erase_person(workspace, admin.id, by=local)
    with pytest.raises(Refused, match="cannot erase yourself"):
        erase_person(workspace, admin.id, by=admin)
    with pytest.raises(Refused, match="cannot be changed"):
        erase_person(workspace, local.id, by=admin)
    with pytest.raises(Forbidden):
        erase_person(workspace, office.ann.id, by=office.ben)
    assert users.user_by_id(workspace, office.ann.id).name == "Ann"
    with pytest.raises((Refused, Conflict)):
        users.add_user(workspace, "erased  Person 12".replace("  ", " "), PASSWORD, "annotator")


def test_every_column_of_a_user_is_kept_or_emptied_on_purpose() -> None:
    emptied = {"name", "password_hash", "preferences"}
    columns = {column.name for column in User.__table__.columns}
    assert columns == emptied | set(KEPT), "decide what an erased person keeps (engine.lifecycle.person_erasing)"


def test_every_table_that_names_a_person_is_known() -> None:
    naming = {
        table.name
        for table in Base.metadata.sorted_tables
        for key in table.foreign_keys
        if key.column.table.name == "users"
    }
    belongs_to_the_person = {
        "login_sessions", "login_steps", "identities", "members", "invitations", "recovery_codes", "second_factors",
    }  # fmt: skip
    work = {
        "annotations", "audit_entries", "automatic_answers", "documents", "extraction_callbacks", "field_versions",
        "finished_masks", "jobs", "label_reviews", "left_tasks", "mask_counts", "outside_answers", "pages",
        "part_answers", "projects", "promotions", "proposers", "questions", "removed_documents", "removed_projects",
        "removed_questions", "reviews", "revisions", "second_looks", "skips", "snapshots", "stage_changes",
        "task_changes", "value_flags", "waiting_reviews", "webhooks", "word_edits",
    }  # fmt: skip
    assert naming <= belongs_to_the_person | work, "decide what happens to its rows when a person is erased"
    assert Revision.__tablename__ in naming


def test_whose_name_stands_in_an_audit_entry_is_known() -> None:
    naming = {action for action, clause in _CLAUSES.items() if "{name}" in clause}
    of_other_things = ("projects.", "documents.", "quotas.project")
    undecided = {action for action in naming if not action.startswith((*_OF_PEOPLE, *of_other_things))}
    assert not undecided, "decide whether an erased person can be named there (engine.lifecycle.person_erasing)"


def test_earlier_names_go_too_unless_they_are_those_of_others_now(office: Office, admin: User) -> None:
    workspace, issuer = office.workspace, "https://office.example"
    signed = identities.Person(issuer, "17", "Zsofia Quokkaworth")
    identities.sign_in(workspace, signed)
    user = users.user_named(workspace, "Zsofia Quokkaworth")
    members.put_member(workspace, office.project.id, user.id, "reviewer", by=admin)
    identities.link(workspace, user.name, "zo@wombat.example", issuer=identities.PROXY, by=admin.id)
    identities.unlink(workspace, user.name, by=admin.id)
    identities.link(workspace, user.name, "17", issuer=issuer, by=admin.id)
    identities.sign_in(workspace, replace(signed, name="Zsofia Ocelotish"))
    make_user(workspace, "Ben Namesake")
    with workspace.database.write() as session:
        audit.record(session, admin.id, "members.role", user.id, name="Ben Namesake", before="annotator", role="admin")
    users.change_user(workspace, user.id, disabled=True, by=admin)
    with pytest.raises(Forbidden):
        identities.sign_in(workspace, replace(signed, name="Zsofia Numbatty"))
    signs = ("Quokkaworth", "wombat", "Ocelotish", "Numbatty")
    assert "audit_entries.details" in columns_with(workspace, signs)
    erase_person(workspace, user.id, by=admin)
    assert columns_with(workspace, signs) == []
    assert "audit_entries.details" in columns_with(workspace, ("Ben Namesake",)), "it names somebody else, too"
