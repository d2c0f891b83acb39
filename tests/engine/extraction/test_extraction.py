"""Extraction over REST: a paper goes in, the values of its fields come out with their places."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest
from sqlalchemy import func, select, update
from starlette.testclient import TestClient

from annotator.app import create_app
from db.base import Base
from db.tables import Annotation, Document, Page, PageWord, Prediction, Project, SurveyAnswer, WebhookDelivery
from engine.accounts import tokens
from engine.fields.definition import FieldDefinition, RangeRule
from engine.fields.project_fields import replace_fields
from engine.interchange.formats.values import values_schema
from engine.models import registry
from engine.projects import project_stage
from engine.settings import Settings
from engine.workspace import Workspace
from tests.support.accounts import ADDRESS, Person, here, make_user, somebody
from tests.support.factories import accept, bill, make_document, make_project
from tests.support.made_papers import bill_pdf, pdf_of

NUMBER = FieldDefinition(name="bill_number", question="What is the bill number?", required=True)
TOTAL = FieldDefinition(name="total", question="What is the total due?", type="currency", currency="EUR")
CUSTOMER = FieldDefinition(name="customer", question="Who is the customer?")
SECRET = "Nordlicht4711"  # printed on the paper alone


class Counter:
    """An application where programs send papers to a project with three fields."""

    def __init__(self, client: TestClient) -> None:
        self.client, self.workspace = client, here(client)
        self.project = make_project(self.workspace).id
        with self.workspace.database.write() as session:
            session.execute(update(Project).where(Project.id == self.project).values(settings={"locale": "en-US"}))
        self.ann, self.rita = (
            somebody(client, self.workspace, make_user(self.workspace, name, **{self.project: role}))
            for name, role in (("ann", "annotator"), ("rita", "reviewer"))
        )
        self.set(NUMBER, TOTAL, CUSTOMER)

    def set(self, *fields: FieldDefinition) -> None:
        replace_fields(self.workspace, self.project, list(fields), self.rita.known.id)

    def send(self, content: bytes, *, person: Person | None = None, name: str = "bill.pdf", **query: Any) -> Any:
        form = {"schema": query.pop("schema")} if "schema" in query else {}
        path = f"/api/projects/{self.project}/extract"
        return (person or self.ann).request("POST", path, files={"file": (name, content)}, data=form, params=query)

    def ask(self, document_id: str, person: Person | None = None, **body: Any) -> Any:
        return (person or self.rita).post(f"/api/documents/{document_id}/extract", json=body)


@pytest.fixture
def counter(app_client: TestClient) -> Counter:
    return Counter(app_client)


def good(answer: httpx.Response) -> Any:
    assert answer.status_code == 200, answer.text
    return answer.json()


def shown(extraction: Any) -> dict[str, list[Any]]:
    return {name: [value["value"] for value in field["values"]] for name, field in extraction["fields"].items()}


BILL = {
    "bill_number": ["B4711"],
    "total": [{"amount": "1250.50", "currency": "EUR"}],
    "customer": [SECRET],
}


def stored_texts(workspace: Workspace) -> Iterator[str]:
    with workspace.database.read() as session:
        for table in Base.metadata.sorted_tables:
            for row in session.execute(select(table)):
                yield repr(tuple(row))


def test_nothing_of_a_paper_is_left_that_is_not_to_be_kept(
    counter: Counter, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    extraction = good(counter.send(bill_pdf(4711), name=f"{SECRET}.pdf", keep="false"))
    assert shown(extraction) == BILL and extraction["document"]["id"] is None
    rows = list(stored_texts(counter.workspace))
    assert rows and not any(SECRET in row or "B4711" in row for row in rows)
    with counter.workspace.database.read() as session:
        for content in (Document, Page, PageWord, Annotation, Prediction, SurveyAnswer, WebhookDelivery):
            assert session.scalar(select(func.count()).select_from(content)) == 0
    folder = counter.workspace.settings.data_dir
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files and not any(SECRET.encode() in path.read_bytes() or SECRET in path.name for path in files)
    assert SECRET not in caplog.text and "B4711" not in caplog.text


def test_values_have_their_places_and_fit_the_schema_of_the_export(counter: Counter) -> None:
    extraction = good(counter.send(bill_pdf(4711), keep="false"))
    field = extraction["fields"]["total"]
    [value] = field["values"]
    assert (value["printed"], value["validated_by"], field["status"]) == ("1,250.50 EUR", "nothing", "proposal")
    [place] = value["pages"]
    x0, y0, x1, y1 = place["box"]
    assert place["page"] == 1 and 0 < x0 < x1 < 1 and 0.3 < y0 < y1 < 0.45  # the second line of five
    assert place["box_pixels"] == [round(side * full) for side, full in zip(place["box"], [place["width"], place["height"]] * 2, strict=True)]  # fmt: skip # noqa: E501
    schema = {**values_schema(), "$ref": "#/$defs/value"}
    only = {name: part for name, part in schema.items() if name in ("$schema", "$defs", "$ref")}
    jsonschema.validate(value, only)


def test_a_kept_paper_becomes_a_document_with_the_same_values(counter: Counter) -> None:
    paper = bill_pdf(4711)
    gone = good(counter.send(paper, keep="false"))
    kept = good(counter.send(paper))
    assert kept["fields"] == gone["fields"]
    with counter.workspace.database.read() as session:
        assert session.scalars(select(Document.id)).all() == [kept["document"]["id"]]
    assert good(counter.send(paper))["document"] == kept["document"]  # the same bytes are one document


def test_a_persons_answer_counts_for_reviewers_alone(counter: Counter) -> None:
    document = make_document(counter.workspace, counter.project, [bill(1)])
    accept(counter.workspace, document, CUSTOMER.question, [1], author="ann")
    customer = good(counter.ask(document.id))["fields"]["customer"]
    assert (customer["status"], customer["values"][0]["value"]) == ("accepted", "B1001")
    assert customer["values"][0]["validated_by"] == "person"
    blind = good(counter.ask(document.id, counter.ann))["fields"]["customer"]
    assert (blind["status"], blind["values"][0]["value"]) == ("proposal", "Nr1")


@pytest.mark.parametrize("status", ["draft", "rejected"])
def test_what_a_person_has_begun_or_a_reviewer_rejected_is_no_value(counter: Counter, status: str) -> None:
    document = make_document(counter.workspace, counter.project, [bill(1)])
    accept(counter.workspace, document, CUSTOMER.question, [1], author="ann", status=status)
    customer = good(counter.ask(document.id))["fields"]["customer"]
    assert (customer["status"], customer["values"][0]["value"]) == ("proposal", "Nr1")


def test_other_fields_are_asked_by_a_json_schema(counter: Counter) -> None:
    schema = {"properties": {"total_due": {"type": "number"}}}
    extraction = good(counter.send(bill_pdf(4711, "1250.5"), keep="false", schema=json.dumps(schema)))
    assert shown(extraction) == {"total_due": ["1250.5"]}
    document = make_document(counter.workspace, counter.project, [bill(1)])
    assert shown(good(counter.ask(document.id, schema=schema))) == {"total_due": ["11.5"]}
    refused = counter.send(bill_pdf(4711), keep="false", schema="{")
    assert refused.status_code == 422 and "The schema, line 1 is neither YAML nor JSON" in refused.text


def test_a_version_can_be_pinned(counter: Counter) -> None:
    in_use = good(counter.send(bill_pdf(4711), keep="false"))
    pinned = good(counter.send(bill_pdf(4711), keep="false", version="nano"))
    assert pinned == in_use and pinned["model"] == "nano"
    missing = counter.send(bill_pdf(4711), version="v7")
    assert missing.status_code == 404 and "no model version 'v7'" in missing.text
    with counter.workspace.database.read() as session:
        assert session.scalar(select(func.count()).select_from(Document)) == 0


def test_what_a_person_should_look_at_is_named_with_the_reason(counter: Counter) -> None:
    cheap = TOTAL.model_copy(update={"rules": (RangeRule(rule="range", most="5"),)})
    date = FieldDefinition(name="date", question="What is the date?", type="date")
    counter.set(cheap, date, FieldDefinition(name="phone", question="What is the phone number?", required=True))
    with counter.workspace.database.write() as session:
        settings = {"locale": None}
        session.execute(update(Project).where(Project.id == counter.project).values(settings=settings))
        version = registry.champion(session, counter.project)
        project_stage.step(session, counter.project, "automatic", version.id, {"threshold": 0.0}, "", None)
    paper = pdf_of(["Total due: 12.00 EUR", "Date: 03/04/26"])
    extraction = good(counter.send(paper, keep="false"))
    assert extraction["unsure"] == ["total", "date", "phone"]
    why = {name: " ".join(field["unsure"]) for name, field in extraction["fields"].items()}
    assert "total (12.00 EUR) is above 5." in why["total"]
    assert 'date is ambiguous: "03/04/26" can be read in' in why["date"]
    assert why["phone"] == "phone is required, and has no value."


def test_a_confidence_below_the_fields_own_is_unsure(counter: Counter) -> None:
    counter.set(CUSTOMER.model_copy(update={"confidence": 1.0}), NUMBER.model_copy(update={"confidence": 0.01}))
    extraction = good(counter.send(bill_pdf(4711), keep="false"))
    assert extraction["unsure"] == ["customer"] and "is below 1.00." in extraction["fields"]["customer"]["unsure"][0]


def test_a_callback_needs_a_stored_paper_and_a_reviewer(counter: Counter) -> None:
    url = "https://receiver.invalid/"
    unstored = counter.send(bill_pdf(1), keep="false", callback=url)
    assert unstored.status_code == 422 and "A callback needs a stored paper" in unstored.text
    assert counter.send(bill_pdf(1), callback=url).status_code == 403
    with counter.workspace.database.read() as session:
        assert session.scalar(select(func.count()).select_from(Document)) == 0


def test_a_long_paper_is_asked_again_once_it_is_read(counter: Counter) -> None:
    pages = [[f"Page {number} of many"] for number in range(60)]
    answer = counter.send(pdf_of(["Bill number: B1", "Total due: 5.00 EUR", "Customer: Long"], *pages))
    while answer.status_code == 202:
        begun = answer.json()
        assert begun["pages"] == 61 and "still being read" in begun["detail"]
        answer = counter.ask(begun["document_id"])
    assert shown(good(answer))["bill_number"] == ["B1"]


def test_papers_that_cannot_be_read_and_projects_without_fields_are_refused(counter: Counter) -> None:
    for keep in ("true", "false"):
        refused = counter.send(b"%PDF-1.7 and nothing else", keep=keep)
        assert refused.status_code == 422 and "bill.pdf" in refused.text
    counter.set()
    refused = counter.send(bill_pdf(1))
    assert refused.status_code == 422 and "The project has no fields." in refused.text
    with counter.workspace.database.read() as session:
        assert session.scalar(select(func.count()).select_from(Document)) == 0


def test_a_person_may_ask_so_often_a_minute(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, auth="login", extractions_per_minute=2, _env_file=None)
    with TestClient(create_app(settings, with_page=False), base_url=ADDRESS) as client:
        counter = Counter(client)
        document = make_document(counter.workspace, counter.project, [bill(1)])
        answers = [counter.ask(document.id, schema={"properties": {}}) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [422, 422, 429]
        assert int(answers[2].headers["retry-after"]) <= 30
        assert counter.ask(document.id, counter.ann).status_code == 200


def test_a_token_for_extraction_opens_nothing_else(counter: Counter) -> None:
    token = tokens.issue(counter.workspace, "ann", purpose="post", days=1, scope="extract")
    headers = {"authorization": f"Bearer {token}"}
    path = f"/api/projects/{counter.project}"
    sent = counter.client.post(f"{path}/extract", files={"file": ("b.pdf", bill_pdf(1))}, headers=headers)
    assert sent.status_code == 200
    read = counter.client.get(f"/api/documents/{sent.json()['document']['id']}", headers=headers)
    assert read.status_code == 403 and "The token's scope is extract" in read.text
