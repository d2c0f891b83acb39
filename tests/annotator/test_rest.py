"""REST as programs use it: from a PDF to a corrected, accepted answer."""

import uuid
from typing import Any

import pymupdf
import pytest
from starlette.testclient import TestClient

from annotator.front_end_files import BASE


def pdf(*lines: str) -> bytes:
    document = pymupdf.open()
    page = document.new_page()
    for at, line in enumerate(lines):
        page.insert_text((72, 72 + 24 * at), line)
    return document.tobytes()


def upload(client: TestClient, content: bytes, name: str = "invoice.pdf") -> Any:
    project = client.get("/api/projects").json()[0]["id"]
    return client.post(f"/api/projects/{project}/documents", files=[("files", (name, content, "application/pdf"))])


@pytest.fixture
def document(client: TestClient) -> dict[str, Any]:
    answer = upload(client, pdf("Invoice date: 14 March 2026", "Total due: 2,987.88"))
    assert answer.status_code == 200, answer.text
    return client.get(f"/api/documents/{answer.json()['documents'][0]['document_id']}").json()


def save(client: TestClient, annotation: dict[str, Any], base: int, edits: list[Any], **more: Any) -> Any:
    body = {"idempotency_key": uuid.uuid4().hex, "base": base, "edits": edits, **more}
    return client.put(f"/api/annotations/{annotation['id']}/revisions", json=body)


def test_from_a_pdf_to_an_accepted_answer(client: TestClient, document: dict[str, Any]) -> None:
    page = document["pages"][0]
    words = client.get(f"/api/pages/{page['id']}/words").json()
    assert words["texts"] == ["Invoice", "date:", "14", "March", "2026", "Total", "due:", "2,987.88"]
    asked = client.post(
        f"/api/documents/{document['id']}/ask", json={"question": "What is the total due?", "page_id": page["id"]}
    ).json()
    assert asked["head"] == 0 and asked["proposal"]["model"]["label"] == "nano"
    wanted = {"op": "mask", "page": page["id"], "words": [], "mask": {"box": [0, 0, 0, 0], "counts": []}}
    saved = save(client, asked, 0, [wanted, {"op": "words", "page": page["id"], "add": [7]}]).json()
    assert (saved["revision"], saved["text"]) == (1, "2,987.88")
    accepted = save(client, asked, 1, [], action="accept").json()
    assert accepted["status"] == "accepted"
    again = client.get(f"/api/annotations/{asked['id']}").json()
    x0, y0, x1, y1 = words["boxes"][7]
    assert again["state"]["pages"][page["id"]]["mask"]["box"] == [x0, y0, x1, y1]
    assert again["state"]["pages"][page["id"]]["mask"]["counts"] == [0, (x1 - x0) * (y1 - y0)]
    line = client.get(f"/api/documents/{document['id']}").json()["annotations"][0]
    assert (line["status"], line["text"], line["pages"]) == ("accepted", "2,987.88", [page["id"]])


def test_the_same_question_again_is_the_same_annotation(client: TestClient, document: dict[str, Any]) -> None:
    first = client.post(f"/api/documents/{document['id']}/ask", json={"question": "Total  due?"}).json()
    second = client.post(f"/api/documents/{document['id']}/ask", json={"question": " Total due? "}).json()
    assert second["id"] == first["id"]
    assert (first["existing"], second["existing"]) == (False, True)


def test_asking_the_whole_document_ranks_its_pages(client: TestClient, document: dict[str, Any]) -> None:
    asked = client.post(f"/api/documents/{document['id']}/ask", json={"question": "Total due?"}).json()
    assert [ranked["page_id"] for ranked in asked["ranked"]] == [document["pages"][0]["id"]]


