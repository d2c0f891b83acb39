"""Nothing that a blind annotator can read changes when somebody else answers, byte by byte."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

from annotator.app import create_app
from db.tables import Task
from engine.projects.projects import change_settings
from engine.settings import Settings
from engine.tasks.standard_questions import replace_standard_questions
from tests.support.accounts import ADDRESS, Person, make_user, somebody
from tests.support.annotators import answer
from tests.support.factories import bill, make_document, make_project, pages_of
from tests.support.route_table import MEMBER, ROUTES, USER

pytestmark = pytest.mark.usefixtures("figures_at_once")
QUESTIONS = ["What is the total due?", "Who sent it?"]
# A stream, whose events test_changes.py compares; and the changes of the last seconds, which age: the end of the test
# reads them from a place of its own.
AGEING = {"GET /api/changes", "GET /api/changes/since"}
MOMENT = re.compile(rb'"(as_of|last_used_at|seen_at|used_at)":"[^"]*"')  # the time of the request itself


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    settings = Settings(data_dir=tmp_path / "blind", auth="login", _env_file=None)
    with TestClient(create_app(settings), base_url=ADDRESS) as client:
        yield client


def read_all(person: Person, ids: dict[str, str]) -> dict[str, tuple[int, bytes]]:
    """Return the status and content of every route that annotators may read, by the route."""
    answers = {}
    for route, row in ROUTES.items():
        method, path = route.split(" ", 1)
        if method != "GET" or row.needed not in (USER, MEMBER) or route in AGEING or not path.startswith("/api/"):
            continue
        for name, value in ids.items():
            path = path.replace(f"{{{name}}}", value)
        if "{" in path:
            continue
        response = person.get(path + row.query)
        answers[route] = response.status_code, MOMENT.sub(rb'"\1":""', response.content)
    return answers


def test_no_route_tells_a_blind_annotator_that_somebody_answered(client: TestClient) -> None:
    workspace = client.app.state.answer_service.workspace  # type: ignore[attr-defined]
    project = make_project(workspace, "blind")
    change_settings(workspace, project.id, overlap_share=1.0, overlap_people=2)
    role = {project.id: "annotator"}
    author, second = make_user(workspace, "annabella", **role), make_user(workspace, "ben", **role)
    documents = [make_document(workspace, project.id, [bill(at)]) for at in (1, 2, 3)]
    replace_standard_questions(workspace, project.id, QUESTIONS, author.id)
    with workspace.database.read() as session:
        tasks = session.scalars(select(Task).where(Task.project_id == project.id).order_by(Task.id)).all()
    own = answer(workspace, tasks[0].id, second, [4])
    ids = {
        "project_id": project.id,
        "document_id": documents[1].id,
        "page_id": pages_of(workspace, documents[1].id)[0].id,
        "annotation_id": own.id,
    }
    person = somebody(client, workspace, second)
    since = person.get("/api/changes/since").json()["next"]
    read_all(person, ids)  # what is made at the first look
    before = read_all(person, ids)
    assert len(before) > 20 and before["GET /api/projects/{project_id}/figures"][0] == 200
    for task in tasks[1:]:
        answer(workspace, task.id, author, [3])
    after = read_all(person, ids)
    different = [
        f"{route}\n  {before[route][1][:1500]!r}\n  {after[route][1][:1500]!r}"
        for route in before
        if before[route] != after[route]
    ]
    assert not different, "\n".join(different)
    news = person.get(f"/api/changes/since?since={since}").json()
    assert news["changes"] == []
