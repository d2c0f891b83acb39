"""Asking further pages of a long document: the list grows, a better answer is proposed, nobody's edit is touched."""

import uuid
from typing import Any

import pymupdf
import pytest
from starlette.testclient import TestClient


def make(client: TestClient, *pages: str) -> dict[str, Any]:
    """A document with one page a text."""
    made = pymupdf.open()
    for text in pages:
        page = made.new_page(width=300, height=200)
        page.insert_textbox(pymupdf.Rect(30, 30, 280, 190), text, fontsize=12)
    project = client.get("/api/projects").json()[0]["id"]
    files = [("files", ("long.pdf", made.tobytes(), "application/pdf"))]
    answer = client.post(f"/api/projects/{project}/documents", files=files)
    assert answer.status_code == 200, answer.text
    return dict(client.get(f"/api/documents/{answer.json()['documents'][0]['document_id']}").json())


def more(client: TestClient, annotation: dict[str, Any], **body: int) -> dict[str, Any]:
    answer = client.post(f"/api/annotations/{annotation['id']}/ask-more", json=body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def asked_pages(annotation: dict[str, Any]) -> list[str]:
    return [each["page_id"] for each in annotation["ranked"]]


@pytest.fixture
def two_pages(client: TestClient) -> dict[str, Any]:
    return make(client, "Dear colleagues, the garden opens again in spring.", "Total due: 2,987.88 EUR")


def test_a_long_document_is_asked_further_until_every_page_was_asked_once(client: TestClient) -> None:
    document = make(client, *(f"Page {number}. Total of part {number}: {number}.50" for number in range(1, 12)))
    asked = client.post(f"/api/documents/{document['id']}/ask", json={"question": "Total of part 3?"}).json()
    assert len(asked_pages(asked)) == 8
    longer = more(client, asked, pages=2)
    assert len(set(asked_pages(longer))) == 10 and set(asked_pages(asked)) < set(asked_pages(longer))
    whole = more(client, asked)
    assert set(asked_pages(whole)) == {page["id"] for page in document["pages"]}
    worth = [each["answered"] * each["score"] for each in whole["ranked"]]
    assert worth == sorted(worth, reverse=True)
    best = whole["proposal"]
    assert (best["page_id"], best["answered"] * best["score"]) == (asked_pages(whole)[0], worth[0])
    assert more(client, asked) == whole


def test_a_page_that_answers_better_becomes_the_proposal(client: TestClient, two_pages: dict[str, Any]) -> None:
    letter, bill = (page["id"] for page in two_pages["pages"])
    question = {"question": "What is the total due?", "page_id": letter}
    asked = client.post(f"/api/documents/{two_pages['id']}/ask", json=question).json()
    assert asked["proposal"]["page_id"] == letter
    longer = more(client, asked)
    assert asked_pages(longer) == [bill, letter]
    assert longer["proposal"]["page_id"] == bill and "2,987.88" in longer["text"]
    assert list(longer["state"]["pages"]) == [bill]


def test_an_answer_that_somebody_has_edited_stays_as_it_is(client: TestClient, two_pages: dict[str, Any]) -> None:
    letter, bill = (page["id"] for page in two_pages["pages"])
    question = {"question": "What is the total due?", "page_id": letter}
    asked = client.post(f"/api/documents/{two_pages['id']}/ask", json=question).json()
    body = {"idempotency_key": uuid.uuid4().hex, "base": 0, "edits": [{"op": "clear", "page": letter}]}
    assert client.put(f"/api/annotations/{asked['id']}/revisions", json=body).status_code == 200
    longer = more(client, asked)
    assert asked_pages(longer) == [bill, letter]
    assert longer["proposal"]["page_id"] == letter
    assert (longer["head"], longer["text"]) == (1, "")
    # A first edit that had named the old proposal still builds on it.
    assert client.get(f"/api/annotations/{asked['id']}").json()["state"] == longer["state"]


def test_further_pages_of_no_answer_are_not_found(client: TestClient) -> None:
    assert client.post("/api/annotations/nobody/ask-more", json={}).status_code == 404
    assert client.post("/api/annotations/nobody/ask-more", json={"pages": 0}).status_code in (404, 422)


def test_an_overlapping_task_is_answered_without_the_model(client: TestClient, two_pages: dict[str, Any]) -> None:
    """Also its further pages, and its prompts: whoever is helped agrees with the model, and not with the others."""
    project, text = client.get("/api/projects").json()[0]["id"], "What is the total due?"
    own = f"/api/projects/{project}"
    shares = {"overlap_share": 1.0, "unaided_share": 1.0}
    assert client.patch(f"{own}/settings", json=shares).status_code == 200
    assert client.put(f"{own}/standard-questions", json={"questions": [text]}).status_code == 200
    asked = client.post(f"/api/documents/{two_pages['id']}/ask", json={"question": text}).json()
    assert asked["unaided"] and asked["proposal"] is None and asked["state"]["pages"] == {}
    page = two_pages["pages"][1]["id"]
    prompts = {"page_id": page, "points": [[50, 50, True]]}
    for path, body in (("ask-more", {}), ("refine", prompts)):
        refused = client.post(f"/api/annotations/{asked['id']}/{path}", json=body)
        assert refused.status_code == 422 and "answered without the model" in refused.json()["detail"]
    assert client.patch(f"{own}/settings", json={"unaided_share": 0.0}).status_code == 200
    assert client.get(f"/api/annotations/{asked['id']}").json()["unaided"] is False
    other = client.post(f"/api/documents/{two_pages['id']}/ask", json={"question": "Who signs?"}).json()
    assert other["proposal"] is not None and not other["unaided"]