def test_a_point_on_a_word_selects_it(client: TestClient, document: dict[str, Any]) -> None:
    page = document["pages"][0]
    words = client.get(f"/api/pages/{page['id']}/words").json()
    asked = client.post(f"/api/documents/{document['id']}/ask", json={"question": "When?"}).json()
    x0, y0, x1, y1 = words["boxes"][3]
    refined = client.post(
        f"/api/annotations/{asked['id']}/refine",
        json={"page_id": page["id"], "points": [[(x0 + x1) / 2, (y0 + y1) / 2, True]]},
    ).json()
    assert 3 in refined["words"]
    assert client.get(f"/api/annotations/{asked['id']}").json()["head"] == 0
    edit = {"op": "mask", "page": page["id"], "words": refined["words"], "mask": refined["mask"]}
    saved = save(client, asked, 0, [edit], prediction_id=refined["prediction_id"])
    assert saved.status_code == 200, saved.text


def test_a_conflict_brings_the_newest_version_along(client: TestClient, document: dict[str, Any]) -> None:
    page = document["pages"][0]["id"]
    asked = client.post(f"/api/documents/{document['id']}/ask", json={"question": "Total due?"}).json()
    save(client, asked, 0, [{"op": "words", "page": page, "add": [7]}])
    late = save(client, asked, 0, [{"op": "words", "page": page, "add": [0]}])
    assert late.status_code == 409
    assert late.json()["current"]["head"] == 1
    assert "your change starts from revision 0" in late.json()["detail"]


def test_an_edit_is_never_saved_under_another_name_than_its_author_s(
    client: TestClient, document: dict[str, Any]
) -> None:
    page = document["pages"][0]["id"]
    asked = client.post(f"/api/documents/{document['id']}/ask", json={"question": "Total due?"}).json()
    key = {"idempotency_key": uuid.uuid4().hex}
    sent = [
        ("PUT", f"/api/annotations/{asked['id']}/revisions", {**key, "base": 0, "edits": []}),
        ("POST", f"/api/annotations/{asked['id']}/reviews", {**key, "base": 1, "verdict": "accepted"}),
        ("PUT", f"/api/pages/{page}/words", {**key, "base": 0, "edits": [{"op": "remove", "number": 0}]}),
    ]
    for method, path, body in sent:
        answer = client.request(method, path, json=body, headers={"X-Glossator-User": "0" * 32})
        assert answer.status_code == 401 and "is logged in here now" in answer.json()["detail"], path
    assert client.get(f"/api/annotations/{asked['id']}").json()["head"] == 0
    me = client.get("/api/me").json()["user"]["id"]
    for method, path, body in (sent[0], sent[2]):
        assert client.request(method, path, json=body, headers={"X-Glossator-User": me}).status_code == 200, path


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [("empty.pdf", b"", "empty"), ("broken.pdf", b"%PDF-1.4 no", "broken"), ("a.txt", b"hello", "not_supported")],
)
def test_a_bad_file_is_a_sentence_and_no_document(client: TestClient, name: str, content: bytes, reason: str) -> None:
    answer = upload(client, content, name)
    assert answer.status_code == 422
    assert answer.json()["refused"][0]["reason"] == reason
    assert name in answer.json()["detail"]
    assert client.get("/api/projects").json()[0]["documents"] == 0


def test_a_good_file_beside_a_bad_one_is_taken(client: TestClient) -> None:
    project = client.get("/api/projects").json()[0]["id"]
    files = [("files", ("good.pdf", pdf("Hello"), "")), ("files", ("bad.pdf", b"", ""))]
    answer = client.post(f"/api/projects/{project}/documents", files=files)
    assert answer.status_code == 200
    assert [taken["name"] for taken in answer.json()["documents"]] == ["good.pdf"]
    assert [refused["name"] for refused in answer.json()["refused"]] == ["bad.pdf"]


def test_bad_requests_are_sentences(client: TestClient, document: dict[str, Any]) -> None:
    page = document["pages"][0]["id"]
    asked = client.post(f"/api/documents/{document['id']}/ask", json={"question": "Total due?"}).json()
    for edit, part in (
        ({"op": "words", "page": page, "add": [99]}, "no word 99"),
        ({"op": "fly", "page": page}, "edits.0"),
        ({"op": "patch", "page": page, "value": 1, "patch": {"box": [0, 0, 4, 4], "counts": [1]}}, "sum to 1"),
    ):
        answer = save(client, asked, 0, [edit])
        assert answer.status_code == 422, answer.text
        assert part in answer.json()["detail"]
    for url in ("/api/documents/nothing", "/api/annotations/nothing", "/api/pages/nothing/image", "/api/runs/nothing"):
        answer = client.get(url)
        assert answer.status_code == 404 and answer.json()["detail"].endswith(".")
    assert client.post(f"/api/documents/{document['id']}/ask", json={"question": "  "}).status_code == 422
    outside = {"page_id": page, "points": [[-5, 3, True]]}
    assert "outside the page" in client.post(f"/api/annotations/{asked['id']}/refine", json=outside).json()["detail"]


