"""Tasks and reviews over REST, as two annotators and a reviewer use them."""

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from annotator.app import create_app
from annotator.ui import task_changes
from db.tables import Member
from engine.accounts.users import add_user
from engine.followers import catch_up
from engine.projects.projects import project_named
from engine.settings import Settings
from engine.tasks.opening.task_changes import QUESTIONS, go_on
from engine.workspace import Workspace, open_workspace
from model.inference import Answer, EncodedPage, Predictor
from tests.support.annotators import begin, edits
from tests.support.factories import accept, bill, make_document, pages_of

PASSWORD = "a long enough password"
QUESTION = "What is the total due?"


class House:
    """An application with login, and a client for each person."""

    def __init__(self, settings: Settings) -> None:
        application = create_app(settings, with_page=False)
        self.workspace: Workspace = open_workspace(settings)
        self.project = project_named(self.workspace, "default").id
        self.stored = make_document(self.workspace, self.project, [bill(1)], name="bill.png")
        self.document = self.stored.id
        self.people = {}
        self.clients: dict[str, TestClient] = {}
        for name, role in (("ann", "annotator"), ("ben", "annotator"), ("rita", "reviewer"), ("boss", "admin")):
            user = add_user(self.workspace, name, PASSWORD, "admin" if role == "admin" else "annotator")
            with self.workspace.database.write() as session:
                session.add(Member(project_id=self.project, user_id=user.id, role=role))
            client = TestClient(application, base_url="http://127.0.0.1:7860")
            client.post("/login", data={"name": name, "password": PASSWORD}, follow_redirects=False)
            self.people[name], self.clients[name] = user, client

    def get(self, who: str, path: str, status: int = 200, **query: str) -> Any:
        return self._answer(self.clients[who].get(f"/api{path}", params=query), status)

    def put(self, who: str, path: str, body: Any, status: int = 200) -> Any:
        return self._answer(self.clients[who].put(f"/api{path}", json=body), status)

    def post(self, who: str, path: str, body: Any = None, status: int = 200) -> Any:
        return self._answer(self.clients[who].post(f"/api{path}", json=body), status)

    def next(self, who: str, after: str | None = None) -> Any:
        return self.post(who, f"/projects/{self.project}/queue/next", {"after": after})

    def answer(self, who: str, task_id: str, words: list[int], status: int = 200) -> tuple[str, Any]:
        """Answer a task as the page does: a draft is made by asking, then a revision is saved."""
        annotation = begin(self.workspace, task_id, self.people[who])
        body = {
            "idempotency_key": uuid.uuid4().hex,
            "base": 0,
            "action": "accept",
            "edits": edits(self.workspace, self.document, words),
        }
        return annotation.id, self.put(who, f"/annotations/{annotation.id}/revisions", body, status)

    def _answer(self, answer: Any, status: int) -> Any:
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None


@pytest.fixture
def house(database_url: str, tmp_path: Path) -> Iterator[House]:
    settings = Settings(data_dir=tmp_path / "data", database_url=database_url, auth="login", _env_file=None)
    made = House(settings)
    yield made
    made.workspace.close()


def test_members_see_how_far_the_tasks_follow_a_change(house: House, one_document_a_batch: None) -> None:
    project = f"/projects/{house.project}"
    house.put("rita", f"{project}/standard-questions", {"questions": [QUESTION]})
    going = [each for each in house.get("ann", f"{project}/task-changes") if each["finished_at"] is None]
    assert going == []  # one document: done with the request
    for number in range(2):
        make_document(house.workspace, house.project, [bill(10 + number)], name=f"{number}.png")
    house.put("rita", f"{project}/standard-questions", {"questions": [QUESTION, "Who wrote it?"]})
    [change] = house.get("ann", f"{project}/task-changes")
    assert (change["done"], change["total"], change["asked_by"], change["finished_at"]) == (1, 3, "rita", None)
    assert change["sentence"] == "Opening and closing tasks: 1 of 3 documents."
    drawn = task_changes.draw_progress(house.workspace, house.project, (QUESTIONS,))
    assert change["sentence"] in drawn and 'max="3" value="1"' in drawn
    go_on(house.workspace)
    assert house.get("ann", f"{project}/queue")["total"] == 6
    [change] = house.get("ann", f"{project}/task-changes")
    assert change["finished_at"] is not None
    assert change["sentence"] == "Tasks were opened and closed: 3 documents."


