"""Predictions of other models are shown to people as theirs, until a person answers."""

from typing import Any

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

from db.tables import Document, Prediction, Revision
from engine.datasets.snapshots import freeze, load
from engine.workspace import Workspace
from tests.support.factories import bill, line, make_document, pages_of
from tests.support.waiting import wait_until

TOTAL = "What is the total due?"


@pytest.fixture
def house(client: TestClient, workspace: Workspace) -> tuple[TestClient, str]:
    """A client, and a document of two bills."""
    project = client.get("/api/projects").json()[0]["id"]
    second = [*bill(2), *line("Carried over: 11.50 11.50", 20, 140)]
    return client, make_document(workspace, project, [bill(1), second]).id


def push(
    client: TestClient, document: str, *predictions: dict[str, Any], model: str = "reader"
) -> list[dict[str, Any]]:
    sent = {"model": model, "version": "7", "predictions": list(predictions)}
    answer = client.post(f"/api/documents/{document}/predictions", json=sent)
    assert answer.status_code == 200, answer.text
    return list(answer.json()["predictions"])


def ask(client: TestClient, document: str, question: str = TOTAL) -> dict[str, Any]:
    answer = client.post(f"/api/documents/{document}/ask", json={"question": question})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def accept(client: TestClient, answer: dict[str, Any]) -> None:
    proposal = answer["proposal"]["prediction_id"]
    saved = {"idempotency_key": "accept-it", "base": 0, "action": "accept", "prediction_id": proposal, "edits": []}
    kept = client.put(f"/api/annotations/{answer['id']}/revisions", json=saved)
    assert kept.status_code == 200, kept.text


def test_a_text_is_proposed_with_the_other_places_that_print_it(house: tuple[TestClient, str]) -> None:
    client, document = house
    [outcome] = push(client, document, {"question": TOTAL, "text": "11.50", "page": 2, "confidence": 0.7})
    assert (outcome["outcome"], outcome["page"], outcome["places"]) == ("proposed", 2, 2)
    answer = ask(client, document)
    proposal = answer["proposal"]
    assert (answer["text"], answer["head"], answer["status"]) == ("11.50", 0, "draft")
    assert (proposal["source"], proposal["model"]) == ("outside", {"id": None, "label": "reader 7"})
    assert [place["text"] for place in proposal["candidates"]] == ["11.50"]
    assert (proposal["score"], proposal["answered"]) == (0.7, 0.7)


def test_a_text_that_no_page_prints_makes_no_mark(house: tuple[TestClient, str]) -> None:
    client, document = house
    [outcome] = push(client, document, {"question": TOTAL, "text": "99.95"})
    assert (outcome["outcome"], outcome["text"], outcome["page"]) == ("not_found", "99.95", None)
    assert ask(client, document)["proposal"]["source"] == "model"


def test_a_later_push_replaces_the_earlier_one_also_where_the_question_is_open(house: tuple[TestClient, str]) -> None:
    client, document = house
    push(client, document, {"question": TOTAL, "text": "B1001"})
    opened = ask(client, document)
    assert opened["text"] == "B1001"
    push(client, document, {"question": TOTAL, "text": "12.50"})
    again = ask(client, document)
    assert (again["id"], again["text"]) == (opened["id"], "12.50")


def test_figures_tell_the_versions_of_other_models_apart(house: tuple[TestClient, str]) -> None:
    client, document = house
    push(client, document, {"question": TOTAL, "text": "11.50"})
    accept(client, ask(client, document))
    project = client.get("/api/projects").json()[0]["id"]

    def shown() -> list[list[Any]]:
        rows = client.get(f"/api/projects/{project}/figures").json()["by_model"]
        return [[row[name] for name in ("label", "outside", "masks", "unchanged")] for row in rows]

    wait_until(shown)  # the server's followers come behind
    assert shown() == [["reader 7", True, 1, 1]]