def test_nonsense_is_a_sentence_on_both_databases(client: TestClient, document: dict[str, Any]) -> None:
    page = document["pages"][0]["id"]
    asked = client.post(f"/api/documents/{document['id']}/ask", json={"question": "Total due?"}).json()
    revisions, refine = f"/api/annotations/{asked['id']}/revisions", f"/api/annotations/{asked['id']}/refine"
    mask = {"box": [0, 0, 10**9, 10**9], "counts": [10**18]}
    for method, url, body in (
        ("PUT", revisions, {"idempotency_key": "abc\0defgh", "base": 0, "edits": []}),
        ("PUT", revisions, {"idempotency_key": "abcdefghi", "base": 0, "edits": [], "interactions": {"w\0": 1}}),
        ("PUT", revisions, {"idempotency_key": "abcdefghi", "base": 0, "edits": [{"op": "clear", "page": "a\0"}]}),
        ("PUT", revisions, {"idempotency_key": "abcdefghi", "base": 2**31, "edits": []}),
        ("PUT", revisions, {"idempotency_key": "abcdefghi", "base": 0, "edits": [], "prediction_id": "a\0"}),
        ("POST", refine, {"page_id": page, "box": [-9, -9, -1, -1]}),
        ("POST", refine, {"page_id": page, "mask": mask}),
        ("POST", refine, {"page_id": "a\0", "points": []}),
        ("POST", "/api/projects", {"name": "a\0b"}),
        ("GET", "/api/annotations/a%00b", None),
        ("GET", "/api/pages/unknown/words", None),
        ("GET", f"/api/projects/{document['project_id']}/next?after=%00", None),
    ):
        answer = client.request(method, url, json=body)
        if answer.status_code == 200:  # SQLite holds NUL; then the edit is stored as it came
            assert "\\u0000" in answer.request.content.decode() or "%00" in url, (url, body)
            continue
        assert answer.status_code in (404, 409, 422), (url, body, answer.text)
        assert answer.json()["detail"].endswith("."), answer.text
    for content in (b"{", b"\xff", b"[" * 50_000):
        answer = client.post(
            f"/api/documents/{document['id']}/ask", content=content, headers={"content-type": "application/json"}
        )
        assert answer.status_code in (400, 422) and answer.json()["detail"]


def test_a_page_s_picture_is_the_stored_bytes_and_is_not_sent_twice(
    client: TestClient, document: dict[str, Any]
) -> None:
    url = f"/api/pages/{document['pages'][0]['id']}/image"
    first = client.get(url)
    assert first.headers["content-type"] == "image/png" and first.content.startswith(b"\x89PNG")
    assert "private" in first.headers["cache-control"]
    assert client.get(url, headers={"if-none-match": first.headers["etag"]}).status_code == 304
    small = client.get(f"/api/pages/{document['pages'][0]['id']}/thumbnail?width=120")
    assert small.headers["content-type"] == "image/jpeg" and len(small.content) < len(first.content)


def test_next_leads_through_what_is_undecided(client: TestClient, document: dict[str, Any]) -> None:
    project, page = document["project_id"], document["pages"][0]["id"]
    assert "No open answers" in client.get(f"/api/projects/{project}/next").json()["reason"]
    one, two = (
        client.post(f"/api/documents/{document['id']}/ask", json={"question": question}).json()
        for question in ("Total due?", "Invoice date?")
    )
    assert client.get(f"/api/projects/{project}/next").json()["annotation_id"] == one["id"]
    assert client.get(f"/api/projects/{project}/next?after={one['id']}").json()["annotation_id"] == two["id"]
    save(client, one, 0, [{"op": "words", "page": page, "add": [7]}], action="accept")
    assert client.get(f"/api/projects/{project}/next?after={two['id']}").json()["annotation_id"] is None


