"""The form of a paper over REST: all fields are asked at once, shown with their rules, and accepted together."""

import uuid
from typing import Any

import pytest
from sqlalchemy import func, select, update
from starlette.testclient import TestClient

from db.tables import Annotation, Document, Project, Revision, Task
from engine.annotation.answer_service import AnswerService
from engine.fields.definition import FieldDefinition, RangeRule, SumRule
from engine.fields.project_fields import replace_fields
from engine.form.asking import PAGES_READ, ask_fields
from engine.form.view import load_form
from engine.models import registry
from engine.projects import project_stage
from engine.tasks.opening.open_tasks import open_missing
from engine.workspace import Workspace
from tests.support.accounts import Person, here, make_user, somebody
from tests.support.factories import accept, bill, line, make_document, make_project, pages_of
from tests.support.statements import heard
from tests.support.survey_rows import say

NUMBER = FieldDefinition(name="bill_number", question="What is the bill number?", required=True)
TOTAL = FieldDefinition(name="total", question="What is the total due?", type="currency", currency="EUR")
CUSTOMER = FieldDefinition(name="customer", question="Who is the customer?")
FIELDS = [NUMBER, TOTAL, CUSTOMER]


class Desk:
    """An application where people log in, with a bill and three fields."""

    def __init__(self, client: TestClient, fields: list[FieldDefinition] = FIELDS, **settings: Any) -> None:
        self.workspace = here(client)
        self.project = make_project(self.workspace).id
        with self.workspace.database.write() as session:
            session.execute(update(Project).where(Project.id == self.project).values(settings=settings))
        self.document = make_document(self.workspace, self.project, [bill(1)])
        self.ann, self.ben = (
            somebody(client, self.workspace, make_user(self.workspace, name, **{self.project: "annotator"}))
            for name in ("ann", "ben")
        )
        self.path = f"/api/documents/{self.document.id}/form"
        self.set(fields)

    def set(self, fields: list[FieldDefinition]) -> None:
        replace_fields(self.workspace, self.project, fields, self.ann.known.id)

    def fill(self, person: Person | None = None, **body: int) -> Any:
        answer = (person or self.ann).post(self.path, json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def show(self, person: Person | None = None) -> Any:
        return (person or self.ann).get(self.path).json()

    def decide(self, what: str, fields: list[Any], key: str | None = None, person: Person | None = None) -> Any:
        answers = [
            {"annotation_id": each["annotation_id"], "base": each["head"], "prediction_id": each["prediction_id"]}
            for each in fields
        ]
        body = {"idempotency_key": key or uuid.uuid4().hex, "answers": answers}
        answer = (person or self.ann).post(f"{self.path}/{what}", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture
def desk(app_client: TestClient) -> Desk:
    return Desk(app_client)


def numbers_of(workspace: Workspace) -> tuple[int, int]:
    """Numbers of annotations and of revisions."""
    with workspace.database.read() as session:
        count = select(func.count())
        return session.scalars(count.select_from(Annotation)).one(), session.scalars(count.select_from(Revision)).one()


def test_the_form_asks_all_fields_once_and_equals_asking_one_by_one(desk: Desk) -> None:
    form = desk.fill()
    assert [field["name"] for field in form["fields"]] == ["bill_number", "total", "customer"]
    assert form["left"] == 0 and all(field["head"] == 0 for field in form["fields"])
    total = form["fields"][1]
    assert total["values"][0]["value"] == {"amount": "11.50", "currency": "EUR"}
    assert [mark["page_id"] for mark in total["marks"]] == [pages_of(desk.workspace, desk.document.id)[0].id]
    for field in form["fields"]:
        ask = {"question": field["question"]}
        alone = desk.ben.post(f"/api/documents/{desk.document.id}/ask", json=ask).json()
        assert [value["printed"] for value in field["values"]] == [value["printed"] for value in alone["values"]]
    assert desk.fill() == form
    assert numbers_of(desk.workspace) == (6, 0)


def test_showing_the_form_asks_and_writes_nothing(desk: Desk) -> None:
    form = desk.show()
    assert (form["left"], {field["annotation_id"] for field in form["fields"]}) == (3, {None})
    assert form["fields"][0]["broken"] == []  # nobody knows yet whether the paper has the required value
    assert numbers_of(desk.workspace) == (0, 0)


def test_a_request_asks_as_many_fields_as_it_says(desk: Desk) -> None:
    assert desk.fill(most=2)["left"] == 1
    assert desk.fill(most=2)["left"] == 0


def test_an_answer_that_stands_is_not_asked_again(desk: Desk) -> None:
    accept(desk.workspace, desk.document, CUSTOMER.question, [6], author="ann")
    customer = desk.fill()["fields"][2]
    assert (customer["status"], customer["head"], customer["values"][0]["text"]) == ("accepted", 1, "Nr1")
    assert customer["confidence"] is None


def test_statements_do_not_grow_with_the_fields(workspace: Workspace) -> None:
    registry.ensure_shipped(workspace)
    project = make_project(workspace).id
    document = make_document(workspace, project, [bill(1)])
    service = AnswerService(workspace)
    people = [make_user(workspace).id for _ in range(3)]
    replace_fields(workspace, project, FIELDS, people[0])
    ask_fields(service, document.id, people[0])  # reads the page

    def said(person: str) -> int:
        service.answers.discard(lambda _: True)
        with heard(workspace) as statements:
            ask_fields(service, document.id, person)
            load_form(workspace, document.id, person)
        return len(statements)

    few = said(people[1])
    more = [FieldDefinition(name=f"field_{at}", question=f"What is on line {at}?") for at in range(12)]
    replace_fields(workspace, project, [*FIELDS, *more], people[0])
    assert said(people[2]) <= few


def test_the_form_of_the_next_paper_is_answered_in_advance(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.fill()
    behind = make_document(desk.workspace, desk.project, [bill(2)])
    with desk.workspace.database.write() as session:
        open_missing(session, desk.project, behind.id)
    before = numbers_of(desk.workspace)
    assert desk.ann.post(f"{desk.path}/upcoming").json() == {"document_id": behind.id}
    assert numbers_of(desk.workspace) == before
    passes = []
    ask_together = AnswerService.ask_together

    def listen(service: AnswerService, *what: Any) -> Any:
        passes.append(what)
        return ask_together(service, *what)

    monkeypatch.setattr(AnswerService, "ask_together", listen)
    form = desk.ann.post(f"/api/documents/{behind.id}/form", json={}).json()
    assert (form["left"], passes) == (0, [])
    assert form["fields"][0]["values"][0]["printed"] == "B1002"
    desk.ben.post(f"/api/documents/{behind.id}/ask", json={"question": CUSTOMER.question})
    assert desk.fill(desk.ben)["left"] == 0  # what one person asked is there for the next one
    assert passes == []


def test_without_another_open_paper_nothing_is_answered_in_advance(desk: Desk) -> None:
    assert desk.ann.post(f"{desk.path}/upcoming").json() == {"document_id": None}


def test_survey_answers_are_taken_where_they_stand(desk: Desk) -> None:
    with desk.workspace.database.write() as session:
        version = registry.champion(session, desk.project)
        project_stage.step(session, desk.project, "semi_automatic", version.id, {}, "", None)
    say(desk.workspace, version, desk.document, CUSTOMER.question, [1], answered=0.9, score=0.8, apart=0.5)
    customer = desk.fill()["fields"][2]
    assert customer["values"][0]["printed"] == "B1001"
    assert customer["confidence"] == pytest.approx(0.9 * 0.8 * (1 - 0.3 * 0.5))


def test_fields_without_the_models_help_have_no_proposal(app_client: TestClient) -> None:
    desk = Desk(app_client, overlap_share=1.0, unaided_share=1.0)
    with desk.workspace.database.read() as session:
        assert {task.wanted for task in session.scalars(select(Task))} == {2}
    number = desk.fill()["fields"][0]
    assert (number["unaided"], number["prediction_id"], number["marks"]) == (True, None, [])
    assert number["broken"] == []


def test_everybody_sees_their_own_answers_alone(desk: Desk) -> None:
    desk.decide("accept", desk.fill()["fields"])
    assert {field["status"] for field in desk.show(desk.ben)["fields"]} == {None}


def test_broken_rules_are_told_in_words_at_their_fields(app_client: TestClient) -> None:
    dear = TOTAL.model_copy(update={"rules": (RangeRule(rule="range", most="5"),)})
    same = FieldDefinition(
        name="paid", question="How much is due?", type="currency", rules=(SumRule(rule="sum", of=["total"]),)
    )
    desk = Desk(app_client, [dear, same])
    accept(desk.workspace, desk.document, dear.question, [4], author="ann")
    accept(desk.workspace, desk.document, same.question, [4], author="ann")
    total, paid = desk.show()["fields"]
    assert total["broken"] == ["total (11.50 EUR) is above 5."] and paid["broken"] == []


def test_a_paper_without_the_required_value_breaks_its_rule(desk: Desk) -> None:
    accept(desk.workspace, desk.document, NUMBER.question, author="ann")
    number = desk.show()["fields"][0]
    assert number["no_answer"] and number["broken"] == ["bill_number is required, and has no value."]


def test_answers_are_accepted_together_and_again_with_the_same_key(desk: Desk) -> None:
    fields = desk.fill()["fields"]
    decided = desk.decide("accept", fields, "accept-all-0001")
    assert [(each["revision"], each["status"]) for each in decided] == [(1, "accepted")] * 3
    assert desk.decide("accept", fields, "accept-all-0001") == decided
    assert numbers_of(desk.workspace) == (3, 3)
    assert {field["status"] for field in desk.show()["fields"]} == {"accepted"}


def test_a_conflict_of_one_answer_leaves_the_others_accepted(desk: Desk) -> None:
    fields = desk.fill()["fields"]
    desk.decide("accept", fields[:1])
    first, *others = desk.decide("accept", fields)
    assert first["conflict"] and "changed meanwhile" in first["refusal"] and first["revision"] is None
    assert {each["status"] for each in others} == {"accepted"}


def test_projects_with_reviews_submit_and_undo_reopens(app_client: TestClient) -> None:
    desk = Desk(app_client, review_required=True)
    fields = desk.fill()["fields"]
    assert {each["status"] for each in desk.decide("accept", fields)} == {"submitted"}
    assert {each["status"] for each in desk.decide("reopen", desk.show()["fields"])} == {"draft"}


def test_answers_of_other_papers_and_people_are_refused(desk: Desk) -> None:
    mine = desk.fill()["fields"]
    assert {each["refusal"] for each in desk.decide("accept", mine, person=desk.ben)} != {""}
    elsewhere = make_document(desk.workspace, desk.project, [bill(2)])
    stranger = accept(desk.workspace, elsewhere, CUSTOMER.question, [6], status="draft", author="ann")
    other = {"annotation_id": stranger.id, "head": 1, "prediction_id": None}
    assert desk.decide("accept", [other])[0]["refusal"] == "There is no such annotation."
    assert {field["status"] for field in desk.show()["fields"]} == {"draft"}


def test_an_automatic_project_names_the_confidence_that_it_accepts(desk: Desk) -> None:
    sure = CUSTOMER.model_copy(update={"confidence": 0.7})
    desk.set([NUMBER, TOTAL, sure])
    assert [field["accepted_from"] for field in desk.show()["fields"]] == [None, None, 0.7]
    with desk.workspace.database.write() as session:
        version = registry.champion(session, desk.project)
        project_stage.step(session, desk.project, "automatic", version.id, {"threshold": 0.9}, "", None)
    assert [field["accepted_from"] for field in desk.show()["fields"]] == [0.9, 0.9, 0.7]


def test_a_long_document_is_read_in_portions(workspace: Workspace) -> None:
    registry.ensure_shipped(workspace)
    project = make_project(workspace).id
    person = make_user(workspace).id
    subjects = ("apples", "pears", "plums")
    pages = [line(f"{subject} {subject} {number}") for subject in subjects for number in range(8)]
    document: Document = make_document(workspace, project, pages, size=(200, 80))
    fields = [FieldDefinition(name=subject, question=f"{subject} {subject}") for subject in subjects]
    replace_fields(workspace, project, fields, person)
    service = AnswerService(workspace)
    ask_fields(service, document.id, person)
    form = load_form(workspace, document.id, person)
    assert PAGES_READ == 16 and form.left == 1
    ask_fields(service, document.id, person)
    assert load_form(workspace, document.id, person).left == 0