def test_an_answered_question_takes_no_proposal(house: tuple[TestClient, str], workspace: Workspace) -> None:
    client, document = house
    push(client, document, {"question": TOTAL, "text": "11.50"})
    answer = ask(client, document)
    accept(client, answer)
    [outcome] = push(client, document, {"question": TOTAL, "text": "B1001"})
    assert outcome["outcome"] == "answered"
    shown = client.get(f"/api/annotations/{answer['id']}").json()
    assert (shown["text"], shown["head"], shown["status"]) == ("11.50", 1, "accepted")
    with workspace.database.read() as session:  # what the person started from stays known, and is of no own version
        began = select(Prediction.model_version_id).join(Revision, Revision.prediction_id == Prediction.id)
        assert session.scalars(began).all() == [None]
    history = client.get(f"/api/annotations/{answer['id']}/revisions").json()
    assert history and history[0]["model"] is None


def test_marks_are_pixels_shares_polygons_or_run_lengths(house: tuple[TestClient, str], workspace: Workspace) -> None:
    client, document = house
    page = pages_of(workspace, document)[0]
    x0, y0, x1, y1 = bill(1)[4][1]
    wide = [(x0 - 3) / page.width, (y0 - 2) / page.height, (x1 + 3) / page.width, (y1 + 2) / page.height]
    counts = [page.height * page.width - 50, 50]
    outcomes = push(
        client,
        document,
        {"question": TOTAL, "marks": [{"box": wide, "unit": "shares"}]},
        {"question": "Who?", "marks": [{"polygon": [[300, 200], [320, 200], [320, 220]]}]},
        {"question": "Which corner?", "marks": [{"rle": {"size": [page.height, page.width], "counts": counts}}]},
    )
    assert [outcome["outcome"] for outcome in outcomes] == ["proposed"] * 3
    answer = ask(client, document)
    assert answer["text"] == "11.50" and answer["proposal"]["mask"]["box"] == [x0, y0, x1, y1]
    assert ask(client, document, "Who?")["proposal"]["mask"]["box"][:2] == [300, 200]
    assert ask(client, document, "Which corner?")["proposal"]["words"] == []


def test_one_wrong_prediction_stores_nothing(house: tuple[TestClient, str]) -> None:
    client, document = house
    wrong = [
        ({"question": TOTAL}, "needs either marks or a text."),
        ({"text": "11.50"}, "needs either a question or a field."),
        ({"field": "total", "text": "1"}, "names the field 'total', which the project does not have."),
        ({"question": TOTAL, "text": "1", "page": 9}, "names page 9, which the document does not have."),
        ({"question": TOTAL, "marks": [{"box": [900, 0, 950, 9]}]}, "has a mark outside its page"),
        ({"question": TOTAL, "marks": [{}]}, "has a mark that is not exactly one of"),
    ]
    for prediction, sentence in wrong:
        sent = {"model": "reader", "predictions": [{"question": TOTAL, "text": "11.50"}, prediction]}
        answer = client.post(f"/api/documents/{document}/predictions", json=sent)
        assert answer.status_code == 422 and f"Prediction 2 {sentence}" in answer.json()["detail"], answer.text
    assert ask(client, document)["proposal"]["source"] == "model"


def test_the_form_shows_the_proposal_without_a_confidence_of_the_own_model(house: tuple[TestClient, str]) -> None:
    client, document = house
    project = client.get("/api/projects").json()[0]["id"]
    fields = [{"name": "total", "question": TOTAL, "type": "number"}, {"name": "bill", "question": "Bill?"}]
    assert client.put(f"/api/projects/{project}/fields", json={"fields": fields}).status_code == 200
    push(client, document, {"field": "total", "text": "11.5"})
    total, other = client.post(f"/api/documents/{document}/form", json={}).json()["fields"]
    assert (total["values"][0]["value"], total["confidence"]) == ("11.5", None)
    assert other["confidence"] is not None


def test_an_answer_from_such_a_proposal_has_no_score_of_the_own_model_in_datasets(
    house: tuple[TestClient, str], workspace: Workspace
) -> None:
    client, document = house
    push(client, document, {"question": TOTAL, "text": "11.50", "confidence": 0.9})
    accept(client, ask(client, document))
    with workspace.database.read() as session:
        project = session.get_one(Document, document).project_id
    [item] = load(workspace, freeze(workspace, project))
    assert (item.status, item.score, item.model_version) == ("accepted", None, None)
