"""Callbacks of extractions: the values go to an address once a paper is read, and again once people have decided."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, func, select, update

from db.tables import Annotation, Document, ExtractionCallback, Job, Member
from engine.accounts.users import ensure_local_user
from engine.annotation.answer_service import AnswerService
from engine.documents.reading import read_jobs
from engine.errors import Forbidden, Refused
from engine.extraction.callbacks import add_callback, check_wanted, look
from engine.fields.definition import FieldDefinition
from engine.fields.project_fields import replace_fields
from engine.followers import catch_up
from engine.jobs import queue
from engine.models import registry
from engine.settings import Settings
from engine.webhooks import webhooks
from engine.webhooks.sender import send_due
from engine.workspace import Workspace, open_workspace
from tests.support.accounts import make_user
from tests.support.factories import accept, bill, make_document, make_project
from tests.support.receiver import Received, Receiver, receiver
from tests.support.waiting import wait_until

NUMBER = FieldDefinition(name="bill_number", question="What is the bill number?")
CUSTOMER = FieldDefinition(name="customer", question="Who is the customer?", confidence=1.0)  # never sure enough


@pytest.fixture
def near(database_url: str, tmp_path: Path) -> Iterator[Workspace]:
    """A workspace whose messages may reach this machine."""
    here: dict[str, Any] = {"webhook_private_addresses": ["127.0.0.1"], "webhook_http": True}
    settings = Settings(data_dir=tmp_path / "data", database_url=database_url, _env_file=None, **here)
    opened = open_workspace(settings)
    yield opened
    opened.close()


class Office:
    """A program that wants the values of a project's papers."""

    def __init__(self, workspace: Workspace, receiving: Receiver) -> None:
        registry.ensure_shipped(workspace)
        self.workspace, self.receiving = workspace, receiving
        self.service = AnswerService(workspace)
        self.user = ensure_local_user(workspace)
        self.project = make_project(workspace).id
        self.secret = webhooks.rotate_callback_secret(workspace, self.project, by=self.user)

    def paper(self, *fields: FieldDefinition) -> Document:
        replace_fields(self.workspace, self.project, list(fields), self.user.id)
        document = make_document(self.workspace, self.project, [bill(1)])
        add_callback(self.workspace, document.id, self.user.id, self.receiving.url)
        return document

    def work(self) -> list[Received]:
        """Do what the threads of a server do, and return what has arrived so far."""
        catch_up(self.workspace)
        while look(self.service):
            send_due(self.workspace)
        return self.receiving.requests

    def waiting(self) -> int:
        with self.workspace.database.read() as session:
            return session.scalar(select(func.count()).select_from(ExtractionCallback)) or 0


@pytest.fixture
def office(near: Workspace) -> Iterator[Office]:
    with receiver() as receiving:
        yield Office(near, receiving)


def test_a_sure_paper_is_sent_once_and_signed(office: Office) -> None:
    document = office.paper(NUMBER)
    [message] = office.work()
    said = message.verified(office.secret)
    assert said["type"] == "extraction.read" and said["data"]["document"]["id"] == document.id
    assert said["data"]["fields"]["bill_number"]["values"][0]["value"] == "B1001"
    assert (office.waiting(), len(office.work())) == (0, 1)


def test_an_unsure_paper_is_sent_again_once_people_have_decided(office: Office) -> None:
    document = office.paper(NUMBER, CUSTOMER)
    [first] = office.work()
    assert first.verified(office.secret)["data"]["unsure"] == ["customer"]
    answer = accept(office.workspace, document, CUSTOMER.question, [1], status="draft")
    assert len(office.work()) == 1, "a draft is no decision"
    with office.workspace.database.write() as session:
        session.get_one(Annotation, answer.id).status = "accepted"
    _, second = office.work()
    said = second.verified(office.secret)
    assert (said["type"], said["data"]["unsure"]) == ("extraction.decided", [])
    customer = said["data"]["fields"]["customer"]
    assert (customer["status"], customer["values"][0]["value"]) == ("accepted", "B1001")
    assert office.waiting() == 0


def test_who_is_no_reviewer_any_more_gets_nothing(office: Office) -> None:
    rita = make_user(office.workspace, "rita", **{office.project: "reviewer"})
    replace_fields(office.workspace, office.project, [NUMBER], office.user.id)
    document = make_document(office.workspace, office.project, [bill(1)])
    add_callback(office.workspace, document.id, rita.id, office.receiving.url)
    with office.workspace.database.write() as session:
        session.execute(delete(Member).where(Member.user_id == rita.id))
    assert (office.work(), office.waiting()) == ([], 0)


def test_a_field_that_is_taken_out_keeps_nobody_waiting(office: Office) -> None:
    document = office.paper(NUMBER, CUSTOMER)
    office.work()
    replace_fields(office.workspace, office.project, [NUMBER], office.user.id)
    accept(office.workspace, document, NUMBER.question, [1])
    assert [message.verified(office.secret)["type"] for message in office.work()][1:] == ["extraction.decided"]


def test_a_paper_that_is_being_read_is_sent_when_it_is_whole(office: Office) -> None:
    replace_fields(office.workspace, office.project, [NUMBER], office.user.id)
    document = make_document(office.workspace, office.project, [bill(1)])
    with office.workspace.database.write() as session:
        job = read_jobs.request(session, document, 2)
        session.flush()
        key = job.id
    add_callback(office.workspace, document.id, office.user.id, office.receiving.url)
    assert office.work() == [] and office.waiting() == 1
    queue.cancel(office.workspace, key, by=office.user.id)
    with office.workspace.database.write() as session:
        session.execute(update(Job).where(Job.id == key).values(status="cancelled", key=None))
        session.get_one(Document, document.id).warnings = "Only the first page was read."
    wait_until(lambda: len(office.work()) == 1)
    [message] = office.receiving.requests
    assert message.verified(office.secret)["data"]["warnings"] == ["Only the first page was read."]


def test_only_reviewers_name_addresses_and_only_allowed_ones(office: Office) -> None:
    annotator = make_user(office.workspace, "ann", **{office.project: "annotator"})
    with pytest.raises(Forbidden, match="only a reviewer"):
        check_wanted(office.workspace, office.project, annotator.id, office.receiving.url)
    with pytest.raises(Refused):
        check_wanted(office.workspace, office.project, office.user.id, "ftp://example.org/")
    check_wanted(office.workspace, office.project, office.user.id, office.receiving.url)
