"""Blind work: the answer of another annotator does not exist for the second one before they submit."""

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.routing import iter_route_contexts
from sqlalchemy import func, select
from starlette.testclient import TestClient

from annotator.app import create_app
from db.ids import new_id
from db.tables import Annotation, ModelVersion, Prediction, Revision, Task
from engine import leases
from engine.accounts import permissions, visibility
from engine.documents.lists.listing import document_lines
from engine.errors import Conflict, NotFound
from engine.projects.projects import change_settings
from engine.settings import Settings
from engine.tasks.queue import next_task as queue
from engine.tasks.standard_questions import replace_standard_questions
from engine.workspace import Workspace
from tests.support.accounts import ADDRESS, Person, make_user, somebody
from tests.support.annotators import answer, tasks_of
from tests.support.factories import bill, make_document, make_project, pages_of

pytestmark = pytest.mark.usefixtures("figures_at_once")

QUESTION, NAME = "What is the total due?", "annabella"


class Office:
    """A project whose every task two people answer; one of them has answered, the other is to."""

    def __init__(self, client: TestClient) -> None:
        self.client = client
        workspace = self.workspace = client.app.state.answer_service.workspace  # type: ignore[attr-defined]
        self.project = make_project(workspace, "compared")
        change_settings(workspace, self.project.id, overlap_share=1.0, overlap_people=2)
        people = {self.project.id: "annotator"}
        self.author, self.second = make_user(workspace, NAME, **people), make_user(workspace, "ben", **people)
        self.reviewer = make_user(workspace, "rita", **{self.project.id: "reviewer"})
        self.document = make_document(workspace, self.project.id, [bill(1)])
        replace_standard_questions(workspace, self.project.id, [QUESTION], self.reviewer.id)
        with workspace.database.read() as session:
            self.task = session.scalars(select(Task).where(Task.project_id == self.project.id)).one()
        self.answer = answer(workspace, self.task.id, self.author, [4])

    def as_(self, user: Any) -> Person:
        return somebody(self.client, self.workspace, user)


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    settings = Settings(data_dir=tmp_path_factory.mktemp("blind"), auth="login", _env_file=None)
    with TestClient(create_app(settings), base_url=ADDRESS) as client:
        yield client


@pytest.fixture(scope="module")
def office(application: TestClient) -> Office:
    return Office(application)


def routes_of_answers(client: TestClient) -> list[tuple[str, str, Any]]:
    """(method, path, body) of every route whose path names an answer; the body is the example of the reference."""
    document = client.app.openapi()  # type: ignore[attr-defined]
    described = {(method.upper(), path) for path, several in document["paths"].items() for method in several}
    there: set[tuple[str, str]] = {
        (method, str(context.path))
        for context in iter_route_contexts(client.app.routes)  # type: ignore[attr-defined]
        for method in (getattr(context, "methods", None) or ())
        if "{annotation_id}" in (getattr(context, "path", None) or "")
    }
    assert there == {each for each in described if "{annotation_id}" in each[1]}
    found = []
    for method, path in sorted(there):
        body = document["paths"][path][method.lower()].get("requestBody", {}).get("content", {})
        found.append((method, path, body.get("application/json", {}).get("example")))
    return found


def said(person: Person, method: str, path: str, body: Any, annotation_id: str) -> tuple[int, bytes, dict[str, str]]:
    sent = {"json": body} if body is not None else {}
    told = person.request(method, path.replace("{annotation_id}", annotation_id), **sent)
    of_each = ("date", "x-request-id")
    return told.status_code, told.content, {name: each for name, each in told.headers.items() if name not in of_each}


def test_a_hidden_answer_is_as_unknown_as_no_answer_on_every_route(office: Office) -> None:
    routes = routes_of_answers(office.client)
    assert len(routes) >= 8
    second, reviewer = office.as_(office.second), office.as_(office.reviewer)
    wrong = []
    for method, path, body in routes:
        hidden = said(second, method, path, body, office.answer.id)
        if hidden != said(second, method, path, body, new_id()) or hidden[0] != 404 or NAME.encode() in hidden[1]:
            wrong.append(f"{method} {path}: {hidden[0]} {hidden[1][:120]!r}")
        if method == "GET":
            assert said(reviewer, method, path, body, office.answer.id)[0] == 200, path
    assert not wrong, "\n".join(wrong)


