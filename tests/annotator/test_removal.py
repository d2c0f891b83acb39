"""Removing answers over REST: what a browser and a program see, and who may."""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from annotator.app import create_app
from db.ids import new_id
from engine.accounts import tokens
from engine.followers import catch_up
from engine.projects.projects import change_settings
from engine.settings import Settings
from engine.tasks.standard_questions import replace_standard_questions
from tests.annotator.test_rest import pdf, save, upload
from tests.support.accounts import ADDRESS, Person, here, make_user, somebody
from tests.support.annotators import answer, tasks_of
from tests.support.factories import accept, bill, make_document, make_project

REMOVED = "This answer was removed. Its author, a reviewer or an admin of the project can restore it."


@pytest.fixture
def document(client: TestClient) -> dict[str, Any]:
    taken = upload(client, pdf("Invoice date: 14 March 2026", "Total due: 2,987.88")).json()["documents"][0]
    return dict(client.get(f"/api/documents/{taken['document_id']}").json())


def ask(client: TestClient, document: dict[str, Any], question: str) -> dict[str, Any]:
    said = client.post(f"/api/documents/{document['id']}/ask", json={"question": question})
    assert said.status_code == 200, said.text
    return dict(said.json())


def test_a_question_asked_by_mistake_is_removed_and_comes_back(client: TestClient, document: dict[str, Any]) -> None:
    asked = ask(client, document, "asdf")
    edit = {"op": "words", "page": document["pages"][0]["id"], "add": [7]}
    assert save(client, asked, 0, [edit], action="accept").json()["revision"] == 1
    annotation, of_document = f"/api/annotations/{asked['id']}", f"/api/documents/{document['id']}"
    project = client.get("/api/projects").json()[0]
    before, history = client.get(annotation).json(), client.get(f"{annotation}/revisions").json()

    stale = client.delete(annotation, params={"base": 0})
    assert stale.status_code == 409 and stale.json()["current"] == before
    assert stale.json()["detail"] == (
        "This answer was changed meanwhile: your change starts from revision 0, and the newest is revision 1."
    )
    for _ in range(2):
        gone = client.delete(annotation, params={"base": 1})
        assert (gone.status_code, gone.content) == (204, b"")

    assert client.get(of_document).json()["annotations"] == []
    assert catch_up(here(client), patience=30)
    [line] = client.get(f"/api/projects/{project['id']}/documents").json()
    assert (line["questions"], line["accepted"]) == (0, 0)
    assert client.get(f"/api/projects/{project['id']}/questions").json()["recent"] == []
    refused = [
        client.get(annotation),
        client.get(f"{annotation}/revisions"),
        client.get(f"{annotation}/reviews"),
        save(client, asked, 1, [edit]),
        save(client, asked, 0, [edit]),
        client.post(f"{annotation}/ask-more", json={}),
        client.post(f"{annotation}/refine", json={"page_id": document["pages"][0]["id"], "points": [[90, 90, True]]}),
        client.post(f"{annotation}/review/heartbeat"),
    ]
    assert [(each.status_code, each.json()["detail"]) for each in refused] == [(404, REMOVED)] * len(refused)
    [removed] = client.get(f"{of_document}/removed-answers").json()
    assert (removed["id"], removed["question"]["text"], removed["status"]) == (asked["id"], "asdf", "accepted")

    fresh = ask(client, document, "asdf")
    assert fresh["id"] != asked["id"] and (fresh["existing"], fresh["head"]) == (False, 0)
    assert ask(client, document, "asdf")["id"] == fresh["id"], "asked once more, it is the answer that is there"
    twice = client.post(f"{annotation}/restore")
    assert twice.status_code == 409 and "has answered this question again since" in twice.json()["detail"]
    assert client.delete(f"/api/annotations/{fresh['id']}", params={"base": 0}).status_code == 204
    for _ in range(2):
        assert client.post(f"{annotation}/restore").json() == before
    assert client.get(f"{annotation}/revisions").json() == history
    assert [each["id"] for each in client.get(f"{of_document}/removed-answers").json()] == [fresh["id"]]


class House:
    """A project with an answer, and one person of each kind."""

    def __init__(self, client: TestClient) -> None:
        workspace = self.workspace = here(client)
        self.client, self.project = client, make_project(workspace, "removal").id
        self.document = make_document(workspace, self.project, [bill(1)])
        names = {"ann": "annotator", "ben": "annotator", "rita": "reviewer"}
        users = {name: make_user(workspace, name, **{self.project: role}) for name, role in names.items()}
        users["otto"] = make_user(workspace, "otto", **{make_project(workspace, "another").id: "admin"})
        self.people: dict[str, Person] = {
            name: somebody(client, workspace, user) for name, user in (*users.items(), ("nobody", None))
        }

    def asked(self, question: str, author: str = "ann") -> str:
        return f"/api/annotations/{accept(self.workspace, self.document, question, [4], author=author).id}"

    def bearer(self, name: str, scope: str) -> dict[str, str]:
        made = tokens.issue(self.workspace, name, purpose="tests", days=1, scope=scope)
        return {"authorization": f"Bearer {made}"}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    settings = Settings(data_dir=tmp_path_factory.mktemp("removal"), auth="login", _env_file=None)
    with TestClient(create_app(settings), base_url=ADDRESS) as client:
        yield House(client)