def test_the_upcoming_task_is_prepared_while_somebody_works_and_leased_to_nobody(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = f"/projects/{house.project}"
    house.put("rita", f"{project}/standard-questions", {"questions": [QUESTION, "Who wrote it?"]})
    first = house.next("ann")["task"]
    upcoming = house.post("ann", f"{project}/queue/upcoming", {"after": first["id"]})
    assert upcoming["question"]["text"] == "Who wrote it?" and upcoming["id"] != first["id"]
    assert (upcoming["document_id"], upcoming["annotation_id"]) == (house.document, None)
    assert upcoming["page_id"] == pages_of(house.workspace, house.document)[0].id
    assert house.next("ben")["task"]["id"] == upcoming["id"], "the upcoming task was leased"
    assert house.post("ann", f"{project}/queue/upcoming", {"after": first["id"]}) is None

    computed: list[str] = []
    ask = Predictor.ask

    def ask_and_note(predictor: Predictor, page: EncodedPage, question: str, **prompts: Any) -> Answer:
        computed.append(question)
        return ask(predictor, page, question, **prompts)

    monkeypatch.setattr(Predictor, "ask", ask_and_note)
    house.post("ben", f"/documents/{house.document}/ask", {"question": "Who wrote it?"})
    assert computed == [], "the prepared answer was computed again"
    house.post("ben", f"/documents/{house.document}/ask", {"question": QUESTION})
    assert computed == [QUESTION]


def test_a_standard_question_passes_queue_and_review_into_the_figures(house: House) -> None:
    project = f"/projects/{house.project}"
    house.clients["boss"].patch(
        f"/api{project}/settings", json={"review_required": True, "overlap_share": 1.0, "overlap_people": 2}
    ).raise_for_status()
    listed = house.put("rita", f"{project}/standard-questions", {"questions": [QUESTION]})
    assert [(each["text"], each["position"]) for each in listed] == [(QUESTION, 0)]
    assert house.get("ann", f"{project}/standard-questions") == listed

    given = house.next("ann")
    task = given["task"]
    assert task["question"] == {"id": listed[0]["id"], "text": QUESTION}
    assert (task["document_id"], given["annotation_id"], given["page_id"], given["reason"]) == (
        house.document,
        None,
        None,
        None,
    )
    assert given["queue"]["held"] == [
        {"person": "ann", "document": "bill.png", "question": QUESTION, "until": given["queue"]["held"][0]["until"]}
    ]
    assert house.post("ann", f"/tasks/{task['id']}/heartbeat")["lease_until"] >= task["lease_until"]
    house.post("ann", f"/tasks/{task['id']}/release", status=204)

    first, saved = house.answer("ann", task["id"], [4])
    assert (saved["status"], saved["text"]) == ("submitted", "11.50")
    second, _ = house.answer("ben", task["id"], [1])
    empty = house.next("ann", task["id"])
    assert empty["task"] is None and "2 answers" not in empty["reason"] and "waits for review" in empty["reason"]
    assert catch_up(house.workspace)
    assert house.get("ann", f"{project}/queue")["to_review"] == 1
    assert house.get("rita", f"{project}/queue")["to_review"] == 2

    review = house.post("rita", f"{project}/review/next", {"after": None})
    assert (review["annotation_id"], review["document_id"], review["to_review"]) == (first, house.document, 2)
    assert house.post("rita", f"/annotations/{first}/review/heartbeat")["lease_until"] >= review["lease_until"]
    verdict = {"idempotency_key": uuid.uuid4().hex, "base": 1, "verdict": "accepted", "quality": True}
    judged = house.post("rita", f"/annotations/{first}/reviews", verdict)
    assert (judged["revision"], judged["status"], judged["text"]) == (2, "accepted", "11.50")
    assert house.post("rita", f"/annotations/{first}/reviews", verdict) == judged
    late = house.post("rita", f"/annotations/{first}/reviews", {**verdict, "idempotency_key": "another key"}, 409)
    assert late["current"]["head"] == 2

    unexplained = {"idempotency_key": uuid.uuid4().hex, "base": 1, "verdict": "rejected"}
    assert "Give a reason" in house.post("rita", f"/annotations/{second}/reviews", unexplained, 422)["detail"]
    house.post("rita", f"/annotations/{second}/reviews", {**unexplained, "reason": "That is the number."})
    returned = house.next("ben")
    assert (returned["task"]["id"], returned["annotation_id"]) == (task["id"], second)
    reviews = house.get("ben", f"/annotations/{second}/reviews")
    assert [(each["reviewer"], each["verdict"], each["reason"]) for each in reviews] == [
        ("rita", "rejected", "That is the number.")
    ]
    history = house.get("ben", f"/annotations/{second}/revisions")
    assert [(each["number"], each["action"], each["author"]) for each in history] == [
        (1, "submit", "ben"),
        (2, "reject", "rita"),
    ]

    assert house.put("rita", f"/tasks/{task['id']}/gold", {"annotation_id": first})["gold"] == first
    assert catch_up(house.workspace)
    found = house.get("rita", f"{project}/agreement")
    assert found["pairs"] == [
        {"people": ["ann", "ben"], "questions": 1, "iou": 0.0, "word_f1": 0.0, "value_equal": 0.0}
    ]
    gold = {each["person"]: (each["gold_iou"], each["gold_right"]) for each in found["people"]}
    assert gold == {"ann": (None, None), "ben": (0.0, 0.0)}
    lines = house.get("rita", f"{project}/tasks")
    assert [each["status"] for each in lines[0]["answers"]] == ["accepted", "rejected"]


def test_what_is_for_reviewers_is_refused_to_annotators(house: House) -> None:
    project = f"/projects/{house.project}"
    house.put("ann", f"{project}/standard-questions", {"questions": [QUESTION]}, 403)
    house.put("rita", f"{project}/standard-questions", {"questions": [QUESTION]})
    task = house.next("ann")["task"]["id"]
    annotation, _ = house.answer("ann", task, [4])
    verdict = {"idempotency_key": uuid.uuid4().hex, "base": 1, "verdict": "accepted"}
    for who in ("ann", "ben"):
        house.post(who, f"/annotations/{annotation}/reviews", verdict, 403)
    house.post("ben", f"{project}/review/next", {}, 403)
    house.post("ben", f"/annotations/{annotation}/review/heartbeat", status=403)
    house.post("ben", f"/annotations/{annotation}/review/release", status=403)
    house.get("ben", f"{project}/agreement", 403)
    house.get("ben", f"{project}/tasks", 403)
    house.put("ben", f"/tasks/{task}/gold", {"annotation_id": annotation}, 403)
    body = {"idempotency_key": uuid.uuid4().hex, "base": 1, "edits": []}
    assert "belongs to ann" in house.put("ben", f"/annotations/{annotation}/revisions", body, 403)["detail"]


def test_reviewers_alone_read_and_choose_the_gold_answer_of_an_answer(house: House) -> None:
    house.put("rita", f"/projects/{house.project}/standard-questions", {"questions": [QUESTION]})
    task = house.get("rita", f"/projects/{house.project}/tasks")[0]["id"]
    known, _ = house.answer("rita", task, [4])
    late, _ = house.answer("boss", task, [1])
    free = accept(house.workspace, house.stored, "Who signed it?", [4], author="somebody").id
    none = {"annotation_id": None, "revision": None, "author": None}
    assert house.get("rita", f"/annotations/{known}/gold") == {"task_id": task, **none}
    assert house.get("rita", f"/annotations/{free}/gold") == {"task_id": None, **none}
    house.put("rita", f"/tasks/{task}/gold", {"annotation_id": known})
    gold = {"task_id": task, "annotation_id": known, "revision": 1, "author": "rita"}
    for who in ("rita", "boss"):
        assert [house.get(who, f"/annotations/{each}/gold") for each in (known, late)] == [gold, gold]
    # To an annotator an answer that is gold is like any other one that they may not see, and their own is like any.
    own, _ = house.answer("ben", task, [4])
    assert house.get("ann", f"/annotations/{known}/gold", 404) == house.get("ann", f"/annotations/{late}/gold", 404)
    before = house.get("ben", f"/annotations/{own}/gold", 403)
    house.put("rita", f"/tasks/{task}/gold", {"annotation_id": None})
    assert house.get("ben", f"/annotations/{own}/gold", 403) == before
    # A question that is no longer a standard one has no task to work on; what was chosen can still be taken back.
    house.put("rita", f"/tasks/{task}/gold", {"annotation_id": known})
    house.put("rita", f"/projects/{house.project}/standard-questions", {"questions": []})
    assert house.get("rita", f"/annotations/{known}/gold") == gold
    house.put("rita", f"/tasks/{task}/gold", {"annotation_id": None})
    assert house.get("rita", f"/annotations/{known}/gold") == {"task_id": None, **none}


def test_a_lost_lease_is_a_sentence_that_names_the_holder(house: House) -> None:
    house.put("rita", f"/projects/{house.project}/standard-questions", {"questions": [QUESTION]})
    task = house.next("ann")["task"]["id"]
    lost = house.post("ben", f"/tasks/{task}/heartbeat", status=409)["detail"]
    assert lost.startswith("ann is now working on this question, until") and lost.endswith(".")
    assert "ann is working on" in house.next("ben")["reason"]
    house.post("ann", "/tasks/nothing/heartbeat", status=404)


def test_suggestions_name_one_s_own_answers_and_refuse_other_projects_documents(house: House) -> None:
    path = f"/projects/{house.project}/questions"
    house.put("rita", f"/projects/{house.project}/standard-questions", {"questions": [QUESTION]})
    annotation, _ = house.answer("ann", house.next("ann")["task"]["id"], [4])
    asked = {who: house.get(who, path, document_id=house.document)["standard"] for who in ("ann", "ben")}
    assert [each["annotation_id"] for each in asked["ann"]] == [annotation]
    assert [each["annotation_id"] for each in asked["ben"]] == [None]
    other = house.post("boss", "/projects", {"name": "other"}, 201)["id"]
    house.get("boss", f"/projects/{other}/questions", 404, document_id=house.document)
    assert house.get("boss", f"/projects/{other}/questions") == {"standard": [], "recent": []}


def test_an_answer_that_is_hidden_from_a_person_is_not_there_for_them(house: House) -> None:
    house.put("rita", f"/projects/{house.project}/standard-questions", {"questions": [QUESTION]})
    task = house.get("rita", f"/projects/{house.project}/tasks")[0]["id"]
    known, _ = house.answer("rita", task, [4])
    house.put("rita", f"/tasks/{task}/gold", {"annotation_id": known})
    paths = [f"/annotations/{known}{rest}" for rest in ("", "/revisions", "/reviews")]
    for path in paths:
        assert house.get("ann", path, status=404) == {"detail": "There is no such annotation."}
        house.get("rita", path)
        house.get("boss", path)
    own, _ = house.answer("ann", task, [1])
    for path in paths:
        house.get("ann", path)
        house.get("ben", path, status=404)
    assert house.get("ann", f"/annotations/{own}/revisions")[0]["author"] == "ann"


def test_a_document_may_be_fetched_without_its_questions(house: House) -> None:
    accept(house.workspace, house.stored, QUESTION, [4], author="somebody")
    whole = house.get("ann", f"/documents/{house.document}")
    light = house.get("ann", f"/documents/{house.document}", questions="false")
    assert len(whole.pop("annotations")) == 1 and light.pop("annotations") == []
    assert light == whole


def test_a_list_that_somebody_else_has_changed_meanwhile_is_not_replaced(house: House) -> None:
    path = f"/projects/{house.project}/standard-questions"
    house.put("rita", path, {"questions": [QUESTION, "Who signed it?"], "before": []})
    refused = house.put("rita", path, {"questions": [QUESTION, "When?"], "before": [QUESTION, "How much?"]}, 409)
    assert 'added "Who signed it?" and took out "How much?"' in refused["detail"]
    reordered = house.put("rita", path, {"questions": [], "before": ["Who signed it?", QUESTION]}, 409)
    assert "changed the order" in reordered["detail"]
    assert [each["text"] for each in house.get("rita", path)] == [QUESTION, "Who signed it?"]
    house.put("rita", path, {"questions": ["When?"], "before": [QUESTION, "Who signed it?"]})
    assert [each["text"] for each in house.get("rita", path)] == ["When?"]