def test_what_a_second_annotator_reads_names_nobody_and_counts_nothing_hidden(office: Office) -> None:
    second = office.as_(office.second)
    project, document = f"/api/projects/{office.project.id}", f"/api/documents/{office.document.id}"
    lists = (
        f"{project}/documents",
        f"{project}/queue",
        f"{project}/questions?document_id={office.document.id}",
        f"{project}/next",
        f"{project}/figures",
        f"{project}/stage",
        document,
    )
    with office.workspace.database.write() as session:
        leases.acquire(session, leases.task_subject(office.task.id, office.author.id), office.author.id)
    for path in lists:
        told = second.get(path)
        assert told.status_code == 200 and NAME not in told.text and office.answer.id not in told.text, path
    [line] = second.get(f"{project}/documents").json()
    assert (line["questions"], line["accepted"]) == (1, 0)  # the standard question is everybody's
    queue_seen = second.get(f"{project}/queue").json()
    assert (queue_seen["held"], queue_seen["in_progress"]) == ([], 0)
    [line] = office.as_(office.reviewer).get(f"{project}/documents").json()
    assert (line["questions"], line["accepted"]) == (1, 1)
    held = office.as_(office.reviewer).get(f"{project}/queue").json()["held"]
    assert [each["person"] for each in held] == [NAME]


def test_a_refused_edit_of_a_hidden_answer_leaves_it_as_it_was(office: Office) -> None:
    page = pages_of(office.workspace, office.document.id)[0].id
    edit = {"idempotency_key": new_id(), "base": 1, "edits": [{"op": "clear", "page": page}]}
    second = office.as_(office.second)
    assert second.put(f"/api/annotations/{office.answer.id}/revisions", json=edit).status_code == 404
    with office.workspace.database.read() as session:
        assert session.get_one(Annotation, office.answer.id).head == 1
        assert session.scalar(select(func.count(Revision.id)).where(Revision.annotation_id == office.answer.id)) == 1


def test_a_proposal_of_a_hidden_answer_is_not_there_either(office: Office) -> None:
    with office.workspace.database.write() as session:
        proposal = Prediction(
            annotation_id=office.answer.id,
            page_id=pages_of(office.workspace, office.document.id)[0].id,
            question_id=office.answer.question_id,
            model_version_id=session.scalars(select(ModelVersion.id)).first(),
            answer={},
            score=0.5,
            answered=0.5,
            milliseconds=1,
        )
        session.add(proposal)
        session.flush()
        with pytest.raises(NotFound, match="no such prediction"):
            permissions.check(session, office.second, {"prediction_id": proposal.id})
        assert permissions.check(session, office.reviewer, {"prediction_id": proposal.id}) == "reviewer"


def test_who_was_faster_is_not_named_where_answers_are_compared(workspace: Workspace) -> None:
    project = make_project(workspace, "three")
    change_settings(workspace, project.id, overlap_share=1.0, overlap_people=2)
    people = [make_user(workspace, f"{NAME} {number}", **{project.id: "annotator"}) for number in range(3)]
    document = make_document(workspace, project.id, [bill(2)])
    replace_standard_questions(workspace, project.id, [QUESTION], people[0].id)
    [task] = tasks_of(workspace, project.id)
    given = [answer(workspace, task.id, each, [4]) for each in people[:2]]
    with pytest.raises(Conflict, match="Somebody else answered this question meanwhile") as lost:
        queue.heartbeat(workspace, task.id, people[2].id)
    assert NAME not in str(lost.value)
    lines = [document_lines(workspace, project.id, each.id)[0] for each in people]
    assert [(line.questions, line.accepted) for line in lines] == [(1, 1), (1, 1), (1, 0)]
    with workspace.database.read() as session:
        assert visibility.hidden_questions(session, document.id, people[2].id) == {task.question_id}
        assert visibility.hidden_questions(session, document.id, people[1].id) == set()
        with pytest.raises(NotFound):
            permissions.check(session, people[2], {"annotation_id": given[0].id})
        assert permissions.check(session, people[1], {"annotation_id": given[0].id}) == "annotator"


def test_once_answered_others_answers_are_shown_and_named(application: TestClient) -> None:
    workspace = application.app.state.answer_service.workspace  # type: ignore[attr-defined]
    project = make_project(workspace, "answered")
    change_settings(workspace, project.id, overlap_share=1.0, overlap_people=2)
    first, second = (make_user(workspace, f"{name} of answered", **{project.id: "annotator"}) for name in "ab")
    document = make_document(workspace, project.id, [bill(3)])
    replace_standard_questions(workspace, project.id, [QUESTION], first.id)
    with workspace.database.read() as session:
        task = session.scalars(select(Task).where(Task.project_id == project.id)).one()
    there = answer(workspace, task.id, first, [4])
    answer(workspace, task.id, second, [4])
    person = somebody(application, workspace, second)
    assert person.get(f"/api/annotations/{there.id}").json()["author"]["name"] == first.name
    lines = person.get(f"/api/documents/{document.id}").json()["annotations"]
    assert len(lines) == 2
    refused = person.put(
        f"/api/annotations/{there.id}/revisions", json={"idempotency_key": new_id(), "base": 1, "edits": []}
    )
    assert refused.status_code == 403 and first.name in refused.json()["detail"]