@pytest.mark.parametrize("with_page", [True])
def test_the_page_itself_and_its_documentation_are_served(client: TestClient) -> None:
    page = client.get("/app/")
    assert page.status_code == 200 and f"{BASE}/bundle.js" in page.text
    assert client.get("/", follow_redirects=False).headers["location"] == "/app/"
    paths = client.get("/api/openapi.json").json()["paths"]
    assert "/api/annotations/{annotation_id}/revisions" in paths
    assert client.get("/api/docs").status_code == 200


def test_a_question_can_be_seen_and_turns_nothing_round(client: TestClient, document: dict[str, Any]) -> None:
    ask = f"/api/documents/{document['id']}/ask"
    for question in ("\u3164", "\u200b\u2060", "What is \u202ethe total?", "What \u2066is it?"):
        refused = client.post(ask, json={"question": question})
        assert refused.status_code == 422 and "question" in refused.json()["detail"], question
    for question in ("ما هو المجموع؟", "מה הסכום?", "صورت‌حساب چیست؟"):
        assert client.post(ask, json={"question": question}).json()["question"]["text"] == question


def test_a_list_of_documents_names_its_next_page_and_its_total(client: TestClient) -> None:
    for number in range(3):
        assert upload(client, pdf(f"page {number}"), f"note & {number}.pdf").is_success
    project = client.get("/api/projects").json()[0]["id"]
    path = f"/api/projects/{project}/documents"
    every = client.get(path)
    assert len(every.json()) == 3 and "link" not in every.headers
    names, address = [], f"{path}?q=note%20%26&limit=1&sort=name"
    for _ in range(3):
        answer = client.get(address)
        assert answer.headers["x-total-count"] == "3"
        names += [line["name"] for line in answer.json()]
        address = answer.links.get("next", {}).get("url", "")
    assert names == ["note & 0.pdf", "note & 1.pdf", "note & 2.pdf"] and not address
    ids = [line["id"] for line in every.json()]
    chosen = client.get(path, params={"id": ids[:2], "q": "1"})
    assert [line["name"] for line in chosen.json()] == ["note & 1.pdf"]
    assert client.get(path, params={"cursor": "none"}).status_code == 422
    assert client.get(path, params={"limit": 1001}).status_code == 422


def test_a_repeated_key_offers_its_places_and_a_pick_is_the_answer(client: TestClient) -> None:
    lines = ("ORDER FORM", "BILLING ADDRESS", "Date: 14 March 2026", "SHIPPING ADDRESS", "Date: 21 March 2026")
    (uploaded,) = upload(client, pdf(*lines)).json()["documents"]
    asked = client.post(f"/api/documents/{uploaded['document_id']}/ask", json={"question": "What is the date?"}).json()
    proposal = asked["proposal"]
    assert proposal["repeated"] == 2
    picked = next(one for one in proposal["candidates"] if one["place"])
    assert {one["place"] for one in (proposal, picked)} <= {"", "BILLING ADDRESS", "SHIPPING ADDRESS"}
    kept = client.get(f"/api/annotations/{asked['id']}").json()["proposal"]
    assert (kept["place"], kept["repeated"]) == (proposal["place"], 2)
    assert kept["candidates"] == proposal["candidates"]
    edit = {"op": "mask", "page": proposal["page_id"], "words": picked["words"], "mask": picked["mask"]}
    saved = save(client, asked, 0, [edit], prediction_id=proposal["prediction_id"]).json()
    assert (saved["revision"], saved["text"]) == (1, picked["text"])


def test_a_key_that_stands_once_names_no_place(client: TestClient, document: dict[str, Any]) -> None:
    proposal = client.post(f"/api/documents/{document['id']}/ask", json={"question": "Total due?"}).json()["proposal"]
    assert (proposal["repeated"], proposal["place"]) == (0, "") and len(proposal["candidates"]) <= 3