def test_authors_and_reviewers_remove_and_restore(house: House) -> None:
    expected = {"ann": (204, 200), "rita": (204, 200), "ben": (403, 403), "otto": (404, 404), "nobody": (401, 401)}
    found = {}
    for name, person in house.people.items():
        there, gone = house.asked(f"{name} removes?"), house.asked(f"{name} restores?")
        assert house.people["rita"].delete(f"{gone}?base=1").status_code == 204
        found[name] = (person.delete(f"{there}?base=1").status_code, person.post(f"{gone}/restore").status_code)
        still = house.people["rita"].get(there).status_code
        assert (still == 404) == (found[name][0] == 204), f"{name} was refused, and yet it is gone"
    assert found == expected
    path = f"/api/documents/{house.document.id}/removed-answers"
    listed = {name: person.get(path) for name, person in house.people.items()}
    assert [len(listed[name].json()) for name in ("ann", "rita")] == [5, 5] and listed["ben"].json() == []
    assert (listed["otto"].status_code, listed["nobody"].status_code) == (404, 401)


def test_a_refusal_names_the_author_and_reads_as_a_sentence(house: House) -> None:
    there = house.asked("Whose is it?")
    refused = house.people["ben"].delete(f"{there}?base=1")
    assert refused.json()["detail"].startswith("This answer belongs to ann.")
    for query in ("", "?base=-1", "?base=one"):
        assert house.people["ann"].delete(there + query).status_code == 422
    other = {"x-glossator-user": house.people["ben"].known.id}
    for answered in (
        house.people["ann"].delete(f"{there}?base=1", headers=other),
        house.people["ann"].post(f"{there}/restore", headers=other),
    ):
        assert answered.status_code == 401 and "is logged in here now" in answered.json()["detail"]


def test_a_token_needs_the_scope_annotate(house: House) -> None:
    there = house.asked("Which token?")
    listing = f"/api/documents/{house.document.id}/removed-answers"
    house.client.cookies.clear()
    for scope, status in (("read", 403), ("annotate", 204)):
        headers = house.bearer("ann", scope)
        assert house.client.delete(f"{there}?base=1", headers=headers).status_code == status
        restored = house.client.post(f"{there}/restore", headers=headers)
        assert restored.status_code == {403: 403, 204: 200}[status]
        assert house.client.get(listing, headers=headers).status_code == 200


def test_removed_answers_are_hidden_like_standing_ones(house: House) -> None:
    """Ben has yet to answer what Ann answered: neither her answer nor its removal exists for him."""
    workspace = house.workspace
    project = make_project(workspace, "blind").id
    change_settings(workspace, project, overlap_share=1.0, overlap_people=2)
    people = [make_user(workspace, f"{name} of blind", **{project: "annotator"}) for name in ("ann", "ben")]
    rita = somebody(house.client, workspace, make_user(workspace, "rita of blind", **{project: "reviewer"}))
    made = make_document(workspace, project, [bill(2)])
    replace_standard_questions(workspace, project, ["What is the total due?"], rita.known.id)
    [task] = tasks_of(workspace, project)
    there = f"/api/annotations/{answer(workspace, task.id, people[0]).id}"
    ann, ben = (somebody(house.client, workspace, each) for each in people)
    compared = ann.delete(f"{there}?base=1")
    assert compared.status_code == 403 and "A reviewer or an admin of the project can remove it" in compared.text
    for _ in range(2):  # before its removal, and after
        unknown = f"/api/annotations/{new_id()}"
        for method, path in (("DELETE", "?base=1"), ("POST", "/restore"), ("GET", "")):
            hidden, nothing = (ben.request(method, url + path) for url in (there, unknown))
            assert (hidden.status_code, hidden.content) == (404, nothing.content), (method, path)
        edit = {"idempotency_key": uuid.uuid4().hex, "base": 1, "edits": []}
        assert ben.put(f"{there}/revisions", json=edit).json()["detail"] == "There is no such annotation."
        assert rita.delete(f"{there}?base=1").status_code == 204
    assert ann.get(there).json()["detail"] == REMOVED
    assert ben.get(f"/api/documents/{made.id}/removed-answers").json() == []
